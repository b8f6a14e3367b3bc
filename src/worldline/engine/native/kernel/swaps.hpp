// Which steps can be swapped: those of different nodes that touch nothing in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tables.hpp"

namespace worldline {

// The columns that a step depends on and those it changes, as bits; columns may share one.
// Unless it is known, a step may touch anything.
struct Footprint {
    int32_t rank = kUnknown;  // the place of its node
    uint64_t reads = ~uint64_t{0};
    uint64_t writes = ~uint64_t{0};
    uint64_t sets = ~uint64_t{0};  // of those written, where it does not just put an item in

    static uint64_t bit(int32_t column) { return uint64_t{1} << (column & 63); }

    // Whether the same two steps, this one before a later node's, lead to the same state
    // as that one before this.
    bool can_come_before(const Footprint& later) const {
        return rank < later.rank && (reads & later.writes) == 0 && (writes & later.reads) == 0 &&
               (sets & later.writes) == 0 && (writes & later.sets) == 0;
    }

    // Becomes that of either of two steps.
    void add(const Footprint& other) {
        rank = std::max(rank, other.rank);
        reads |= other.reads;
        writes |= other.writes;
        sets |= other.sets;
    }

    void write(const Operation& operation) {
        writes |= bit(operation.column);
        if (operation.action != Action::kPut) sets |= bit(operation.column);
    }
};

// Knows the footprint of each outcome. Each thread has its own.
class Footprints {
  public:
    explicit Footprints(const Tables& tables) : tables_(tables) {}

    // From now on, there are other groups.
    void forget() { known_.clear(); }

    // The footprint of an outcome that led to a state; of none, for an initial state.
    const Footprint& of(int32_t leaf) {
        static constexpr Footprint kNone;
        if (leaf < 0) return kNone;
        if (known_.size() <= static_cast<size_t>(leaf)) known_.resize(tables_.leaves.size());
        if (!known_[leaf].is_known) known_[leaf] = {true, work_out(tables_.leaves[leaf])};
        return known_[leaf].footprint;
    }

  private:
    struct Known {
        bool is_known = false;
        Footprint footprint;
    };

    // Of faults nothing is said, nor of what is decided by more than the group of its node.
    Footprint work_out(const Leaf& leaf) const {
        const Entry& entry = tables_.entries[leaf.entry];
        if (!leaf.is_only || !leaf.is_simple || entry.fault || entry.column < 0 ||
            entry.site < 0 || tables_.sites[entry.site].local != entry.column)
            return {};
        Footprint found{entry.column, 0, 0, 0};
        for (const Group& group : tables_.groups)
            if (group.first <= entry.site && entry.site < group.last)
                for (const int32_t column : group.columns) found.reads |= Footprint::bit(column);
        found.write(Operation{entry.column});
        for (int32_t at = leaf.begin; at < leaf.begin + leaf.count; ++at)
            found.write(tables_.operations[tables_.changes[at]]);
        return found;
    }

    const Tables& tables_;
    std::vector<Known> known_;  // by leaf
};

}  // namespace worldline
