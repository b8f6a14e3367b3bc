// Breadth-first exploration, level by level, on any number of threads; see search.hpp.
//
// Where two steps commute (commute.hpp), only that order is looked up which could be kept.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "periphery.hpp"
#include "search.hpp"

namespace worldline {

class BreadthFirst final : public Search {
  public:
    using Search::Search;

    // Keeps the states beyond which nothing new is seen from now on.
    void keep_periphery() { periphery_ = std::make_unique<Periphery>(); }

    int64_t advance() override {
        leave_level();
        for (Worker& worker : workers_) shared.level.take(worker.next);
        pending_ = 0;
        for (const Chunk& chunk : shared.level.chunks) pending_ += chunk.count;
        cursor_ = 0;
        ++shared.depth;
        for (Watch& watch : shared.watches) watch.is_over |= watch.fingerprint != ~0ULL;
        return pending_;
    }

    // Ends the search, with the states that are not expanded yet as the outermost. Returns
    // how many are kept beyond which nothing new was seen.
    int64_t end() {
        leave_level();
        for (Worker& worker : workers_) shared.level.take(worker.next);
        periphery_->end(shared.packing, shared.stock, shared.level);
        shared.level.clear(shared.stock);
        return periphery_->size();
    }

    // Gives the fingerprint of the n-th of these, and its row.
    uint64_t outermost(int64_t number, int32_t* row) const {
        return periphery_->get(shared.packing, number, row);
    }

    int64_t step(int64_t quota) override {
        misses.clear();
        shared.tables.settle();
        while (quota > 0 && !shared.is_full && !shared.has_collision && !meter().is_over()) {
            if (!examine()) break;
            if (pending_ == 0) break;
            quota -= batch(quota, shared.level.chunks.size(),
                           [this](auto& worker, auto& batch, Position at) {
                               expansion_.expand(worker, batch, at);
                           });
            misses.settle(shared.tables);
            if (!misses.empty()) break;
        }
        int64_t undecided = 0;
        for (const Worker& worker : workers_)
            undecided += static_cast<int64_t>(worker.undecided.size());
        return pending_ + undecided;
    }

    size_t bytes() const override {
        return Search::bytes() + (periphery_ ? periphery_->bytes(shared.packing) : 0);
    }

  protected:
    void repack(const Packing& before) override {
        if (periphery_) periphery_->repack(before, shared.packing, shared.stock, row_);
    }

    // Until it is known who is nobody's parent.
    bool keeps_level() const override { return periphery_ != nullptr; }

  private:
    // Empties a level that was expanded, after noting who is nobody's parent.
    void leave_level() {
        if (periphery_) {
            std::vector<uint64_t> parents;
            for (const Worker& worker : workers_)
                worker.next.each(shared.packing, [&](uint64_t fingerprint, const uint64_t*) {
                    const State& state = shared.visited.find(fingerprint);
                    if (parents.empty() || parents.back() != state.parent)
                        parents.push_back(state.parent);
                });
            periphery_->add(shared.packing, shared.stock, shared.level, std::move(parents));
        }
        shared.level.clear(shared.stock);
    }

    // Evaluates predicates on states whose verdicts were missing. False if some still are.
    bool examine() {
        Worker& judge = workers_[0];
        judge.begin(shared.watches.size());
        for (Worker& worker : workers_) {
            std::vector<Undecided> left;
            for (const Undecided& one : worker.undecided)
                if (judge.has_many_misses() || !expansion_.examine(judge, one.watch, worker.next, one.at))
                    left.push_back(one);
            worker.undecided.swap(left);
        }
        collect(judge);
        misses.settle(shared.tables);
        return misses.empty();
    }

    std::unique_ptr<Periphery> periphery_;  // if it is kept
};

}  // namespace worldline
