// The CRC-32 that zlib has.
//
// The processor multiplies polynomials where it can: tables of 16 KiB are not in the caches of a
// process that does something else between two blocks. After V. Gopal et al., "Fast CRC
// Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009, with one lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define WORLDLINE_MULTIPLIES
#include <immintrin.h>
#endif

namespace worldline {

// Tables for sixteen bytes at a time of the CRC-32 that zlib has.
constexpr size_t kCrcBytes = 16;
using CrcTables = std::array<std::array<uint32_t, 256>, kCrcBytes>;

inline CrcTables made_crc_tables() {
    CrcTables tables{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0xedb88320U : 0);
        tables[0][byte] = rest;
    }
    for (size_t table = 1; table < kCrcBytes; ++table) {
        for (size_t byte = 0; byte < 256; ++byte) {
            const uint32_t before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][before & 0xff];
        }
    }
    return tables;
}

// What four bits come to: a table that is one line of a cache.
constexpr std::array<uint32_t, 16> kCrcNibbles = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

// Returns what the state `crc` has become behind fewer bytes than are taken at a time.
inline uint32_t crc32_of_few(uint32_t crc, const uint8_t* from, size_t size) {
    for (; size > 0; ++from, --size) {
        crc ^= *from;
        crc = crc >> 4 ^ kCrcNibbles[crc & 15];
        crc = crc >> 4 ^ kCrcNibbles[crc & 15];
    }
    return crc;
}

// Returns what the state `crc` has become behind some bytes.
inline uint32_t crc32_by_tables(uint32_t crc, const uint8_t* from, size_t size) {
    static const CrcTables tables = made_crc_tables();
    for (; size >= kCrcBytes; from += kCrcBytes, size -= kCrcBytes) {
        uint32_t next = 0;
        for (size_t at = 0; at < 4; ++at) {
            next ^= tables[kCrcBytes - 1 - at][from[at] ^ (crc >> 8 * at & 0xff)];
        }
        for (size_t at = 4; at < kCrcBytes; ++at) next ^= tables[kCrcBytes - 1 - at][from[at]];
        crc = next;
    }
    return crc32_of_few(crc, from, size);
}

#ifdef WORLDLINE_MULTIPLIES

// As `crc32_by_tables`, of a number of bytes that sixteen divides, and that is not 0.
__attribute__((target("pclmul,sse4.1"))) inline uint32_t crc32_by_products(
    uint32_t crc, const uint8_t* from, size_t size) {
    const auto load = [](const uint8_t* at) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    };
    // Powers of x modulo the polynomial, bits reversed: section "Constants" of the paper.
    const __m128i fold = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    const __m128i last = _mm_set_epi64x(0, 0x0163cd6124);
    const __m128i polynomial = _mm_set_epi64x(0x01f7011641, 0x01db710641);
    const __m128i low = _mm_setr_epi32(~0, 0, ~0, 0);
    __m128i sum = _mm_xor_si128(load(from), _mm_cvtsi32_si128(static_cast<int>(crc)));
    for (size_t at = kCrcBytes; at < size; at += kCrcBytes) {
        const __m128i one = _mm_clmulepi64_si128(sum, fold, 0x00);
        const __m128i other = _mm_clmulepi64_si128(sum, fold, 0x11);
        sum = _mm_xor_si128(_mm_xor_si128(one, other), load(from + at));
    }
    // From 128 bits to 64, and these by Barrett's reduction to 32.
    sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, fold, 0x10));
    const __m128i high = _mm_srli_si128(sum, 4);
    sum = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(sum, low), last, 0x00), high);
    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(sum, low), polynomial, 0x10);
    quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low), polynomial, 0x00);
    return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(sum, quotient), 1));
}

inline bool can_multiply() {
    static const bool can = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
    return can;
}

#endif

// Returns the CRC-32 of some bytes behind others, of which that is `before`.
inline uint32_t crc32(const uint8_t* from, size_t size, uint32_t before = 0) {
    uint32_t crc = ~before;
#ifdef WORLDLINE_MULTIPLIES
    const size_t whole = size - size % kCrcBytes;
    if (whole > 0 && can_multiply()) {
        crc = crc32_by_products(crc, from, whole);
        from += whole;
        size -= whole;
    }
#endif
    // Behind the others, or without them, mostly few: no table is made, or looked for, for these.
    if (size < kCrcBytes) return ~crc32_of_few(crc, from, size);
    return ~crc32_by_tables(crc, from, size);
}

}  // namespace worldline
