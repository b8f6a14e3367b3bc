// The tail of a journal: small blocks that its file does not have yet, in a file that is mapped.
//
// trace/journal/tails.py says what is in it. What was put into it outlives the process, as what was
// written does, without a call of the system's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __linux__
#include <sys/vfs.h>
#endif

namespace worldline {

class JournalTail {
  public:
    static constexpr int64_t kSmall = 4096;  // bytes of a block that is put into it, at most

    int64_t used() const { return static_cast<int64_t>(place_ & kLengths); }
    uint8_t* blocks() { return reinterpret_cast<uint8_t*>(this) + sizeof *this; }

    // Puts a piece of a block behind what there is; `publish` makes it a part of it.
    void put(int64_t at, const void* piece, size_t size) {
        std::memcpy(blocks() + used() + at, piece, size);
    }

    // Whoever ends the process, by then what was put there is, or nothing of it.
    void publish(int64_t length) { set(place_ + static_cast<uint64_t>(length)); }

    // Lets it be empty, where the file has so many bytes.
    void begin(int64_t size) { set(static_cast<uint64_t>(size) << kBits); }

  private:
    static constexpr int kBits = 24;  // of a length; those of the offset are above them
    static constexpr uint64_t kLengths = (uint64_t{1} << kBits) - 1;

    void set(uint64_t place) { __atomic_store_n(&place_, place, __ATOMIC_RELEASE); }

    [[maybe_unused]] uint8_t whose_[24];  // magic, incarnation, segment
    uint64_t place_;
    [[maybe_unused]] uint8_t rest_[32];  // behind it are the blocks
};

// Returns whether a store into a file that is mapped, and has its room, cannot fail: file systems
// that copy on write may find no room for it, and then the process is killed.
inline bool may_be_mapped(int file) {
#ifdef __linux__
    struct statfs found {};
    if (::fstatfs(file, &found) != 0) return false;
    for (const uint64_t kind : {0xef53, 0x58465342, 0x01021994}) {  // ext2 to ext4, XFS, tmpfs
        if (static_cast<uint32_t>(found.f_type) == kind) return true;
    }
#else
    (void)file;
#endif
    return false;
}

}  // namespace worldline
