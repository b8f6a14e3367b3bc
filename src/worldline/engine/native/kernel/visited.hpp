// The set of all states met, by fingerprint, with how each was reached.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "meter.hpp"
#include "memory.hpp"

namespace worldline {

constexpr int32_t kShardBits = 3, kShards = 1 << kShardBits;  // parts of the set

struct State {
    uint64_t fingerprint;
    uint64_t parent;  // its fingerprint
    int32_t leaf;     // the outcome that led here; -1 - n: the n-th initial state
    uint32_t depth;   // from 1 on; 0: a free slot
};

// One part of the set. The slots are in order of fingerprints but for collisions, so
// growing moves each of them a little up. It lies in lines of the cache of its own, for
// its neighbours are written to by other threads.
class alignas(128) VisitedShard {
  public:
    VisitedShard() : slots_(kFirst + kTail), homes_(kFirst) {}

    // Fetches the first slots where a state can be: one line of the cache, and the next.
    void prefetch(uint64_t fingerprint) const {
        const State* at = &slots_[home(fingerprint)];
        __builtin_prefetch(at);
        __builtin_prefetch(reinterpret_cast<const char*>(at) + 63);
    }

    // Returns the state of a fingerprint, or a free slot for it.
    State& find(uint64_t fingerprint) {
        State* slot = &slots_[home(fingerprint)];
        while (slot->depth != 0 && slot->fingerprint != fingerprint) slot = after(slot);
        return *slot;
    }

    // The same as `find`, then filling the slot; but other threads may do so, too.
    // Returns whether the state is new. One that has the same depth takes over an outcome
    // of greater rank, or of the same rank and a lesser parent.
    template <typename Rank>
    bool put(const State& state, const Rank& rank) {
        State* slot = &slots_[home(state.fingerprint)];
        while (true) {
            uint32_t depth = __atomic_load_n(&slot->depth, __ATOMIC_ACQUIRE);
            if (depth == 0 && seize(slot, depth)) {
                slot->fingerprint = state.fingerprint;
                write_way(slot, state);
                __atomic_store_n(&slot->depth, state.depth, __ATOMIC_RELEASE);
                return true;
            }
            while (depth == kBusy) depth = __atomic_load_n(&slot->depth, __ATOMIC_ACQUIRE);
            if (slot->fingerprint == state.fingerprint) {
                if (depth == state.depth) improve(slot, state, rank);
                return false;
            }
            slot = after(slot);
        }
    }

    // Whether a state is there, seen while other threads add some; perhaps not yet.
    bool knows(uint64_t fingerprint) {
        State* slot = &slots_[home(fingerprint)];
        while (true) {
            const uint32_t depth = __atomic_load_n(&slot->depth, __ATOMIC_ACQUIRE);
            if (depth == 0 || depth == kBusy) return false;
            if (slot->fingerprint == fingerprint) return true;
            slot = after(slot);
        }
    }

    // The outcome that led to a state of an earlier level, while other threads add some.
    int32_t leaf_of(uint64_t fingerprint) {
        State* slot = &slots_[home(fingerprint)];
        while (true) {
            const uint32_t depth = __atomic_load_n(&slot->depth, __ATOMIC_ACQUIRE);
            if (depth != kBusy && slot->fingerprint == fingerprint) return slot->leaf;
            slot = after(slot);
        }
    }

    void count(size_t added) { count_ += added; }

    // How many more there is room for.
    size_t spare() const { return count_ < most(homes_) ? most(homes_) - count_ : 0; }

    size_t size() const { return homes_; }

    // Makes room for so many more within some bytes that are left, from which it takes what
    // it needs. False if they do not suffice.
    bool grow_for(size_t added, std::atomic<int64_t>& left) {
        size_t homes = homes_;
        while (most(homes) < count_ + added) homes += homes / (homes < kSmall ? 1 : 3) + 64;
        if (homes == homes_) return true;
        if (!take(left, homes)) {
            // As little as will do, but not for a few only: all of them are moved.
            homes = std::max((count_ + added) * 10 / 7 + 64, homes_ + homes_ / 16);
            if (!take(left, homes)) return false;
        }
        grow(homes);
        return true;
    }

    size_t bytes() const { return slots_.bytes(); }

  private:
    static constexpr size_t kSmall = size_t{1} << 12;  // slots that may as well be doubled
    static constexpr size_t kFirst = 170;
    static constexpr size_t kTail = 512;  // slots for collisions at the end
    static constexpr uint32_t kBusy = ~0U;  // instead of the depth: a thread writes here

    static size_t most(size_t homes) { return 7 * homes / 10; }

