// A thread that begins the program anew once a call from Python does not end.
//
// Python runs one thread at a time, and signals only between its own instructions. A call
// that never comes back to it can be seen and ended by nobody else in this process.
#pragma once

#include <cstdint>

#ifdef _WIN32

namespace worldline {

inline int32_t keep_watch(const int64_t*, double, char* const*, char* const*) { return 0; }

}  // namespace worldline

#else

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <thread>

namespace worldline {

inline double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Replaces this process by a program, as if it had just been started.
inline void begin_anew(char* const* arguments, char* const* environment) {
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);  // the new program would be ended by it
    sigset_t all;
    sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    execve(arguments[0], arguments, environment);
}

// Watches a number that is other than 0 while user code runs, another for each time. If
// it stays the same for so many seconds of processor time, the program begins anew.
inline void watch(const volatile int64_t* number, double seconds, char* const* arguments,
                  char* const* environment) {
    int64_t before = 0;
    double since = 0;
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const int64_t now = *number;
        const double used = processor_seconds();
        if (now == 0 || now != before) {
            before = now;
            since = used;
        } else if (used - since >= seconds) {
            begin_anew(arguments, environment);
            return;  // it could not
        }
    }
}

// Starts the thread; it takes no signals, and ends with the process. Returns whether it
// could be started.
inline int32_t keep_watch(const int64_t* number, double seconds, char* const* arguments,
                          char* const* environment) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int32_t started = 1;
    try {
        std::thread(watch, number, seconds, arguments, environment).detach();
    } catch (const std::system_error&) {
        started = 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

}  // namespace worldline

#endif
