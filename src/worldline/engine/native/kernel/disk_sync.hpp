// Threads that sync files to the disk, and tell a socket when that is done.
//
// A thread of Python's would have to wait for the interpreter before it could tell anybody.
#pragma once

#include <cstdint>

#ifdef _WIN32

namespace worldline {

inline int32_t sync_later(int32_t, int32_t, int64_t) { return -1; }

}  // namespace worldline

#else

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace worldline {

#ifdef MSG_NOSIGNAL
constexpr int kSilently = MSG_NOSIGNAL;
#else
constexpr int kSilently = 0;
#endif

class DiskSync {
  public:
    // Syncs a file, and then sends a ticket and the number of an error, or 0, to a socket.
    // Both may be closed meanwhile. Returns whether that will be.
    bool ask(int file, int told, int64_t ticket) {
        const Request request{::dup(file), ::dup(told), ticket};
        if (request.file >= 0 && request.told >= 0 && add(request)) return true;
        close(request);
        return false;
    }

  private:
    struct Request {
        int file, told;
        int64_t ticket;
    };

    static constexpr int kMost = 8;  // threads

    static void close(const Request& request) {
        if (request.file >= 0) ::close(request.file);
        if (request.told >= 0) ::close(request.told);
    }

    bool add(const Request& request) {
        const std::lock_guard<std::mutex> held(mutex_);
        try {
            if (idle_ <= requests_.size() && threads_ < kMost) start();
            if (threads_ == 0) return false;
            requests_.push_back(request);
        } catch (const std::bad_alloc&) {
            return false;
        }
        to_start_.notify_one();
        return true;
    }

    // Starts one more thread, if the system allows; signals are for others.
    void start() {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            std::thread([this] { run(); }).detach();
            ++threads_;
        } catch (const std::system_error&) {
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    void run() {
        std::unique_lock<std::mutex> held(mutex_);
        for (;;) {
            ++idle_;
            to_start_.wait(held, [this] { return !requests_.empty(); });
            --idle_;
            const Request request = requests_.front();
            requests_.pop_front();
            held.unlock();
            sync(request);
            held.lock();
        }
    }

    static void sync(const Request& request) {
        int result;
        do {
#ifdef __linux__
            result = ::fdatasync(request.file);
#else
            result = ::fsync(request.file);
#endif
        } while (result != 0 && errno == EINTR);
        const int64_t said[] = {request.ticket, result == 0 ? 0 : errno};
        while (::send(request.told, said, sizeof said, kSilently) < 0 && errno == EINTR) {
        }
        close(request);
    }

    std::mutex mutex_;
    std::condition_variable to_start_;
    std::deque<Request> requests_;
    size_t idle_ = 0;
    int threads_ = 0;
};

// As `DiskSync::ask`, in threads that last as long as the process; 0 if that will be.
inline int32_t sync_later(int32_t file, int32_t told, int64_t ticket) {
    static std::mutex mutex;
    static pid_t process = 0;
    static DiskSync* threads = nullptr;
    const std::lock_guard<std::mutex> held(mutex);
    if (process != ::getpid()) {  // a child has none of its parent's threads
        threads = new (std::nothrow) DiskSync;
        process = ::getpid();
    }
    return threads != nullptr && threads->ask(file, told, ticket) ? 0 : -1;
}

}  // namespace worldline

#endif
