// Breadth-first exploration, level by level, on any number of threads.
//
// Threads take chunks of a level, and share nothing that is written to but the visited set:
// what one leaves for another to read has to travel between their caches. They meet where
// there are misses, or the set has to grow.
//
// Of the steps that lead to a state from the level before, that of the last node is kept,
// and of these the one from the least fingerprint: so counts, depth and reported paths
// depend on content alone, neither on threads nor on the order of work. And where two
// steps commute (commute.hpp), only that order is looked up which could be kept.
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
#include "periphery.hpp"

namespace worldline {

class BreadthFirst {
  public:
    BreadthFirst(Tables& tables, int32_t threads, int64_t worth_threads, int64_t most_states,
                 int32_t prune, int32_t done)
        : shared(tables, most_states, prune, done), misses(tables.width), expansion_(shared),
          row_(tables.width), pool_(threads), worth_threads_(worth_threads) {
        for (int32_t n = 0; n < threads; ++n) workers_.emplace_back(tables);
    }

    Shared shared;
    Misses misses;
    std::vector<Ending> endings;
    int64_t generated = 0, pruned = 0;
    int64_t left_out = 0;  // of those generated, not looked up

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

    // Keeps the states beyond which nothing new is seen from now on.
    void keep_periphery() { periphery_ = std::make_unique<Periphery>(); }

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
        expansion_.examine(worker, fingerprint);
        collect(worker);
    }

    // Makes the states found the level that is expanded next. Returns how many they are.
    int64_t advance() {
        leave_level();
        for (Worker& worker : workers_) shared.level.take(worker.next);
        pending_ = 0;
        for (const Chunk& chunk : shared.level.chunks) pending_ += chunk.count;
        cursor_ = 0;
        ++shared.depth;
        for (Watch& watch : shared.watches) watch.is_over |= watch.fingerprint != ~0ULL;
        return pending_;
    }

    // Ends the search, with the states that are not expanded yet as the outermost. Returns
    // how many are kept beyond which nothing new was seen.
    int64_t end() {
        leave_level();
        for (Worker& worker : workers_) shared.level.take(worker.next);
        periphery_->end(shared.packing, shared.stock, shared.level);
        shared.level.clear(shared.stock);
        return periphery_->size();
    }

    // Gives the fingerprint of the n-th of these, and its row.
    uint64_t outermost(int64_t number, int32_t* row) const {
        return periphery_->get(shared.packing, number, row);
    }

    // Expands about `quota` states, or fewer if `misses` have to be resolved first or the
    // meter is over.
    // Returns how many of the level are left, states with missing verdicts included.
    int64_t step(int64_t quota) {
        misses.clear();
        shared.tables.settle();
        while (quota > 0 && !shared.is_full && !shared.has_collision && !meter().is_over()) {
            if (!examine()) break;
            if (pending_ == 0) break;
            quota -= batch(quota);
            misses.settle(shared.tables);
            if (!misses.empty()) break;
        }
        int64_t undecided = 0;
        for (const Worker& worker : workers_)
            undecided += static_cast<int64_t>(worker.undecided.size());
        return pending_ + undecided;
    }

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

    size_t bytes() const {
        size_t total = shared.visited.bytes() + shared.level.bytes(shared.packing) + shared.stock.bytes();
        for (const Worker& worker : workers_) total += worker.next.bytes(shared.packing);
        if (shared.whole) total += shared.whole->bytes();
        if (periphery_) total += periphery_->bytes(shared.packing);
        return total;
    }

  private:
    // Empties a level that was expanded, after noting who is nobody's parent.
    void leave_level() {
        if (periphery_) {
            std::vector<uint64_t> parents;
            for (const Worker& worker : workers_)
                worker.next.each(shared.packing, [&](uint64_t fingerprint, const uint64_t*) {
                    const State& state = shared.visited.find(fingerprint);
                    if (parents.empty() || parents.back() != state.parent)
                        parents.push_back(state.parent);
                });
            periphery_->add(shared.packing, shared.stock, shared.level, std::move(parents));
        }
        shared.level.clear(shared.stock);
    }

    void refit() {
        if (version_ == shared.tables.version) return;
        version_ = shared.tables.version;
        if (shared.packing.fits(shared.tables)) return;
        const Packing before = shared.packing;
        shared.packing = Packing(shared.tables);
        shared.stock.change(shared.chunk_size());
        shared.level.repack(before, shared.packing, shared.stock, row_);
        if (periphery_) periphery_->repack(before, shared.packing, shared.stock, row_);
        for (Worker& worker : workers_) {
            worker.next.repack(before, shared.packing, shared.stock, row_);
            worker.judge.forget();
        }
    }

    // Expands some states. Returns how many were tried.
    int64_t batch(int64_t quota) {
        refit();
        const size_t threads = make_room(pending_ < worth_threads_ ? 1 : workers_.size());
        if (threads == 0) return 0;
        const int64_t spare = static_cast<int64_t>(shared.visited.spare());
        const int64_t room = shared.is_scarce ? spare : std::min(spare, shared.most_states - shared.states);
        Batch batch{std::move(retry_), {0}, {cursor_}, {quota}, {room}};
        retry_.clear();
        for (Worker& worker : workers_) worker.begin(shared.watches.size());
        pool_.run(threads, [&](size_t n) { expansion_.expand(workers_[n], batch); });
        cursor_ = std::min(batch.next_chunk.load(), shared.level.chunks.size());
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
            // The rows of a level are kept until it is known who is nobody's parent.
            if (!periphery_) shared.level.finish(part.first, part.second, shared.stock);
            pending_ -= part.second;
        }
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

    // Evaluates predicates on states whose verdicts were missing. False if some still are.
    bool examine() {
        Worker& judge = workers_[0];
        judge.begin(shared.watches.size());
        for (Worker& worker : workers_) {
            std::vector<Undecided> left;
            for (const Undecided& one : worker.undecided)
                if (judge.has_many_misses() || !expansion_.examine(judge, one.watch, worker.next, one.at))
                    left.push_back(one);
            worker.undecided.swap(left);
        }
        collect(judge);
        misses.settle(shared.tables);
        return misses.empty();
    }

    Expansion expansion_;
    int64_t version_ = -1;  // of the tables that rows are packed by
    std::vector<int32_t> row_;
    ThreadPool pool_;
    const int64_t worth_threads_;
    std::unique_ptr<Periphery> periphery_;  // if it is kept
    std::deque<Worker> workers_;
    std::vector<Position> retry_;
    size_t cursor_ = 0;
    int64_t pending_ = 0;
    size_t need_ = Expansion::kSlice;  // new states that a thread has to have room for
};

}  // namespace worldline
