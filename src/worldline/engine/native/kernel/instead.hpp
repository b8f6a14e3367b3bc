// What happens instead of events that must not. engine/expand.py is its reference.
#pragma once

#include <cstdint>
#include <vector>

#include "hash.hpp"

namespace worldline {

// Events by number, and for some of them those that stand in their place. It belongs to one
// search: the tables are the same for all.
class Instead {
  public:
    // Says what stands in the place of an event, each where it has an outcome.
    void put(int32_t event, const int32_t* first, const int32_t* last) {
        if (at_.size() <= static_cast<size_t>(event)) at_.resize(event + 1, kUnknown);
        at_[event] = static_cast<int32_t>(lists_.size());
        lists_.emplace_back(first, last);
    }

    // What stands in the place of an event; null if it may happen.
    const std::vector<int32_t>* of(int32_t event) const {
        if (at_.size() <= static_cast<size_t>(event) || at_[event] == kUnknown) return nullptr;
        return &lists_[at_[event]];
    }

  private:
    std::vector<int32_t> at_;  // by event
    std::vector<std::vector<int32_t>> lists_;
};

}  // namespace worldline
