// Breadth-first exploration, level by level, on any number of threads.
//
// Threads take chunks of a level, and share nothing that is written to but the visited set:
// what one leaves for another to read has to travel between their caches. They meet where
// something is lacking, or the set has to grow.
//
// Of the steps that lead to a state from the level before, that of the last node is kept,
// and of these the one from the least fingerprint: so counts, depth and reported paths
// depend on content alone, neither on threads nor on the order of work. And where two
// steps can be swapped (swaps.hpp), only that order is looked up which could be kept.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "crew.hpp"
#include "exact.hpp"
#include "periphery.hpp"
#include "visited.hpp"
#include "worker.hpp"

namespace worldline {

class BreadthFirst {
  public:
    BreadthFirst(Tables& tables, int32_t threads, int64_t worth_threads, int64_t most_states,
                 int32_t prune, int32_t done)
        : misses(tables.width), tables_(tables), packing_(tables), stock_(chunk_size()),
          row_(tables.width), crew_(threads), worth_threads_(worth_threads),
          most_states_(most_states), prune_(prune), done_(done) {
        for (int32_t n = 0; n < threads; ++n) workers_.emplace_back(tables);
    }

    Misses misses;
    std::vector<Watch> watches;
    std::vector<Ending> endings;
    int64_t states = 0, generated = 0, pruned = 0;
    int64_t left_out = 0;  // of those generated, not looked up
    std::atomic<bool> is_full{false};  // one more state than allowed was met
    std::atomic<bool> has_collision{false};  // two states have one fingerprint

