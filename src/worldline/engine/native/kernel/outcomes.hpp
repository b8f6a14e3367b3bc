// What an event can do in a row: the leaves that its outcome tree leads to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "misses.hpp"
#include "pages.hpp"
#include "tables.hpp"

namespace worldline {

// Finds the leaves of outcome trees. What the tables lack becomes a miss.
class Outcomes {
  public:
    Outcomes(const Tables& tables, Misses& misses) : tables_(tables), misses_(misses) {}

    // Where the tree of the last search ended that returned false.
    uint64_t gap() const { return gap_; }

    // Calls `take` with each leaf that the row's answers lead to, in order, and `ask` with
    // each column that is asked. `what` is a leaf or a tree as in `Outcome`. False at a gap
    // in the tree.
    template <typename Ask, typename Take>
    bool visit(int32_t what, const int32_t* row, const Ask& ask, const Take& take) {
        while (what % 2 != 0) {
            const int32_t number = what / 2;
            const Asked* asked = asked_.find(number);
            if (asked == nullptr || asked->room == 0) {
                const Tree& tree = tables_.trees[number];
                if (tree.kind == TreeKind::kLeaves) {
                    for (const int32_t leaf : tree.items) take(leaf);
                    return true;
                }
                if (tree.kind == TreeKind::kFork) {
                    for (const auto& child : tree.children)
                        if (!visit(2 * child.second + 1, row, ask, take)) return false;
                    return true;
                }
                asked = &learn(number, tree.column);
            }
            ask(asked->column);
            what = next(number, *asked, row[asked->column]);
            if (what < 0) return what != kGap;
        }
        take(what / 2);
        return true;
    }

    // Lets an operation change a value. False, with a miss, if it is unknown how.
    bool change(int32_t operation, int32_t& value) {
        const int32_t after = tables_.effects.get(operation, value).after;
        if (after == kUnknown)
            misses_.add(MissKind::kApply, operation, value, 0, nullptr);
        else
            value = after;
        return after != kUnknown;
    }

  private:
    static constexpr int32_t kGap = -2;
    static constexpr uint32_t kMost = 256, kLeast = 16;

    // A question, and what comes next by value, for small ones.
    struct Asked {
        int32_t column = 0;
        uint32_t begin = 0, room = 0;
    };

    const Asked& learn(int32_t number, int32_t column) {
        const auto many = static_cast<uint32_t>(2 * tables_.columns[column].size());
        const uint32_t room = std::max(kLeast, std::min(kMost, many));
        Asked& asked = asked_.reach(number);
        asked = Asked{column, static_cast<uint32_t>(next_.size()), room};
        next_.resize(next_.size() + room, kUnknown);
        return asked;
    }

    // Returns what comes after a question: kUnknown, with a miss, if the answer is unknown,
    // kGap if that is in the tree.
    int32_t next(int32_t number, const Asked& asked, int32_t value) {
        if (static_cast<uint32_t>(value) >= asked.room) return look_up(number, value);
        int32_t& what = next_[asked.begin + static_cast<uint32_t>(value)];
        if (what >= 0) return what;
        const int32_t found = look_up(number, value);
        if (found >= 0) what = found;
        return found;
    }

    int32_t look_up(int32_t number, int32_t value) {
        const Tree& tree = tables_.trees[number];
        for (const int32_t operation : tree.items)
            if (!change(operation, value)) return kUnknown;
        const int32_t answer = tables_.answers.get(tree.answers, value);
        if (answer == kUnknown) {
            misses_.add(MissKind::kAnswer, number, value, 0, nullptr);
            return kUnknown;
        }
        for (const auto& child : tree.children) {
            if (child.first != answer) continue;
            const Tree& after = tables_.trees[child.second];
            const bool is_leaf = after.kind == TreeKind::kLeaves && after.items.size() == 1;
            return is_leaf ? 2 * after.items[0] : 2 * child.second + 1;
        }
        gap_ = static_cast<uint64_t>(number) << 32 | static_cast<uint32_t>(answer);
        return kGap;
    }

    const Tables& tables_;
    Misses& misses_;
    uint64_t gap_ = 0;
    Pages<Asked> asked_;         // by number of the tree
    std::vector<int32_t> next_;  // as in `Outcome`
};

}  // namespace worldline
