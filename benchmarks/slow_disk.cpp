// A disk whose flushes take longer than this machine's: loaded before the C library
// (LD_PRELOAD), it lets each sync of a process last until a flush of that disk would be over.
//
// A disk does one flush at a time. Who asks during one waits for the next, which is for all who
// asked until it begins, as Linux has it (block/blk-flush.c). The file is synced for real first.
// WORLDLINE_SLOW_DISK is a file shared by all processes, zeros at first; WORLDLINE_SLOW_NS what a
// flush takes; with WORLDLINE_SLOW_EACH each file is on a disk of its own.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct Disk {
    uint64_t file;          // that is on it; 1 for all
    int64_t begins, ends;  // of the last flush that was asked for
};

struct Machine {
    static constexpr int kMost = 64;

    std::atomic<uint32_t> held;
    Disk disks[kMost];
};

int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

[[noreturn]] void give_up(const char* what) {
    std::perror(what);
    std::abort();
}

const char* wanted(const char* name) {
    const char* said = std::getenv(name);
    if (said == nullptr) give_up(name);
    return said;
}

Machine& machine() {
    static Machine* const shared = [] {
        const int file = ::open(wanted("WORLDLINE_SLOW_DISK"), O_RDWR | O_CLOEXEC);
        if (file < 0 || ::ftruncate(file, sizeof(Machine)) != 0) give_up("slow disk");
        void* const at =
            ::mmap(nullptr, sizeof(Machine), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at == MAP_FAILED) give_up("slow disk");
        ::close(file);
        return static_cast<Machine*>(at);
    }();
    return *shared;
}

// Returns when the flush is over that is asked for at a time.
int64_t flushed_at(int64_t asked, uint64_t file) {
    static const int64_t takes = std::atoll(wanted("WORLDLINE_SLOW_NS"));
    Machine& all = machine();
    while (all.held.exchange(1, std::memory_order_acquire) != 0) {
    }
    int at = 0;
    while (at < Machine::kMost && all.disks[at].file != 0 && all.disks[at].file != file) ++at;
    if (at == Machine::kMost) give_up("too many slow disks");
    Disk& disk = all.disks[at];
    disk.file = file;
    if (asked >= disk.begins) {  // else one that has not begun
        disk.begins = asked > disk.ends ? asked : disk.ends;
        disk.ends = disk.begins + takes;
    }
    const int64_t ends = disk.ends;
    all.held.store(0, std::memory_order_release);
    return ends;
}

int sync_slowly(const char* how, int file) {
    static const bool is_each = std::getenv("WORLDLINE_SLOW_EACH") != nullptr;
    const int64_t asked = now();
    using Sync = int (*)(int);
    const int result = reinterpret_cast<Sync>(::dlsym(RTLD_NEXT, how))(file);
    const int error = errno;
    struct stat about{};
    uint64_t number = 1;
    if (is_each && ::fstat(file, &about) == 0) number = uint64_t{about.st_ino} + 1;
    const int64_t ends = flushed_at(asked, number);
    const timespec until{ends / 1'000'000'000, ends % 1'000'000'000};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
    errno = error;
    return result;
}

}  // namespace

extern "C" int fdatasync(int file) { return sync_slowly("fdatasync", file); }

extern "C" int fsync(int file) { return sync_slowly("fsync", file); }
