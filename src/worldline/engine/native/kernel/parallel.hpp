// The same work on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <thread>
#include <vector>

namespace worldline {

// Calls `work` with the numbers from 0 on, each in a thread of its own.
template <typename Work>
void parallel(size_t threads, const Work& work) {
    std::atomic<bool> is_out_of_memory{false};
    const auto guarded = [&](size_t number) {
        try {
            work(number);
        } catch (const std::bad_alloc&) {
            is_out_of_memory = true;
        }
    };
    std::vector<std::thread> others;
    for (size_t number = 1; number < threads; ++number) others.emplace_back(guarded, number);
    guarded(0);
    for (std::thread& other : others) other.join();
    if (is_out_of_memory) throw std::bad_alloc();
}

}  // namespace worldline
