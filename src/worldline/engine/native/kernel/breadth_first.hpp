// Breadth-first exploration, level by level, on any number of threads.
//
// A batch of states is expanded into candidates, sorted by the shard of the visited set
// that they belong to; then each shard takes in its candidates, by one thread. So no
// two threads ever write to the same place. Of the parents that a state has in the level
// before, the one with the least fingerprint is kept: so counts, depth and reported paths
// depend on content alone, neither on threads nor on the order of work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "canonical.hpp"
#include "frontier.hpp"
#include "parallel.hpp"
#include "sample.hpp"
#include "successors.hpp"
#include "visited.hpp"

namespace worldline {

// A predicate evaluated on every state, and the verdict that is to be reported.
struct Watch {
    int32_t decision;
    bool target;
    bool is_over = false;          // something was found at an earlier level
    uint64_t fingerprint = ~0ULL;  // of the state: the least of its level
};

// An outcome that is a failure, or (leaf -1) a state where only faults can happen.
struct Ending {
    uint64_t fingerprint;
    int32_t leaf;
};

class BreadthFirst {
  public:
    BreadthFirst(Tables& tables, int32_t threads, int64_t worth_threads, int64_t most_states,
                 int32_t prune, int32_t done)
        : misses(tables.width), tables_(tables), packing_(tables), row_(tables.width),
          worth_threads_(worth_threads), most_states_(most_states), prune_(prune), done_(done) {
        part_bits_ = threads > 1 ? kShardBits : 0;
        for (int32_t n = 0; n < threads; ++n) workers_.emplace_back(tables, 1 << part_bits_);
        parts_.resize(size_t{1} << part_bits_);
    }

    Misses misses;
    std::vector<Watch> watches;
    std::vector<Ending> endings;
    int64_t generated = 0, pruned = 0;
    std::atomic<int64_t> states{0};
    std::atomic<bool> is_full{false};  // one more state than allowed was met

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

    // With symmetry, the row is canonical.
    void add_root(const int32_t* row, int32_t number) {
        tables_.settle();
        refit();
        const uint64_t fingerprint = tables_.fingerprint(row);
        ++generated;
        State& slot = visited_.find(fingerprint);
        if (slot.depth != 0) return;
        if (states >= most_states_) {
            is_full = true;
            return;
        }
        slot = State{fingerprint, 0, -1 - number, depth_};
        ++states;
        prepare(workers_[0]);
        const size_t part = part_of(fingerprint);
        packing_.pack(row, parts_[part].next.add(packing_, fingerprint));
        examine(workers_[0], part, fingerprint);
        collect(workers_[0]);
    }

    // Makes the states found the level that is expanded next. Returns how many they are.
    int64_t advance() {
        level_.chunks.clear();
        for (Part& part : parts_) level_.take(part.next);
        pending_ = 0;
        for (const Chunk& chunk : level_.chunks) pending_ += chunk.size();
        cursor_ = 0;
        ++depth_;
        for (Watch& watch : watches) watch.is_over |= watch.fingerprint != ~0ULL;
        return pending_;
    }

    // Expands about `quota` states, or fewer if `misses` have to be served first.
    // Returns how many of the level are left, states with missing verdicts included.
    int64_t step(int64_t quota) {
        misses.clear();
        tables_.settle();
        while (quota > 0 && !is_full) {
            refit();
            if (!examine()) break;
            if (pending_ == 0) break;
            quota -= batch();
            misses.settle(tables_);
            if (!misses.empty()) break;
        }
        int64_t undecided = 0;
        for (const Part& part : parts_) undecided += static_cast<int64_t>(part.undecided.size());
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
        size_t total = visited_.bytes() + level_.bytes();
        for (const Part& part : parts_) total += part.next.bytes();
        return total;
    }

  private:
    static constexpr size_t kMostMisses = 4096;

    struct Candidate {
        uint64_t fingerprint, parent;
        int32_t leaf;
        Position at;  // of the parent
    };

