// The plain C functions of the compiled kernel: the loops under the tabulated world; and what a
// host writes to its journals, at the end.
//
// It works on integers only and mirrors the tables of engine/tables.py. What it lacks is
// reported as a miss; Python works it out and encodes it as commands, which are decoded
// here, and the rows concerned are tried again. It must agree with the loops in Python in
// every result. It is linked with no Python (kernel/python_calls.hpp), so one library serves every
// version of it.

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "kernel/breadth_first.hpp"
#include "kernel/consequence.hpp"
#include "kernel/crc32.hpp"
#include "kernel/disk_sync.hpp"
#include "kernel/tables.hpp"
#include "kernel/decoder.hpp"
#include "kernel/python_calls.hpp"
#include "kernel/walks.hpp"
#include "kernel/watchdog.hpp"

using namespace worldline;

namespace {

constexpr int64_t kOutOfMemory = -1;

// Does some work; returns what it returns, or that there is no more memory.
template <typename Work>
int64_t guarded(const Work& work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return kOutOfMemory;
    }
}

// The same for what is made; null if there is no more memory.
template <typename Work>
auto made(const Work& work) -> decltype(work()) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void put_long(int32_t* out, uint64_t word) {
    out[0] = static_cast<int32_t>(word & 0xffffffff);
    out[1] = static_cast<int32_t>(word >> 32);
}

}  // namespace

