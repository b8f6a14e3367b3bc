// What symmetry reduction has to know about values: engine/symmetry.py explains it.
//
// Members of groups are numbered through all groups. A renaming is told by a code: below
// `count`, a member and the next exchange names; from there on, a value that mentions
// nobody moves to the column of another member. Values of collections are worked out
// here, from their items.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "collections.hpp"
#include "hash.hpp"

namespace worldline {

// Bits for members: so a kernel knows at most 64.
using Mentions = uint64_t;

// What a mention adds to the signature of a member, and what besides if the column is
// its own (of a value); or the outline with the member told apart (of an item).
struct Share {
    int32_t member;
    uint64_t share, besides;
};

// What a value adds to signatures where it stands.
struct Trait {
    Mentions mentions = 0;
    uint64_t own = 0;
    int32_t begin = kUnknown, count = 0;  // its shares
};

class Symmetry {
  public:
    explicit Symmetry(int32_t width, int32_t count)
        : count(count), owner(width, kUnknown), salts(width), traits_(width), outlines_(width),
          place_(width) {
        exchanged.add(width * 2 * count);
        items.add(width * 2 * count);
    }

    const int32_t count;                             // of members
    std::vector<std::pair<int32_t, int32_t>> groups;  // first member, and after the last
    std::vector<int32_t> owner;                      // of each column; -1: no member
    std::vector<int32_t> salts;                      // of each column, by its role
    std::vector<std::vector<int32_t>> members;       // their columns
    Grid<int32_t> exchanged{kUnknown};               // by `table` and value
    Grid<int32_t> items{kUnknown};                   // by `table` and item

    // Gives a member its columns.
    void add_member(const int32_t* columns, int32_t places) {
        for (int32_t at = 0; at < places; ++at) {
            owner[columns[at]] = static_cast<int32_t>(members.size());
            place_[columns[at]] = at;
        }
        members.emplace_back(columns, columns + places);
    }

    int32_t table(int32_t column, int32_t code) const { return column * 2 * count + code; }

    int32_t move_to(int32_t member) const { return count + member; }

    // Where a value of a column stands after a renaming.
    int32_t destination(int32_t column, int32_t code) const {
        const int32_t mine = owner[column];
        int32_t to = mine;
        if (code >= count)
            to = code - count;
        else if (mine == code || mine == code + 1)
            to = 2 * code + 1 - mine;
        return to == mine ? column : members[to][place_[column]];
    }

    // Null if it is unknown.
    const Trait* trait(int32_t column, int32_t value) const {
        const auto& known = traits_[column];
        if (static_cast<size_t>(value) >= known.size() || known[value].begin == kUnknown)
            return nullptr;
        return &known[value];
    }

    const Share* begin(const Trait& trait) const { return shares_.data() + trait.begin; }
    const Share* end(const Trait& trait) const { return begin(trait) + trait.count; }

    void put_trait(int32_t column, int32_t value, uint64_t own, const std::vector<Share>& shares) {
        reach(traits_[column], value) = keep(own, shares);
    }

    // Says the outline of an item, and those with one member told apart.
    void put_outline(int32_t column, int32_t item, uint64_t common,
                     const std::vector<Share>& shares) {
        reach(outlines_[column], item) = keep(common, shares);
    }

    // Says what a renaming makes of a value, and so what undoes it.
    void put(int32_t table, int32_t value, int32_t after) { put(exchanged, table, value, after); }
    void put_item(int32_t table, int32_t item, int32_t after) { put(items, table, item, after); }

    // Works out the trait of a collection. False if outlines of items are lacking.
    bool solve_trait(const Collection& collection, int32_t column, int32_t value,
                     std::vector<int32_t>& lacking) {
        lacking.clear();
        uint64_t common = 0;
        std::vector<Share> told;
        for (auto pair = collection.begin(value); pair != collection.end(value); ++pair) {
            if (static_cast<size_t>(pair->first) >= outlines_[column].size() ||
                outlines_[column][pair->first].begin == kUnknown) {
                lacking.push_back(pair->first);
                continue;
            }
            const Trait& item = outlines_[column][pair->first];
            const uint64_t plain = Collection::part(item.own, pair->second);
            common += plain;
            for (const Share* one = begin(item); one != end(item); ++one)
                of_member(told, one->member).share +=
                    Collection::part(one->share, pair->second) - plain;
        }
        if (!lacking.empty()) return false;
        const int32_t salt = salts[column];
        const uint64_t outline = collection.total(common);
        const uint64_t plain = mixed(outline, salt), own = mixed(outline, salt + 1);
        for (Share& one : told) {
            const uint64_t apart = collection.total(common + one.share);
            one.share = mixed(apart, salt) - plain;
            one.besides = mixed(apart, salt + 1) - own;
        }
        put_trait(column, value, own - plain, told);
        return true;
    }

    // Gives the pairs of a collection after a renaming. False if items are lacking.
    bool rename(const Collection& collection, int32_t table, int32_t value,
                std::vector<Collection::Pair>& out, std::vector<int32_t>& lacking) const {
        out.clear();
        lacking.clear();
        for (auto pair = collection.begin(value); pair != collection.end(value); ++pair) {
            const int32_t after = items.get(table, pair->first);
            if (after == kUnknown)
                lacking.push_back(pair->first);
            else
                out.emplace_back(after, pair->second);
        }
        return lacking.empty();
    }

  private:
    Trait keep(uint64_t own, const std::vector<Share>& shares) {
        Trait trait{0, own, static_cast<int32_t>(shares_.size()),
                    static_cast<int32_t>(shares.size())};
        for (const Share& one : shares) trait.mentions |= Mentions{1} << one.member;
        shares_.insert(shares_.end(), shares.begin(), shares.end());
        return trait;
    }

    static Share& of_member(std::vector<Share>& shares, int32_t member) {
        for (Share& one : shares)
            if (one.member == member) return one;
        shares.push_back(Share{member, 0, 0});
        return shares.back();
    }

    void put(Grid<int32_t>& grid, int32_t number, int32_t before, int32_t after) {
        const int32_t column = number / (2 * count), code = number % (2 * count);
        grid.put(number, before, after);
        const int32_t back = code < count ? code : move_to(owner[column]);
        grid.put(table(destination(column, code), back), after, before);
    }

    std::vector<std::vector<Trait>> traits_;    // by column and value
    std::vector<std::vector<Trait>> outlines_;  // by column and item
    std::vector<Share> shares_;
    std::vector<int32_t> place_;  // of each column, in the list of its member's
};

}  // namespace worldline
