// The expansion of states by one thread: successors are looked up, taken into the visited
// set where they are new, and examined.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "exact.hpp"
#include "visited.hpp"
#include "worker.hpp"

namespace worldline {

// The state that the threads of a breadth-first search share. In a batch they write to nothing of it
// but the visited set and the two flags; the rest changes between batches.
struct Shared {
    Shared(Tables& given, int64_t most_states, int32_t prune, int32_t done)
        : tables(given), most_states(most_states), prune(prune), done(done), packing(given),
          stock(chunk_size()) {}

    Tables& tables;
    const int64_t most_states;
    const int32_t prune, done;  // decisions, or kUnknown
    Packing packing;
    Stock stock;
    Frontier level;  // that is expanded
    Visited visited;
    uint32_t depth = 1;
    int64_t states = 0;
    std::vector<Watch> watches;
    Instead instead;                         // of events that must not happen
    int32_t sample = 0;                      // rows to keep as samples; 0: no symmetry
    std::unique_ptr<WholeStates> whole;      // if they are compared
    bool is_scarce = false;                  // near to `most_states`
    bool by_cost = false;                    // own steps are taken by whose turn it is
    bool forgets = false;                    // and those pruned are not put off
    size_t first_back = 0;                   // chunk of the level from which on states are back
    Hashed<uint64_t> executed{0};            // for each key, the state that took its step first
    std::atomic<bool> is_full{false};        // one more state than allowed was met
    std::atomic<bool> has_collision{false};  // two states have one fingerprint

    size_t chunk_size() const { return kChunkRows * packing.stride(); }
};

// The work that threads share until one of them has many misses.
struct Batch {
    std::vector<Position> retry;
    size_t chunks;  // of the level that are to be visited
    std::atomic<size_t> next_retry, next_chunk;
    std::atomic<int64_t> quota;  // states to visit
    std::atomic<int64_t> room;   // states that may be added
    std::atomic<bool> is_over{false};
};

// Visits the states of a batch in each thread, to expand them or to note their keys.
class Expansion {
  public:
    static constexpr int64_t kSlice = 4096;  // room that a thread takes for itself

    explicit Expansion(Shared& shared) : shared_(shared) {}

    // Visits states of a batch until it is over, or there are many misses.
    template <typename Visit>
    void run(Worker& worker, Batch& batch, const Visit& visit) {
        const auto is_done = [&] {
            return batch.is_over || batch.quota <= 0 || shared_.is_full || meter().is_over();
        };
        // First the rows that met a miss: what they lacked has been worked out since.
        for (size_t at; !is_done() && (at = batch.next_retry++) < batch.retry.size();) {
            visit(worker, batch, batch.retry[at]);
            --batch.quota;
            if (worker.has_many_misses()) batch.is_over = true;
        }
        if (batch.next_retry >= batch.retry.size())
            for (size_t at; !is_done() && (at = batch.next_chunk++) < batch.chunks;) {
                const uint32_t count = shared_.level.chunks[at].count;
                const auto first = static_cast<Position>(at << kChunkBits);
                for (uint32_t row = 0; row < count; ++row) {
                    const uint32_t ahead = row + kAhead;
                    if (ahead < count)
                        shared_.visited.prefetch(shared_.level.fingerprint(shared_.packing, first | ahead));
                    visit(worker, batch, first | row);
                }
                batch.quota -= count;
                if (worker.has_many_misses()) batch.is_over = true;
            }
        take_in(worker);
    }

    // Takes the steps of a state.
    void expand(Worker& worker, Batch& batch, Position at) {
        if (worker.short_of > 0) return worker.retry.push_back(at);
        ++worker.tried;
        const uint64_t fingerprint = unpack(worker, at);
        const int32_t verdict = is_pruned(worker);
        if (verdict == kUnknown) return worker.retry.push_back(at);
        if (verdict == kTrue) {
            ++worker.pruned;
            return finish(worker, at);
        }
        if (!worker.look.all(worker.row.data(), fingerprint, worker.found, last(fingerprint)) ||
            !ends_well(worker, fingerprint))
            return worker.retry.push_back(at);
        if (worker.canonical && !canonicalize(worker)) return worker.retry.push_back(at);
        if (!has_room(worker, batch)) return worker.retry.push_back(at);
        worker.expanded.add(shared_.sample, shared_.tables.width, fingerprint, [&](int32_t* out) {
            std::copy(worker.row.begin(), worker.row.end(), out);
        });
        finish(worker, at);
        if (shared_.by_cost) take_turns(worker, at, fingerprint);
        const auto left_out = static_cast<int64_t>(worker.found.left_out);
        worker.generated += static_cast<int64_t>(worker.found.size()) + left_out;
        worker.left_out += left_out;
        const bool has_failed = worker.found.has_failed;
        for (const Successor& one : worker.found) {
            if (has_failed && shared_.tables.leaves[one.leaf].failed) {
                const auto place = static_cast<int32_t>(&one - worker.found.begin());
                worker.endings.push_back(Ending{fingerprint, one.leaf, place});
                continue;
            }
            worker.candidates.push_back(Candidate{one.fingerprint, fingerprint, one.leaf, at});
        }
        if (worker.candidates.size() >= kEnough) take_in(worker);
    }

