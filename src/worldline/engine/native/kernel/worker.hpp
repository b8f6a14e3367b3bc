// The private state of each thread of a search level by level.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "canonical.hpp"
#include "frontier.hpp"
#include "judge.hpp"
#include "sample.hpp"
#include "successors.hpp"
#include "visited.hpp"

namespace worldline {

// A predicate evaluated on every state, and the verdict that is nothing to report.
struct Watch {
    int32_t decision;
    int32_t usual;
    bool is_over = false;          // something was found at an earlier level
    uint64_t fingerprint = ~0ULL;  // of the state: the least of its level
    int64_t unseen = 0;            // states in which it was neither true nor false
};

// An outcome that is a failure, or (leaf -1) a state where only faults can happen.
struct Ending {
    uint64_t fingerprint;
    int32_t leaf;
    int32_t place;  // among the successors of the state, which are in canonical order

    bool operator<(const Ending& other) const {
        return std::make_pair(fingerprint, place) < std::make_pair(other.fingerprint, other.place);
    }
};

struct Candidate {
    uint64_t fingerprint, parent;
    int32_t leaf;
    Position at;  // of the parent
};

struct Undecided {
    Position at;
    int32_t watch;
};

// The private state of one thread, in lines of the cache that no other writes to.
struct alignas(128) Worker {
    Worker(const Tables& tables, const Instead& instead)
        : look(tables, instead), judge(tables), row(tables.width), scratch(tables.width) {}

    Successors look;
    Judge<PackedRow> judge;
    std::optional<Canonical> canonical;  // with symmetry
    Sample expanded, examined;
    std::vector<int32_t> row, scratch;  // that is expanded; a successor
    Found found;
    std::vector<Candidate> candidates;  // not yet looked up
    Frontier next;                      // the states it found, of the next level
    Frontier later;                     // the states it put off
    std::vector<Undecided> undecided;   // among them

    // Of one batch:
    std::vector<Position> retry;
    std::vector<std::pair<uint32_t, uint32_t>> finished;  // chunk, how many of it
    std::vector<Ending> endings;
    std::vector<uint64_t> hits;  // for each watch, the least fingerprint that fits
    std::vector<int64_t> unseen;  // for each watch, the states in which it was unseen
    std::array<uint32_t, kShards> added;
    std::vector<std::pair<uint64_t, uint64_t>> keys;  // that are new, by which state
    int64_t tried = 0, generated = 0, left_out = 0, pruned = 0, states = 0;
    int64_t noted = 0, put_off = 0;
    int64_t room = 0;   // how many states it may still add
    int64_t short_of = 0;  // room that a state needed which was not expanded for want of it

    void begin(size_t watches) {
        look.misses.clear();
        retry.clear();
        finished.clear();
        endings.clear();
        hits.assign(watches, ~0ULL);
        unseen.assign(watches, 0);
        added.fill(0);
        keys.clear();
        tried = generated = left_out = pruned = states = room = short_of = 0;
        noted = put_off = 0;
    }

    // Whether it is time to stop: others would soon miss the same.
    bool has_many_misses() const {
        const size_t count = look.misses.size();
        return count >= kMostMisses || (count > 0 && tried >= kEnough);
    }

    static constexpr size_t kMostMisses = 4096;
    static constexpr int64_t kEnough = 4096;  // states to try
};

}  // namespace worldline
