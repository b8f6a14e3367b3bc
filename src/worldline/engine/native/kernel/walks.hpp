// Random walks, in batches and on any number of threads; engine/walks.py is the reference.
//
// Every random number depends only on the seed, the walk and the step, so a walk is the
// same whoever else walks, and can be walked again to learn its path.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "crew.hpp"
#include "judge.hpp"
#include "misses.hpp"
#include "tables.hpp"

namespace worldline {

inline uint64_t random_at(uint64_t seed, uint64_t walk, uint64_t counter) {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
    return splitmix(splitmix(seed + kGolden * (walk + 1)) + kGolden * (counter + 1));
}

// A number below `limit`, from a random word.
inline uint64_t below(uint64_t limit, uint64_t random) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(random) * limit >> 64);
}

// How a walk ended; engine/walks.py has the same numbers.
enum class End : int32_t { kNone = 0, kLimit = 1, kHit = 2, kGoal = 3, kFailed = 4, kStuck = 5 };

// A walk, or several one after another by the same walker.
struct Walk {
    uint64_t number = 0;
    int64_t step = 0;
    End end = End::kNone;
    int32_t what = 0;  // the check that was hit, or the leaf that failed
    std::vector<int32_t> row;
    std::vector<int32_t> plans;    // of each group; kUnknown: to be looked up
    std::vector<int64_t> weights;  // of each group's enabled events
    int64_t total = 0;             // of all weights
    std::vector<int32_t>* path = nullptr;
};

// What a walk is told; the weights of events are those of `weights` by number.
struct WalkOptions {
    uint64_t seed = 0;
    int64_t most_steps = 0;
    int32_t goal = kUnknown;
    std::vector<std::pair<int32_t, bool>> checks;  // decision, the verdict that is a hit
    std::vector<int32_t> weights;
};

// Moves walks on. It only reads the tables, so each thread has its own.
class Walker {
  public:
    Walker(const Tables& tables, const WalkOptions& options)
        : misses(tables.width), tables_(tables), options_(options), judge_(tables) {}

    Misses misses;

    // Walks until the end, or until something is lacking.
    void go(Walk& walk) {
        if (version_ != tables_.version || options_of_plans_.size() > kMostOptions) forget();
        // Plans are this walker's own.
        walk.plans.assign(tables_.groups.size(), kUnknown);
        walk.weights.assign(tables_.groups.size(), 0);
        walk.total = 0;
        looked_at_.assign(options_.checks.size() + 1, ~uint64_t{0});
        changed_ = ~uint64_t{0};
        while (walk.end == End::kNone && look(walk) && step(walk)) {
        }
    }

  private:
    static constexpr uint64_t kWords = 2;  // random words of one step
    static constexpr size_t kMostOptions = size_t{1} << 22;

    // The events of a group that are enabled by the values of its columns.
    struct Plan {
        int64_t weight = 0;
        int32_t begin = 0, end = 0;
        bool is_open = false;  // whether other columns decide, too
    };

    struct Option {
        int32_t event;
        int32_t leaf;  // its outcome; kUnknown: it has several
        bool is_open;
    };

    // Evaluates all predicates. False if the walk cannot go on.
    bool look(Walk& walk) {
        const size_t count = options_.checks.size();
        for (size_t at = 0; at < count; ++at) {
            if (is_as_before(at)) continue;
            const int32_t verdict = decide(options_.checks[at].first, walk, at);
            if (verdict == kUnknown) return false;
            if ((verdict == kTrue) == options_.checks[at].second)
                return finish(walk, End::kHit, static_cast<int32_t>(at));
        }
        if (options_.goal != kUnknown && !is_as_before(count)) {
            const int32_t verdict = decide(options_.goal, walk, count);
            if (verdict == kUnknown) return false;
            if (verdict == kTrue) return finish(walk, End::kGoal, 0);
        }
        return walk.step < options_.most_steps || finish(walk, End::kLimit, 0);
    }

