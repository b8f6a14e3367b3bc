// Whole states, to be compared wherever fingerprints are equal.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "hash.hpp"

namespace worldline {

// Threads share it, part by part.
class WholeStates {
  public:
    explicit WholeStates(int32_t width) : width_(static_cast<size_t>(width)) {}

    // Keeps a row, or compares it with the one that has its fingerprint. False if they
    // are not the same.
    bool agree(uint64_t fingerprint, const int32_t* row) {
        Part& part = parts_[fingerprint >> (64 - kBits)];
        const std::lock_guard<std::mutex> held(part.mutex);
        const int32_t number = part.numbers.get(fingerprint);
        if (number != kUnknown)
            return std::equal(row, row + width_, &part.rows[static_cast<size_t>(number) * width_]);
        part.numbers.put(fingerprint, static_cast<int32_t>(part.rows.size() / width_));
        part.rows.insert(part.rows.end(), row, row + width_);
        return true;
    }

    size_t bytes() const {
        size_t total = 0;
        for (const Part& part : parts_) total += 4 * part.rows.capacity();
        return total;
    }

  private:
    static constexpr int32_t kBits = 4;

    struct Part {
        std::mutex mutex;
        Items<int32_t> rows;
        Map numbers;  // where in `rows` a state is, by fingerprint
    };

    const size_t width_;
    std::array<Part, size_t{1} << kBits> parts_;
};

}  // namespace worldline
