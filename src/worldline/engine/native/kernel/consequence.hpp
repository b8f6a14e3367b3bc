// Consequence prediction: level by level of cost. engine/consequence.py is its reference.
//
// Each level is gone through twice: first the keys of own steps are noted that are new, with
// the least fingerprint of the states that could take them, then its states are expanded. So
// whose turn a step is does not depend on the order of work either.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "search.hpp"

namespace worldline {

class Consequence final : public Search {
  public:
    // `repeat_cost` is what it costs more to take a state up again; kUnknown: never.
    Consequence(Tables& tables, int32_t threads, int64_t worth_threads, int32_t repeat_cost,
                int32_t prune, int32_t done)
        : Search(tables, threads, worth_threads, kNoLimit, prune, done), repeat_cost_(repeat_cost) {
        shared.by_cost = true;
        shared.forgets = repeat_cost == kUnknown;
    }

    int64_t longest = 0;  // states on the longest path to a state that was judged

    int64_t states() const override { return judged_; }
    int64_t executed() const { return static_cast<int64_t>(shared.executed.size()); }

    // How many states were met, also of those that do not count yet.
    int64_t held() const { return shared.states; }

    // How many states wait, to be judged or to be taken up again included.
    int64_t waiting() const {
        int64_t total = count(shared.level) + count(fresh_);
        for (const auto& one : waiting_) total += count(one.second);
        return total;
    }

    // The cost of the states met last.
    int64_t cost() const { return cost_; }

    // The cost of the states that are expanded next; kUnknown if there are none.
    int64_t next_cost() const {
        if (!fresh_.chunks.empty()) return cost_;
        return waiting_.empty() ? kUnknown : waiting_.begin()->first;
    }

    // Has so many more of the states met last judged by the steps that follow: those with
    // the least fingerprints. Returns how many of them are left then.
    int64_t judge(int64_t most) {
        gather();
        for (Watch& watch : shared.watches) watch.is_over |= watch.fingerprint != ~0ULL;
        std::vector<uint64_t> left;
        fresh_.each(shared.packing, [&](uint64_t fingerprint, const uint64_t*) {
            if (fingerprint >= high_) left.push_back(fingerprint);
        });
        const size_t now = std::min(left.size(), static_cast<size_t>(std::max<int64_t>(0, most)));
        low_ = high_;
        high_ = ~0ULL;
        if (now < left.size()) {
            std::nth_element(left.begin(), left.begin() + now, left.end());
            high_ = left[now];
        }
        judged_ += static_cast<int64_t>(now);
        cursor_ = 0;
        phase_ = Phase::kJudging;
        return static_cast<int64_t>(left.size() - now);
    }

    int64_t advance() override {
        cost_ = next_cost();
        shared.depth = kNew;
        shared.level.take(fresh_);
        pending_ = count(shared.level);
        shared.first_back = shared.level.chunks.size();
        const auto back = waiting_.find(cost_);
        if (back != waiting_.end()) {
            shared.level.take(back->second);
            waiting_.erase(back);
        }
        cursor_ = 0;
        low_ = high_ = 0;
        phase_ = Phase::kNoting;
        return count(shared.level);
    }

    int64_t step(int64_t quota) override {
        misses.clear();
        shared.tables.settle();
        while (quota > 0 && phase_ != Phase::kIdle && !shared.has_collision && !meter().is_over()) {
            if (phase_ == Phase::kJudging)
                quota -= examine_some();
            else
                quota -= visit_some(quota);
            misses.settle(shared.tables);
            if (!misses.empty()) break;
        }
        return phase_ == Phase::kIdle ? 0 : std::max<int64_t>(1, pending_);
    }

    size_t bytes() const override {
        size_t total = Search::bytes() + fresh_.bytes(shared.packing) + shared.executed.bytes();
        for (const auto& one : waiting_) total += one.second.bytes(shared.packing);
        return total;
    }

  protected:
    void repack(const Packing& before) override {
        fresh_.repack(before, shared.packing, shared.stock, row_);
        for (auto& one : waiting_) one.second.repack(before, shared.packing, shared.stock, row_);
    }

  private:
    enum class Phase { kIdle, kJudging, kNoting, kExpanding };

    static constexpr int64_t kNoLimit = int64_t{1} << 62;
    static constexpr uint32_t kNew = ~1U;  // the depth of states that are being met
    static constexpr size_t kMany = 1 << 16;