    // Notes the keys of the own steps that a state could take as the first.
    void note(Worker& worker, Position at) {
        ++worker.tried;
        const uint64_t fingerprint = unpack(worker, at);
        const int32_t verdict = is_pruned(worker);
        if (verdict == kUnknown) return worker.retry.push_back(at);
        if (verdict == kFalse) {
            const int32_t* row = worker.row.data();
            const auto is_new = [&](int32_t event) {
                return shared_.executed.get(key_of(event, row)) == 0;
            };
            const auto note = [&](int32_t event) {
                worker.keys.emplace_back(key_of(event, row), fingerprint);
            };
            if (!worker.look.own_steps(row, is_new, note)) return worker.retry.push_back(at);
        }
        ++worker.noted;
    }

    // Evaluates all predicates on the state that was added last.
    void examine(Worker& worker, uint64_t fingerprint) {
        const Position at = worker.next.last();
        worker.examined.add(shared_.sample, shared_.tables.width, fingerprint, [&](int32_t* out) {
            shared_.packing.unpack(worker.next.words(shared_.packing, at), out);
        });
        for (size_t watch = 0; watch < shared_.watches.size(); ++watch)
            if (!examine(worker, watch, worker.next, at))
                worker.undecided.push_back(Undecided{at, static_cast<int32_t>(watch)});
    }

    // Evaluates a predicate on a new state. False if its verdict is missing.
    bool examine(Worker& worker, size_t at, const Frontier& states, Position state) {
        const Watch& watch = shared_.watches[at];
        if (watch.is_over) return true;
        const uint64_t fingerprint = states.fingerprint(shared_.packing, state);
        if (watch.fingerprint < fingerprint) return true;
        const PackedRow row(shared_.packing, states.words(shared_.packing, state));
        const int32_t verdict = worker.judge.decide(watch.decision, row, worker.look.misses);
        if (verdict == watch.usual) return true;
        if (verdict == kUnknown) return false;
        if (verdict == kUnseen)
            ++worker.unseen[at];
        else
            worker.hits[at] = std::min(worker.hits[at], fingerprint);
        return true;
    }

  private:
    // Gives a state of the level to a worker; returns its fingerprint.
    uint64_t unpack(Worker& worker, Position at) {
        shared_.packing.unpack(shared_.level.words(shared_.packing, at), worker.row.data());
        return shared_.level.fingerprint(shared_.packing, at);
    }

    // Whether a worker's state is not to be expanded; kUnknown, with a miss.
    int32_t is_pruned(Worker& worker) {
        if (shared_.prune == kUnknown) return kFalse;
        return worker.look.decide(shared_.prune, worker.row.data());
    }

    // The key of an own step: a content hash, the same in engine/consequence.py.
    uint64_t key_of(int32_t event, const int32_t* row) const {
        const Entry& entry = shared_.tables.entries[event];
        uint64_t key = entry.content;
        for (const int32_t column : entry.own)
            if (column >= 0) key ^= shared_.tables.columns[column].mixes[row[column]];
        return key;
    }

    // Keeps of what was found the steps whose turn it is: of a state that is met first those
    // of the network, and the own ones that it takes as the first of all; of one that is back
    // those that it has not taken yet.
    void take_turns(Worker& worker, Position at, uint64_t fingerprint) {
        const bool is_back = (at >> kChunkBits) >= shared_.first_back;
        int32_t before = kUnknown;
        bool is_turn = false;
        const size_t count = worker.found.size();
        worker.found.keep([&](const Successor& one) {
            const int32_t event = shared_.tables.leaves[one.leaf].entry;
            if (event == before) return is_turn;
            before = event;
            is_turn = !is_back;
            if (shared_.tables.entries[event].is_own())
                is_turn = is_back != (shared_.executed.get(key_of(event, worker.row.data())) == fingerprint);
            return is_turn;
        });
        if (is_back || worker.found.size() == count) return;
        ++worker.put_off;
        if (shared_.forgets) return;
        uint64_t* words = worker.later.add(shared_.packing, shared_.stock, fingerprint);
        std::memcpy(words, shared_.level.words(shared_.packing, at), 8 * shared_.packing.words);
    }