    struct Undecided {
        Position at;
        int32_t watch;
    };

    // A part of the visited set, whole shards, and the states of the next level there.
    struct Part {
        Frontier next;
        std::vector<Undecided> undecided;
    };

    // The candidates met last: neighbours have many successors in common. A state that is
    // known from a lesser parent need not be looked up again.
    class Recent {
      public:
        bool knows(uint64_t fingerprint, uint64_t parent) {
            Edge& edge = edges_[fingerprint & (edges_.size() - 1)];
            if (edge.fingerprint == fingerprint && edge.parent <= parent) return true;
            edge = Edge{fingerprint, parent};
            return false;
        }

      private:
        struct Edge {
            uint64_t fingerprint = 0, parent = ~0ULL;
        };

        std::vector<Edge> edges_ = std::vector<Edge>(1 << 12);
    };

    // What one thread needs for itself.
    struct Worker {
        Worker(const Tables& tables, int32_t parts)
            : look(tables), row(tables.width), folded(tables.width), candidates(parts) {}

        Successors look;
        std::optional<Canonical> canonical;  // with symmetry
        Sample expanded, examined;
        std::vector<int32_t> row, folded;
        std::vector<Successor> found;
        Recent recent;
        std::vector<std::vector<Candidate>> candidates;  // by part
        std::vector<Position> retry;
        std::vector<std::pair<uint32_t, uint32_t>> finished;  // chunk, how many of it
        std::vector<Ending> endings;
        std::vector<uint64_t> hits;  // for each watch, the least fingerprint that fits
        size_t produced = 0;
        int64_t tried = 0, generated = 0, pruned = 0;
    };

    void refit() {
        if (packing_.fits(tables_)) return;
        const Packing fresh(tables_);
        level_.repack(packing_, fresh, row_);
        for (Part& part : parts_) part.next.repack(packing_, fresh, row_);
        packing_ = fresh;
    }

    // Expands a batch and takes in what was found. Returns how many states were tried.
    int64_t batch() {
        const size_t threads = pending_ < worth_threads_ ? 1 : workers_.size();
        for (Worker& worker : workers_) prepare(worker);
        std::atomic<size_t> next_retry{0}, next_chunk{cursor_};
        std::vector<Position> retry;
        retry.swap(retry_);
        parallel(threads, [&](size_t n) { expand(workers_[n], retry, next_retry, next_chunk); });
        cursor_ = std::min(next_chunk.load(), level_.chunks.size());
        for (size_t at = next_retry; at < retry.size(); ++at) retry_.push_back(retry[at]);
        std::atomic<size_t> next_part{0};
        parallel(threads, [&](size_t n) {
            for (size_t part; (part = next_part++) < parts_.size();) take_in(workers_[n], part);
        });
        int64_t tried = 0;
        for (Worker& worker : workers_) tried += collect(worker);
        return tried;
    }

    void prepare(Worker& worker) {
        worker.look.misses.clear();
        worker.retry.clear();
        worker.finished.clear();
        worker.endings.clear();
        for (auto& candidates : worker.candidates) candidates.clear();
        worker.hits.assign(watches.size(), ~0ULL);
        worker.produced = 0;
        worker.tried = worker.generated = worker.pruned = 0;
    }

    // Takes over what a thread did in a batch. Returns how many states it tried.
    int64_t collect(Worker& worker) {
        for (const Position at : worker.retry) retry_.push_back(at);
        for (const Ending& ending : worker.endings) note(ending);
        misses.add_all(worker.look.misses);
        for (size_t at = 0; at < watches.size(); ++at)
            watches[at].fingerprint = std::min(watches[at].fingerprint, worker.hits[at]);
        for (const auto& part : worker.finished) {
            level_.chunks[part.first].finish(part.second);
            pending_ -= part.second;
        }
        generated += worker.generated;
        pruned += worker.pruned;
        return worker.tried;
    }

