// What an event can do in a row: the leaves that its outcome tree leads to.
#pragma once

#include <cstdint>

#include "misses.hpp"
#include "tables.hpp"

namespace worldline {

// Finds the leaves of outcome trees. What is lacking becomes a miss.
class Outcomes {
  public:
    Outcomes(const Tables& tables, Misses& misses) : tables_(tables), misses_(misses) {}

    // Where the tree of the last search ended that returned false.
    uint64_t gap() const { return gap_; }

    // Calls `take` with each leaf that the row's answers lead to, in order, and `ask` with
    // each column that is asked. False at a gap in the tree.
    template <typename Ask, typename Take>
    bool visit(int32_t number, const int32_t* row, const Ask& ask, const Take& take) {
        const Tree& tree = tables_.trees[number];
        if (tree.kind == TreeKind::kLeaves) {
            for (const int32_t leaf : tree.items) take(leaf);
            return true;
        }
        if (tree.kind == TreeKind::kFork) {
            for (const auto& child : tree.children)
                if (!visit(child.second, row, ask, take)) return false;
            return true;
        }
        ask(tree.column);
        int32_t value = row[tree.column];
        for (const int32_t operation : tree.items)
            if (!change(operation, value)) return true;  // the miss is noted
        const int32_t answer = tables_.answers.get(tree.answers, value);
        if (answer == kUnknown) {
            misses_.add(Lack::kAnswer, number, value, 0, nullptr);
            return true;
        }
        for (const auto& child : tree.children)
            if (child.first == answer) return visit(child.second, row, ask, take);
        gap_ = static_cast<uint64_t>(number) << 32 | static_cast<uint32_t>(answer);
        return false;
    }

    // Lets an operation change a value. False, with a miss, if it is unknown how.
    bool change(int32_t operation, int32_t& value) {
        const int32_t after = tables_.effects.get(operation, value).after;
        if (after == kUnknown)
            misses_.add(Lack::kApply, operation, value, 0, nullptr);
        else
            value = after;
        return after != kUnknown;
    }

  private:
    const Tables& tables_;
    Misses& misses_;
    uint64_t gap_ = 0;
};

}  // namespace worldline