    bool finish(Walk& walk, End end, int32_t what) {
        walk.end = end;
        walk.what = what;
        return false;
    }

    // Whether nothing has changed that a predicate looked at; then the walk goes on.
    bool is_as_before(size_t predicate) const { return (looked_at_[predicate] & changed_) == 0; }

    int32_t decide(int32_t decision, const Walk& walk, size_t predicate) {
        const int32_t verdict = judge_.decide(decision, PlainRow(walk.row.data()), misses);
        looked_at_[predicate] = judge_.looked_at();
        return verdict;
    }

    // Takes one step. False if the walk cannot go on.
    bool step(Walk& walk) {
        if (!look_up_plans(walk)) return false;
        if (walk.total == 0) return finish(walk, End::kStuck, 0);
        const int32_t leaf = draw(walk);
        if (tables_.leaves[leaf].failed) {
            if (walk.path != nullptr) walk.path->push_back(leaf);
            return finish(walk, End::kFailed, leaf);
        }
        if (!apply(walk, tables_.leaves[leaf])) return false;
        if (walk.path != nullptr) walk.path->push_back(leaf);
        ++walk.step;
        return true;
    }

    // Looks up what the groups can do whose columns have changed.
    bool look_up_plans(Walk& walk) {
        const size_t before = misses.size();
        for (size_t number = 0; number < tables_.groups.size(); ++number) {
            int32_t& plan = walk.plans[number];
            if (plan != kUnknown && !plans_[plan].is_open) continue;
            if (plan == kUnknown) plan = plan_of(number, walk.row.data());
            if (plan == kUnknown) continue;
            const int64_t weight = plans_[plan].is_open ? open_weight(plans_[plan], walk.row.data())
                                                        : plans_[plan].weight;
            walk.total += weight - walk.weights[number];
            walk.weights[number] = weight;
        }
        return misses.size() == before;
    }

    void forget() {
        version_ = tables_.version;
        plans_.clear();
        options_of_plans_.clear();
        known_.assign(tables_.groups.size(), Map());
    }

    // Returns kUnknown, with misses, if something is lacking.
    int32_t plan_of(size_t number, const int32_t* row) {
        const Group& group = tables_.groups[number];
        if (!group.has_key()) return make_plan(group, row);
        const uint64_t key = group.key(row);
        int32_t plan = known_[number].get(key);
        if (plan != kUnknown) return plan;
        plan = make_plan(group, row);
        if (plan != kUnknown) known_[number].put(key, plan);
        return plan;
    }

    int32_t make_plan(const Group& group, const int32_t* row) {
        const size_t before = misses.size();
        Plan plan;
        plan.begin = static_cast<int32_t>(options_of_plans_.size());
        for (int32_t number = group.first; number < group.last; ++number) {
            const Site& site = tables_.sites[number];
            const int32_t list = site.list_of(row);
            if (list == kUnknown)
                misses.add(Lack::kList, number, 0, site.hash(row, false), row);
            else
                for (int32_t at = 1; at <= tables_.events[list]; ++at)
                    add_option(plan, group, tables_.events[list + at], row);
        }
        plan.end = static_cast<int32_t>(options_of_plans_.size());
        if (misses.size() != before) {
            options_of_plans_.resize(plan.begin);
            return kUnknown;
        }
        plans_.push_back(plan);
        return static_cast<int32_t>(plans_.size()) - 1;
    }

    void add_option(Plan& plan, const Group& group, int32_t event, const int32_t* row) {
        const int32_t weight = options_.weights[event];
        if (weight == 0) return;
        const int32_t column = tables_.entries[event].column;
        Option option{event, kUnknown, true};
        if (column < 0 || group.has(column)) {
            const int32_t local = column < 0 ? 0 : row[column];
            const int32_t what = tables_.outcomes.get(event, local).what;
            if (what == kUnknown) misses.add(Lack::kOutcome, event, local, 0, row);
            if (what < 0) return;
            if (what % 2 == 0) option.leaf = what / 2;
            option.is_open = what % 2 == 1 && tables_.trees[what / 2].kind != TreeKind::kLeaves;
        }
        if (!option.is_open) plan.weight += weight;
        plan.is_open |= option.is_open;
        options_of_plans_.push_back(option);
    }

