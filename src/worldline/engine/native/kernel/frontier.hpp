// The states of one level that wait to be expanded, packed, in chunks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "packing.hpp"

namespace worldline {

constexpr uint32_t kChunkBits = 10, kChunkRows = 1 << kChunkBits;

struct Chunk {
    std::vector<uint64_t> words, fingerprints;
    uint32_t done = 0;

    uint32_t size() const { return static_cast<uint32_t>(fingerprints.size()); }

    // Frees the rows once all are expanded.
    void finish(uint32_t count) {
        done += count;
        if (done < size()) return;
        std::vector<uint64_t>().swap(words);
        std::vector<uint64_t>().swap(fingerprints);
        done = 0;
    }
};

// Where a state is in a frontier: number of its chunk, then place in it.
using Position = uint32_t;

class Frontier {
  public:
    std::vector<Chunk> chunks;

    // Adds a state; returns its words, which the caller fills before the next call.
    uint64_t* add(const Packing& packing, uint64_t fingerprint) {
        if (chunks.empty() || chunks.back().size() == kChunkRows) {
            chunks.emplace_back();
            if (chunks.size() > 1) {
                chunks.back().words.reserve(kChunkRows * packing.words);
                chunks.back().fingerprints.reserve(kChunkRows);
            }
        }
        Chunk& chunk = chunks.back();
        chunk.fingerprints.push_back(fingerprint);
        chunk.words.resize(chunk.words.size() + packing.words);
        return &chunk.words[chunk.words.size() - packing.words];
    }

    Position last() const {
        return static_cast<Position>((chunks.size() - 1) << kChunkBits | (chunks.back().size() - 1));
    }

    const uint64_t* words(const Packing& packing, Position at) const {
        return &chunks[at >> kChunkBits].words[(at & (kChunkRows - 1)) * packing.words];
    }

    uint64_t fingerprint(Position at) const {
        return chunks[at >> kChunkBits].fingerprints[at & (kChunkRows - 1)];
    }

    // Moves the chunks of another to the end of this.
    void take(Frontier& other) {
        for (Chunk& chunk : other.chunks) chunks.push_back(std::move(chunk));
        other.chunks.clear();
    }

    void repack(const Packing& before, const Packing& after, std::vector<int32_t>& row) {
        for (Chunk& chunk : chunks) {
            std::vector<uint64_t> words(chunk.size() * after.words);
            for (uint32_t at = 0; at < chunk.size(); ++at) {
                before.unpack(&chunk.words[at * before.words], row.data());
                after.pack(row.data(), &words[at * after.words]);
            }
            chunk.words.swap(words);
        }
    }

    size_t bytes() const {
        size_t total = 0;
        for (const Chunk& chunk : chunks)
            total += 8 * (chunk.words.capacity() + chunk.fingerprints.capacity());
        return total;
    }
};

}  // namespace worldline
