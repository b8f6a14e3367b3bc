// What the tables lack: noted by whoever explores, worked out here or by Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tables.hpp"

namespace worldline {

enum class Lack : int32_t {
    kList = 0,     // the events of site `first` in the row
    kParts = 1,    // the events of item `second` at site `first` in the row
    kOutcome = 2,  // the outcomes of event `first` in the row
    kApply = 3,    // what operation `first` makes of value `second`
    kAnswer = 4,   // what value `second` answers at tree `first`
    kDecide = 5,   // the verdict of decision `first` on the row, from question `second` on
};

struct Miss {
    Lack kind;
    int32_t first, second;
    uint64_t key;  // with the three: what makes it the same as another
    int32_t row;   // where its row begins; -1: it needs none
};

class Misses {
  public:
    explicit Misses(int32_t width) : width_(width) {}

    void add(Lack kind, int32_t first, int32_t second, uint64_t key, const int32_t* row) {
        int32_t at = kUnknown;
        if (row != nullptr) {
            at = static_cast<int32_t>(rows_.size());
            rows_.insert(rows_.end(), row, row + width_);
        }
        misses_.push_back(Miss{kind, first, second, key, at});
    }

    // Notes that a decision got stuck at a question and a value.
    void add_verdict(int32_t decision, std::pair<int32_t, int32_t> stuck, const int32_t* row) {
        const uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(stuck.first)) << 32 |
                             static_cast<uint32_t>(stuck.second);
        add(Lack::kDecide, decision, stuck.first, key, row);
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
        unknown_parts_.clear();
        for (const Miss& miss : misses_)
            if (!solve(tables, miss)) left.push_back(miss);
        keep_one_of_each(unknown_parts_);
        left.insert(left.end(), unknown_parts_.begin(), unknown_parts_.end());
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
        if (miss.kind == Lack::kApply) {
            const Operation& operation = tables.operations[miss.first];
            if (operation.action == Action::kOpaque) return false;
            Column& column = tables.columns[operation.column];
            const int32_t after = column.collection->act(miss.second, operation.action, operation.item);
            if (after == column.size())
                column.mixes.push_back(mixed(column.collection->content(after), operation.column));
            tables.put_effect(miss.first, miss.second, after);
            return true;
        }
        if (miss.kind == Lack::kList) return compose(tables, miss);
        return false;
    }

    // Makes the list of a site from the events of each item: kind by kind.
    bool compose(Tables& tables, const Miss& miss) {
        Site& site = tables.sites[miss.first];
        if (site.collection == kUnknown) return false;
        const int32_t* row = this->row(miss);
        tables.columns[site.columns[site.collection]].collection->ready(
            row[site.columns[site.collection]], items_);
        std::vector<const int32_t*> events;
        bool is_complete = true;
        for (const int32_t item : items_) {
            events.push_back(site.events_of(item, row));
            if (events.back() != nullptr) continue;
            is_complete = false;
            unknown_parts_.push_back(
                Miss{Lack::kParts, miss.first, item, site.hash(row, true), miss.row});
        }
        if (!is_complete) return true;  // the row is tried again
        std::vector<int32_t> found, values;
        for (int32_t kind = 0; kind < site.kinds; ++kind)
            for (const int32_t* one : events)
                if (one[kind] >= 0) found.push_back(one[kind]);
        for (const int32_t column : site.columns) values.push_back(row[column]);
        site.put(values.data(), tables.add_list(found.data(), found.size()));
        return true;
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
    std::vector<Miss> misses_, unknown_parts_;
    std::vector<int32_t> rows_, items_;
};

}  // namespace worldline
