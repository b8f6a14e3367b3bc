// The meter of time, memory and Ctrl-C: it says when the kernel goes back to Python.
//
// engine/bounds.py has the one that watches a whole search and sets this one for a while.
// There is one for the process, as there is one memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>
#if defined(__unix__) || defined(__APPLE__)
#define WORLDLINE_POSIX
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#endif

namespace worldline {

class Meter {
  public:
    // Starts it for so long, up to so many resident bytes of the process, and until the
    // number of SIGINT can be read from a file; negative: no bound, no file.
    void start(double seconds, int64_t ceiling, int file) {
        const int64_t now = now_ns();
        ends_ = seconds < 0 || seconds > kMostSeconds
                    ? std::numeric_limits<int64_t>::max()
                    : now + static_cast<int64_t>(seconds * 1e9);
        ceiling_ = ceiling;
        file_ = file;
        next_look_ = now;
        is_over_ = false;
        is_starved_ = false;
    }

    // Whether it is time to go back. Threads may ask for every few states.
    bool is_over() {
        if (is_over_.load(std::memory_order_relaxed)) return true;
        const int64_t now = now_ns();
        if (now > ends_) return is_over_ = true;
        int64_t look = next_look_.load(std::memory_order_relaxed);
        if (now < look || !next_look_.compare_exchange_strong(look, now + kLookNs)) return false;
        if (is_called()) return is_over_ = true;
        if (ceiling_ < 0 || resident() <= ceiling_) return false;
        starve();
        return true;
    }

    // How many bytes more there may be.
    int64_t room() const {
        if (ceiling_ < 0) return std::numeric_limits<int64_t>::max();
        return std::max<int64_t>(0, ceiling_ - resident());
    }

    // Notes that something needed more than there was.
    void starve() {
        is_starved_ = true;
        is_over_ = true;
    }

    bool is_starved() const { return is_starved_; }

    // The resident memory of the process; 0 where that is not known.
    static int64_t resident() {
#ifdef __linux__
        static const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        static const int64_t page = sysconf(_SC_PAGESIZE);
        char text[64];
        const ssize_t size = file < 0 ? -1 : pread(file, text, sizeof text - 1, 0);
        if (size <= 0) return 0;
        text[size] = '\0';
        char* rest = nullptr;
        std::strtoll(text, &rest, 10);
        return std::strtoll(rest, nullptr, 10) * page;
#else
        return 0;
#endif
    }

  private:
    static constexpr double kMostSeconds = 1e8;
    static constexpr int64_t kLookNs = 2'000'000;

    // Whether Python was sent SIGINT, whose number it then writes at once; its own
    // handler has to wait until the kernel is back.
    bool is_called() const {
#ifdef WORLDLINE_POSIX
        char numbers[64];
        const ssize_t count = file_ < 0 ? 0 : read(file_, numbers, sizeof numbers);
        return count > 0 && std::find(numbers, numbers + count, SIGINT) != numbers + count;
#else
        return false;
#endif
    }

    static int64_t now_ns() {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    }

    int64_t ends_ = std::numeric_limits<int64_t>::max();
    int64_t ceiling_ = -1;
    int file_ = -1;
    std::atomic<int64_t> next_look_{0};
    std::atomic<bool> is_over_{false}, is_starved_{false};
};

inline Meter& meter() {
    static Meter one;
    return one;
}

// Refuses what would not fit any more: a vector that grows has both its old items and its
// new for a while.
template <typename T>
struct Guarded {
    using value_type = T;

    Guarded() = default;
    template <typename Other>
    Guarded(const Guarded<Other>&) {}

    T* allocate(size_t count) {
        const size_t bytes = count * sizeof(T);
        if (bytes >= kMuch && static_cast<int64_t>(bytes) > meter().room()) {
            meter().starve();
            throw std::bad_alloc();
        }
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* items, size_t count) { std::allocator<T>().deallocate(items, count); }

    template <typename Other>
    bool operator==(const Guarded<Other>&) const { return true; }
    template <typename Other>
    bool operator!=(const Guarded<Other>&) const { return false; }

    static constexpr size_t kMuch = size_t{1} << 20;  // bytes that are worth a look
};

// Items of which there may be very many.
template <typename T>
using Items = std::vector<T, Guarded<T>>;

}  // namespace worldline
