// Misses of the tables: noted while exploring, resolved here or by Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "tables.hpp"

namespace worldline {

enum class MissKind : int32_t {
    kList = 0,     // the events of site `first` in the row
    kParts = 1,    // the events of item `second` at site `first` in the row
    kOutcome = 2,  // the outcomes of event `first` in the row
    kApply = 3,    // what operation `first` makes of value `second`
    kAnswer = 4,   // what value `second` answers at tree `first`
    kDecide = 5,   // the verdict of decision `first` on the row, from question `second` on
    kTrait = 6,    // what value `second` of column `first` adds to signatures
    kRename = 7,   // what steps, in the place of a row after their number, make of
                   // value `second` of column `first`
    kOutline = 8,  // the outlines of item `second` of column `first`
    kItem = 9,     // what item `second` becomes by the renaming of table `first`
    kLink = 10,    // what operation `first` makes of link `second`, or of none
    kLinkAnswer = 11,  // what link `second`, or none, answers at tree `first`
};

struct Miss {
    MissKind kind;
    int32_t first, second;
    uint64_t key;  // with the three: what makes it the same as another
    int32_t row;   // where its row begins; -1: it needs none
};

class Misses {
  public:
    explicit Misses(int32_t width) : width_(width) {}

    void add(MissKind kind, int32_t first, int32_t second, uint64_t key, const int32_t* row) {
        int32_t at = kUnknown;
        if (row != nullptr) {
            at = static_cast<int32_t>(rows_.size());
            rows_.insert(rows_.end(), row, row + width_);
        }
        misses_.push_back(Miss{kind, first, second, key, at});
    }

    void add_steps(int32_t column, int32_t value, const int32_t* steps, size_t count) {
        uint64_t key = count;
        for (size_t at = 0; at < count; ++at) key = splitmix(key + steps[at] + 1);
        const auto at = static_cast<int32_t>(rows_.size());
        rows_.push_back(static_cast<int32_t>(count));
        rows_.insert(rows_.end(), steps, steps + count);
        misses_.push_back(Miss{MissKind::kRename, column, value, key, at});
    }

    // Notes that a decision got stuck at a question and a value.
    void add_verdict(int32_t decision, std::pair<int32_t, int32_t> stuck, const int32_t* row) {
        const uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(stuck.first)) << 32 |
                             static_cast<uint32_t>(stuck.second);
        add(MissKind::kDecide, decision, stuck.first, key, row);
    }

    void add_all(const Misses& other) {
        const auto offset = static_cast<int32_t>(rows_.size());
        rows_.insert(rows_.end(), other.rows_.begin(), other.rows_.end());
        for (Miss miss : other.misses_) {
            if (miss.row >= 0) miss.row += offset;
            misses_.push_back(miss);
        }
    }

    // Works out what needs no user code, and keeps one of each of the others.
    void settle(Tables& tables) {
        keep_one_of_each(misses_);
        std::vector<Miss> left;
        parts_.clear();
        asked_.clear();
        for (const Miss& miss : misses_)
            if (!solve(tables, miss)) left.push_back(miss);
        keep_one_of_each(parts_);
        left.insert(left.end(), parts_.begin(), parts_.end());
        misses_.swap(left);
        tables.settle();
    }

    void clear() {
        misses_.clear();
        rows_.clear();
    }

    bool empty() const { return misses_.empty(); }
    size_t size() const { return misses_.size(); }
    const Miss& operator[](size_t at) const { return misses_[at]; }
    const int32_t* rows() const { return rows_.data(); }
    const int32_t* row(const Miss& miss) const { return rows_.data() + miss.row; }

  private:
    bool solve(Tables& tables, const Miss& miss) {
        if (miss.kind == MissKind::kApply) {
            const Operation& operation = tables.operations[miss.first];
            if (operation.action == Action::kOpaque) return false;
            const int32_t after = act(tables, miss.first, miss.second);
            if (after == kUnknown) return true;  // the row is tried again
            tables.note_collection(operation.column, after);
            tables.put_effect(miss.first, miss.second, after);
            return true;
        }
        if (miss.kind == MissKind::kList) return compose(tables, miss);
        if (miss.kind == MissKind::kAnswer) return answer(tables, miss);
        if (miss.kind != MissKind::kTrait && miss.kind != MissKind::kRename) return false;
        const Column& column = tables.columns[miss.first];
        if (column.collection == nullptr || column.collection->is_links()) return false;
        if (miss.kind == MissKind::kRename)
            rename(tables, miss);
        else if (!tables.symmetry->solve_trait(*column.collection, miss.first, miss.second, items_))
            for (const int32_t item : items_)
                parts_.push_back(Miss{MissKind::kOutline, miss.first, item, 0, kUnknown});
        return true;  // the row is tried again
    }

