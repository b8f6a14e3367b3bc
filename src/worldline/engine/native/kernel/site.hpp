// One group of events: which are enabled, by the values of a few columns.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "hash.hpp"

namespace worldline {

inline int32_t bits_for(int32_t size) {
    int32_t bits = 0;
    while ((int64_t{1} << bits) < size) ++bits;
    return bits;
}

// The values are packed into one key, of just as many bits as the columns have values.
class Site {
  public:
    Site() = default;
    Site(const int32_t* first, const int32_t* last, int32_t local, int32_t collection, int32_t kinds)
        : columns(first, last), local(local), collection(collection), kinds(kinds),
          widths_(columns.size(), 0) {}

    std::vector<int32_t> columns;
    int32_t local = kUnknown;       // the column on which handlers of its events work, mostly
    int32_t collection = kUnknown;  // the position of a column whose items act alone
    int32_t kinds = 0;              // events that one item can have; 0: none of its own

    // Whether it depends on no more of a collection of links than their aspects.
    bool sees_aspects() const { return collection != kUnknown && kinds == 0; }

    int32_t list_of(const int32_t* row) const {
        uint64_t key = 0;
        for (const Field& field : fields_)
            key |= static_cast<uint64_t>(row[field.column]) << field.shift;
        if (bits_ <= kDenseBits) return dense_[key];
        return is_wide_ ? find_wide(row) : sparse_.get(key);
    }

    // A hash of the values, all or but those of the collection.
    uint64_t hash(const int32_t* row, bool others_only) const {
        uint64_t total = 0;
        for (size_t at = 0; at < columns.size(); ++at)
            if (!others_only || static_cast<int32_t>(at) != collection)
                total = splitmix(total + static_cast<uint32_t>(row[columns[at]]) + 1);
        return total;
    }

    void put(const int32_t* values, int32_t list) {
        values_.insert(values_.end(), values, values + columns.size());
        lists_.push_back(list);
        enter(lists_.size() - 1);
    }

    // Notes how many values a column has.
    void bound(size_t at, int32_t size) {
        const int32_t bits = bits_for(size);
        if (bits <= widths_[at]) return;
        widths_[at] = bits;
        is_stale_ = true;
    }

    // Makes the keys anew if a column has outgrown its bits; says whether one had.
    bool settle() {
        if (!is_stale_) return false;
        is_stale_ = false;
        bits_ = 0;
        for (const int32_t width : widths_) bits_ += width;
        is_wide_ = bits_ > kMostBits;
        fields_.clear();
        int32_t shift = 0;
        for (size_t at = 0; at < columns.size() && !is_wide_; ++at) {
            if (widths_[at] > 0) fields_.push_back(Field{columns[at], shift});
            shift += widths_[at];
        }
        sparse_.clear();
        dense_.assign(bits_ <= kDenseBits ? size_t{1} << bits_ : 0, kUnknown);
        for (size_t at = 0; at < lists_.size(); ++at) enter(at);
        return true;
    }

    // The events of one item, given the values of the other columns; null if unknown.
    const int32_t* events_of(int32_t item, const int32_t* row) const {
        const auto known = others_.find(others(row));
        if (known == others_.end()) return nullptr;
        const int32_t at = parts_.get(static_cast<uint64_t>(known->second) << 32 |
                                      static_cast<uint32_t>(item));
        return at == kUnknown ? nullptr : &part_events_[at];
    }

    void put_events(int32_t item, const int32_t* row, const int32_t* events) {
        const auto fresh = static_cast<int32_t>(others_.size());
        const int32_t number = others_.emplace(others(row), fresh).first->second;
        parts_.put(static_cast<uint64_t>(number) << 32 | static_cast<uint32_t>(item),
                   static_cast<int32_t>(part_events_.size()));
        part_events_.insert(part_events_.end(), events, events + kinds);
    }

    // The list of all values that look alike, by what is seen of them; kUnknown.
    std::map<std::vector<int32_t>, int32_t> alike;

  private:
    static constexpr int32_t kDenseBits = 14, kMostBits = 62;

    std::vector<int32_t> others(const int32_t* row) const {
        std::vector<int32_t> found;
        for (size_t at = 0; at < columns.size(); ++at)
            if (static_cast<int32_t>(at) != collection) found.push_back(row[columns[at]]);
        return found;
    }

    void enter(size_t at) {
        const int32_t* values = &values_[at * columns.size()];
        uint64_t key = 0;
        int32_t shift = 0;
        for (size_t one = 0; one < columns.size() && !is_wide_; ++one) {
            key |= static_cast<uint64_t>(values[one]) << shift;
            shift += widths_[one];
        }
        if (is_wide_)
            wide_[std::vector<int32_t>(values, values + columns.size())] = lists_[at];
        else if (bits_ <= kDenseBits)
            dense_[key] = lists_[at];
        else
            sparse_.put(key, lists_[at]);
    }

    // Far from any real system: there are more combinations than fit into a word.
    int32_t find_wide(const int32_t* row) const {
        std::vector<int32_t> values;
        for (const int32_t column : columns) values.push_back(row[column]);
        const auto known = wide_.find(values);
        return known == wide_.end() ? kUnknown : known->second;
    }

    struct Field {
        int32_t column, shift;
    };

    std::vector<int32_t> widths_;
    std::vector<Field> fields_;  // of the columns that have more than one value
    int32_t bits_ = 0;
    bool is_stale_ = true, is_wide_ = false;
    Items<int32_t> values_, lists_;
    std::vector<int32_t> dense_;
    Map sparse_;
    std::map<std::vector<int32_t>, int32_t> wide_, others_;
    Map parts_;
    Items<int32_t> part_events_;
};

}  // namespace worldline
