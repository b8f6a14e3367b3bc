// What searches level by level have in common, on any number of threads.
//
// Threads take chunks of a level, and share nothing that is written to but the visited set:
// what one leaves for another to read has to travel between their caches. They meet where
// there are misses, or the set has to grow.
//
// Of the steps that lead to a state from the level before, that of the last node is kept,
// and of these the one from the least fingerprint: so counts, depth and reported paths
// depend on content alone, neither on threads nor on the order of work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "thread_pool.hpp"
#include "expansion.hpp"

namespace worldline {

class Search {
  public:
    Search(Tables& tables, int32_t threads, int64_t worth_threads, int64_t most_states,
           int32_t prune, int32_t done)
        : shared(tables, most_states, prune, done), misses(tables.width), expansion_(shared),
          row_(tables.width), pool_(threads), worth_threads_(worth_threads) {
        for (int32_t n = 0; n < threads; ++n) workers_.emplace_back(tables, shared.instead);
    }
    virtual ~Search() = default;

    Shared shared;
    Misses misses;
    std::vector<Ending> endings;
    int64_t generated = 0, pruned = 0;
    int64_t left_out = 0;  // of those generated, not looked up
    int64_t put_off = 0;   // states in which own steps were pruned

    // Visits only canonical rows from now on, and keeps samples of so many.
    void reduce(int32_t sample) {
        shared.sample = sample;
        for (Worker& worker : workers_) worker.canonical.emplace(shared.tables, worker.look.misses);
    }

    // Gives rows that were expanded, or that were examined; those with the least keys
    // of all are among them.
    std::vector<const Sample::Kept*> samples(bool of_expanded) const {
        std::vector<const Sample::Kept*> found;
        for (const Worker& worker : workers_)
            for (const auto& one : (of_expanded ? worker.expanded : worker.examined).kept)
                found.push_back(&one);
        return found;
    }

    // Keeps whole states from now on, and compares them wherever fingerprints are equal.
    void be_exact() { shared.whole = std::make_unique<WholeStates>(shared.tables.width); }

    // With symmetry, the row is canonical.
    void add_root(const int32_t* row, int32_t number) {
        shared.tables.settle();
        refit();
        const uint64_t fingerprint = shared.tables.fingerprint(row);
        ++generated;
        Worker& worker = workers_[0];
        worker.begin(shared.watches.size());
        if (shared.whole && !shared.whole->agree(fingerprint, row)) shared.has_collision = true;
        if (shared.visited.knows(fingerprint)) return;
        if (shared.states >= shared.most_states) {
            shared.is_full = true;
            return;
        }
        shared.visited.put(State{fingerprint, 0, -1 - number, shared.depth}, [](int32_t) { return 0; });
        shared.visited.note(fingerprint);
        ++shared.states;
        shared.packing.pack(row, worker.next.add(shared.packing, shared.stock, fingerprint));
        if (!shared.by_cost) expansion_.examine(worker, fingerprint);
        collect(worker);
    }

    // Makes the states found the level that is expanded next. Returns how many they are.
    virtual int64_t advance() = 0;

    // Works on about `quota` states of the level, or fewer if `misses` have to be resolved
    // first or the meter is over.
    // Returns how many of the level are left, states with missing verdicts included.
    virtual int64_t step(int64_t quota) = 0;

    virtual int64_t states() const { return shared.states; }

    // Says which outcomes lead to a state; the result is the number of the initial state.
    int32_t path(uint64_t fingerprint, std::vector<int32_t>& leaves) {
        leaves.clear();
        while (true) {
            const State& state = shared.visited.find(fingerprint);
            if (state.leaf < 0) break;
            leaves.push_back(state.leaf);
            fingerprint = state.parent;
        }
        std::reverse(leaves.begin(), leaves.end());
        return -1 - shared.visited.find(fingerprint).leaf;
    }

    virtual size_t bytes() const {
        size_t total = shared.visited.bytes() + shared.level.bytes(shared.packing) + shared.stock.bytes();
        for (const Worker& worker : workers_)
            total += worker.next.bytes(shared.packing) + worker.later.bytes(shared.packing);
        if (shared.whole) total += shared.whole->bytes();
        return total;
    }

  protected:
    // Packs rows anew that are kept elsewhere than in the level and with the workers.
    virtual void repack(const Packing& before) = 0;

    // Whether the rows of a level are kept until all of it is expanded.
    virtual bool keeps_level() const { return false; }

