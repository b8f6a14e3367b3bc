// The steps of a random walk; engine/walks.py is the reference.
//
// Every random number depends only on the seed, the walk and the step, so a walk is the
// same whoever else walks, and can be walked again to learn its path.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "judge.hpp"
#include "misses.hpp"
#include "offers.hpp"
#include "outcomes.hpp"
#include "schedulers.hpp"
#include "tables.hpp"

namespace worldline {

// How a walk ended; engine/walks.py has the same numbers.
enum class End : int32_t { kNone = 0, kLimit = 1, kHit = 2, kGoal = 3, kFailed = 4, kStuck = 5 };

// How far a walk has come.
struct Walk {
    uint64_t number = 0;
    int64_t step = 0;
    End end = End::kNone;
    int32_t what = 0;  // the check that was hit, or the leaf that failed
};

// The options of walks; events are known by their numbers.
struct WalkOptions {
    uint64_t seed = 0;
    int64_t most_steps = 0;
    Policy policy = Policy::kWeighted;
    int64_t parameter = 0;  // of the policy
    int32_t goal = kUnknown;
    std::vector<std::pair<int32_t, bool>> checks;  // decision, the verdict that is a hit
    std::vector<int32_t> watches;                  // decisions
    std::vector<int32_t> weights;
    std::vector<Traits> traits;

    size_t predicates() const { return checks.size() + 1 + watches.size(); }
};

// Where a watched predicate was true first.
struct Reached {
    uint64_t walk = ~uint64_t{0};
    int64_t step = 0;

    bool is_before(uint64_t number) const { return walk <= number; }
    void take(const Reached& other) {
        if (other.walk < walk || (other.walk == walk && other.step < step)) *this = other;
    }
};

// Moves walks on. It only reads the tables, so each thread has its own.
class Walker {
  public:
    Walker(const Tables& tables, const WalkOptions& options)
        : misses(tables.width), tables_(tables), options_(options), judge_(tables),
          offers_(tables, options.weights, misses), outcomes_(tables, misses),
          scheduler_(options.traits) {}
    Walker(const Walker&) = delete;

    Misses misses;
    std::vector<Reached> reached;  // by the watches
    std::vector<uint64_t> taken;   // the least walk on which an outcome was, by number

    // From now on, fresh walks begin in a row.
    void begin(const int32_t* row) {
        start_.row.assign(row, row + tables_.width);
        is_ready_ = false;
    }

    // Walks until the end, or until a miss.
    //
    // `row` is where a walk that is not fresh has come to; it is kept up if the walk does
    // not end. `memory`, if there is one, is what its scheduler knows. `path`, if there is
    // one, gets the outcomes.
    void go(Walk& given, bool is_fresh, int32_t* row, Memory* memory, std::vector<int32_t>* path) {
        Walk walk = given;  // neighbours may be other threads'
        is_ready_ &= offers_.settle();
        reached.resize(options_.watches.size());
        taken.resize(tables_.leaves.size(), kNobody);
        if (is_fresh) {
            if (!is_ready_ && !make_ready()) return;
            now_ = start_;
        } else {
            now_.row.assign(row, row + tables_.width);
            now_.look_again(tables_.groups.size(), options_.predicates());
        }
        origin_ = origin_of(options_.seed, walk.number);
        scheduler_.take_up(options_.policy, options_.parameter, options_.seed, walk.number,
                           options_.most_steps, memory);
        memory_ = memory;
        path_ = path;
        while ((walk.step % kBetweenLooks != 0 || !meter().is_over()) && look(walk) && step(walk)) {
        }
        given = walk;
        if (walk.end == End::kNone) std::copy(now_.row.begin(), now_.row.end(), row);
    }

  private:
    static constexpr int64_t kBetweenLooks = 64;  // steps between two looks at the clock
    static constexpr uint64_t kWords = 2;  // random words of one step
    static constexpr uint64_t kNobody = ~uint64_t{0} - 1;