    // Of the endings by one outcome, only the first in order of fingerprints counts.
    void note(const Ending& ending) {
        for (Ending& known : endings) {
            if (known.leaf != ending.leaf) continue;
            known.fingerprint = std::min(known.fingerprint, ending.fingerprint);
            return;
        }
        endings.push_back(ending);
    }

    // Candidates of one thread. One alone goes in small steps, so that the slots which
    // it has fetched ahead are still at hand.
    size_t batch_size() const { return part_bits_ == 0 ? 1 << 13 : 1 << 16; }

    void expand(Worker& worker, const std::vector<Position>& retry, std::atomic<size_t>& next_retry,
                std::atomic<size_t>& next_chunk) {
        const auto is_done = [&] {
            return worker.produced >= batch_size() || worker.look.misses.size() >= kMostMisses;
        };
        for (size_t at; !is_done() && (at = next_retry++) < retry.size();)
            expand_one(worker, retry[at]);
        if (next_retry < retry.size()) return;
        for (size_t at; !is_done() && (at = next_chunk++) < level_.chunks.size();)
            for (uint32_t row = 0; row < level_.chunks[at].size(); ++row)
                expand_one(worker, static_cast<Position>(at << kChunkBits | row));
    }

    void expand_one(Worker& worker, Position at) {
        ++worker.tried;
        packing_.unpack(level_.words(packing_, at), worker.row.data());
        const uint64_t fingerprint = level_.fingerprint(at);
        if (prune_ != kUnknown) {
            const int32_t verdict = worker.look.decide(prune_, worker.row.data());
            if (verdict == kUnknown) return worker.retry.push_back(at);
            if (verdict == kTrue) {
                ++worker.pruned;
                return finish(worker, at);
            }
        }
        if (!worker.look.all(worker.row.data(), fingerprint, worker.found) ||
            !ends_well(worker, fingerprint))
            return worker.retry.push_back(at);
        if (worker.canonical && !fold(worker)) return worker.retry.push_back(at);
        worker.expanded.add(sample_, tables_.width, fingerprint, [&](int32_t* out) {
            std::copy(worker.row.begin(), worker.row.end(), out);
        });
        finish(worker, at);
        worker.generated += static_cast<int64_t>(worker.found.size());
        worker.produced += worker.found.size();
        for (const Successor& one : worker.found) {
            if (tables_.leaves[one.leaf].failed) {
                worker.endings.push_back(Ending{fingerprint, one.leaf});
                continue;
            }
            if (worker.recent.knows(one.fingerprint, fingerprint)) continue;
            worker.candidates[part_of(one.fingerprint)].push_back(
                Candidate{one.fingerprint, fingerprint, one.leaf, at});
        }
    }