    static int64_t count(const Frontier& states) {
        int64_t total = 0;
        for (const Chunk& chunk : states.chunks) total += chunk.count;
        return total;
    }

    void gather() {
        for (Worker& worker : workers_) fresh_.take(worker.next);
    }

    // Goes on with the level in the phase that it is in. Returns how many states were tried.
    int64_t visit_some(int64_t quota) {
        if (pending_ == 0) {
            if (phase_ == Phase::kNoting)
                begin_to_expand();
            else
                end_level();
            return 0;
        }
        if (phase_ == Phase::kExpanding)
            return batch(quota, shared.level.chunks.size(),
                         [this](Worker& worker, Batch& batch, Position at) {
                             expansion_.expand(worker, batch, at);
                         });
        const int64_t tried = batch(
            quota, shared.first_back,
            [this](Worker& worker, Batch&, Position at) { expansion_.note(worker, at); });
        for (Worker& worker : workers_) {
            keys_.insert(keys_.end(), worker.keys.begin(), worker.keys.end());
            worker.keys.clear();
        }
        if (keys_.size() > many_) keep_least();
        return tried;
    }

    // Leaves of each key that was noted the state with the least fingerprint.
    void keep_least() {
        std::sort(keys_.begin(), keys_.end());
        const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
        keys_.erase(std::unique(keys_.begin(), keys_.end(), same), keys_.end());
        many_ = std::max(kMany, 2 * keys_.size());
    }

    void begin_to_expand() {
        keep_least();
        for (const auto& one : keys_) shared.executed.put(one.first, one.second);
        keys_.clear();
        pending_ = count(shared.level);
        cursor_ = 0;
        phase_ = Phase::kExpanding;
    }

    void end_level() {
        for (Worker& worker : workers_)
            if (!worker.later.chunks.empty()) waiting_[cost_ + repeat_cost_].take(worker.later);
        shared.level.clear(shared.stock);
        gather();
        // Which path is kept to a state is known only now.
        fresh_.each(shared.packing, [&](uint64_t fingerprint, const uint64_t*) {
            State& state = shared.visited.find(fingerprint);
            state.depth = shared.visited.find(state.parent).depth + 1;
        });
        ++cost_;
        phase_ = Phase::kIdle;
    }

    // Judges states until there are many misses. Returns how many were tried.
    int64_t examine_some() {
        refit();
        Worker& judge = workers_[0];
        judge.begin(shared.watches.size());
        std::vector<Undecided> left;
        for (const Undecided& one : judge.undecided)
            if (judge.has_many_misses() || !expansion_.examine(judge, one.watch, fresh_, one.at))
                left.push_back(one);
        judge.undecided.swap(left);
        for (; cursor_ < fresh_.chunks.size() && !judge.has_many_misses(); ++cursor_)
            for (uint32_t row = 0; row < fresh_.chunks[cursor_].count; ++row)
                examine(judge, static_cast<Position>(cursor_ << kChunkBits) | row);
        if (cursor_ == fresh_.chunks.size() && judge.undecided.empty()) phase_ = Phase::kIdle;
        return collect(judge);
    }

    void examine(Worker& judge, Position at) {
        const uint64_t fingerprint = fresh_.fingerprint(shared.packing, at);
        if (fingerprint < low_ || fingerprint >= high_) return;
        ++judge.tried;
        longest = std::max<int64_t>(longest, shared.visited.find(fingerprint).depth);
        for (size_t watch = 0; watch < shared.watches.size(); ++watch)
            if (!expansion_.examine(judge, watch, fresh_, at))
                judge.undecided.push_back(Undecided{at, static_cast<int32_t>(watch)});
    }

    const int32_t repeat_cost_;
    Phase phase_ = Phase::kIdle;
    int64_t cost_ = 0, judged_ = 0;
    uint64_t low_ = 0, high_ = 0;       // of the states met last, which are being judged
    Frontier fresh_;                    // the states met last
    std::map<int64_t, Frontier> waiting_;  // the states put off, by the cost at which they are back
    std::vector<std::pair<uint64_t, uint64_t>> keys_;  // that are new at this cost, by which state
    size_t many_ = kMany;               // so many that only the least are left
};

}  // namespace worldline
