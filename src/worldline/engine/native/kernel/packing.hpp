// Rows in as few bits as the columns have values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tables.hpp"

namespace worldline {

class Packing {
  public:
    // The layout for the values there are now; and for more where a word has bits to spare,
    // since the rows of a whole level have to be packed anew when a layout is too small.
    explicit Packing(const Tables& tables) : width_(tables.width), fields_(tables.width) {
        uint32_t used = 0;
        size_t first = 0;  // of the columns in this word
        words = 0;
        for (int32_t column = 0; column < width_; ++column) {
            const auto bits = static_cast<uint32_t>(bits_for(roomy(tables.columns[column].size())));
            if (bits == 0) continue;
            if (used + bits > 64) {
                lay_out(first, used);
                first = varying_.size();
                used = 0;
            }
            fields_[column].mask = bits;  // until they are laid out
            varying_.push_back(column);
            used += bits;
        }
        lay_out(first, used);
    }

    size_t words;  // of a packed row

    // Words of a packed row with its fingerprint.
    size_t stride() const { return words + 1; }

    // Where a column is: its word, how far from that's right end, and its bits.
    struct Field {
        uint32_t word = 0, shift = 0;
        uint64_t mask = 0;
    };

    const Field& field(int32_t column) const { return fields_[column]; }

    bool fits(const Tables& tables) const {
        for (int32_t column = 0; column < width_; ++column)
            if (tables.columns[column].size() > 1 + static_cast<int64_t>(fields_[column].mask))
                return false;
        return true;
    }

    int32_t get(const uint64_t* packed, int32_t column) const {
        const Field& field = fields_[column];
        return static_cast<int32_t>(packed[field.word] >> field.shift & field.mask);
    }

    void set(uint64_t* packed, int32_t column, int32_t value) const {
        const Field& field = fields_[column];
        uint64_t& word = packed[field.word];
        word = (word & ~(field.mask << field.shift)) | static_cast<uint64_t>(value) << field.shift;
    }

    void pack(const int32_t* row, uint64_t* out) const {
        std::memset(out, 0, 8 * words);
        for (const int32_t column : varying_)
            out[fields_[column].word] |= static_cast<uint64_t>(row[column]) << fields_[column].shift;
    }

    void unpack(const uint64_t* packed, int32_t* row) const {
        std::memset(row, 0, 4 * static_cast<size_t>(width_));
        for (const int32_t column : varying_) row[column] = get(packed, column);
    }

    // Changes a packed row by an outcome whose operations are known.
    void apply(const Tables& tables, const Leaf& leaf, uint64_t* packed) const {
        const int32_t local = tables.entries[leaf.entry].column;
        if (local >= 0) set(packed, local, leaf.local);
        for (int32_t at = leaf.begin; at < leaf.begin + leaf.count; ++at) {
            const int32_t operation = tables.changes[at];
            const int32_t column = tables.operations[operation].column;
            set(packed, column, tables.effects.get(operation, get(packed, column)).after);
        }
    }

  private:
    static int32_t roomy(int32_t size) { return size > 16 ? 2 * size : size; }

    // Gives the columns from one on a word, and shares out the bits that are left.
    void lay_out(size_t first, uint32_t used) {
        const auto count = static_cast<uint32_t>(varying_.size() - first);
        const uint32_t more = count == 0 ? 0 : std::min((64 - used) / count, kMostSpare);
        uint32_t shift = 0;
        for (size_t at = first; at < varying_.size(); ++at) {
            Field& field = fields_[varying_[at]];
            const auto bits = std::min(static_cast<uint32_t>(field.mask) + more, kMostBits);
            field = Field{static_cast<uint32_t>(words), shift, (uint64_t{1} << bits) - 1};
            shift += bits;
        }
        ++words;
    }

    static constexpr uint32_t kMostSpare = 4, kMostBits = 31;

    int32_t width_;
    std::vector<Field> fields_;      // by column
    std::vector<int32_t> varying_;  // the columns with more than one value
};

}  // namespace worldline
