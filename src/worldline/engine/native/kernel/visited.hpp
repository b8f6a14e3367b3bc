// The set of all states met, by fingerprint, with how each was reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace worldline {

constexpr int32_t kShardBits = 3, kShards = 1 << kShardBits;  // parts of the set

struct State {
    uint64_t fingerprint;
    uint64_t parent;  // its fingerprint
    int32_t leaf;     // the outcome that led here; -1 - n: the n-th initial state
    uint32_t depth;   // from 1 on; 0: a free slot
};

// Zeroed memory that goes back to the system when it is freed.
class Slots {
  public:
    explicit Slots(size_t count) : count_(count) {
#ifdef __linux__
        const int way = MAP_PRIVATE | MAP_ANONYMOUS;
        void* got = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, way, -1, 0);
        if (got == MAP_FAILED) throw std::bad_alloc();
        if (bytes() >= kHuge) madvise(got, bytes(), MADV_HUGEPAGE);
#else
        void* got = std::calloc(count, sizeof(State));
        if (got == nullptr) throw std::bad_alloc();
#endif
        slots_ = static_cast<State*>(got);
    }
    Slots(Slots&& other) noexcept : slots_(other.slots_), count_(other.count_) {
        other.slots_ = nullptr;
    }
    Slots(const Slots&) = delete;
    Slots& operator=(const Slots&) = delete;
    ~Slots() { release(); }

    void swap(Slots& other) {
        std::swap(slots_, other.slots_);
        std::swap(count_, other.count_);
    }
    State& operator[](size_t at) { return slots_[at]; }
    const State& operator[](size_t at) const { return slots_[at]; }
    size_t size() const { return count_; }
    size_t bytes() const { return count_ * sizeof(State); }

  private:
    static constexpr size_t kHuge = size_t{1} << 21;

    void release() {
        if (slots_ == nullptr) return;
#ifdef __linux__
        munmap(slots_, bytes());
#else
        std::free(slots_);
#endif
    }

    State* slots_ = nullptr;
    size_t count_;
};

// One part of the set; only one thread at a time writes to it.
class VisitedShard {
  public:
    VisitedShard() : slots_(170) {}

    // Fetches the first slots where a state can be: one line of the cache, and the next.
    void prefetch(uint64_t fingerprint) const {
        const State* at = &slots_[home(fingerprint)];
        __builtin_prefetch(at);
        __builtin_prefetch(reinterpret_cast<const char*>(at) + 63);
    }

    // Returns the state of a fingerprint, or a free slot for it. The slot holds until
    // the next call of `grow_for_one`.
    State& find(uint64_t fingerprint) {
        for (size_t at = home(fingerprint);;) {
            State& slot = slots_[at];
            if (slot.depth == 0 || slot.fingerprint == fingerprint) return slot;
            if (++at == slots_.size()) at = 0;
        }
    }

    // Makes room for one more; call it after a slot was filled.
    void note_one() {
        if (10 * ++count_ <= 7 * slots_.size()) return;
        Slots old(slots_.size() + slots_.size() / 3 + 64);
        old.swap(slots_);
        for (size_t at = 0; at < old.size(); ++at)
            if (old[at].depth != 0) find(old[at].fingerprint) = old[at];
    }

    size_t bytes() const { return slots_.bytes(); }

  private:
    // The upper bits choose the shard, so the others are spread over the slots.
    size_t home(uint64_t fingerprint) const {
        const uint64_t rest = fingerprint << kShardBits;
        return static_cast<size_t>(static_cast<unsigned __int128>(rest) * slots_.size() >> 64);
    }

    Slots slots_;
    size_t count_ = 0;
};

class Visited {
  public:
    Visited() : shards_(kShards) {}

    void prefetch(uint64_t fingerprint) const { shards_[number(fingerprint)].prefetch(fingerprint); }
    State& find(uint64_t fingerprint) { return shards_[number(fingerprint)].find(fingerprint); }
    void note_one(uint64_t fingerprint) { shards_[number(fingerprint)].note_one(); }

    size_t bytes() const {
        size_t total = 0;
        for (const VisitedShard& shard : shards_) total += shard.bytes();
        return total;
    }

  private:
    static size_t number(uint64_t fingerprint) { return fingerprint >> (64 - kShardBits); }

    std::vector<VisitedShard> shards_;
};

}  // namespace worldline
