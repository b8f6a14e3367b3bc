// What may happen next on a random walk: the events that each group of sites enables.
#pragma once

#include <cstdint>
#include <vector>

#include "misses.hpp"
#include "outcomes.hpp"
#include "tables.hpp"

namespace worldline {

// One of the events of a plan.
struct Option {
    int32_t event;
    int32_t weight;
    int32_t begin, count;  // of its outcomes; count 0: other columns decide, too
    int32_t what;          // as in `Outcome`; kUnknown: other columns decide that, too
};

// The events of a group that are enabled by the values of its columns.
struct Plan {
    int64_t weight = 0;  // of the events about which no other column decides
    int32_t begin = 0, end = 0;
    bool is_open = false;  // whether there are others
};

// What one group offers in the present row of a walk.
struct Offer {
    int64_t weight = 0;
    uint64_t asked = 0;       // columns that decided about it besides the group's own
    uint64_t happens = 0;     // which of the first events do that others decide about
    int32_t plan = kUnknown;  // kUnknown: to be looked up
};

// An event that can happen, and the option it is.
struct Chance {
    int32_t event, option;
};

// Makes plans and remembers them; each thread has its own.
class Offers {
  public:
    Offers(const Tables& tables, const std::vector<int32_t>& weights, Misses& misses)
        : tables_(tables), weights_(weights), misses_(misses), outcomes_(tables, misses) {}

    // Whether what was made before can still be used; else it is forgotten.
    bool settle() {
        if (version_ == tables_.version && options_.size() <= kMost && leaves_.size() <= kMost)
            return true;
        version_ = tables_.version;
        plans_.clear();
        options_.clear();
        leaves_.clear();
        known_.assign(tables_.groups.size(), Known());
        for (size_t at = 0; at < known_.size(); ++at)
            if (tables_.groups[at].is_small())
                known_[at].dense.assign(size_t{1} << tables_.groups[at].bits, kUnknown);
        return false;
    }

    // Looks up what a group offers. What the tables lack becomes a miss.
    void look_up(size_t number, const int32_t* row, Offer& offer) {
        if (offer.plan == kUnknown) offer.plan = plan_of(number, row);
        if (offer.plan == kUnknown) return;
        const Plan& plan = plans_[offer.plan];
        offer.weight = plan.weight;
        offer.asked = offer.happens = 0;
        if (plan.is_open) add_open(plan, row, offer);
    }

    // Draws one of the events of an offer, by a number below its weight, and one of its
    // outcomes, by a random word.
    template <typename Random>
    int32_t draw(const Offer& offer, const int32_t* row, int64_t rest, const Random& random) {
        const Plan& plan = plans_[offer.plan];
        uint32_t open = 0;
        for (const Option* option = &options_[plan.begin];; ++option) {
            if (option->count == 0 && !happens(offer, open++, *option, row)) continue;
            rest -= option->weight;
            if (rest < 0) return outcome(*option, row, random);
        }
    }

    // Adds the events of an offer, in canonical order.
    void list(const Offer& offer, const int32_t* row, std::vector<Chance>& chances) {
        const Plan& plan = plans_[offer.plan];
        uint32_t open = 0;
        for (int32_t at = plan.begin; at < plan.end; ++at) {
            const Option& option = options_[at];
            if (option.count == 0 && !happens(offer, open++, option, row)) continue;
            chances.push_back(Chance{option.event, at});
        }
    }

    // Draws one of the outcomes of an event, by a random word.
    template <typename Random>
    int32_t outcome(const Chance& chance, const int32_t* row, const Random& random) {
        return outcome(options_[chance.option], row, random);
    }

  private:
    static constexpr size_t kMost = size_t{1} << 22;
    static constexpr uint32_t kNoted = 64;

    template <typename Random>
    int32_t outcome(const Option& option, const int32_t* row, const Random& random) {
        if (option.count == 1) return leaves_[option.begin];
        if (option.count > 1) return leaf_of(&leaves_[option.begin], option.count, random);
        find(option, row, [](int32_t) {});
        return leaf_of(found_.data(), found_.size(), random);
    }

    struct Known {
        std::vector<int32_t> dense;
        Map sparse;
    };

    // Returns kUnknown on a miss.
    int32_t plan_of(size_t number, const int32_t* row) {
        const Group& group = tables_.groups[number];
        if (!group.has_key()) return make_plan(group, row);
        Known& known = known_[number];
        const uint64_t key = group.key(row);
        int32_t plan = group.is_small() ? known.dense[key] : known.sparse.get(key);
        if (plan != kUnknown) return plan;
        plan = make_plan(group, row);
        if (plan == kUnknown) return kUnknown;
        if (group.is_small())
            known.dense[key] = plan;
        else
            known.sparse.put(key, plan);
        return plan;
    }

