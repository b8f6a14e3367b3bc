// Decisions on rows, with one look for each question.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "misses.hpp"
#include "packing.hpp"
#include "pages.hpp"
#include "tables.hpp"

namespace worldline {

// A row as it is.
class PlainRow {
  public:
    using Place = int32_t;

    explicit PlainRow(const int32_t* row) : row_(row) {}

    Place place(int32_t column) const { return column; }
    int32_t operator[](Place place) const { return row_[place]; }
    const int32_t* whole(std::vector<int32_t>&) const { return row_; }

  private:
    const int32_t* row_;
};

// A packed row.
class PackedRow {
  public:
    using Place = Packing::Field;

    PackedRow(const Packing& packing, const uint64_t* words) : packing_(packing), words_(words) {}

    Place place(int32_t column) const { return packing_.field(column); }
    int32_t operator[](const Place& place) const {
        return static_cast<int32_t>(words_[place.word] >> place.shift & place.mask);
    }
    const int32_t* whole(std::vector<int32_t>& row) const {
        packing_.unpack(words_, row.data());
        return row.data();
    }

  private:
    const Packing& packing_;
    const uint64_t* words_;
};

// Remembers for each question which comes next by the value that it is asked of, answer
// and branch together, for small values. Each thread has its own.
template <typename Row>
class Judge {
  public:
    explicit Judge(const Tables& tables) : tables_(tables), row_(tables.width) {}

    // From now on, values have other places.
    void forget() {
        asked_.clear();
        next_.clear();
    }

    // The columns that the last decision has looked at, as bits; some may share one.
    uint64_t looked_at() const { return looked_at_; }

    // Returns a verdict or, with a miss, kUnknown.
    int32_t decide(int32_t decision, const Row& row, Misses& misses) {
        looked_at_ = 0;
        int32_t number = tables_.decisions[decision];
        while (number > kUnseen) {
            const Asked* known = asked_.find(number);
            if (known == nullptr || known->room == 0) known = &learn(number, row);
            const Asked& asked = *known;
            looked_at_ |= asked.bit;
            const int32_t value = row[asked.place];
            const bool is_small = static_cast<uint32_t>(value) < asked.room;
            int32_t next = is_small ? next_[asked.begin + value] : kUnknown;
            if (next == kUnknown) {
                next = tables_.next(number, value);
                if (next == kUnknown) return miss(decision, row, misses);
                if (is_small) next_[asked.begin + value] = next;
            }
            number = next;
        }
        return number == kUnknown ? miss(decision, row, misses) : number;
    }

  private:
    static constexpr uint32_t kMost = 256, kLeast = 16;

    struct Asked {
        typename Row::Place place{};
        uint64_t bit = 0;
        uint32_t begin = 0, room = 0;  // of the values that are remembered
    };

    const Asked& learn(int32_t number, const Row& row) {
        const int32_t column = tables_.questions[number].column;
        const auto many = static_cast<uint32_t>(2 * tables_.columns[column].size());
        Asked& asked = asked_.reach(number);
        asked = Asked{row.place(column), bit_of(column), static_cast<uint32_t>(next_.size()),
                      std::max(kLeast, std::min(kMost, many))};
        next_.resize(next_.size() + asked.room, kUnknown);
        return asked;
    }

    int32_t miss(int32_t decision, const Row& row, Misses& misses) {
        const int32_t* whole = row.whole(row_);
        std::pair<int32_t, int32_t> stuck;
        tables_.decide(decision, whole, stuck);
        misses.add_verdict(decision, stuck, whole);
        return kUnknown;
    }

    const Tables& tables_;
    uint64_t looked_at_ = 0;
    std::vector<int32_t> row_;
    Pages<Asked> asked_;         // by number of the question
    std::vector<int32_t> next_;  // the numbers of questions and verdicts, by value
};

}  // namespace worldline
