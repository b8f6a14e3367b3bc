// Some of the rows that a search meets, chosen by content alone: engine/sample.py has the
// same order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace worldline {

class Sample {
  public:
    struct Kept {
        uint64_t key, fingerprint;
        std::vector<int32_t> row;

        bool operator<(const Kept& other) const { return key < other.key; }
    };

    std::vector<Kept> kept;  // the last in the order comes first

    // Keeps a row, which `unpack` writes, if few others come before it.
    template <typename Unpack>
    void add(size_t most, int32_t width, uint64_t fingerprint, const Unpack& unpack) {
        const uint64_t key = (fingerprint * 0xd6e8feb86659fd93ULL) ^ (fingerprint >> 32);
        if (most == 0 || (kept.size() == most && key >= kept.front().key)) return;
        if (kept.size() == most) {
            std::pop_heap(kept.begin(), kept.end());
            kept.pop_back();
        }
        kept.push_back(Kept{key, fingerprint, std::vector<int32_t>(width)});
        unpack(kept.back().row.data());
        std::push_heap(kept.begin(), kept.end());
    }
};

}  // namespace worldline
