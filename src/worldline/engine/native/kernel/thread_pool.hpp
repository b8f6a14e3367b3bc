// A persistent thread pool; waiting threads spin before they sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace worldline {

// The threads persist, because the work between two barriers is too short to start any. A
// waiting thread spins for a while before it sleeps: waking up costs more than that.
class ThreadPool {
  public:
    explicit ThreadPool(size_t threads) : size_(threads) {}
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    ~ThreadPool() {
        {
            const std::lock_guard<std::mutex> held(mutex_);
            is_over_ = true;
            ++round_;
        }
        to_start_.notify_all();
        for (std::thread& other : others_) other.join();
    }

    // Calls `work` with the numbers from 0 on, each in a thread of its own; 0 in this one.
    template <typename Work>
    void run(size_t threads, const Work& work) {
        if (threads <= 1) return work(0);
        start();
        work_ = [&work, threads](size_t number) {
            if (number < threads) work(number);
        };
        busy_ = others_.size();
        {
            const std::lock_guard<std::mutex> held(mutex_);
            ++round_;
        }
        to_start_.notify_all();
        guarded(0);
        for (size_t number = others_.size() + 1; number < threads; ++number) guarded(number);
        wait(to_end_, [this] { return busy_ == 0; });
        if (is_out_of_memory_.exchange(false)) throw std::bad_alloc();
    }

  private:
    static constexpr int kSpins = 600;  // some ten microseconds

    // Starts the threads, or as many as the system allows.
    void start() {
        try {
            while (others_.size() + 1 < size_ && !is_short_)
                others_.emplace_back([this, number = others_.size() + 1] { loop(number); });
        } catch (const std::system_error&) {
            is_short_ = true;
        }
    }

    void loop(size_t number) {
        for (uint64_t known = 0;; ++known) {
            wait(to_start_, [this, known] { return round_ != known; });
            if (is_over_) return;
            guarded(number);
            if (--busy_ > 0) continue;
            const std::lock_guard<std::mutex> held(mutex_);
            to_end_.notify_one();
        }
    }

    template <typename Ready>
    void wait(std::condition_variable& signal, const Ready& is_ready) {
        for (int spin = 0; spin < kSpins; ++spin) {
            if (is_ready()) return;
            relax();
        }
        std::unique_lock<std::mutex> held(mutex_);
        signal.wait(held, is_ready);
    }

    static void relax() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }

    void guarded(size_t number) {
        try {
            work_(number);
        } catch (const std::bad_alloc&) {
            is_out_of_memory_ = true;
        }
    }

    const size_t size_;
    bool is_short_ = false;
    std::vector<std::thread> others_;
    std::function<void(size_t)> work_;
    std::mutex mutex_;
    std::condition_variable to_start_, to_end_;
    std::atomic<uint64_t> round_{0};
    std::atomic<size_t> busy_{0};
    std::atomic<bool> is_over_{false}, is_out_of_memory_{false};
};

}  // namespace worldline