    int64_t open_weight(const Plan& plan, const int32_t* row) {
        int64_t weight = plan.weight;
        for (int32_t at = plan.begin; at < plan.end; ++at) {
            const Option& option = options_of_plans_[at];
            if (option.is_open && outcomes(option.event, row) && !leaves_.empty())
                weight += options_.weights[option.event];
        }
        return weight;
    }

    // Draws one of the enabled events by weight, and one of its outcomes.
    int32_t draw(const Walk& walk) {
        auto rest = static_cast<int64_t>(below(walk.total, random(walk, 0)));
        size_t group = 0;
        while (rest >= walk.weights[group]) rest -= walk.weights[group++];
        const Plan& plan = plans_[walk.plans[group]];
        for (int32_t at = plan.begin;; ++at) {
            const Option& option = options_of_plans_[at];
            if (option.is_open && (!outcomes(option.event, walk.row.data()) || leaves_.empty()))
                continue;
            rest -= options_.weights[option.event];
            if (rest >= 0) continue;
            if (option.leaf != kUnknown) return option.leaf;
            outcomes(option.event, walk.row.data());
            return leaf_at(random(walk, 1));
        }
    }

    uint64_t random(const Walk& walk, uint64_t word) const {
        const auto step = static_cast<uint64_t>(walk.step);
        return random_at(options_.seed, walk.number, step * kWords + word);
    }

    // One of the leaves found last, by weight.
    int32_t leaf_at(uint64_t random) const {
        if (leaves_.size() == 1) return leaves_[0];
        uint64_t total = 0;
        for (const int32_t leaf : leaves_) total += tables_.leaves[leaf].weight;
        uint64_t rest = below(total, random);
        size_t at = 0;
        while (rest >= tables_.leaves[leaves_[at]].weight)
            rest -= tables_.leaves[leaves_[at++]].weight;
        return leaves_[at];
    }

    // Gathers what an event can do in a row. False if something is lacking.
    bool outcomes(int32_t event, const int32_t* row) {
        leaves_.clear();
        const int32_t column = tables_.entries[event].column;
        const int32_t local = column < 0 ? 0 : row[column];
        const int32_t what = tables_.outcomes.get(event, local).what;
        uint64_t gap = 0;
        if (what == kNothing) return true;
        if (what >= 0 && what % 2 == 0) {
            leaves_.push_back(what / 2);
            return true;
        }
        if (what >= 0) {
            const size_t before = misses.size();
            if (gather(what / 2, row, gap)) return misses.size() == before;
        }
        misses.add(Lack::kOutcome, event, local, gap, row);
        return false;
    }

    // False at a gap in the tree.
    bool gather(int32_t number, const int32_t* row, uint64_t& gap) {
        const Tree& tree = tables_.trees[number];
        if (tree.kind == TreeKind::kLeaves) {
            leaves_.insert(leaves_.end(), tree.items.begin(), tree.items.end());
            return true;
        }
        if (tree.kind == TreeKind::kFork) {
            for (const auto& child : tree.children)
                if (!gather(child.second, row, gap)) return false;
            return true;
        }
        int32_t value = row[tree.column];
        for (const int32_t operation : tree.items)
            if (!change(operation, value)) return true;  // the miss is noted
        const int32_t answer = tables_.answers.get(tree.answers, value);
        if (answer == kUnknown) {
            misses.add(Lack::kAnswer, number, value, 0, nullptr);
            return true;
        }
        for (const auto& child : tree.children)
            if (child.first == answer) return gather(child.second, row, gap);
        gap = static_cast<uint64_t>(number) << 32 | static_cast<uint32_t>(answer);
        return false;
    }

