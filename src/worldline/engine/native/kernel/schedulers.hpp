// Which of the enabled events happens next on a walk; engine/schedulers has the same, one
// file each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "hash.hpp"
#include "offers.hpp"

namespace worldline {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

// From where the random numbers of a walk come.
inline uint64_t origin_of(uint64_t seed, uint64_t walk) {
    return splitmix(seed + kGolden * (walk + 1));
}

inline uint64_t random_at(uint64_t origin, uint64_t counter) {
    return splitmix(origin + kGolden * (counter + 1));
}

// A number below `limit`, from a random word.
inline uint64_t below(uint64_t limit, uint64_t random) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(random) * limit >> 64);
}

// The numbers of engine/schedulers' `native`.
enum class Policy : int32_t { kWeighted, kUniform, kFifo, kPct, kPartialOrder, kDelayBounded, kSwarm, kPhased };

inline bool remembers(Policy policy) {
    return policy == Policy::kFifo || policy == Policy::kPct || policy == Policy::kPartialOrder ||
           policy == Policy::kDelayBounded;
}

// What a scheduler may know of an event; engine/schedulers/protocol.py says what it means.
struct Traits {
    int64_t weight, fault, node, pair;
    uint64_t kind, handler;
};

// An event from when it can happen until it does or no longer can.
struct Held {
    int32_t event, chain;
    uint64_t rank;
};

// What the scheduler of one walk has to remember.
struct Memory {
    bool is_begun = false;
    int32_t last = kUnknown;     // the event that happened last
    int32_t pending = kUnknown;  // the outcome that is chosen and has not happened yet
    int32_t open = kUnknown;     // the chain of the last event, if nothing goes on with it yet
    uint64_t drawn = 0, count = 0;
    std::vector<Held> held;
    std::vector<uint64_t> priorities;  // of chains
    std::vector<int64_t> points;       // steps at which something changes
};

// Chooses for one walk after the other; each thread has its own.
class Scheduler {
  public:
    explicit Scheduler(const std::vector<Traits>& traits) : traits_(traits) {}

    // From now on, it is asked about one walk. `memory` is not used where there is nothing
    // to remember.
    void take_up(Policy policy, int64_t parameter, uint64_t seed, uint64_t walk,
                 int64_t most_steps, Memory* memory) {
        policy_ = policy;
        origin_ = origin_of(seed ^ kApart, walk);
        memory_ = memory;
        if (policy == Policy::kSwarm || policy == Policy::kPhased) salt_ = random_at(origin_, 1);
        ends_.clear();
        if (policy == Policy::kPhased)
            for (uint64_t n = 1; n < static_cast<uint64_t>(parameter); ++n)
                ends_.push_back(static_cast<int64_t>(
                    below(static_cast<uint64_t>(most_steps), random_at(origin_, 1 + n))));
        if (memory == nullptr || memory->is_begun) return;
        *memory = Memory();
        memory->is_begun = true;
        int64_t points = 0;
        if (policy == Policy::kPct) points = parameter - 1;
        if (policy == Policy::kDelayBounded) points = parameter;
        for (int64_t n = 0; n < points; ++n)
            memory->points.push_back(
                static_cast<int64_t>(below(static_cast<uint64_t>(most_steps), draw())));
    }

    // The position of the event that happens; there is one.
    size_t choose(const std::vector<Chance>& chances, int64_t step, uint64_t word) {
        if (policy_ == Policy::kSwarm) return by_swarm(chances, word);
        if (policy_ == Policy::kPhased) return by_phase(chances, step, word);
        if (memory_ == nullptr) return uniformly(chances, word);
        follow(chances);
        memory_->open = kUnknown;
        const size_t chosen = policy_ == Policy::kFifo ? by_age(chances, word)
                                                       : by_rank(chances, step, word);
        memory_->last = chances[chosen].event;
        return chosen;
    }

