// The successors of a row: the innermost loop. engine/expand.py is its reference.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "misses.hpp"
#include "outcomes.hpp"
#include "commute.hpp"
#include "instead.hpp"
#include "tables.hpp"

namespace worldline {

struct Successor {
    uint64_t fingerprint;
    int32_t leaf;
};

// The successors of a row. Whoever adds some makes room first, and then need not look.
class Found {
  public:
    Successor* begin() { return items_.data(); }
    Successor* end() { return items_.data() + size_; }
    const Successor* begin() const { return items_.data(); }
    const Successor* end() const { return items_.data() + size_; }
    size_t size() const { return size_; }
    void clear() {
        size_ = left_out = 0;
        has_failed = false;
    }

    bool has_failed = false;  // whether an outcome is a failure
    size_t left_out = 0;      // successors to which another order leads

    // Makes room for some more; returns where they go. Then `close` says where they end.
    Successor* open(size_t count) {
        if (size_ + count > items_.size()) items_.resize(2 * (size_ + count));
        return end();
    }
    void close(const Successor* end) { size_ = static_cast<size_t>(end - items_.data()); }

    void add(const Successor& one) {
        *open(1) = one;
        ++size_;
    }

    // Keeps those that a function is true for, which sees them in order.
    template <typename Wanted>
    void keep(const Wanted& wanted) {
        size_ = static_cast<size_t>(std::remove_if(begin(), end(), [&](const Successor& one) {
                                        return !wanted(one);
                                    }) - begin());
    }

  private:
    std::vector<Successor> items_;
    size_t size_ = 0;
};

// Looks up what can happen in a row. What the tables lack goes to `misses`; then the row has
// to be tried again. It only reads the tables, so each thread has its own.
class Successors {
  public:
    Successors(const Tables& tables, const Instead& instead)
        : misses(tables.width), tables_(tables), instead_(instead), scratch_(tables.width),
          outcomes_(tables, misses), footprints_(tables) {}
    Successors(const Successors&) = delete;

    Misses misses;

    // Gives every successor, in canonical order. False on a miss. Given the
    // outcome that led to the row, and not kUnknown, leaves out the successors to which
    // the same two steps in the other order lead, with the step of a later node last.
    bool all(const int32_t* row, uint64_t fingerprint, Found& out, int32_t leaf = kUnknown) {
        const size_t before = misses.size();
        out.clear();
        out_ = &out;
        if (version_ != tables_.version) forget();
        last_ = leaf < 0 ? Footprint() : footprints_.of(leaf);
        for (size_t number = 0; number < tables_.groups.size(); ++number) {
            const Group& group = tables_.groups[number];
            if (!group.is_small()) {
                of_group(group, row, fingerprint);
                continue;
            }
            int32_t& plan = plans_[number][group.key(row)];
            if (plan == kUnknown) plan = make_plan(group, row);
            if (plan == kUnknown)
                of_group(group, row, fingerprint);
            else
                follow(plan, row, fingerprint);
        }
        return misses.size() == before;
    }

    // Visits the own steps of a row that a function asks for, and that have an outcome
    // there. False on a miss.
    template <typename Wanted, typename Visit>
    bool own_steps(const int32_t* row, const Wanted& wanted, const Visit& visit) {
        const size_t before = misses.size();
        for (size_t number = 0; number < tables_.sites.size(); ++number) {
            const int32_t* list = list_of(number, row);
            for (const int32_t* event = list + 1, *end = event + *list; event != end; ++event)
                if (tables_.entries[*event].is_own() && instead_.of(*event) == nullptr &&
                    wanted(*event) && happens(*event, row))
                    visit(*event);
        }
        return misses.size() == before;
    }

    // Returns the events of a site after their number, those that wait included; none,
    // with a miss, if they are unknown.
    const int32_t* list_of(size_t number, const int32_t* row) {
        static constexpr int32_t kNone = 0;
        const Site& site = tables_.sites[number];
        const int32_t list = site.list_of(row);
        if (list != kUnknown) return &tables_.events[list];
        misses.add(MissKind::kList, static_cast<int32_t>(number), 0, site.hash(row, false), row);
        return &kNone;
    }

    // Returns kTrue, kFalse or, with a miss, kUnknown.
    int32_t decide(int32_t decision, const int32_t* row) {
        std::pair<int32_t, int32_t> stuck;
        const int32_t verdict = tables_.decide(decision, row, stuck);
        if (verdict == kUnknown) misses.add_verdict(decision, stuck, row);
        return verdict;
    }

