// The block of a turn, made and written: of messages that came in, of which nothing has to be
// said, or of any records.
//
// trace/journal/framing.py says what a block is, and trace/journal/alike.py what stands for
// messages that are alike. Lists, numbers and bytes are MessagePack.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "crc32.hpp"
#include "journal_tail.hpp"

#ifndef _WIN32
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#endif

namespace worldline {

inline uint64_t big_endian(const uint8_t* from, size_t size) {
    uint64_t word = 0;
    for (; size > 0; ++from, --size) word = word << 8 | *from;
    return word;
}

inline uint8_t* put_big_endian(uint8_t* out, uint64_t word, size_t size) {
    for (size_t at = size; at > 0; word >>= 8) out[--at] = static_cast<uint8_t>(word);
    return out + size;
}

inline uint8_t* put_int(uint8_t* out, int64_t word) {
    if (word >= -32 && word < 128) return put_big_endian(out, static_cast<uint64_t>(word), 1);
    const uint8_t kind = word < 0 ? 0xd0 : 0xcc;
    const int sign = word < 0 ? 1 : 0;
    for (int power = 0; power < 3; ++power) {
        const int bits = (8 << power) - sign;
        if ((word < 0 ? ~word : word) >> bits == 0) {
            *out++ = static_cast<uint8_t>(kind + power);
            return put_big_endian(out, static_cast<uint64_t>(word), size_t{1} << power);
        }
    }
    *out++ = static_cast<uint8_t>(kind + 3);
    return put_big_endian(out, static_cast<uint64_t>(word), 8);
}

// The packet of a message, without numbers beside it and of no part, all of whose numbers
// but its time are small: most are.
struct UsualPacket {
    static constexpr size_t kLength = 4, kTime = 8, kMiddle = 4;

    const uint8_t* bytes = nullptr;
    size_t behind = 0;  // the time
    size_t size = 0;
    int fields = 0;
    uint64_t time = 0;

    // Returns whether a packet is one.
    bool read(const uint8_t* packet, size_t length) {
        bytes = packet;
        size = length;
        if (length <= kTime || packet[5] != 1 || packet[6] > 0x7f || packet[7] > 0x7f) return false;
        fields = packet[kLength] - 0x98;  // a list, with eight more
        const int width = packet[kTime] - 0xcc;  // a number of 1, 2, 4 or 8 bytes
        if (fields < 0 || fields > 7 || width < 0 || width > 3) return false;
        behind = kTime + 1 + (size_t{1} << width);
        if (behind + kMiddle > length) return false;
        time = big_endian(packet + kTime + 1, size_t{1} << width);
        const uint8_t* middle = packet + behind;  // place, numbers beside it, part, class
        return middle[0] <= 0x7f && middle[1] == 0xc0 && middle[2] == 0xa0 && middle[3] <= 0x7f;
    }

    bool is_like(const UsualPacket& other) const {
        return other.behind == behind && other.time <= time && time - other.time < 128 &&
               std::memcmp(other.bytes + kLength, bytes + kLength, kTime - kLength) == 0 &&
               std::memcmp(other.bytes + behind, bytes + behind, kMiddle) == 0;
    }
};

class JournalBlock {
  public:
    JournalBlock(uint8_t* out, uint32_t stamp, int64_t clock, int64_t offset)
        : out_(out), stamp_(stamp) {
        at_ = out + kHead;
        *at_++ = 0x93;
        at_ = put_int(put_int(at_, clock), offset);
    }

    // Returns the bytes of the block that stand before a list of records, as MessagePack has it,
    // and what may stand behind.
    int64_t before_records(const uint8_t* records, size_t size, const uint8_t* end, size_t more) {
        if (more > 0) out_[kHead] += 1;  // a list with one more
        const size_t times = static_cast<size_t>(at_ - out_) - kHead;
        const uint32_t crc = crc32(records, size, crc32(out_ + kHead, times));
        put_head(times + size + more, crc32(end, more, crc));
        return static_cast<int64_t>(kHead + times);
    }

    // Returns the bytes of the block for some packets; -1 if they are none.
    int64_t of_packets(const uint8_t* packets, size_t size) {
        uint8_t* const list = at_++;
        const uint8_t* const end = packets + size;
        while (packets != end) {
            const size_t left = static_cast<size_t>(end - packets);
            const size_t whole = left < 4 ? left + 1 : 4 + big_endian(packets, 4);
            if (whole > left) return -1;
            take(packets, whole);
            packets += whole;
        }
        end_record();
        at_ = put_list(list, 1, records_);
        return finish();
    }