    struct Before {
        int32_t column, value;
    };

    // A row, and what is known of it.
    struct State {
        std::vector<int32_t> row;
        std::vector<Offer> offers;        // of each group
        int64_t total = 0;                // of all their weights
        uint64_t changed = 0;             // columns since predicates and offers were looked up
        std::vector<uint64_t> looked_at;  // columns, by each predicate
        std::vector<uint8_t> holds;       // what the watches said last

        void look_again(size_t groups, size_t predicates) {
            holds.assign(predicates, 0);
            offers.assign(groups, Offer());
            looked_at.assign(predicates, ~uint64_t{0});
            changed = ~uint64_t{0};
            total = 0;
        }
    };

    // Finds out once what is the same for all walks that begin. False on a miss.
    bool make_ready() {
        now_.row = start_.row;
        now_.look_again(tables_.groups.size(), options_.predicates());
        Walk nobody;
        nobody.number = kNobody;
        const size_t before = misses.size();
        if (look(nobody) && options_.most_steps > 0) look_up_offers();
        if (misses.size() != before) return false;
        // A walk that ends at once is to find that out by itself, be it by a predicate
        // that looks at nothing.
        if (nobody.end == End::kNone)
            now_.changed = 0;
        else
            now_.look_again(tables_.groups.size(), options_.predicates());
        start_ = now_;
        return is_ready_ = true;
    }

    // Evaluates all predicates. False if the walk cannot go on.
    bool look(Walk& walk) {
        const size_t count = options_.checks.size();
        if (!watch(walk, count + 1)) return false;
        for (size_t at = 0; at < count; ++at) {
            if (is_as_before(at)) continue;
            const int32_t verdict = decide(options_.checks[at].first, at);
            if (verdict == kUnknown) return false;
            if (verdict == (options_.checks[at].second ? kTrue : kFalse))
                return finish(walk, End::kHit, static_cast<int32_t>(at));
        }
        if (options_.goal != kUnknown && !is_as_before(count)) {
            const int32_t verdict = decide(options_.goal, count);
            if (verdict == kUnknown) return false;
            if (verdict == kTrue) return finish(walk, End::kGoal, 0);
        }
        return walk.step < options_.most_steps || finish(walk, End::kLimit, 0);
    }

    // Notes which watched predicates are true. False on a miss.
    bool watch(const Walk& walk, size_t first) {
        for (size_t at = 0; at < options_.watches.size(); ++at) {
            if (reached[at].is_before(walk.number)) continue;
            if (!is_as_before(first + at)) {
                const int32_t verdict = decide(options_.watches[at], first + at);
                if (verdict == kUnknown) return false;
                now_.holds[at] = verdict == kTrue;
            }
            if (now_.holds[at] != 0 && walk.number != kNobody) reached[at] = Reached{walk.number, walk.step};
        }
        return true;
    }

    static bool finish(Walk& walk, End end, int32_t what) {
        walk.end = end;
        walk.what = what;
        return false;
    }

    // Whether nothing has changed that a predicate looked at; then the walk goes on.
    bool is_as_before(size_t predicate) const {
        return (now_.looked_at[predicate] & now_.changed) == 0;
    }

    int32_t decide(int32_t decision, size_t predicate) {
        const int32_t verdict = judge_.decide(decision, PlainRow(now_.row.data()), misses);
        now_.looked_at[predicate] = judge_.looked_at();
        return verdict;
    }

    // Takes one step. False if the walk cannot go on.
    bool step(Walk& walk) {
        if (now_.changed != 0 && !look_up_offers()) return false;
        if (now_.total == 0) return finish(walk, End::kStuck, 0);
        const int32_t leaf = chosen(walk.step);
        taken[leaf] = std::min(taken[leaf], walk.number);
        if (tables_.leaves[leaf].failed) {
            if (path_ != nullptr) path_->push_back(leaf);
            return finish(walk, End::kFailed, leaf);
        }
        if (!apply(tables_.leaves[leaf])) return false;
        if (memory_ != nullptr) memory_->pending = kUnknown;
        if (path_ != nullptr) path_->push_back(leaf);
        ++walk.step;
        return true;
    }