  private:
    // An outcome as far as the values of a group's columns decide it.
    struct Step {
        uint64_t change;
        int32_t leaf;          // -1 - event: nothing is decided
        int32_t begin, count;  // the operations on other columns
        Footprint footprint;
    };

    struct Rest {
        int32_t operation, column;
    };

    void forget() {
        version_ = tables_.version;
        steps_.clear();
        rest_.clear();
        plans_.assign(tables_.groups.size(), {});
        for (size_t at = 0; at < plans_.size(); ++at)
            if (tables_.groups[at].is_small())
                plans_[at].assign(size_t{1} << tables_.groups[at].bits, kUnknown);
    }

    void of_group(const Group& group, const int32_t* row, uint64_t fingerprint) {
        for (int32_t site = group.first; site < group.last; ++site) {
            const int32_t* list = list_of(site, row);
            for (const int32_t* event = list + 1, *end = event + *list; event != end; ++event)
                outcomes(*event, row, fingerprint);
        }
    }

    // Returns where the steps of a group begin; kUnknown on a miss.
    int32_t make_plan(const Group& group, const int32_t* row) {
        const size_t begin = steps_.size();
        steps_.push_back(Step{0, 0, 0, 0, Footprint::nothing(kUnknown)});
        for (int32_t site = group.first; site < group.last; ++site) {
            const int32_t list = tables_.sites[site].list_of(row);
            for (int32_t at = 1; list != kUnknown && at <= tables_.events[list]; ++at)
                if (!plan_event(group, tables_.events[list + at], row)) {
                    steps_.resize(begin);
                    return kUnknown;
                }
            if (list != kUnknown) continue;
            steps_.resize(begin);
            return kUnknown;
        }
        steps_[begin].count = static_cast<int32_t>(steps_.size() - begin) - 1;
        for (size_t at = begin + 1; at < steps_.size(); ++at)
            steps_[begin].footprint.add(steps_[at].footprint);
        return static_cast<int32_t>(begin);
    }

    bool plan_event(const Group& group, int32_t event, const int32_t* row) {
        const int32_t column = tables_.entries[event].column;
        Step step{0, -1 - event, static_cast<int32_t>(rest_.size()), 0, {}};
        const bool is_elsewhere = column >= 0 && !group.has(column);  // its node is another
        if (is_elsewhere || instead_.of(event) != nullptr) {
            steps_.push_back(step);
            return true;
        }
        const Outcome& outcome = tables_.outcomes.get(event, column < 0 ? 0 : row[column]);
        if (outcome.what == kUnknown) return false;
        if (outcome.what == kNothing) return true;
        step.change = outcome.change;
        if (outcome.what % 2 == 0 && is_plain(tables_.leaves[outcome.what / 2])) {
            step.leaf = outcome.what / 2;
            step.footprint = footprints_.of(step.leaf);
            const Leaf& leaf = tables_.leaves[step.leaf];
            for (int32_t at = leaf.begin; at < leaf.begin + leaf.count; ++at) {
                const int32_t operation = tables_.changes[at];
                const int32_t where = tables_.operations[operation].column;
                if (!group.has(where)) {
                    rest_.push_back(Rest{operation, where});
                    ++step.count;
                    continue;
                }
                const Effect& effect = tables_.effects.get(operation, row[where]);
                if (effect.after == kUnknown) return false;
                step.change ^= effect.change;
            }
        }
        steps_.push_back(step);
        return true;
    }

    // Failures and what changes a column twice are looked at one by one.
    static bool is_plain(const Leaf& leaf) { return leaf.is_simple && !leaf.failed; }

    void follow(int32_t plan, const int32_t* row, uint64_t fingerprint) {
        const Step* step = &steps_[plan] + 1;
        if (step[-1].footprint.can_come_before(last_)) {
            out_->left_out += step[-1].count;
            return;
        }
        const Step* end = step + step[-1].count;
        Successor* out = out_->open(step[-1].count);
        for (; step != end; ++step) {
            if (step->leaf < 0) {
                out_->close(out);
                outcomes(-1 - step->leaf, row, fingerprint);
                out = out_->open(end - step);
                continue;
            }
            if (step->footprint.can_come_before(last_)) {
                ++out_->left_out;
                continue;
            }
            uint64_t changed = fingerprint ^ step->change;
            bool is_known = true;
            const Rest* rest = rest_.data() + step->begin;
            for (const Rest* last = rest + step->count; rest != last; ++rest) {
                const Effect& effect = apply(rest->operation, row[rest->column]);
                is_known &= effect.after != kUnknown;
                changed ^= effect.change;
            }
            *out = Successor{changed, step->leaf};
            out += is_known;
        }
        out_->close(out);
    }