  private:
    static constexpr size_t kHead = 8;

    void take(const uint8_t* packet, size_t size) {
        UsualPacket next;
        if (!next.read(packet, size)) {
            if (plain_ == nullptr) {
                end_record();
                plain_ = packet;
            }
            plain_size_ += size;
            return;
        }
        if (alike_ > 0 && next.is_like(last_)) {
            *at_++ = static_cast<uint8_t>(next.time - last_.time);
        } else {
            end_record();
            record_ = at_;
            at_ += 3;  // a list, longer than it may turn out to be
            for (int each : {13, int{packet[6]}, int{packet[7]}, next.fields,
                             int{packet[next.behind]}, int{packet[next.behind + 3]}}) {
                *at_++ = static_cast<uint8_t>(each);
            }
            append(packet + UsualPacket::kTime, next.behind - UsualPacket::kTime);
        }
        append(packet + next.behind + UsualPacket::kMiddle,
               size - next.behind - UsualPacket::kMiddle);
        ++alike_;
        last_ = next;
    }

    void append(const uint8_t* from, size_t size) {
        std::memcpy(at_, from, size);
        at_ += size;
    }

    // Ends the present record, if there is one: of messages that are alike, or of packets.
    void end_record() {
        if (alike_ > 0) {
            const uint64_t length = 6 + alike_ * (1 + static_cast<uint64_t>(last_.fields));
            at_ = put_list(record_, 3, length);
            alike_ = 0;
        } else if (plain_ != nullptr) {
            *at_++ = 0x92;
            *at_++ = 1;
            *at_++ = 0xc6;
            at_ = put_big_endian(at_, plain_size_, 4);
            append(plain_, plain_size_);
            plain_ = nullptr;
            plain_size_ = 0;
        } else {
            return;
        }
        ++records_;
    }

    // Puts the head of a list before what is in it, for which so much room was left.
    uint8_t* put_list(uint8_t* head, size_t room, uint64_t length) {
        const size_t wanted = length < 16 ? 1 : length < 65536 ? 3 : 5;
        std::memmove(head + wanted, head + room, static_cast<size_t>(at_ - head) - room);
        if (wanted == 1) {
            *head = static_cast<uint8_t>(0x90 | length);
        } else {
            *head = wanted == 3 ? 0xdc : 0xdd;
            put_big_endian(head + 1, length, wanted - 1);
        }
        return at_ + wanted - room;
    }

    int64_t finish() {
        const size_t size = static_cast<size_t>(at_ - out_) - kHead;
        put_head(size, crc32(out_ + kHead, size));
        return static_cast<int64_t>(kHead + size);
    }

    void put_head(size_t size, uint32_t crc) {
        put_big_endian(put_big_endian(out_, size, 4), crc ^ stamp_, 4);
    }

    uint8_t* out_;
    uint32_t stamp_;
    uint8_t* at_;
    uint8_t* record_ = nullptr;  // of messages that are alike
    uint64_t records_ = 0, alike_ = 0;
    UsualPacket last_;
    const uint8_t* plain_ = nullptr;  // packets as they came in
    size_t plain_size_ = 0;
};

// The file of a journal, as the Python side has it, too: what its clocks showed at the end of
// the turn before; where packets are joined, the most bytes of them, and where blocks are made,
// `kMade` and three times as many; its number, the CRC-32 of its header, where its size is counted,
// and that with which it is full; and its tail, if it has one, whose blocks are a part of that size,
// with the room in it.
struct JournalFile {
    int64_t clock, offset;
    uint8_t* packets;
    int64_t most;
    uint8_t* room;
    int32_t number;
    uint32_t salt;
    int64_t* size;
    int64_t full;
    JournalTail* tail;
    int64_t tail_room;

    // What binds a block to its place at the end.
    uint32_t stamp() const { return static_cast<uint32_t>(*size) * 0x9e3779b1U ^ salt; }
};

// What becomes of a block, other than an error.
constexpr int32_t kWritten = 0, kFull = 1, kTooLarge = 2;

constexpr size_t kMade = 64;  // bytes of a block that its records are not made of, at most
constexpr size_t kFew = 512;  // bytes of packets that are few

#ifndef _WIN32

// Nanoseconds by a clock.
inline int64_t nanoseconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

#ifdef __APPLE__
constexpr clockid_t kMonotonic = CLOCK_UPTIME_RAW;  // as Python has it
#else
constexpr clockid_t kMonotonic = CLOCK_MONOTONIC;
#endif

// A journal whose present turn ends now.
class TurnEnd {
  public:
    explicit TurnEnd(JournalFile& journal) : journal_(journal) {}

