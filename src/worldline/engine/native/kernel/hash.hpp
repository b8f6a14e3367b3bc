// Hashing, and the two small maps that all tables are made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "meter.hpp"

namespace worldline {

constexpr int32_t kUnknown = -1;

inline uint64_t scramble(uint64_t word) {
    word ^= word >> 32;
    word *= 0xd6e8feb86659fd93ULL;
    word ^= word >> 32;
    return word;
}

// The finaliser of splitmix64; engine/interner.py has the same.
inline uint64_t splitmix(uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    return word ^ (word >> 31);
}

// A column as one bit of a set, and a thing in a column; some share one.
inline uint64_t bit_of(int32_t column) { return uint64_t{1} << (column & 63); }
inline uint64_t bit_of(int32_t column, int32_t thing) {
    return uint64_t{1} << (splitmix(static_cast<uint64_t>(column) << 32 | thing) & 63);
}

// What a value contributes to a fingerprint when it stands in a column.
inline uint64_t mixed(uint64_t content, int32_t column) {
    return splitmix(content + (static_cast<uint64_t>(column) + 1) * 0x9e3779b97f4a7c15ULL);
}

// Open addressing with linear probing, from 64-bit keys, all but ~0.
template <typename Value>
class Hashed {
  public:
    explicit Hashed(Value unknown = kUnknown) : unknown_(unknown) {}

    const Value& get(uint64_t key) const {
        if (count_ == 0) return unknown_;
        for (size_t at = scramble(key) & mask_;; at = (at + 1) & mask_) {
            if (slots_[at].key == key) return slots_[at].value;
            if (slots_[at].key == kFree) return unknown_;
        }
    }

    void put(uint64_t key, const Value& value) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        for (size_t at = scramble(key) & mask_;; at = (at + 1) & mask_) {
            if (slots_[at].key != key && slots_[at].key != kFree) continue;
            count_ += slots_[at].key == kFree;
            slots_[at] = Slot{key, value};
            return;
        }
    }

    void clear() {
        slots_.clear();
        mask_ = count_ = 0;
    }

    size_t size() const { return count_; }
    size_t bytes() const { return slots_.size() * sizeof(Slot); }

  private:
    static constexpr uint64_t kFree = ~0ULL;

    struct Slot {
        uint64_t key;
        Value value;
    };

    void grow() {
        Items<Slot> old(slots_.empty() ? 8 : 2 * slots_.size(), Slot{kFree, unknown_});
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        count_ = 0;
        for (const Slot& slot : old)
            if (slot.key != kFree) put(slot.key, slot.value);
    }

    Value unknown_;
    Items<Slot> slots_;
    size_t mask_ = 0;
    size_t count_ = 0;
};

using Map = Hashed<int32_t>;

// Many tables in one: from a table and a small non-negative integer to a value, dense
// below a limit, hashed above: of the many values of a mailbox, an operation meets few. The
// dense parts lie side by side, near to each other.
template <typename Value>
class Grid {
  public:
    explicit Grid(Value unknown) : unknown_(unknown), others_(unknown) {}

    const Value& get(int32_t table, int32_t key) const {
        const Span& span = spans_[table];
        if (static_cast<uint32_t>(key) < span.room) return cells_[span.base + static_cast<uint32_t>(key)];
        return key < kDense ? unknown_ : others_.get(word(table, key));
    }

    void put(int32_t table, int32_t key, const Value& value) {
        add(table);
        if (key >= kDense) return others_.put(word(table, key), value);
        Span& span = spans_[table];
        if (static_cast<uint32_t>(key) >= span.room) widen(span, key);
        cells_[span.base + static_cast<uint32_t>(key)] = value;
    }

    // Makes sure that a table is there.
    void add(int32_t table) {
        if (spans_.size() <= static_cast<size_t>(table)) spans_.resize(table + 1);
    }

  private:
    static constexpr int32_t kDense = 1024;

    struct Span {
        uint32_t base = 0, room = 0;
    };

    // Moves a table to the end, where it has room.
    void widen(Span& span, int32_t key) {
        const auto room = static_cast<uint32_t>(std::min(kDense, key + key / 2 + 2));
        const auto base = static_cast<uint32_t>(cells_.size());
        cells_.resize(cells_.size() + room, unknown_);
        std::copy_n(cells_.begin() + span.base, span.room, cells_.begin() + base);
        span = Span{base, room};
    }

    static uint64_t word(int32_t table, int32_t key) {
        return static_cast<uint64_t>(table) << 32 | static_cast<uint32_t>(key);
    }

    const Value unknown_;
    std::vector<Span> spans_;
    Items<Value> cells_;
    Hashed<Value> others_;
};

// Grows a vector so that it has an item of this number, and returns that.
template <typename Vector>
typename Vector::value_type& reach(Vector& items, int32_t number) {
    if (items.size() <= static_cast<size_t>(number)) items.resize(number + 1);
    return items[number];
}

}  // namespace worldline