    void outcomes(int32_t event, const int32_t* row, uint64_t fingerprint) {
        const std::vector<int32_t>* instead = instead_.of(event);
        if (instead == nullptr) return outcomes_of(event, row, fingerprint);
        if (!happens(event, row)) return;
        for (const int32_t one : *instead) outcomes_of(one, row, fingerprint);
    }

    void outcomes_of(int32_t event, const int32_t* row, uint64_t fingerprint) {
        const int32_t column = tables_.entries[event].column;
        const int32_t local = column < 0 ? 0 : row[column];
        const Outcome& outcome = tables_.outcomes.get(event, local);
        if (outcome.what >= 0 && outcome.what % 2 == 0) {
            if (column < last_.rank && footprints_.of(outcome.what / 2).can_come_before(last_))
                ++out_->left_out;
            else
                produce(outcome.what / 2, row, fingerprint ^ outcome.change);
        } else if (outcome.what == kUnknown) {
            misses.add(MissKind::kOutcome, event, local, 0, row);
        } else if (outcome.what >= 0) {
            const auto take = [&](int32_t leaf) { produce_from_tree(leaf, row, fingerprint); };
            if (!outcomes_.visit(outcome.what, row, [](int32_t) {}, take))
                misses.add(MissKind::kOutcome, event, local, outcomes_.gap(), row);
        }
    }

    // Whether an event has an outcome in a row; false, with a miss, if that is unknown.
    bool happens(int32_t event, const int32_t* row) {
        const int32_t column = tables_.entries[event].column;
        const int32_t local = column < 0 ? 0 : row[column];
        const int32_t what = tables_.outcomes.get(event, local).what;
        bool is_any = what >= 0 && what % 2 == 0;
        if (what >= 0 && !is_any) {
            const auto take = [&](int32_t) { is_any = true; };
            if (!outcomes_.visit(what, row, [](int32_t) {}, take))
                misses.add(MissKind::kOutcome, event, local, outcomes_.gap(), row);
        } else if (what == kUnknown) {
            misses.add(MissKind::kOutcome, event, local, 0, row);
        }
        return is_any;
    }

    const Effect& apply(int32_t operation, int32_t value) {
        const Effect& effect = tables_.effects.get(operation, value);
        if (effect.after == kUnknown) misses.add(MissKind::kApply, operation, value, 0, nullptr);
        return effect;
    }

    void produce_from_tree(int32_t number, const int32_t* row, uint64_t fingerprint) {
        const Leaf& leaf = tables_.leaves[number];
        const int32_t column = tables_.entries[leaf.entry].column;
        if (column >= 0) fingerprint ^= tables_.change(column, row[column], leaf.local);
        produce(number, row, fingerprint);
    }

    // Adds a leaf; the fingerprint is that of the row with its local state.
    void produce(int32_t number, const int32_t* row, uint64_t fingerprint) {
        const Leaf& leaf = tables_.leaves[number];
        out_->has_failed |= leaf.failed;
        if (!leaf.is_simple) return produce_in_turn(number, row, fingerprint);
        const int32_t* change = tables_.changes.data() + leaf.begin;
        for (const int32_t* end = change + leaf.count; change != end; ++change) {
            const Effect& effect = apply(*change, row[tables_.operations[*change].column]);
            if (effect.after == kUnknown) return;
            fingerprint ^= effect.change;
        }
        out_->add(Successor{fingerprint, number});
    }

    // Adds a leaf that changes a column more than once.
    void produce_in_turn(int32_t number, const int32_t* row, uint64_t fingerprint) {
        const Leaf& leaf = tables_.leaves[number];
        std::memcpy(scratch_.data(), row, 4 * scratch_.size());
        const int32_t column = tables_.entries[leaf.entry].column;
        if (column >= 0) scratch_[column] = leaf.local;
        const int32_t* change = tables_.changes.data() + leaf.begin;
        for (const int32_t* end = change + leaf.count; change != end; ++change) {
            int32_t& value = scratch_[tables_.operations[*change].column];
            const Effect& effect = apply(*change, value);
            if (effect.after == kUnknown) return;
            fingerprint ^= effect.change;
            value = effect.after;
        }
        out_->add(Successor{fingerprint, number});
    }

    const Tables& tables_;
    const Instead& instead_;
    std::vector<int32_t> scratch_;
    Found* out_ = nullptr;
    Outcomes outcomes_;
    int64_t version_ = -1;
    Footprints footprints_;
    Footprint last_;  // of the step that led to the row
    std::vector<Step> steps_;
    std::vector<Rest> rest_;
    std::vector<std::vector<int32_t>> plans_;  // of each small group, by key
};

}  // namespace worldline