    // Gives successors the fingerprints of their canonical rows. False if something is
    // lacking. One that was met is canonical: only such rows are visited.
    bool fold(Worker& worker) {
        bool is_known = true;
        for (Successor& one : worker.found) {
            const Leaf& leaf = tables_.leaves[one.leaf];
            if (leaf.failed || visited_.find(one.fingerprint).depth != 0) continue;
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
        if (done_ == kUnknown) return true;
        for (const Successor& one : worker.found)
            if (!tables_.entries[tables_.leaves[one.leaf].entry].fault) return true;
        const int32_t verdict = worker.look.decide(done_, worker.row.data());
        if (verdict == kFalse) worker.endings.push_back(Ending{fingerprint, kUnknown});
        return verdict != kUnknown;
    }

    size_t part_of(uint64_t fingerprint) const {
        return part_bits_ == 0 ? 0 : fingerprint >> (64 - part_bits_);
    }

    // Adds the candidates of one part to the visited set and to the next level.
    void take_in(Worker& worker, size_t part) {
        for (const Worker& source : workers_) {
            const Candidate* one = source.candidates[part].data();
            const Candidate* end = one + source.candidates[part].size();
            const Candidate* ahead = std::min(one + kAhead, end);
            for (; one != end; ++one) {
                if (ahead != end) visited_.prefetch((ahead++)->fingerprint);
                State& slot = visited_.find(one->fingerprint);
                if (slot.depth == depth_) {
                    if (one->parent < slot.parent) {
                        slot.parent = one->parent;
                        slot.leaf = one->leaf;
                    }
                } else if (slot.depth == 0 && !add(worker, part, slot, *one)) {
                    return;
                }
            }
        }
    }

    // Adds a new state; false if it is one too many.
    bool add(Worker& worker, size_t part, State& slot, const Candidate& one) {
        if (states.fetch_add(1) >= most_states_) {
            --states;
            is_full = true;
            return false;
        }
        slot = State{one.fingerprint, one.parent, one.leaf, depth_};
        uint64_t* words = parts_[part].next.add(packing_, one.fingerprint);
        if (worker.canonical) {
            packing_.unpack(level_.words(packing_, one.at), worker.folded.data());
            tables_.apply(tables_.leaves[one.leaf], worker.folded.data());
            uint64_t fingerprint = tables_.fingerprint(worker.folded.data());
            worker.canonical->canonical(worker.folded.data(), fingerprint);
            packing_.pack(worker.folded.data(), words);
        } else {
            std::memcpy(words, level_.words(packing_, one.at), 8 * packing_.words);
            packing_.apply(tables_, tables_.leaves[one.leaf], words);
        }
        examine(worker, part, one.fingerprint);
        return true;
    }

    // Counts the state that was added to a part last, and evaluates all predicates on it.
    void examine(Worker& worker, size_t number, uint64_t fingerprint) {
        Part& part = parts_[number];
        visited_.note_one(fingerprint);
        const Position at = part.next.last();
        worker.examined.add(sample_, tables_.width, fingerprint, [&](int32_t* out) {
            packing_.unpack(part.next.words(packing_, at), out);
        });
        for (size_t watch = 0; watch < watches.size(); ++watch)
            if (!examine(worker, watch, part.next, at))
                part.undecided.push_back(Undecided{at, static_cast<int32_t>(watch)});
    }

    // Evaluates a predicate on a new state. False if its verdict is missing.
    bool examine(Worker& worker, size_t at, const Frontier& states, Position state) {
        const Watch& watch = watches[at];
        const uint64_t fingerprint = states.fingerprint(state);
        if (watch.is_over || watch.fingerprint < fingerprint) return true;
        const PackedRow row(packing_, states.words(packing_, state));
        const int32_t verdict = worker.look.decide(watch.decision, row);
        if (verdict == kUnknown) return false;
        if ((verdict == kTrue) == watch.target)
            worker.hits[at] = std::min(worker.hits[at], fingerprint);
        return true;
    }

    // Evaluates predicates on states whose verdicts were missing. False if some still are.
    bool examine() {
        Worker& worker = workers_[0];
        prepare(worker);
        for (Part& part : parts_) {
            std::vector<Undecided> left;
            for (const Undecided& one : part.undecided)
                if (worker.look.misses.size() >= kMostMisses ||
                    !examine(worker, one.watch, part.next, one.at))
                    left.push_back(one);
            part.undecided.swap(left);
        }
        collect(worker);
        misses.settle(tables_);
        return misses.empty();
    }

    static constexpr size_t kAhead = 16;

    Tables& tables_;
    Packing packing_;
    std::vector<int32_t> row_;
    const int64_t worth_threads_, most_states_;
    const int32_t prune_, done_;
    int32_t sample_ = 0;
    uint32_t depth_ = 1;
    Visited visited_;
    Frontier level_;
    int32_t part_bits_;
    std::vector<Part> parts_;
    std::vector<Worker> workers_;
    std::vector<Position> retry_;
    size_t cursor_ = 0;
    int64_t pending_ = 0;
};

}  // namespace worldline