extern "C" {

// Changes whenever a function here changes its meaning or its arguments.
int32_t wl_interface() { return 21; }

Tables* wl_tables(int32_t width) {
    return made([=] { return new Tables(width); });
}
void wl_tables_free(Tables* tables) { delete tables; }

// Lets whatever explores go on for so many seconds, up to so many resident bytes of the
// process, and until the number of SIGINT can be read from a file; negative: no bound.
void wl_meter(double seconds, int64_t ceiling, int32_t file) {
    meter().start(seconds, ceiling, file);
}

// Returns whether there was less memory than something needed.
int32_t wl_is_starved() { return meter().is_starved(); }

int64_t wl_decode(Tables* tables, const int32_t* words, int64_t count) {
    return guarded([&]() -> int64_t {
        Decoder(*tables, words).decode(words + count);
        return 0;
    });
}

// Returns the number of a collection's value, given as pairs.
int64_t wl_collect(Tables* tables, int32_t column, int32_t count, const int32_t* pairs) {
    return guarded([&] {
        std::vector<Collection::Pair> found;
        for (int32_t at = 0; at < count; ++at) found.emplace_back(pairs[2 * at], pairs[2 * at + 1]);
        const int32_t value = tables->columns[column].collection->intern(found);
        tables->note_collection(column, value);
        return static_cast<int64_t>(value);
    });
}

// Gives the pairs of a collection's value; returns how many.
int32_t wl_pairs(Tables* tables, int32_t column, int32_t value, const int32_t** out) {
    const Collection& collection = *tables->columns[column].collection;
    *out = reinterpret_cast<const int32_t*>(collection.begin(value));
    return static_cast<int32_t>(collection.end(value) - collection.begin(value));
}

// Gives the depths at which a collection's values were first met, and the largest of each:
// three numbers each, if there is room for them. Returns how many there are.
int32_t wl_largest(Tables* tables, int32_t column, int32_t* out) {
    const auto& largest = tables->columns[column].collection->largest;
    if (out != nullptr)
        for (const auto& one : largest) {
            *out++ = one.first;
            *out++ = one.second.first;
            *out++ = one.second.second;
        }
    return static_cast<int32_t>(largest.size());
}

// Says at which depth the values that are met from now on are.
void wl_clock(Tables* tables, int32_t depth) { tables->set_clock(depth); }

// `worth_threads` states that wait are worth more than one thread; `prune` and `done` are
// decisions, or -1.
Search* wl_search(Tables* tables, int32_t threads, int64_t worth_threads, int64_t most_states,
                  int32_t prune, int32_t done) {
    return made([=]() -> Search* {
        return new BreadthFirst(*tables, threads, worth_threads, most_states, prune, done);
    });
}

// The same by cost; `repeat_cost` is -1 if what is pruned is not taken up again.
Search* wl_predict(Tables* tables, int32_t threads, int64_t worth_threads, int32_t repeat_cost,
                   int32_t prune, int32_t done) {
    return made([=]() -> Search* {
        return new Consequence(*tables, threads, worth_threads, repeat_cost, prune, done);
    });
}
void wl_search_free(Search* search) { delete search; }

// With the symmetry that the tables have, visits one row of all that differ in names only.
void wl_reduce(Search* search, int32_t sample) { search->reduce(sample); }

// Gives samples of the rows that were expanded or (0) examined: the fingerprint's halves
// and the row of each. Returns how many there are.
int32_t wl_sample(Search* search, int32_t of_expanded, int32_t* out) {
    const auto found = search->samples(of_expanded != 0);
    for (const auto* one : found) {
        if (out == nullptr) break;
        put_long(out, one->fingerprint);
        std::memcpy(out + 2, one->row.data(), 4 * one->row.size());
        out += 2 + one->row.size();
    }
    return static_cast<int32_t>(found.size());
}

void wl_watch(Search* search, int32_t decision, int32_t target) {
    search->shared.watches.push_back(Watch{decision, target != 0 ? kFalse : kTrue});
}

// Says of an event that it must not happen, and which ones stand in its place; before a list
// has it.
int64_t wl_instead(Search* search, int32_t count, const int32_t* events) {
    return guarded([=]() -> int64_t {
        search->shared.instead.put(events[0], events + 1, events + count);
        return 0;
    });
}

int64_t wl_root(Search* search, const int32_t* row, int32_t number) {
    return guarded([=] { return search->add_root(row, number), int64_t{0}; });
}

// Keeps whole states; call it before the first root.
void wl_exact(Search* search) { search->be_exact(); }

// Keeps the states beyond which nothing new is seen; call it before the first root.
void wl_keep_periphery(Search* search) { static_cast<BreadthFirst*>(search)->keep_periphery(); }

// Ends the search; returns how many states are beyond which it saw nothing new.
int64_t wl_periphery(Search* search) {
    return guarded([=] { return static_cast<BreadthFirst*>(search)->end(); });
}

// Gives the n-th of them.
void wl_outermost(Search* search, int64_t number, uint64_t* fingerprint, int32_t* row) {
    *fingerprint = static_cast<BreadthFirst*>(search)->outermost(number, row);
}

int64_t wl_advance(Search* search) {
    return guarded([=] { return search->advance(); });
}

// By cost, has so many more of the states met last judged by the steps that follow; returns
// how many of them are left then.
int64_t wl_judge(Search* search, int64_t most) {
    return guarded([=] { return static_cast<Consequence*>(search)->judge(most); });
}

// Gives what a search by cost has counted: the cost of the states that are expanded next or
// -1, own steps taken first, states put off, states that wait, the longest path, and the
// cost of the states met last.
void wl_costs(Search* search, int64_t* out) {
    const auto* costs = static_cast<Consequence*>(search);
    out[0] = costs->next_cost();
    out[1] = costs->executed();
    out[2] = costs->put_off;
    out[3] = costs->waiting();
    out[4] = costs->longest;
    out[5] = costs->cost();
    out[6] = costs->held();
}

int64_t wl_step(Search* search, int64_t quota) {
    return guarded([=] { return search->step(quota); });
}

Misses* wl_search_misses(Search* search) { return &search->misses; }

// Gives the misses of the last step, four integers each (kind, first, second, where its
// row begins), and the rows.
int32_t wl_misses(Misses* misses, int32_t* out) {
    int32_t count = 0;
    for (; count < static_cast<int32_t>(misses->size()); ++count) {
        const Miss& miss = (*misses)[count];
        if (out == nullptr) continue;
        const int32_t words[4] = {static_cast<int32_t>(miss.kind), miss.first, miss.second, miss.row};
        std::memcpy(out + 4 * count, words, sizeof words);
    }
    return count;
}

const int32_t* wl_rows(Misses* misses) { return misses->rows(); }

// Gives the fingerprint of the state that a watch found; 0: none.
int32_t wl_hit(Search* search, int32_t watch, uint64_t* out) {
    *out = search->shared.watches[watch].fingerprint;
    return *out != ~0ULL;
}

// How many states there were in which a predicate was neither true nor false.
int64_t wl_unseen(Search* search, int32_t watch) {
    return search->shared.watches[watch].unseen;
}

// Gives the endings met, in order, three integers each: a fingerprint's halves and a leaf.
int32_t wl_endings(Search* search, int32_t* out) {
    int32_t count = 0;
    std::sort(search->endings.begin(), search->endings.end());
    for (const Ending& ending : search->endings) {
        if (out != nullptr) {
            put_long(out + 3 * count, ending.fingerprint);
            out[3 * count + 2] = ending.leaf;
        }
        ++count;
    }
    return count;
}

// Gives the outcomes that lead to a state, at most `most`, and the number of the initial
// state; returns how many there are.
int32_t wl_path(Search* search, uint64_t fingerprint, int32_t most, int32_t* out,
                int32_t* root) {
    std::vector<int32_t> leaves;
    *root = search->path(fingerprint, leaves);
    const size_t count = std::min(leaves.size(), static_cast<size_t>(most));
    if (count > 0) std::memcpy(out, leaves.data(), 4 * count);
    return static_cast<int32_t>(leaves.size());
}

void wl_statistics(Search* search, int64_t* out) {
    out[0] = search->states();
    out[1] = search->generated;
    out[2] = search->pruned;
    out[3] = static_cast<int64_t>(search->bytes());
    out[4] = search->shared.is_full ? 1 : 0;
    out[5] = search->shared.has_collision ? 1 : 0;
    out[6] = search->left_out;
}

Walks* wl_walks(Tables* tables, int32_t threads, uint64_t seed, int64_t most_steps, int32_t goal) {
    auto* walks = made([=] { return new Walks(*tables, threads); });
    if (walks == nullptr) return nullptr;
    walks->options.seed = seed;
    walks->options.most_steps = most_steps;
    walks->options.goal = goal;
    return walks;
}
void wl_walks_free(Walks* walks) { delete walks; }
Misses* wl_walks_misses(Walks* walks) { return &walks->misses; }

void wl_walks_check(Walks* walks, int32_t decision, int32_t target) {
    walks->options.checks.emplace_back(decision, target != 0);
}

// Notes where a decision is true first.
void wl_walks_watch(Walks* walks, int32_t decision) { walks->options.watches.push_back(decision); }

// Walks by another scheduler from now on, to another bound.
void wl_walks_use(Walks* walks, int32_t policy, int64_t parameter, int64_t most_steps) {
    walks->use(static_cast<Policy>(policy), parameter, most_steps);
}

// Adds the traits of events that have none yet, in order of their numbers: six integers each.
void wl_walks_traits(Walks* walks, int32_t count, const int64_t* words) {
    for (const int64_t* end = words + 6 * count; words != end; words += 6) {
        walks->options.weights.push_back(static_cast<int32_t>(words[0]));
        walks->options.traits.push_back(Traits{words[0], words[1], words[2], words[3],
                                               static_cast<uint64_t>(words[4]),
                                               static_cast<uint64_t>(words[5])});
    }
}

// Gives the walk and the step at which a watched decision was true first, or -1.
void wl_walks_reached(Walks* walks, int32_t watch, int64_t* out) {
    const Reached found = walks->reached(static_cast<size_t>(watch));
    out[0] = static_cast<int64_t>(found.walk);
    out[1] = found.step;
}

// Tells of the first outcomes which were taken on walks with numbers below `end`.
void wl_walks_taken(Walks* walks, uint64_t end, int64_t count, uint8_t* out) {
    walks->taken(end, out, static_cast<size_t>(count));
}

// Begins walks with numbers from `first` on: all from one row, or each from its own.
int64_t wl_walks_begin(Walks* walks, const int32_t* rows, int32_t is_shared, uint64_t first,
                       int64_t count, int32_t with_path) {
    return guarded([=] {
        walks->begin(rows, is_shared != 0, first, count, with_path != 0);
        return int64_t{0};
    });
}

int64_t wl_walks_step(Walks* walks) {
    return guarded([=] { return walks->step(); });
}

// Gives three integers for each walk: how it ended, what it ended with, steps taken.
void wl_walks_ends(Walks* walks, int64_t* out) {
    for (const Walk& walk : walks->walks) {
        *out++ = static_cast<int64_t>(walk.end);
        *out++ = walk.what;
        *out++ = walk.step;
    }
}

// Gives the outcomes of the first walk; returns how many there are.
int64_t wl_walks_path(Walks* walks, const int32_t** out) {
    *out = walks->path.data();
    return static_cast<int64_t>(walks->path.size());
}

// Gives the row that the n-th walk has come to.
void wl_walks_row(Walks* walks, int64_t number, int32_t* out) {
    std::memcpy(out, walks->row(number), walks->row_bytes());
}

// Starts a thread that watches for a call which does not end; see the header.
int32_t wl_keep_watch(const int64_t* number, double seconds, char* const* arguments,
                      char* const* environment) {
    return keep_watch(number, seconds, arguments, environment);
}

// Takes note of what is called of Python, before the four functions behind it are.
void wl_python(const PythonCalls* calls) { python = *calls; }

// Write the block of a turn to the file of a journal, or to its tail, and return what became of it:
// the number of an error is negative. It is made of a list of packets; or of the bytes of its
// records, to be synced (then it and the tail are in the file afterwards) or not; in those that are
// shared bytes may stand for others.
PyObject* wl_journal_packets(PyObject* file, PyObject* list) { return call_packets(file, list); }

PyObject* wl_journal_records(PyObject* file, PyObject* records) {
    return call_records(file, records, false, true);
}

PyObject* wl_journal_synced(PyObject* file, PyObject* records) {
    return call_records(file, records, false, false);
}

PyObject* wl_journal_shared(PyObject* file, PyObject* records) {
    return call_records(file, records, true, false);
}

// Returns whether a file may be the tail of a journal: a store into it, once it is mapped, cannot
// fail.
int32_t wl_journal_mappable(int32_t file) { return may_be_mapped(file) ? 1 : 0; }

// Returns the CRC-32 of some bytes as blocks of a journal have it; by tables alone, if that is
// asked, as on processors without an instruction for it.
uint32_t wl_crc32(const uint8_t* bytes, int64_t size, int32_t by_tables) {
    const auto length = static_cast<size_t>(size);
    return by_tables != 0 ? ~crc32_by_tables(~uint32_t{0}, bytes, length) : crc32(bytes, length);
}

// Syncs a file in another thread, which then sends two numbers to a socket: a ticket, and
// that of an error, or 0. Returns 0 if that will be.
int32_t wl_sync(int32_t file, int32_t told, int64_t ticket) {
    return sync_later(file, told, ticket);
}

}  // extern "C"