    void refit() {
        if (version_ == shared.tables.version) return;
        version_ = shared.tables.version;
        if (shared.packing.fits(shared.tables)) return;
        const Packing before = shared.packing;
        shared.packing = Packing(shared.tables);
        shared.stock.change(shared.chunk_size());
        shared.level.repack(before, shared.packing, shared.stock, row_);
        repack(before);
        for (Worker& worker : workers_) {
            worker.next.repack(before, shared.packing, shared.stock, row_);
            worker.later.repack(before, shared.packing, shared.stock, row_);
            worker.judge.forget();
        }
    }

    // Visits some states of the first chunks of a level. Returns how many were tried.
    template <typename Visit>
    int64_t batch(int64_t quota, size_t chunks, const Visit& visit) {
        refit();
        const size_t threads = make_room(pending_ < worth_threads_ ? 1 : workers_.size());
        if (threads == 0) return 0;
        const int64_t spare = static_cast<int64_t>(shared.visited.spare());
        const int64_t room = shared.is_scarce ? spare : std::min(spare, shared.most_states - shared.states);
        Batch batch{std::move(retry_), chunks, {0}, {cursor_}, {quota}, {room}};
        retry_.clear();
        for (Worker& worker : workers_) worker.begin(shared.watches.size());
        pool_.run(threads, [&](size_t n) { expansion_.run(workers_[n], batch, visit); });
        cursor_ = std::min(batch.next_chunk.load(), chunks);
        for (size_t at = batch.next_retry; at < batch.retry.size(); ++at)
            retry_.push_back(batch.retry[at]);
        int64_t tried = 0;
        for (Worker& worker : workers_) tried += collect(worker);
        return tried;
    }

    // Grows the visited set when free slots run low. Returns on how many threads to go on:
    // near to the last state that is allowed, one counts exactly; 0 if there is no memory.
    size_t make_room(size_t threads) {
        shared.is_scarce = shared.most_states - shared.states < static_cast<int64_t>(need_ * threads);
        if (shared.is_scarce) threads = 1;
        std::atomic<int64_t> left{meter().room()};
        std::atomic<bool> is_short{false};
        pool_.run(threads, [&](size_t n) {
            for (size_t at = n; at < kShards; at += threads) {
                VisitedShard& shard = shared.visited.shard(at);
                const size_t want = std::max(need_ * threads / kShards + 1, shard.size() / 16);
                if (shard.spare() >= want) continue;
                if (!shard.grow_for(want, left)) is_short = true;
            }
        });
        if (is_short) meter().starve();
        return is_short ? 0 : threads;
    }

    // Takes over what a thread did in a batch. Returns how many states it tried.
    int64_t collect(Worker& worker) {
        for (const Position at : worker.retry) retry_.push_back(at);
        for (const Ending& ending : worker.endings) note(ending);
        misses.add_all(worker.look.misses);
        for (size_t at = 0; at < shared.watches.size(); ++at) {
            Watch& watch = shared.watches[at];
            watch.fingerprint = std::min(watch.fingerprint, worker.hits[at]);
            watch.unseen += worker.unseen[at];
        }
        for (const auto& part : worker.finished) {
            if (!keeps_level()) shared.level.finish(part.first, part.second, shared.stock);
            pending_ -= part.second;
        }
        pending_ -= worker.noted;
        put_off += worker.put_off;
        generated += worker.generated;
        left_out += worker.left_out;
        pruned += worker.pruned;
        shared.states += worker.states;
        for (size_t at = 0; at < kShards; ++at) shared.visited.shard(at).count(worker.added[at]);
        need_ = std::max(need_, static_cast<size_t>(worker.short_of));
        return worker.tried;
    }

    // Of the endings by one outcome, only the first counts.
    void note(const Ending& ending) {
        for (Ending& known : endings) {
            if (known.leaf != ending.leaf) continue;
            known = std::min(known, ending);
            return;
        }
        endings.push_back(ending);
    }

    Expansion expansion_;
    int64_t version_ = -1;  // of the tables that rows are packed by
    std::vector<int32_t> row_;
    ThreadPool pool_;
    const int64_t worth_threads_;
    std::deque<Worker> workers_;
    std::vector<Position> retry_;
    size_t cursor_ = 0;
    int64_t pending_ = 0;
    size_t need_ = Expansion::kSlice;  // new states that a thread has to have room for
};

}  // namespace worldline