  private:
    static constexpr uint64_t kApart = 0x5c4ed01e5ULL;
    static constexpr uint64_t kHigh = uint64_t{1} << 63;
    static constexpr uint64_t kFactors[] = {1, 3, 10, 30};
    static constexpr uint64_t kLargeFactors[] = {1, 10, 100};
    static constexpr uint64_t kNodes = uint64_t{1} << 32;

    uint64_t draw() { return random_at(origin_, ++memory_->drawn); }

    const Traits& of(const Chance& chance) const { return traits_[chance.event]; }

    // Brings what is remembered in line with what can happen now.
    void follow(const std::vector<Chance>& chances) {
        if (places_.size() < traits_.size()) places_.resize(traits_.size(), 0);
        ++stamp_;
        auto& held = memory_->held;
        for (size_t at = 0; at < held.size(); ++at)
            places_[held[at].event] = stamp_ << 32 | static_cast<uint64_t>(at);
        next_.clear();
        for (const Chance& chance : chances) {
            const uint64_t place = places_[chance.event];
            if (place >> 32 == stamp_ && chance.event != memory_->last)
                next_.push_back(held[place & 0xffffffffULL]);
            else
                next_.push_back(appeared(chance.event));
        }
        std::swap(held, next_);
    }

    Held appeared(int32_t event) {
        Held found{event, kUnknown, 0};
        if (policy_ == Policy::kFifo) found.rank = memory_->count++;
        if (policy_ == Policy::kDelayBounded) found.rank = ++memory_->count;
        if (policy_ == Policy::kPartialOrder) found.rank = draw();
        if (policy_ == Policy::kPct) put_on_chain(found);
        return found;
    }

    void put_on_chain(Held& found) {
        const bool is_again = found.event == memory_->last;
        if (memory_->open != kUnknown && !is_again && traits_[found.event].fault == 0) {
            std::swap(found.chain, memory_->open);
            return;
        }
        found.chain = static_cast<int32_t>(memory_->priorities.size());
        memory_->priorities.push_back(draw() | kHigh);
    }

    // The fault that happens, by weight; else their number.
    size_t fault_first(const std::vector<Chance>& chances, uint64_t word) const {
        uint64_t total = 0;
        for (const Chance& chance : chances) total += of(chance).weight;
        uint64_t place = below(total, word);
        for (size_t at = 0; at < chances.size(); ++at) {
            if (of(chances[at]).fault == 0) continue;
            const auto weight = static_cast<uint64_t>(of(chances[at]).weight);
            if (place < weight) return at;
            place -= weight;
        }
        return chances.size();
    }

    size_t uniformly(const std::vector<Chance>& chances, uint64_t word) const {
        const size_t fault = fault_first(chances, word);
        if (fault != chances.size()) return fault;
        uint64_t count = 0;
        for (const Chance& chance : chances) count += of(chance).fault == 0;
        uint64_t rest = below(count, splitmix(word));
        size_t at = 0;
        while (of(chances[at]).fault != 0 || rest-- > 0) ++at;
        return at;
    }

    // By weight, of what has nothing older of its pair before it.
    size_t by_age(const std::vector<Chance>& chances, uint64_t word) {
        const auto& held = memory_->held;
        heads_.clear();
        for (size_t at = 0; at < chances.size(); ++at)
            if (of(chances[at]).pair >= 0) heads_.emplace_back(of(chances[at]).pair, held[at].rank);
        std::sort(heads_.begin(), heads_.end());  // of each pair the oldest comes first
        const auto is_in_order = [&](size_t at) {
            const int64_t pair = of(chances[at]).pair;
            if (pair < 0) return true;
            return std::lower_bound(heads_.begin(), heads_.end(), Head(pair, 0))->second == held[at].rank;
        };
        uint64_t total = 0;
        for (size_t at = 0; at < chances.size(); ++at)
            if (is_in_order(at)) total += of(chances[at]).weight;
        uint64_t place = below(total, word);
        for (size_t at = 0;; ++at) {
            if (!is_in_order(at)) continue;
            const auto weight = static_cast<uint64_t>(of(chances[at]).weight);
            if (place < weight) return at;
            place -= weight;
        }
    }