    bool change(int32_t operation, int32_t& value) {
        const int32_t after = tables_.effects.get(operation, value).after;
        if (after == kUnknown)
            misses.add(Lack::kApply, operation, value, 0, nullptr);
        else
            value = after;
        return after != kUnknown;
    }

    // Changes the row by an outcome. False, with the row as it was, if something is lacking.
    bool apply(Walk& walk, const Leaf& leaf) {
        undo_.clear();
        const int32_t local = tables_.entries[leaf.entry].column;
        if (local >= 0) set(walk, local, leaf.local);
        for (int32_t at = leaf.begin; at < leaf.begin + leaf.count; ++at) {
            const int32_t operation = tables_.changes[at];
            const int32_t column = tables_.operations[operation].column;
            int32_t value = walk.row[column];
            if (change(operation, value)) {
                set(walk, column, value);
                continue;
            }
            for (auto one = undo_.rbegin(); one != undo_.rend(); ++one)
                walk.row[one->first] = one->second;
            return false;
        }
        changed_ = 0;
        for (const auto& one : undo_) {
            if (walk.row[one.first] == one.second) continue;
            changed_ |= Judge<PlainRow>::bit(one.first);
            for (const int32_t group : tables_.groups_of[one.first]) walk.plans[group] = kUnknown;
        }
        return true;
    }

    void set(Walk& walk, int32_t column, int32_t value) {
        undo_.emplace_back(column, walk.row[column]);
        walk.row[column] = value;
    }

    const Tables& tables_;
    const WalkOptions& options_;
    Judge<PlainRow> judge_;
    std::vector<uint64_t> looked_at_;  // by each predicate, as bits of columns
    uint64_t changed_ = 0;             // by the last step
    int64_t version_ = -1;
    std::vector<Plan> plans_;
    std::vector<Option> options_of_plans_;
    std::vector<Map> known_;  // of each group: plans by key
    std::vector<int32_t> leaves_;
    std::vector<std::pair<int32_t, int32_t>> undo_;  // column, value before
};

class Walks {
  public:
    explicit Walks(Tables& tables, int32_t threads)
        : misses(tables.width), tables_(tables), crew_(threads) {
        for (int32_t n = 0; n < threads; ++n) walkers_.emplace_back(tables, options);
    }
    Walks(const Walks&) = delete;

    WalkOptions options;
    Misses misses;
    std::vector<Walk> walks;
    std::vector<int32_t> path;  // of the first walk, if it was asked for

    // Makes ready for some walks from a row.
    void begin(const int32_t* row, uint64_t first, int64_t count, bool with_path) {
        tables_.settle();
        walks.clear();
        path.clear();
        walks.reserve(static_cast<size_t>(count));
        for (int64_t at = 0; at < count; ++at) {
            Walk walk;
            walk.number = first + static_cast<uint64_t>(at);
            walk.row.assign(row, row + tables_.width);
            walks.push_back(std::move(walk));
        }
        if (with_path) walks[0].path = &path;
    }

    // Walks on until all have ended, or what is lacking has to be served first.
    // Returns how many have not ended.
    int64_t step() {
        misses.clear();
        tables_.settle();
        while (true) {
            std::vector<Walk*> todo;
            for (Walk& walk : walks)
                if (walk.end == End::kNone) todo.push_back(&walk);
            if (todo.empty() || !misses.empty()) return static_cast<int64_t>(todo.size());
            std::atomic<size_t> next{0};
            crew_.run(std::min(walkers_.size(), todo.size()), [&](size_t n) {
                for (size_t at; (at = next++) < todo.size();) walkers_[n].go(*todo[at]);
            });
            for (Walker& walker : walkers_) {
                misses.add_all(walker.misses);
                walker.misses.clear();
            }
            misses.settle(tables_);
        }
    }

  private:
    Tables& tables_;
    Crew crew_;
    std::vector<Walker> walkers_;
};

}  // namespace worldline