    // The place of the node of an outcome.
    int32_t rank_of(int32_t leaf) const {
        return shared_.tables.entries[shared_.tables.leaves[leaf].entry].column;
    }

    // The outcome that led to a state, if it may commute with the next: not where a
    // state in between may not be expanded, or not yet, or is visited under other names.
    int32_t last(uint64_t fingerprint) {
        const bool may_commute =
            shared_.prune == kUnknown && shared_.sample == 0 && !shared_.by_cost;
        return may_commute ? shared_.visited.leaf_of(fingerprint) : kUnknown;
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
        worker.short_of = fresh;
        batch.is_over = true;
        return false;
    }

    // Gives successors the fingerprints of their canonical rows. False on a miss. One that was met is canonical: only such rows are visited.
    bool canonicalize(Worker& worker) {
        bool is_known = true;
        for (Successor& one : worker.found) {
            const Leaf& leaf = shared_.tables.leaves[one.leaf];
            if (leaf.failed || shared_.visited.knows(one.fingerprint)) continue;
            worker.scratch = worker.row;
            shared_.tables.apply(leaf, worker.scratch.data());
            is_known &= worker.canonical->canonical(worker.scratch.data(), one.fingerprint);
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
        if (shared_.done == kUnknown || worker.found.left_out > 0) return true;
        for (const Successor& one : worker.found)
            if (!shared_.tables.entries[shared_.tables.leaves[one.leaf].entry].fault) return true;
        const int32_t verdict = worker.look.decide(shared_.done, worker.row.data());
        if (verdict == kFalse) worker.endings.push_back(Ending{fingerprint, kUnknown, 0});
        return verdict != kUnknown;
    }

    // Adds the candidates of a thread to the visited set, and what is new to the next level.
    void take_in(Worker& worker) {
        const Candidate* ahead = worker.candidates.data();
        const Candidate* end = ahead + worker.candidates.size();
        const auto rank = [this](int32_t leaf) { return rank_of(leaf); };
        for (size_t n = 0; n < kAhead && ahead != end; ++n)
            shared_.visited.prefetch((ahead++)->fingerprint);
        for (const Candidate& one : worker.candidates) {
            if (ahead != end) shared_.visited.prefetch((ahead++)->fingerprint);
            if (shared_.whole && !shared_.whole->agree(one.fingerprint, row_of(worker, one)))
                shared_.has_collision = true;
            if (shared_.is_scarce && shared_.states + worker.states >= shared_.most_states &&
                !shared_.visited.knows(one.fingerprint)) {
                shared_.is_full = true;
                break;
            }
            const State state{one.fingerprint, one.parent, one.leaf, shared_.depth};
            if (shared_.visited.put(state, rank)) add(worker, one);
        }
        worker.candidates.clear();
    }

    void add(Worker& worker, const Candidate& one) {
        ++worker.states;
        --worker.room;
        ++worker.added[Visited::shard_of(one.fingerprint)];
        uint64_t* words = worker.next.add(shared_.packing, shared_.stock, one.fingerprint);
        if (worker.canonical) {
            shared_.packing.pack(row_of(worker, one), words);
        } else {
            std::memcpy(words, shared_.level.words(shared_.packing, one.at), 8 * shared_.packing.words);
            shared_.packing.apply(shared_.tables, shared_.tables.leaves[one.leaf], words);
        }
        if (!shared_.by_cost) examine(worker, one.fingerprint);
    }

    // The row that a candidate stands for.
    const int32_t* row_of(Worker& worker, const Candidate& one) {
        shared_.packing.unpack(shared_.level.words(shared_.packing, one.at), worker.scratch.data());
        shared_.tables.apply(shared_.tables.leaves[one.leaf], worker.scratch.data());
        uint64_t fingerprint = one.fingerprint;
        if (worker.canonical) worker.canonical->canonical(worker.scratch.data(), fingerprint);
        return worker.scratch.data();
    }

    static constexpr size_t kEnough = 2048;  // candidates to look up together
    static constexpr size_t kAhead = 16;     // slots that are being fetched

    Shared& shared_;
};

}  // namespace worldline