    size_t by_rank(const std::vector<Chance>& chances, int64_t step, uint64_t word) {
        const size_t fault = fault_first(chances, word);
        const bool is_fault = fault != chances.size();
        if (policy_ == Policy::kPartialOrder) {
            const size_t chosen = is_fault ? fault : best(chances);
            draw_again(chances, chosen);
            return chosen;
        }
        if (is_fault) return fault;
        size_t chosen = best(chances);
        for (size_t number = 0; number < memory_->points.size(); ++number) {
            if (memory_->points[number] != step) continue;
            Held& held = memory_->held[chosen];
            if (policy_ == Policy::kPct)
                memory_->priorities[held.chain] = number;
            else
                held.rank = ++memory_->count;
            chosen = best(chances);
        }
        if (policy_ == Policy::kPct) memory_->open = memory_->held[chosen].chain;
        return chosen;
    }

    // The first of those that are no faults and come first by rank.
    size_t best(const std::vector<Chance>& chances) const {
        const auto& held = memory_->held;
        const auto urgency = [&](size_t at) {
            if (policy_ == Policy::kPct) return memory_->priorities[held[at].chain];
            return policy_ == Policy::kPartialOrder ? held[at].rank : ~held[at].rank;
        };
        size_t found = chances.size();
        for (size_t at = 0; at < chances.size(); ++at) {
            if (of(chances[at]).fault != 0) continue;
            if (found == chances.size() || urgency(at) > urgency(found)) found = at;
        }
        return found;
    }

    // Draws other ranks for what raced with the event that happens.
    void draw_again(const std::vector<Chance>& chances, size_t chosen) {
        const int64_t node = of(chances[chosen]).node;
        for (size_t at = 0; at < chances.size(); ++at) {
            const int64_t other = of(chances[at]).node;
            if (at != chosen && (node < 0 || other < 0 || node == other))
                memory_->held[at].rank = draw();
        }
    }

    size_t by_phase(const std::vector<Chance>& chances, int64_t step, uint64_t word) {
        uint64_t phase = 0;
        for (const int64_t end : ends_) phase += end <= step;
        const uint64_t from = splitmix(salt_ + phase);
        weights_.clear();
        for (const Chance& chance : chances) {
            const Traits& traits = of(chance);
            uint64_t weight = static_cast<uint64_t>(traits.weight);
            const uint64_t both = splitmix(traits.handler + static_cast<uint64_t>(traits.node));
            for (const uint64_t what : {traits.kind, traits.handler, both})
                weight *= kLargeFactors[splitmix(from ^ what) % 3];
            weights_.push_back(weight);
        }
        return by_weights(word);
    }

    size_t by_swarm(const std::vector<Chance>& chances, uint64_t word) {
        weights_.clear();
        for (const Chance& chance : chances) {
            const Traits& traits = of(chance);
            uint64_t weight = static_cast<uint64_t>(traits.weight);
            for (const uint64_t what : {traits.kind, traits.handler, kNodes + static_cast<uint64_t>(traits.node)})
                weight *= kFactors[splitmix(salt_ ^ what) % 4];
            weights_.push_back(weight);
        }
        return by_weights(word);
    }

    // One of the chances, by what was worked out for each.
    size_t by_weights(uint64_t word) const {
        uint64_t total = 0;
        for (const uint64_t weight : weights_) total += weight;
        uint64_t place = below(total, word);
        size_t at = 0;
        while (place >= weights_[at]) place -= weights_[at++];
        return at;
    }

    using Head = std::pair<int64_t, uint64_t>;  // a pair, and the rank of a message

    const std::vector<Traits>& traits_;
    Policy policy_ = Policy::kWeighted;
    Memory* memory_ = nullptr;
    uint64_t origin_ = 0, salt_ = 0, stamp_ = 0;
    std::vector<uint64_t> places_;  // of events in what is held: stamp, position
    std::vector<Held> next_;
    std::vector<Head> heads_;
    std::vector<uint64_t> weights_;
    std::vector<int64_t> ends_;  // of phases
};

}  // namespace worldline
