// The states of one level that wait to be expanded, packed, in chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "packing.hpp"

namespace worldline {

constexpr uint32_t kChunkBits = 10, kChunkRows = 1 << kChunkBits;

// Memory of chunks that are done, for those to come: threads that gave it back to the
// system and took it again would stop each other.
class Stock {
  public:
    using Words = std::unique_ptr<uint64_t[]>;

    explicit Stock(size_t size) : size_(size) {}

    Words take() {
        const std::lock_guard<std::mutex> held(mutex_);
        if (free_.empty()) return Words(new uint64_t[size_]);
        Words found = std::move(free_.back());
        free_.pop_back();
        return found;
    }

    void give(Words words) {
        const std::lock_guard<std::mutex> held(mutex_);
        free_.push_back(std::move(words));
    }

    // From now on, chunks have another size.
    void change(size_t size) {
        free_.clear();
        size_ = size;
    }

    size_t bytes() const { return 8 * size_ * free_.size(); }

  private:
    size_t size_;
    std::vector<Words> free_;
    std::mutex mutex_;
};

struct Chunk {
    Stock::Words words;  // of each state, the fingerprint and then its packed row
    uint32_t count = 0;
    uint32_t done = 0;
};

// Where a state is in a frontier: number of its chunk, then place in it.
using Position = uint32_t;

class Frontier {
  public:
    std::vector<Chunk> chunks;

    // Adds a state; returns its words, which the caller fills before the next call.
    uint64_t* add(const Packing& packing, Stock& stock, uint64_t fingerprint) {
        if (chunks.empty() || chunks.back().count == kChunkRows) {
            chunks.emplace_back();
            chunks.back().words = stock.take();
        }
        Chunk& chunk = chunks.back();
        uint64_t* words = &chunk.words[chunk.count++ * packing.stride()];
        *words = fingerprint;
        return words + 1;
    }

    Position last() const {
        return static_cast<Position>((chunks.size() - 1) << kChunkBits | (chunks.back().count - 1));
    }

    const uint64_t* words(const Packing& packing, Position at) const {
        return start(packing, at) + 1;
    }

    uint64_t fingerprint(const Packing& packing, Position at) const { return *start(packing, at); }

    // Notes that so many states of a chunk are done.
    void finish(size_t number, uint32_t count, Stock& stock) {
        Chunk& chunk = chunks[number];
        chunk.done += count;
        if (chunk.done < chunk.count) return;
        stock.give(std::move(chunk.words));
        chunk.done = chunk.count = 0;
    }

    // Gives back what is left of the memory.
    void clear(Stock& stock) {
        for (Chunk& chunk : chunks)
            if (chunk.words) stock.give(std::move(chunk.words));
        chunks.clear();
    }

    // Visits each state: its fingerprint and its packed row.
    template <typename Visit>
    void each(const Packing& packing, const Visit& visit) const {
        for (const Chunk& chunk : chunks)
            for (uint32_t at = 0; at < chunk.count; ++at) {
                const uint64_t* words = &chunk.words[at * packing.stride()];
                visit(*words, words + 1);
            }
    }

    // Moves the chunks of another to the end of this.
    void take(Frontier& other) {
        for (Chunk& chunk : other.chunks) chunks.push_back(std::move(chunk));
        other.chunks.clear();
    }

    // Changes all rows, for chunks of another size.
    void repack(const Packing& before, const Packing& after, Stock& stock, std::vector<int32_t>& row) {
        for (Chunk& chunk : chunks) {
            if (chunk.count == 0) continue;
            Stock::Words words = stock.take();
            for (uint32_t at = 0; at < chunk.count; ++at) {
                const uint64_t* from = &chunk.words[at * before.stride()];
                uint64_t* to = &words[at * after.stride()];
                *to = *from;
                before.unpack(from + 1, row.data());
                after.pack(row.data(), to + 1);
            }
            chunk.words = std::move(words);
        }
    }

    size_t bytes(const Packing& packing) const {
        size_t total = 0;
        for (const Chunk& chunk : chunks)
            if (chunk.count > 0) total += 8 * kChunkRows * packing.stride();
        return total;
    }

  private:
    const uint64_t* start(const Packing& packing, Position at) const {
        return &chunks[at >> kChunkBits].words[(at & (kChunkRows - 1)) * packing.stride()];
    }
};

}  // namespace worldline
