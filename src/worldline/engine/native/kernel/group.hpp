// Neighbouring sites whose events run at the same node, and what they depend on together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "site.hpp"

namespace worldline {

struct Group {
    int32_t first, last;  // sites
    std::vector<int32_t> columns;
    std::vector<std::pair<int32_t, int32_t>> fields;  // column, shift: of a key
    int32_t bits = 0;

    bool has(int32_t column) const {
        return std::find(columns.begin(), columns.end(), column) != columns.end();
    }

    uint64_t key(const int32_t* row) const {
        uint64_t found = 0;
        for (const auto& field : fields)
            found |= static_cast<uint64_t>(row[field.first]) << field.second;
        return found;
    }

    // Whether all combinations of values are few enough for a table of them.
    bool is_small() const { return bits <= kSmall; }

    // Whether a combination of values fits into a key.
    bool has_key() const { return bits <= kMostBits; }

  private:
    static constexpr int32_t kSmall = 12, kMostBits = 62;
};

inline std::vector<Group> group_sites(const std::vector<Site>& sites) {
    std::vector<Group> found;
    for (size_t at = 0; at < sites.size(); ++at) {
        const auto number = static_cast<int32_t>(at);
        if (found.empty() || sites[at].local < 0 ||
            sites[found.back().first].local != sites[at].local)
            found.push_back(Group{number, number, {}, {}, 0});
        Group& group = found.back();
        group.last = number + 1;
        std::vector<int32_t> columns = sites[at].columns;
        if (sites[at].local >= 0) columns.push_back(sites[at].local);
        for (const int32_t column : columns)
            if (!group.has(column)) group.columns.push_back(column);
    }
    return found;
}

}  // namespace worldline