    // Looks up what the groups offer whose columns have changed, or others that decided.
    // False on a miss.
    bool look_up_offers() {
        const size_t before = misses.size();
        for (size_t number = 0; number < now_.offers.size(); ++number) {
            Offer& offer = now_.offers[number];
            if (offer.plan != kUnknown && (offer.asked & now_.changed) == 0) continue;
            now_.total -= offer.weight;
            offers_.look_up(number, now_.row.data(), offer);
            now_.total += offer.weight;
        }
        return misses.size() == before;
    }

    // Lets the scheduler choose an enabled event, and draws one of its outcomes.
    int32_t chosen(int64_t step) {
        const uint64_t counter = static_cast<uint64_t>(step) * kWords;
        const auto random = [&](uint64_t limit) { return below(limit, random_at(origin_, counter + 1)); };
        if (options_.policy == Policy::kWeighted) return by_weight(counter, random);
        if (memory_ != nullptr && memory_->pending != kUnknown) return memory_->pending;
        chances_.clear();
        for (const Offer& offer : now_.offers)
            if (offer.weight > 0) offers_.list(offer, now_.row.data(), chances_);
        const size_t at = scheduler_.choose(chances_, step, random_at(origin_, counter));
        const int32_t leaf = offers_.outcome(chances_[at], now_.row.data(), random);
        // Where an operation is missed, the step is taken again: it is chosen but once.
        if (memory_ != nullptr) memory_->pending = leaf;
        return leaf;
    }

    // As the scheduler of that name does, without a list of all that can happen.
    template <typename Random>
    int32_t by_weight(uint64_t counter, const Random& random) {
        auto rest = static_cast<int64_t>(below(now_.total, random_at(origin_, counter)));
        const Offer* offer = now_.offers.data();
        while (rest >= offer->weight) rest -= (offer++)->weight;
        return offers_.draw(*offer, now_.row.data(), rest, random);
    }

    // Changes the row by an outcome. False, with the row as it was, if something is lacking.
    bool apply(const Leaf& leaf) {
        if (undo_.size() <= static_cast<size_t>(leaf.count)) undo_.resize(leaf.count + 1);
        Before* const first = undo_.data();
        Before* last = first;
        int32_t* const row = now_.row.data();
        const int32_t local = tables_.entries[leaf.entry].column;
        if (local >= 0) {
            *last++ = Before{local, row[local]};
            row[local] = leaf.local;
        }
        const int32_t* operation = tables_.changes.data() + leaf.begin;
        for (const int32_t* end = operation + leaf.count; operation != end; ++operation) {
            const int32_t column = tables_.operations[*operation].column;
            *last++ = Before{column, row[column]};
            if (outcomes_.change(*operation, row[column])) continue;
            while (last != first) {
                --last;
                row[last->column] = last->value;
            }
            return false;
        }
        now_.changed = 0;
        for (const Before* one = first; one != last; ++one) {
            if (row[one->column] == one->value) continue;
            now_.changed |= bit_of(one->column);
            for (const int32_t group : tables_.groups_of[one->column])
                now_.offers[group].plan = kUnknown;
        }
        return true;
    }

    const Tables& tables_;
    const WalkOptions& options_;
    Judge<PlainRow> judge_;
    Offers offers_;
    Outcomes outcomes_;
    Scheduler scheduler_;
    Memory* memory_ = nullptr;  // of the present walk's scheduler
    std::vector<Chance> chances_;
    State start_, now_;
    bool is_ready_ = false;  // whether all is known of the start
    uint64_t origin_ = 0;    // of the random numbers of the present walk
    std::vector<int32_t>* path_ = nullptr;
    std::vector<Before> undo_;
};

}  // namespace worldline