    JournalBlock block(uint8_t* room) const {
        return {room, journal_.stamp(), clock_ - journal_.clock, offset_ - journal_.offset};
    }

    // Writes some pieces as a block, before which there is room for one more piece; or puts it into
    // the tail, if it may stay there. Returns `kWritten` or `kFull`; or the number of an error,
    // negative: then a part of it, and of the tail, may have been written.
    int32_t write(iovec* pieces, int count, bool may_stay) {
        journal_.clock = clock_;
        journal_.offset = offset_;
        int64_t length = 0;
        for (int at = 0; at < count; ++at) length += static_cast<int64_t>(pieces[at].iov_len);
        JournalTail* const tail = journal_.tail;
        if (tail != nullptr) {
            const int64_t used = tail->used();
            if (may_stay && length <= JournalTail::kSmall && used + length <= journal_.tail_room) {
                stay(pieces, count, length);
                return grown(length);
            }
            if (used > 0) {
                *--pieces = {tail->blocks(), static_cast<size_t>(used)};
                ++count;
            }
        }
        const int32_t error = write_all(pieces, count);
        if (error != 0) return error;
        const int32_t told = grown(length);
        if (tail != nullptr) tail->begin(*journal_.size);
        return told;
    }

  private:
    int32_t grown(int64_t length) {
        *journal_.size += length;
        return *journal_.size < journal_.full ? kWritten : kFull;
    }

    void stay(const iovec* pieces, int count, int64_t length) {
        int64_t put = 0;
        for (int at = 0; at < count; ++at) {
            journal_.tail->put(put, pieces[at].iov_base, pieces[at].iov_len);
            put += static_cast<int64_t>(pieces[at].iov_len);
        }
        journal_.tail->publish(length);
    }

    int32_t write_all(iovec* pieces, int count) {
        while (count > 0) {
            const ssize_t written =
                count > 1 ? ::writev(journal_.number, pieces, count)
                          : ::write(journal_.number, pieces->iov_base, pieces->iov_len);
            if (written < 0 && errno != EINTR) return -errno;
            for (auto left = static_cast<size_t>(written < 0 ? 0 : written); count > 0;) {
                if (left < pieces->iov_len) {
                    pieces->iov_base = static_cast<uint8_t*>(pieces->iov_base) + left;
                    pieces->iov_len -= left;
                    break;
                }
                left -= pieces->iov_len;
                ++pieces;
                --count;
            }
        }
        return 0;
    }

    JournalFile& journal_;
    const int64_t clock_ = nanoseconds(kMonotonic);
    const int64_t offset_ = nanoseconds(CLOCK_REALTIME) - clock_;
};

// Writes the block of a turn of packets; see `TurnEnd::write`.
inline int32_t write_packets(JournalFile& journal, const uint8_t* packets, size_t size) {
    // The stack is in the caches, and the room for many packets is not.
    uint8_t small[kMade + 3 * kFew];
    uint8_t* const room = size <= kFew ? small : journal.room;
    TurnEnd turn(journal);
    const int64_t length = turn.block(room).of_packets(packets, size);
    if (length < 0) return -EINVAL;
    iovec pieces[] = {{}, {room, static_cast<size_t>(length)}};
    return turn.write(pieces + 1, 1, true);
}

// Writes the block of a turn of records without copying them, where some bytes may stand for
// others (trace/journal/sharing.py); see `TurnEnd::write`.
inline int32_t write_records(JournalFile& journal, const uint8_t* records, size_t size,
                             bool is_shared, bool may_stay) {
    TurnEnd turn(journal);
    uint8_t made[kMade], shared = 2;
    const size_t more = is_shared ? 1 : 0;
    const int64_t before = turn.block(made).before_records(records, size, &shared, more);
    iovec pieces[] = {{},
                      {made, static_cast<size_t>(before)},
                      {const_cast<uint8_t*>(records), size},
                      {&shared, more}};
    return turn.write(pieces + 1, is_shared ? 3 : 2, may_stay);
}

#else

inline int32_t write_packets(JournalFile&, const uint8_t*, size_t) { return -ENOSYS; }

inline int32_t write_records(JournalFile&, const uint8_t*, size_t, bool, bool) {
    return -ENOSYS;
}

#endif

}  // namespace worldline