    // Takes the bytes that more slots need, in large pages, if there are so many.
    bool take(std::atomic<int64_t>& left, size_t homes) const {
        const size_t size = (homes + kTail) * sizeof(State);
        const size_t page = size < kHuge ? 1 : kHuge;
        const auto more = static_cast<int64_t>((size + page - 1) / page * page - slots_.bytes());
        if (left.fetch_sub(more) >= more) return true;
        left += more;
        return false;
    }

    // It does not run out of slots as long as no more are added than there is room for.
    State* after(State* slot) {
        if (++slot == &slots_[0] + slots_.size()) throw std::bad_alloc();
        return slot;
    }

    static bool seize(State* slot, uint32_t& depth) {
        return __atomic_compare_exchange_n(&slot->depth, &depth, kBusy, false, __ATOMIC_ACQUIRE,
                                           __ATOMIC_ACQUIRE);
    }

    template <typename Rank>
    static void improve(State* slot, const State& state, const Rank& rank) {
        if (!is_better(slot, state, rank)) return;
        for (uint32_t depth = state.depth; !seize(slot, depth);) depth = state.depth;
        if (is_better(slot, state, rank)) write_way(slot, state);
        __atomic_store_n(&slot->depth, state.depth, __ATOMIC_RELEASE);
    }

    // Whether a state was reached in a better way than that of a slot. While another
    // thread writes there, the leaf seen is never later than the parent: so what is no
    // better than these is no better than what will stand there.
    template <typename Rank>
    static bool is_better(const State* slot, const State& state, const Rank& rank) {
        const int32_t known = rank(__atomic_load_n(&slot->leaf, __ATOMIC_ACQUIRE));
        const int32_t own = rank(state.leaf);
        return own > known ||
               (own == known && state.parent < __atomic_load_n(&slot->parent, __ATOMIC_RELAXED));
    }

    static void write_way(State* slot, const State& state) {
        __atomic_store_n(&slot->parent, state.parent, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->leaf, state.leaf, __ATOMIC_RELEASE);
    }

    void grow(size_t homes) {
        const size_t before = slots_.size();
        slots_.grow(homes + kTail);
        homes_ = homes;
        std::vector<State> later;  // those whose place is not above their old one
        for (size_t at = before; at-- > 0;) {
            State& slot = slots_[at];
            if (slot.depth == 0) continue;
            const State state = slot;
            slot.depth = 0;
            if (home(state.fingerprint) >= at)
                find(state.fingerprint) = state;
            else
                later.push_back(state);
        }
        for (const State& state : later) find(state.fingerprint) = state;
    }

    // The upper bits choose the shard, so the others are spread over the slots.
    size_t home(uint64_t fingerprint) const {
        const uint64_t rest = fingerprint << kShardBits;
        return static_cast<size_t>(static_cast<unsigned __int128>(rest) * homes_ >> 64);
    }

    Growing<State> slots_;
    size_t homes_;  // slots where a state can be without a collision
    size_t count_ = 0;
};

class Visited {
  public:
    Visited() : shards_(kShards) {}

    void prefetch(uint64_t fingerprint) const { shards_[shard_of(fingerprint)].prefetch(fingerprint); }
    State& find(uint64_t fingerprint) { return shards_[shard_of(fingerprint)].find(fingerprint); }
    template <typename Rank>
    bool put(const State& state, const Rank& rank) {
        return shards_[shard_of(state.fingerprint)].put(state, rank);
    }
    int32_t leaf_of(uint64_t fingerprint) { return shards_[shard_of(fingerprint)].leaf_of(fingerprint); }
    bool knows(uint64_t fingerprint) { return shards_[shard_of(fingerprint)].knows(fingerprint); }

    // Counts one that was added; this may move all of them.
    void note(uint64_t fingerprint) {
        VisitedShard& shard = shards_[shard_of(fingerprint)];
        shard.count(1);
        if (shard.spare() > 0) return;
        std::atomic<int64_t> left{meter().room()};
        if (shard.grow_for(1, left)) return;
        meter().starve();
        throw std::bad_alloc();
    }

    VisitedShard& shard(size_t number) { return shards_[number]; }
    static size_t shard_of(uint64_t fingerprint) { return fingerprint >> (64 - kShardBits); }

    // How many more there is room for. Fingerprints spread evenly, so it is the shard with
    // the least room that counts: others may have grown just now. One that gets more than
    // its share has slots left for a little more.
    size_t spare() const {
        size_t least = shards_[0].spare();
        for (const VisitedShard& shard : shards_) least = std::min(least, shard.spare());
        return kShards * least;
    }

    size_t bytes() const {
        size_t total = 0;
        for (const VisitedShard& shard : shards_) total += shard.bytes();
        return total;
    }

  private:
    std::vector<VisitedShard> shards_;
};

}  // namespace worldline
