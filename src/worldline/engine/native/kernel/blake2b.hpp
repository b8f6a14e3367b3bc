// BLAKE2b with 8 bytes of digest and no key (RFC 7693): the content hash of frozen values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace worldline {

class Blake2b {
  public:
    // Returns the digest as `model/data/content.fingerprint` reads it.
    static uint64_t hash(const uint8_t* data, size_t size) {
        Blake2b state;
        while (size > kBlock) {
            state.compress(data, kBlock, false);
            data += kBlock;
            size -= kBlock;
        }
        uint8_t last[kBlock] = {};
        if (size > 0) std::memcpy(last, data, size);
        state.compress(last, size, true);
        return state.chain_[0];
    }

  private:
    static constexpr size_t kBlock = 128;
    static constexpr uint64_t kStart[8] = {
        0x6a09e667f3bcc908ULL, 0xbb67ae8584caa73bULL, 0x3c6ef372fe94f82bULL,
        0xa54ff53a5f1d36f1ULL, 0x510e527fade682d1ULL, 0x9b05688c2b3e6c1fULL,
        0x1f83d9abfb41bd6bULL, 0x5be0cd19137e2179ULL};
    static constexpr uint8_t kOrders[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
        {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
        {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
        {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
        {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

    Blake2b() {
        std::copy_n(kStart, 8, chain_);
        chain_[0] ^= 0x01010000 ^ sizeof(uint64_t);  // one leaf, no key, length of the digest
    }

    void compress(const uint8_t* block, size_t size, bool is_last) {
        uint64_t words[16];
        for (size_t at = 0; at < 16; ++at) {
            words[at] = 0;
            for (size_t byte = 0; byte < 8; ++byte)
                words[at] |= static_cast<uint64_t>(block[8 * at + byte]) << (8 * byte);
        }
        count_ += size;
        uint64_t v[16];
        std::copy_n(chain_, 8, v);
        std::copy_n(kStart, 8, v + 8);
        v[12] ^= count_;
        if (is_last) v[14] = ~v[14];
        for (size_t round = 0; round < 12; ++round) {
            const uint8_t* order = kOrders[round % 10];
            for (size_t at = 0; at < 8; ++at) {
                const size_t turn = at / 4, a = at % 4;  // columns, then diagonals
                mix(v[a], v[4 + (a + turn) % 4], v[8 + (a + 2 * turn) % 4],
                    v[12 + (a + 3 * turn) % 4], words[order[2 * at]], words[order[2 * at + 1]]);
            }
        }
        for (size_t at = 0; at < 8; ++at) chain_[at] ^= v[at] ^ v[at + 8];
    }

    static void mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d, uint64_t x, uint64_t y) {
        a += b + x;
        d = turned(d ^ a, 32);
        c += d;
        b = turned(b ^ c, 24);
        a += b + y;
        d = turned(d ^ a, 16);
        c += d;
        b = turned(b ^ c, 63);
    }

    static uint64_t turned(uint64_t word, int by) { return word >> by | word << (64 - by); }

    uint64_t chain_[8];
    uint64_t count_ = 0;
};

}  // namespace worldline