    int32_t make_plan(const Group& group, const int32_t* row) {
        const size_t before = misses_.size(), first_leaf = leaves_.size();
        Plan plan;
        plan.begin = static_cast<int32_t>(options_.size());
        for (int32_t number = group.first; number < group.last; ++number) {
            const Site& site = tables_.sites[number];
            const int32_t list = site.list_of(row);
            if (list == kUnknown)
                misses_.add(MissKind::kList, number, 0, site.hash(row, false), row);
            else
                for (int32_t at = 1; at <= tables_.events[list]; ++at)
                    add_option(plan, group, tables_.events[list + at], row);
        }
        plan.end = static_cast<int32_t>(options_.size());
        if (misses_.size() != before) {
            options_.resize(plan.begin);
            leaves_.resize(first_leaf);
            return kUnknown;
        }
        plans_.push_back(plan);
        return static_cast<int32_t>(plans_.size()) - 1;
    }

    void add_option(Plan& plan, const Group& group, int32_t event, const int32_t* row) {
        Option option{event, weights_[event], static_cast<int32_t>(leaves_.size()), 0, kUnknown};
        if (option.weight == 0) return;
        const int32_t column = tables_.entries[event].column;
        bool is_open = column >= 0 && !group.has(column);  // it is handled at another node
        if (!is_open) {
            option.what = what_of(event, row);
            find(option, row, [&](int32_t asked) { is_open |= !group.has(asked); });
            if (!is_open && found_.empty()) return;
        }
        plan.is_open |= is_open;
        if (!is_open) {
            plan.weight += option.weight;
            option.count = static_cast<int32_t>(found_.size());
            leaves_.insert(leaves_.end(), found_.begin(), found_.end());
        }
        options_.push_back(option);
    }

    void add_open(const Plan& plan, const int32_t* row, Offer& offer) {
        uint32_t open = 0;
        for (int32_t at = plan.begin; at < plan.end; ++at) {
            const Option& option = options_[at];
            if (option.count > 0) continue;
            if (option.what == kUnknown)
                offer.asked |= bit_of(tables_.entries[option.event].column);
            find(option, row, [&](int32_t asked) { offer.asked |= bit_of(asked); });
            if (!found_.empty()) {
                offer.weight += option.weight;
                if (open < kNoted) offer.happens |= uint64_t{1} << open;
            }
            ++open;
        }
    }

    // Whether an event can happen about which other columns decide: the n-th such one.
    bool happens(const Offer& offer, uint32_t number, const Option& option, const int32_t* row) {
        if (number < kNoted) return (offer.happens >> number & 1) != 0;
        find(option, row, [](int32_t) {});
        return !found_.empty();
    }

    int32_t local_of(int32_t event, const int32_t* row) const {
        const int32_t column = tables_.entries[event].column;
        return column < 0 ? 0 : row[column];
    }

    int32_t what_of(int32_t event, const int32_t* row) const {
        return tables_.outcomes.get(event, local_of(event, row)).what;
    }

    // Finds the outcomes of an event in a row. What the tables lack becomes a miss.
    template <typename Ask>
    void find(const Option& option, const int32_t* row, const Ask& ask) {
        found_.clear();
        const int32_t event = option.event;
        const int32_t what = option.what == kUnknown ? what_of(event, row) : option.what;
        if (what == kNothing) return;
        const auto take = [this](int32_t leaf) { found_.push_back(leaf); };
        if (what == kUnknown)
            misses_.add(MissKind::kOutcome, event, local_of(event, row), 0, row);
        else if (!outcomes_.visit(what, row, ask, take))
            misses_.add(MissKind::kOutcome, event, local_of(event, row), outcomes_.gap(), row);
    }

    // One of some outcomes, by weight.
    template <typename Random>
    int32_t leaf_of(const int32_t* leaf, size_t count, const Random& random) const {
        if (count == 1) return *leaf;
        uint64_t total = 0;
        for (size_t at = 0; at < count; ++at) total += tables_.leaves[leaf[at]].weight;
        uint64_t rest = random(total);
        for (; rest >= tables_.leaves[*leaf].weight; ++leaf) rest -= tables_.leaves[*leaf].weight;
        return *leaf;
    }

    const Tables& tables_;
    const std::vector<int32_t>& weights_;  // of events, by number
    Misses& misses_;
    Outcomes outcomes_;
    int64_t version_ = -1;
    std::vector<Plan> plans_;
    std::vector<Option> options_;
    std::vector<int32_t> leaves_;  // of all options
    std::vector<Known> known_;     // of each group: plans by key
    std::vector<int32_t> found_;   // the outcomes found last
};

}  // namespace worldline
