// Random walks in batches, on any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "thread_pool.hpp"
#include "walker.hpp"

namespace worldline {

// Batches of walks: as many walkers as threads, which share the walks that have not ended.
class Walks {
  public:
    explicit Walks(Tables& tables, int32_t threads)
        : misses(tables.width), tables_(tables), pool_(threads) {
        for (int32_t n = 0; n < threads; ++n)
            walkers_.push_back(std::make_unique<Walker>(tables, options));
    }
    Walks(const Walks&) = delete;

    WalkOptions options;
    Misses misses;
    std::vector<Walk> walks;
    std::vector<int32_t> path;  // of the first walk, if it was asked for

    // From now on, walks go by another scheduler, to another bound.
    void use(Policy policy, int64_t parameter, int64_t most_steps) {
        options.policy = policy;
        options.parameter = parameter;
        options.most_steps = most_steps;
    }

    // Where a watched predicate was true first.
    Reached reached(size_t watch) const {
        Reached found;
        for (const auto& walker : walkers_)
            if (watch < walker->reached.size()) found.take(walker->reached[watch]);
        return found;
    }

    // Tells which of the first `count` outcomes were taken on walks with numbers below `end`.
    void taken(uint64_t end, uint8_t* out, size_t count) const {
        std::fill(out, out + count, 0);
        for (const auto& walker : walkers_)
            for (size_t at = 0; at < std::min(count, walker->taken.size()); ++at)
                out[at] |= walker->taken[at] < end;
    }

    // Makes ready for some walks: all from one row, or each from its own.
    void begin(const int32_t* rows, bool is_shared, uint64_t first, int64_t count, bool with_path) {
        tables_.settle();
        path.clear();
        with_path_ = with_path;
        walks.clear();
        todo_.clear();
        for (int64_t at = 0; at < count; ++at) {
            walks.push_back(Walk{first + static_cast<uint64_t>(at), 0, End::kNone, 0});
            todo_.push_back(at);
        }
        memories_.assign(remembers(options.policy) ? static_cast<size_t>(count) : 0, Memory());
        is_shared_ = is_shared;
        start_.assign(rows, rows + tables_.width);
        const auto room = static_cast<size_t>(count * tables_.width);
        if (rows_.size() < room) rows_.resize(room);
        if (!is_shared) std::copy_n(rows, room, rows_.begin());
        for (auto& walker : walkers_) walker->begin(rows);
    }

    // Walks on until all have ended, misses have to be resolved first, or the meter is
    // over. Returns how many have not ended.
    int64_t step() {
        misses.clear();
        tables_.settle();
        while (!todo_.empty() && misses.empty() && !meter().is_over()) {
            std::atomic<size_t> next{0};
            pool_.run(std::min(walkers_.size(), todo_.size()), [&](size_t n) {
                for (size_t at; !meter().is_over() && (at = next++) < todo_.size();)
                    go(*walkers_[n], todo_[at]);
            });
            for (auto& walker : walkers_) {
                misses.add_all(walker->misses);
                walker->misses.clear();
            }
            misses.settle(tables_);
            const auto has_ended = [this](int64_t at) { return walks[at].end != End::kNone; };
            todo_.erase(std::remove_if(todo_.begin(), todo_.end(), has_ended), todo_.end());
        }
        return static_cast<int64_t>(todo_.size());
    }

    // The row that a walk has come to that has not ended.
    const int32_t* row(int64_t at) const {
        return is_fresh(at) ? start_.data() : &rows_[at * tables_.width];
    }

    size_t row_bytes() const { return 4 * start_.size(); }

  private:
    void go(Walker& walker, int64_t at) {
        walker.go(walks[at], is_fresh(at), &rows_[at * tables_.width],
                  memories_.empty() ? nullptr : &memories_[at], with_path_ && at == 0 ? &path : nullptr);
    }

    // Whether a walk is still where others begin, too.
    bool is_fresh(int64_t at) const { return is_shared_ && walks[at].step == 0; }

    Tables& tables_;
    ThreadPool pool_;
    std::vector<std::unique_ptr<Walker>> walkers_;
    std::vector<int32_t> start_;
    std::vector<int32_t> rows_;  // of walks that are not fresh, one after the other
    std::vector<int64_t> todo_;  // the walks that have not ended
    std::vector<Memory> memories_;  // of the walks, if their scheduler remembers
    bool with_path_ = false, is_shared_ = true;
};

}  // namespace worldline
