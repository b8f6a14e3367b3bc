// The states beyond which a search saw nothing new: those that are nobody's parent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "frontier.hpp"
#include "packing.hpp"

namespace worldline {

// Keeps them packed: those on which the bound on depth fell, then the others level by
// level, each in order of fingerprints. So threads make no difference.
class Periphery {
  public:
    // Adds those states of a level that are none of the parents of the next.
    void add(const Packing& packing, Stock& stock, const Frontier& level,
             std::vector<uint64_t> parents) {
        std::sort(parents.begin(), parents.end());
        std::vector<Kept> found;
        level.each(packing, [&](uint64_t fingerprint, const uint64_t* words) {
            if (!std::binary_search(parents.begin(), parents.end(), fingerprint))
                found.emplace_back(fingerprint, words);
        });
        take(packing, stock, found, inner_, inner_count_);
    }

    // Adds the states of a level that is not expanded any more.
    void end(const Packing& packing, Stock& stock, const Frontier& level) {
        std::vector<Kept> found;
        level.each(packing, [&](uint64_t fingerprint, const uint64_t* words) {
            found.emplace_back(fingerprint, words);
        });
        take(packing, stock, found, outer_, outer_count_);
    }

    // Changes all rows, for chunks of another size.
    void repack(const Packing& before, const Packing& after, Stock& stock, std::vector<int32_t>& row) {
        inner_.repack(before, after, stock, row);
        outer_.repack(before, after, stock, row);
    }

    int64_t size() const { return outer_count_ + inner_count_; }

    // Gives the fingerprint of the n-th, and its row.
    uint64_t get(const Packing& packing, int64_t number, int32_t* row) const {
        const bool is_outer = number < outer_count_;
        const Frontier& states = is_outer ? outer_ : inner_;
        const auto at = static_cast<Position>(is_outer ? number : number - outer_count_);
        packing.unpack(states.words(packing, at), row);
        return states.fingerprint(packing, at);
    }

    size_t bytes(const Packing& packing) const {
        return inner_.bytes(packing) + outer_.bytes(packing);
    }

  private:
    using Kept = std::pair<uint64_t, const uint64_t*>;  // fingerprint, packed row

    static void take(const Packing& packing, Stock& stock, std::vector<Kept>& found,
                     Frontier& states, int64_t& count) {
        std::sort(found.begin(), found.end());
        for (const Kept& one : found)
            std::memcpy(states.add(packing, stock, one.first), one.second, 8 * packing.words);
        count += static_cast<int64_t>(found.size());
    }

    Frontier outer_, inner_;
    int64_t outer_count_ = 0, inner_count_ = 0;
};

}  // namespace worldline