    // Visits only canonical rows from now on, and keeps samples of so many.
    void fold(int32_t sample) {
        sample_ = sample;
        for (Worker& worker : workers_) worker.canonical.emplace(tables_, worker.look.misses);
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
    void be_exact() { whole_ = std::make_unique<WholeStates>(tables_.width); }

    // Keeps the states beyond which nothing new is seen from now on.
    void keep_periphery() { periphery_ = std::make_unique<Periphery>(); }

    // With symmetry, the row is canonical.
    void add_root(const int32_t* row, int32_t number) {
        tables_.settle();
        refit();
        const uint64_t fingerprint = tables_.fingerprint(row);
        ++generated;
        Worker& worker = workers_[0];
        worker.begin(watches.size());
        if (whole_ && !whole_->agree(fingerprint, row)) has_collision = true;
        if (visited_.knows(fingerprint)) return;
        if (states >= most_states_) {
            is_full = true;
            return;
        }
        visited_.put(State{fingerprint, 0, -1 - number, depth_}, [](int32_t) { return 0; });
        visited_.note(fingerprint);
        ++states;
        packing_.pack(row, worker.next.add(packing_, stock_, fingerprint));
        examine(worker, fingerprint);
        collect(worker);
    }

    // Makes the states found the level that is expanded next. Returns how many they are.
    int64_t advance() {
        leave_level();
        for (Worker& worker : workers_) level_.take(worker.next);
        pending_ = 0;
        for (const Chunk& chunk : level_.chunks) pending_ += chunk.count;
        cursor_ = 0;
        ++depth_;
        for (Watch& watch : watches) watch.is_over |= watch.fingerprint != ~0ULL;
        return pending_;
    }

    // Ends the search, with the states that are not expanded yet as the outermost. Returns
    // how many are kept beyond which nothing new was seen.
    int64_t end() {
        leave_level();
        for (Worker& worker : workers_) level_.take(worker.next);
        periphery_->end(packing_, stock_, level_);
        level_.clear(stock_);
        return periphery_->size();
    }

    // Gives the fingerprint of the n-th of these, and its row.
    uint64_t outermost(int64_t number, int32_t* row) const {
        return periphery_->get(packing_, number, row);
    }

    // Expands about `quota` states, or fewer if `misses` have to be served first or the
    // gate closes.
    // Returns how many of the level are left, states with missing verdicts included.
    int64_t step(int64_t quota) {
        misses.clear();
        tables_.settle();
        while (quota > 0 && !is_full && !has_collision && !gate().is_closed()) {
            if (!examine()) break;
            if (pending_ == 0) break;
            quota -= batch(quota);
            misses.settle(tables_);
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
            const State& state = visited_.find(fingerprint);
            if (state.leaf < 0) break;
            leaves.push_back(state.leaf);
            fingerprint = state.parent;
        }
        std::reverse(leaves.begin(), leaves.end());
        return -1 - visited_.find(fingerprint).leaf;
    }

    size_t bytes() const {
        size_t total = visited_.bytes() + level_.bytes(packing_) + stock_.bytes();
        for (const Worker& worker : workers_) total += worker.next.bytes(packing_);
        if (whole_) total += whole_->bytes();
        if (periphery_) total += periphery_->bytes(packing_);
        return total;
    }

  private:
    // Empties a level that was expanded, after noting who is nobody's parent.
    void leave_level() {
        if (periphery_) {
            std::vector<uint64_t> parents;
            for (const Worker& worker : workers_)
                worker.next.each(packing_, [&](uint64_t fingerprint, const uint64_t*) {
                    const State& state = visited_.find(fingerprint);
                    if (parents.empty() || parents.back() != state.parent)
                        parents.push_back(state.parent);
                });
            periphery_->add(packing_, stock_, level_, std::move(parents));
        }
        level_.clear(stock_);
    }

    void refit() {
        if (version_ == tables_.version) return;
        version_ = tables_.version;
        if (packing_.fits(tables_)) return;
        const Packing before = packing_;
        packing_ = Packing(tables_);
        stock_.change(chunk_size());
        level_.repack(before, packing_, stock_, row_);
        if (periphery_) periphery_->repack(before, packing_, stock_, row_);
        for (Worker& worker : workers_) {
            worker.next.repack(before, packing_, stock_, row_);
            worker.judge.forget();
        }
    }

    // Work that threads share until one of them lacks something.
    struct Batch {
        std::vector<Position> retry;
        std::atomic<size_t> next_retry, next_chunk;
        std::atomic<int64_t> quota;  // states to expand
        std::atomic<int64_t> room;   // states that may be added
        std::atomic<bool> is_over{false};
    };

    // The place of the node of an outcome.
    int32_t rank_of(int32_t leaf) const { return tables_.entries[tables_.leaves[leaf].entry].column; }

    // Expands some states. Returns how many were tried.
    int64_t batch(int64_t quota) {
        refit();
        const size_t threads = make_room(pending_ < worth_threads_ ? 1 : workers_.size());
        if (threads == 0) return 0;
        const int64_t spare = static_cast<int64_t>(visited_.spare());
        const int64_t room = is_scarce_ ? spare : std::min(spare, most_states_ - states);
        Batch batch{std::move(retry_), {0}, {cursor_}, {quota}, {room}};
        retry_.clear();
        for (Worker& worker : workers_) worker.begin(watches.size());
        crew_.run(threads, [&](size_t n) { expand(workers_[n], batch); });
        cursor_ = std::min(batch.next_chunk.load(), level_.chunks.size());
        for (size_t at = batch.next_retry; at < batch.retry.size(); ++at)
            retry_.push_back(batch.retry[at]);
        int64_t tried = 0;
        for (Worker& worker : workers_) tried += collect(worker);
        return tried;
    }

    // Lets the visited set grow if little is left. Returns on how many threads to go on:
    // near to the last state that is allowed, one counts exactly; 0 if there is no memory.
    size_t make_room(size_t threads) {
        is_scarce_ = most_states_ - states < static_cast<int64_t>(need_ * threads);
        if (is_scarce_) threads = 1;
        std::atomic<int64_t> left{gate().room()};
        std::atomic<bool> is_short{false};
        crew_.run(threads, [&](size_t n) {
            for (size_t at = n; at < kShards; at += threads) {
                VisitedShard& shard = visited_.shard(at);
                const size_t want = std::max(need_ * threads / kShards + 1, shard.size() / 16);
                if (shard.spare() >= want) continue;
                if (!shard.grow_for(want, left)) is_short = true;
            }
        });
        if (is_short) gate().starve();
        return is_short ? 0 : threads;
    }

    // Takes over what a thread did in a batch. Returns how many states it tried.
    int64_t collect(Worker& worker) {
        for (const Position at : worker.retry) retry_.push_back(at);
        for (const Ending& ending : worker.endings) note(ending);
        misses.add_all(worker.look.misses);
        for (size_t at = 0; at < watches.size(); ++at)
            watches[at].fingerprint = std::min(watches[at].fingerprint, worker.hits[at]);
        for (const auto& part : worker.finished) {
            // The rows of a level are kept until it is known who is nobody's parent.
            if (!periphery_) level_.finish(part.first, part.second, stock_);
            pending_ -= part.second;
        }
        generated += worker.generated;
        left_out += worker.left_out;
        pruned += worker.pruned;
        states += worker.states;
        for (size_t at = 0; at < kShards; ++at) visited_.shard(at).count(worker.added[at]);
        need_ = std::max(need_, static_cast<size_t>(worker.lacks));
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

    // The outcome that led to a state, if it may be swapped with the next: not where a
    // state in between may not be expanded, or is visited under other names.
    int32_t last(uint64_t fingerprint) {
        const bool may_swap = prune_ == kUnknown && sample_ == 0;
        return may_swap ? visited_.leaf_of(fingerprint) : kUnknown;
    }

    void expand(Worker& worker, Batch& batch) {
        const auto is_done = [&] {
            return batch.is_over || batch.quota <= 0 || is_full || gate().is_closed();
        };
        for (size_t at; !is_done() && (at = batch.next_retry++) < batch.retry.size();) {
            expand_one(worker, batch, batch.retry[at]);
            --batch.quota;
            if (worker.lacks_much()) batch.is_over = true;
        }
        if (batch.next_retry >= batch.retry.size())
            for (size_t at; !is_done() && (at = batch.next_chunk++) < level_.chunks.size();) {
                const uint32_t count = level_.chunks[at].count;
                const auto first = static_cast<Position>(at << kChunkBits);
                for (uint32_t row = 0; row < count; ++row) {
                    const uint32_t ahead = row + kAhead;
                    if (ahead < count) visited_.prefetch(level_.fingerprint(packing_, first | ahead));
                    expand_one(worker, batch, first | row);
                }
                batch.quota -= count;
                if (worker.lacks_much()) batch.is_over = true;
            }
        take_in(worker);
    }

    void expand_one(Worker& worker, Batch& batch, Position at) {
        if (worker.lacks > 0) return worker.retry.push_back(at);
        ++worker.tried;
        packing_.unpack(level_.words(packing_, at), worker.row.data());
        const uint64_t fingerprint = level_.fingerprint(packing_, at);
        if (prune_ != kUnknown) {
            const int32_t verdict = worker.look.decide(prune_, worker.row.data());
            if (verdict == kUnknown) return worker.retry.push_back(at);
            if (verdict == kTrue) {
                ++worker.pruned;
                return finish(worker, at);
            }
        }
        if (!worker.look.all(worker.row.data(), fingerprint, worker.found, last(fingerprint)) ||
            !ends_well(worker, fingerprint))
            return worker.retry.push_back(at);
        if (worker.canonical && !fold(worker)) return worker.retry.push_back(at);
        if (!has_room(worker, batch)) return worker.retry.push_back(at);
        worker.expanded.add(sample_, tables_.width, fingerprint, [&](int32_t* out) {
            std::copy(worker.row.begin(), worker.row.end(), out);
        });
        finish(worker, at);
        const auto left_out = static_cast<int64_t>(worker.found.left_out);
        worker.generated += static_cast<int64_t>(worker.found.size()) + left_out;
        worker.left_out += left_out;
        const bool has_failed = worker.found.has_failed;
        for (const Successor& one : worker.found) {
            if (has_failed && tables_.leaves[one.leaf].failed) {
                const auto place = static_cast<int32_t>(&one - worker.found.begin());
                worker.endings.push_back(Ending{fingerprint, one.leaf, place});
                continue;
            }
            worker.candidates.push_back(Candidate{one.fingerprint, fingerprint, one.leaf, at});
        }
        if (worker.candidates.size() >= kEnough) take_in(worker);
    }

    // Whether all that was found can be added, even if all of it is new.
    bool has_room(Worker& worker, Batch& batch) {
        const auto fresh = static_cast<int64_t>(worker.found.size());
        if (static_cast<int64_t>(worker.candidates.size()) + fresh <= worker.room) return true;
        take_in(worker);
        const int64_t want = std::max(fresh, kSlice);
        if (batch.room.fetch_sub(want) >= want)
            worker.room += want;
        else
            batch.room += want;
        if (fresh <= worker.room) return true;
        worker.lacks = fresh;
        batch.is_over = true;
        return false;
    }

    // Gives successors the fingerprints of their canonical rows. False if something is
    // lacking. One that was met is canonical: only such rows are visited.
    bool fold(Worker& worker) {
        bool is_known = true;
        for (Successor& one : worker.found) {
            const Leaf& leaf = tables_.leaves[one.leaf];
            if (leaf.failed || visited_.knows(one.fingerprint)) continue;
            worker.folded = worker.row;
            tables_.apply(leaf, worker.folded.data());
            is_known &= worker.canonical->canonical(worker.folded.data(), one.fingerprint);
        }
        return is_known;
    }

    static void finish(Worker& worker, Position at) {
        const uint32_t chunk = at >> kChunkBits;
        if (worker.finished.empty() || worker.finished.back().first != chunk)
            worker.finished.emplace_back(chunk, 0);
        ++worker.finished.back().second;
    }

    // Notes a state that is not done and where only faults can happen.
    bool ends_well(Worker& worker, uint64_t fingerprint) {
        if (done_ == kUnknown || worker.found.left_out > 0) return true;
        for (const Successor& one : worker.found)
            if (!tables_.entries[tables_.leaves[one.leaf].entry].fault) return true;
        const int32_t verdict = worker.look.decide(done_, worker.row.data());
        if (verdict == kFalse) worker.endings.push_back(Ending{fingerprint, kUnknown, 0});
        return verdict != kUnknown;
    }

    // Adds the candidates of a thread to the visited set, and what is new to the next level.
    void take_in(Worker& worker) {
        const Candidate* ahead = worker.candidates.data();
        const Candidate* end = ahead + worker.candidates.size();
        const auto rank = [this](int32_t leaf) { return rank_of(leaf); };
        for (size_t n = 0; n < kAhead && ahead != end; ++n) visited_.prefetch((ahead++)->fingerprint);
        for (const Candidate& one : worker.candidates) {
            if (ahead != end) visited_.prefetch((ahead++)->fingerprint);
            if (whole_ && !whole_->agree(one.fingerprint, row_of(worker, one))) has_collision = true;
            if (is_scarce_ && states + worker.states >= most_states_ &&
                !visited_.knows(one.fingerprint)) {
                is_full = true;
                break;
            }
            if (visited_.put(State{one.fingerprint, one.parent, one.leaf, depth_}, rank)) add(worker, one);
        }
        worker.candidates.clear();
    }

    void add(Worker& worker, const Candidate& one) {
        ++worker.states;
        --worker.room;
        ++worker.added[Visited::shard_of(one.fingerprint)];
        uint64_t* words = worker.next.add(packing_, stock_, one.fingerprint);
        if (worker.canonical) {
            packing_.pack(row_of(worker, one), words);
        } else {
            std::memcpy(words, level_.words(packing_, one.at), 8 * packing_.words);
            packing_.apply(tables_, tables_.leaves[one.leaf], words);
        }
        examine(worker, one.fingerprint);
    }

    // The row that a candidate stands for.
    const int32_t* row_of(Worker& worker, const Candidate& one) {
        packing_.unpack(level_.words(packing_, one.at), worker.folded.data());
        tables_.apply(tables_.leaves[one.leaf], worker.folded.data());
        uint64_t fingerprint = one.fingerprint;
        if (worker.canonical) worker.canonical->canonical(worker.folded.data(), fingerprint);
        return worker.folded.data();
    }

    // Evaluates all predicates on the state that was added last.
    void examine(Worker& worker, uint64_t fingerprint) {
        const Position at = worker.next.last();
        worker.examined.add(sample_, tables_.width, fingerprint, [&](int32_t* out) {
            packing_.unpack(worker.next.words(packing_, at), out);
        });
        for (size_t watch = 0; watch < watches.size(); ++watch)
            if (!examine(worker, watch, worker.next, at))
                worker.undecided.push_back(Undecided{at, static_cast<int32_t>(watch)});
    }

    // Evaluates a predicate on a new state. False if its verdict is missing.
    bool examine(Worker& worker, size_t at, const Frontier& states, Position state) {
        const Watch& watch = watches[at];
        if (watch.is_over) return true;
        const uint64_t fingerprint = states.fingerprint(packing_, state);
        if (watch.fingerprint < fingerprint) return true;
        const PackedRow row(packing_, states.words(packing_, state));
        const int32_t verdict = worker.judge.decide(watch.decision, row, worker.look.misses);
        if (verdict == kUnknown) return false;
        if ((verdict == kTrue) == watch.target)
            worker.hits[at] = std::min(worker.hits[at], fingerprint);
        return true;
    }

    // Evaluates predicates on states whose verdicts were missing. False if some still are.
    bool examine() {
        Worker& judge = workers_[0];
        judge.begin(watches.size());
        for (Worker& worker : workers_) {
            std::vector<Undecided> left;
            for (const Undecided& one : worker.undecided)
                if (judge.lacks_much() || !examine(judge, one.watch, worker.next, one.at))
                    left.push_back(one);
            worker.undecided.swap(left);
        }
        collect(judge);
        misses.settle(tables_);
        return misses.empty();
    }

    static constexpr size_t kEnough = 2048;  // candidates to look up together
    static constexpr size_t kAhead = 16;     // slots that are being fetched
    static constexpr int64_t kSlice = 4096;  // room that a thread takes for itself

    size_t chunk_size() const { return kChunkRows * packing_.stride(); }

    Tables& tables_;
    Packing packing_;
    int64_t version_ = -1;  // of the tables that rows are packed by
    Stock stock_;
    std::vector<int32_t> row_;
    Crew crew_;
    const int64_t worth_threads_, most_states_;
    const int32_t prune_, done_;
    int32_t sample_ = 0;
    std::unique_ptr<WholeStates> whole_;    // if they are compared
    std::unique_ptr<Periphery> periphery_;  // if it is kept
    uint32_t depth_ = 1;
    Visited visited_;
    Frontier level_;
    std::deque<Worker> workers_;
    std::vector<Position> retry_;
    size_t cursor_ = 0;
    int64_t pending_ = 0;
    bool is_scarce_ = false;  // near to `most_states_`
    size_t need_ = kSlice;  // new states that a thread has to have room for
};

}  // namespace worldline
