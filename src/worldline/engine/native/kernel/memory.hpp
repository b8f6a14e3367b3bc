// Memory for much: in large pages, where the system has them.
//
// A table of hundreds of megabytes is read at random. With small pages, most of the time
// would go into finding out where each page is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#ifdef __linux__
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace worldline {

constexpr size_t kHuge = size_t{1} << 21;  // bytes of a large page

// Asks for large pages in a range that was not touched yet.
inline void advise(void* begin, size_t bytes) {
#ifdef __linux__
    madvise(begin, bytes, MADV_HUGEPAGE);
#else
    (void)begin, (void)bytes;
#endif
}

// Zeroed items whose number can grow. On Linux they stay where they are: addresses for
// as many as the memory of the machine can hold are set aside, and cost nothing; fewer
// where addresses are limited, for others need some too.
template <typename Item>
class Growing {
  public:
    explicit Growing(size_t count) { grow(count); }
    Growing(Growing&& other) noexcept
        : items_(std::exchange(other.items_, nullptr)), count_(std::exchange(other.count_, 0)),
          room_(std::exchange(other.room_, 0)), is_huge_(other.is_huge_) {}
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    ~Growing() { release(); }

    Item& operator[](size_t at) { return items_[at]; }
    const Item& operator[](size_t at) const { return items_[at]; }
    size_t size() const { return count_; }
    size_t bytes() const { return count_ * sizeof(Item); }

    void grow(size_t count) {
        const size_t size = count * sizeof(Item);
        if (size > room_) widen(size);
        count_ = count;
        if (size < kHuge || is_huge_) return;
        is_huge_ = true;
        advise(items_, room_);
    }

  private:
#ifdef __linux__
    void widen(size_t size) {
        size_t room = std::max(size, items_ == nullptr ? share() : 2 * room_);
        void* got = moved(room);
        if (got == MAP_FAILED) got = moved(room = size);
        if (got == MAP_FAILED) throw std::bad_alloc();
        room_ = room;
        items_ = static_cast<Item*>(got);
    }

    void* moved(size_t room) const {
        return items_ == nullptr ? aside(room) : mremap(items_, room_, room, MREMAP_MAYMOVE);
    }

    // Returns how many bytes of addresses one of the parts of a whole may set aside.
    static size_t share() {
        auto whole = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<size_t>(sysconf(_SC_PAGESIZE));
        rlimit limit;
        if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
            whole = std::min(whole, static_cast<size_t>(limit.rlim_cur) / 4);
        return whole / 8 & ~(kHuge - 1);
    }

    // Sets addresses aside, from a large page's beginning on.
    static void* aside(size_t size) {
        const int way = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void* got = mmap(nullptr, size + kHuge, PROT_READ | PROT_WRITE, way, -1, 0);
        if (got == MAP_FAILED) return got;
        char* begin = static_cast<char*>(got);
        const size_t before = -reinterpret_cast<uintptr_t>(begin) & (kHuge - 1);
        if (before > 0) munmap(begin, before);
        munmap(begin + before + size, kHuge - before);
        return begin + before;
    }

    void release() {
        if (items_ != nullptr) munmap(items_, room_);
    }
#else
    void widen(size_t size) {
        void* got = std::realloc(items_, size);
        if (got == nullptr) throw std::bad_alloc();
        std::memset(static_cast<char*>(got) + room_, 0, size - room_);
        items_ = static_cast<Item*>(got);
        room_ = size;
    }

    void release() { std::free(items_); }
#endif

    Item* items_ = nullptr;
    size_t count_ = 0;
    size_t room_ = 0;  // bytes at hand
    bool is_huge_ = false;
};

}  // namespace worldline