    // Returns what an operation makes of a collection; kUnknown if links are lacking.
    int32_t act(Tables& tables, int32_t number, int32_t value) {
        const Operation& operation = tables.operations[number];
        Collection& collection = *tables.columns[operation.column].collection;
        if (!collection.is_links()) return collection.act(value, operation.action, operation.item);
        return collection.change(value, operation.action, operation.item, [&](int32_t link) {
            const int32_t after = tables.links.get(number, link + 1);
            if (after == kUnknown)
                parts_.push_back(Miss{MissKind::kLink, number, link, 0, kUnknown});
            return after;
        });
    }

    // Lets a link answer, if a question is about one alone.
    bool answer(Tables& tables, const Miss& miss) {
        const Tree& tree = tables.trees[miss.first];
        if (tree.peer == kUnknown) return false;
        const int32_t link = tables.columns[tree.column].collection->link_with(miss.second, tree.peer);
        const int32_t answer = tables.link_answers.get(tree.answers, link + 1);
        if (answer == kUnknown)
            parts_.push_back(Miss{MissKind::kLinkAnswer, miss.first, link, 0, kUnknown});
        else
            tables.answers.put(tree.answers, miss.second, answer);
        return true;  // if nothing is known yet, the row is tried again
    }

    // Takes a collection through steps, as far as is known what becomes of its items.
    void rename(Tables& tables, const Miss& miss) {
        Symmetry& symmetry = *tables.symmetry;
        std::vector<Collection::Pair> pairs;
        int32_t column = miss.first, value = miss.second;
        const int32_t* step = &rows_[miss.row] + 1;
        for (const int32_t* end = step + step[-1]; step != end; ++step) {
            const int32_t table = symmetry.table(column, *step), to = symmetry.destination(column, *step);
            int32_t after = symmetry.exchanged.get(table, value);
            if (after == kUnknown) {
                if (!symmetry.rename(*tables.columns[column].collection, table, value, pairs, items_)) {
                    for (const int32_t item : items_)
                        parts_.push_back(Miss{MissKind::kItem, table, item, 0, kUnknown});
                    return;
                }
                after = tables.columns[to].collection->intern_unordered(pairs);
                tables.note_collection(to, after);
                symmetry.put(table, value, after);
            }
            column = to;
            value = after;
        }
    }

    // Makes the list of a site from the events of each item: kind by kind.
    bool compose(Tables& tables, const Miss& miss) {
        Site& site = tables.sites[miss.first];
        if (site.collection == kUnknown) return false;
        const int32_t* row = this->row(miss);
        if (site.sees_aspects()) return find_alike(tables, miss.first, row);
        tables.columns[site.columns[site.collection]].collection->ready(
            row[site.columns[site.collection]], items_);
        std::vector<const int32_t*> events;
        bool is_complete = true;
        for (const int32_t item : items_) {
            events.push_back(site.events_of(item, row));
            if (events.back() != nullptr) continue;
            is_complete = false;
            parts_.push_back(
                Miss{MissKind::kParts, miss.first, item, site.hash(row, true), miss.row});
        }
        if (!is_complete) return true;  // the row is tried again
        std::vector<int32_t> found, values;
        for (int32_t kind = 0; kind < site.kinds; ++kind)
            for (const int32_t* one : events)
                if (one[kind] >= 0) found.push_back(one[kind]);
        for (const int32_t column : site.columns) values.push_back(row[column]);
        site.put(values.data(), tables.add_list(miss.first, found.data(), found.size()));
        return true;
    }

    // Gives a site the list of values that look alike. True as well if one such is asked for
    // already: then the row is tried again.
    bool find_alike(Tables& tables, int32_t number, const int32_t* row) {
        Site& site = tables.sites[number];
        std::vector<int32_t> values;
        for (const int32_t column : site.columns) values.push_back(row[column]);
        std::vector<int32_t> seen = tables.seen(site, values.data());
        const auto known = site.alike.find(seen);
        if (known != site.alike.end()) {
            site.put(values.data(), known->second);
            return true;
        }
        seen.push_back(number);
        return !asked_.insert(std::move(seen)).second;
    }

    static void keep_one_of_each(std::vector<Miss>& misses) {
        const auto key = [](const Miss& one) {
            return std::make_tuple(one.kind, one.first, one.second, one.key);
        };
        std::stable_sort(misses.begin(), misses.end(),
                         [&](const Miss& a, const Miss& b) { return key(a) < key(b); });
        const auto same = [&](const Miss& a, const Miss& b) { return key(a) == key(b); };
        misses.erase(std::unique(misses.begin(), misses.end(), same), misses.end());
    }

    int32_t width_;
    std::vector<Miss> misses_, parts_;  // parts: what others are made of
    Items<int32_t> rows_;
    std::vector<int32_t> items_;
    std::set<std::vector<int32_t>> asked_;  // what was seen at sites that see aspects
};

}  // namespace worldline
