// Commuting steps: steps of different nodes that lead to the same state in either order.
//
// A search level by level may leave a step `e` out in a state `s` that was reached from `p`
// by a step `f` of a later node, if `e` can be taken in `p` as well, and `e f` and `f e` lead
// from there to the same state `t`. For after `e` in `p` there is a state that is met no later
// than `s`; if it was met sooner, then `t` is not new, and else `f` leads from it to `t`. If
// `f` is left out there, that is for the sake of a node later still: so somewhere it ends,
// and `t` is found at its level. The step of the last node that leads to `t` is never left
// out. The idea is that of sleep sets (P. Godefroid, "Partial-Order Methods for the
// Verification of Concurrent Systems", 1996, chapter 5), with nothing to be kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tables.hpp"

namespace worldline {

// The footprint of a step, as bits: of columns, and of items in columns.
// Things may share a bit. Unless it is known, a step may touch anything.
struct Footprint {
    static constexpr uint64_t kAnything = ~uint64_t{0};

    int32_t rank = kUnknown;       // the place of its node
    uint64_t holds = kAnything;    // columns that it reads or changes as a whole
    uint64_t changes = kAnything;  // columns that it changes: also those of single items
    uint64_t needs = kAnything;    // items without which it is not possible
    uint64_t puts = kAnything;     // items

    // Whether the same two steps, this one before a later node's, lead to the same state
    // as that one before this. What two nodes put into one collection may come in any
    // order: each queue has one sender.
    bool can_come_before(const Footprint& later) const {
        return rank < later.rank &&
               ((holds & later.changes) | (changes & later.holds) | (needs & later.puts)) == 0;
    }

    // Becomes that of either of two steps.
    void add(const Footprint& other) {
        rank = std::max(rank, other.rank);
        holds |= other.holds;
        changes |= other.changes;
        needs |= other.needs;
        puts |= other.puts;
    }

    static Footprint nothing(int32_t rank) { return {rank, 0, 0, 0, 0}; }
};

// The footprints of outcomes, by number. Each thread has its own.
class Footprints {
  public:
    explicit Footprints(const Tables& tables) : tables_(tables) {}

    // The footprint of an outcome.
    const Footprint& of(int32_t leaf) {
        if (known_.size() <= static_cast<size_t>(leaf)) known_.resize(tables_.leaves.size());
        Known& known = known_[leaf];
        if (!known.is_known) known = {true, work_out(tables_.leaves[leaf])};
        return known.footprint;
    }

  private:
    struct Known {
        bool is_known = false;
        Footprint footprint;
    };

    // Of faults nothing is said, nor of what depends on more than its node has.
    Footprint work_out(const Leaf& leaf) const {
        const Entry& entry = tables_.entries[leaf.entry];
        if (!leaf.is_only || entry.fault || entry.column < 0 || entry.site < 0) return {};
        const Site& site = tables_.sites[entry.site];
        if (site.local != entry.column) return {};
        const int32_t own = is_of_item(site, entry) ? site.columns[site.collection] : kUnknown;
        Footprint found = Footprint::nothing(entry.column);
        found.holds = found.changes = bit_of(entry.column);
        for (const int32_t column : site.columns) {
            if (column == own)
                found.needs |= bit_of(column, entry.item);
            else
                found.holds |= bit_of(column);
        }
        for (int32_t at = leaf.begin; at < leaf.begin + leaf.count; ++at)
            add(tables_.operations[tables_.changes[at]], own, found);
        return found;
    }

    // Whether all that an event needs of a collection is an item, which stays as it is.
    bool is_of_item(const Site& site, const Entry& entry) const {
        return site.collection >= 0 && entry.item >= 0 &&
               !tables_.columns[site.columns[site.collection]].collection->is_links();
    }

    // Only the node itself takes items out of its own collection.
    void add(const Operation& operation, int32_t own, Footprint& found) const {
        const int32_t column = operation.column, item = operation.item;
        found.changes |= bit_of(column);
        if (operation.action == Action::kPut) {
            found.puts |= bit_of(column, item);
        } else if (operation.action == Action::kTake && column == own) {
            found.needs |= bit_of(column, item);
        } else {
            found.holds |= bit_of(column);
        }
    }

    const Tables& tables_;
    std::vector<Known> known_;  // by leaf
};

}  // namespace worldline
