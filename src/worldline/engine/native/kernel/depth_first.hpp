// Depth-first exploration within a bound on depth; engine/depth_first.py is its reference.
//
// It goes on until something is lacking, is asked to pause, or is over; then it can be
// resumed where it stands. A state met again nearer to the start is expanded again.
#pragma once

#include <cstdint>
#include <vector>

#include "successors.hpp"
#include "visited.hpp"

namespace worldline {

// Something found, with the outcomes that led there.
struct Finding {
    int32_t kind;  // number of the watch; -1: a failed outcome; -2: nothing but faults
    int32_t root;
    std::vector<int32_t> leaves;
};

class DepthFirst {
  public:
    struct Check {
        int32_t decision;
        bool target, fatal;
        bool is_hit = false;
    };

    DepthFirst(Tables& tables, int32_t most_depth, int64_t most_states, bool keeps_going,
               int32_t prune, int32_t done)
        : tables_(tables), look_(tables), most_depth_(most_depth), most_states_(most_states),
          keeps_going_(keeps_going), prune_(prune), done_(done) {}

    std::vector<Check> checks;
    std::vector<Finding> findings;
    int64_t states = 0, generated = 0, pruned = 0, depth = 0;
    bool is_full = false, is_cut = false, is_over = false;

    Misses& misses() { return look_.misses; }

    // Begins at an initial state, unless it was met already.
    void begin(const int32_t* row, int32_t root) {
        tables_.settle();
        const uint64_t fingerprint = tables_.fingerprint(row);
        root_ = root;
        rows_.assign(row, row + tables_.width);
        if (is_nearer(fingerprint, 1)) push(fingerprint, kUnknown);
    }

    // Visits about `quota` states, or fewer if the gate closes. False if there is nothing
    // left to do.
    bool step(int64_t quota) {
        misses().clear();
        tables_.settle();
        while (!stack_.empty() && !is_over && !is_full && quota > 0 && !is_closed(quota)) {
            Frame& top = stack_.back();
            bool is_done = true;
            if (top.stage == Stage::kExamine)
                is_done = examine(top);
            else if (top.stage == Stage::kExpand)
                is_done = expand(top), --quota;
            else
                go_on(top);
            if (is_done) continue;
            tables_.set_clock(static_cast<int32_t>(stack_.size()) + 1);
            misses().settle(tables_);
            if (!misses().empty()) return true;
        }
        return !stack_.empty() && !is_over && !is_full;
    }

    // States on the path that is being explored.
    int64_t path_size() const { return static_cast<int64_t>(stack_.size()); }

  private:
    enum class Stage { kExamine, kExpand, kIterate };

    struct Frame {
        uint64_t fingerprint;
        int32_t leaf;   // that led here
        Stage stage;
        size_t begin, next;  // its successors, and which comes next
        size_t check;        // the next to be evaluated
    };

    const int32_t* row() const { return &rows_[(stack_.size() - 1) * tables_.width]; }

    // The clock is looked at for every few states.
    static bool is_closed(int64_t quota) { return quota % 64 == 0 && gate().is_closed(); }

    bool is_nearer(uint64_t fingerprint, uint32_t at) {
        const State& known = visited_.find(fingerprint);
        return known.depth == 0 || at < known.depth;
    }

    // Visits a state whose row is at the end of `rows_` already.
    void push(uint64_t fingerprint, int32_t leaf) {
        const auto at = static_cast<uint32_t>(stack_.size() + 1);
        State& known = visited_.find(fingerprint);
        const bool is_new = known.depth == 0;
        if (is_new && states >= most_states_) {
            is_full = true;
            return;
        }
        known = State{fingerprint, 0, leaf, at};
        if (is_new) {
            visited_.note(fingerprint);
            ++states;
            depth = std::max<int64_t>(depth, at);
        }
        const Stage stage = is_new ? Stage::kExamine : Stage::kExpand;
        stack_.push_back(Frame{fingerprint, leaf, stage, found_.size(), found_.size(), 0});
    }

    bool examine(Frame& top) {
        for (; top.check < checks.size(); ++top.check) {
            Check& check = checks[top.check];
            if (check.is_hit) continue;
            const int32_t verdict = look_.decide(check.decision, row());
            if (verdict == kUnknown) return false;
            if ((verdict == kTrue) != check.target) continue;
            check.is_hit = true;
            report(static_cast<int32_t>(top.check), kUnknown);
            is_over |= check.fatal && !keeps_going_;
        }
        top.stage = Stage::kExpand;
        return true;
    }

    bool expand(Frame& top) {
        if (static_cast<int32_t>(stack_.size()) == most_depth_) {
            is_cut = true;
            top.stage = Stage::kIterate;
            return true;
        }
        if (prune_ != kUnknown) {
            const int32_t verdict = look_.decide(prune_, row());
            if (verdict == kUnknown) return false;
            if (verdict == kTrue) {
                ++pruned;
                top.stage = Stage::kIterate;
                return true;
            }
        }
        if (!look_.all(row(), top.fingerprint, fresh_) || !ends_well()) return false;
        generated += static_cast<int64_t>(fresh_.size());
        found_.insert(found_.end(), fresh_.begin(), fresh_.end());
        top.stage = Stage::kIterate;
        return true;
    }

    // Notes the first state that is not done and where only faults can happen.
    bool ends_well() {
        if (done_ == kUnknown || has_deadlock_) return true;
        for (const Successor& one : fresh_)
            if (!tables_.entries[tables_.leaves[one.leaf].entry].fault) return true;
        const int32_t verdict = look_.decide(done_, row());
        if (verdict == kUnknown) return false;
        if (verdict == kFalse) {
            has_deadlock_ = true;
            report(-2, kUnknown);
            is_over |= !keeps_going_;
        }
        return true;
    }

    // Goes to the next successor of the state on top, or back.
    void go_on(Frame& top) {
        if (top.next == found_.size()) {
            found_.resize(top.begin);
            stack_.pop_back();
            rows_.resize(stack_.size() * tables_.width);
            return;
        }
        const Successor one = found_[top.next++];
        const Leaf& leaf = tables_.leaves[one.leaf];
        if (leaf.failed) {
            report(-1, one.leaf);
            is_over |= !keeps_going_;
        } else if (is_nearer(one.fingerprint, static_cast<uint32_t>(stack_.size() + 1))) {
            const size_t width = static_cast<size_t>(tables_.width), size = rows_.size();
            rows_.resize(size + width);
            std::memcpy(&rows_[size], &rows_[size - width], 4 * width);
            tables_.apply(leaf, &rows_[size]);
            push(one.fingerprint, one.leaf);
        }
    }

    void report(int32_t kind, int32_t last) {
        Finding found{kind, root_, {}};
        for (size_t at = 1; at < stack_.size(); ++at) found.leaves.push_back(stack_[at].leaf);
        if (last != kUnknown) {
            for (const Finding& known : findings)
                if (known.kind == kind && known.leaves.back() == last) return;
            found.leaves.push_back(last);
        }
        findings.push_back(found);
    }

    Tables& tables_;
    Successors look_;
    const int32_t most_depth_;
    const int64_t most_states_;
    const bool keeps_going_;
    const int32_t prune_, done_;
    bool has_deadlock_ = false;
    int32_t root_ = 0;
    Visited visited_;
    std::vector<Frame> stack_;
    std::vector<int32_t> rows_;     // of the states on the stack
    std::vector<Successor> found_;  // of the states on the stack, one after another
    Found fresh_;
};

}  // namespace worldline
