// The plain C functions of the compiled kernel: the loops under the tabulated world.
//
// It works on integers only and mirrors the tables of engine/tables.py. What it lacks is
// reported as a miss; Python works it out, tells it here, and the rows concerned are tried
// again. It must agree with the loops in Python in every result. Nothing here calls
// Python, so one library serves every version of it.

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "kernel/breadth_first.hpp"
#include "kernel/tables.hpp"
#include "kernel/tell.hpp"

using namespace worldline;

namespace {

constexpr int64_t kOutOfMemory = -1;

void put_long(int32_t* out, uint64_t word) {
    out[0] = static_cast<int32_t>(word & 0xffffffff);
    out[1] = static_cast<int32_t>(word >> 32);
}

}  // namespace

extern "C" {

// Changes whenever a function here changes its meaning or its arguments.
int32_t wl_interface() { return 3; }

Tables* wl_tables(int32_t width) { return new Tables(width); }
void wl_tables_free(Tables* tables) { delete tables; }

void wl_tell(Tables* tables, const int32_t* words, int64_t count) {
    Listener(*tables, words).hear(words + count);
}

// Returns the number of a collection's value, given as pairs.
int32_t wl_collect(Tables* tables, int32_t column, int32_t count, const int32_t* pairs) {
    std::vector<Collection::Pair> found;
    for (int32_t at = 0; at < count; ++at) found.emplace_back(pairs[2 * at], pairs[2 * at + 1]);
    const int32_t value = tables->columns[column].collection->intern(found);
    tables->note_collection(column, value);
    return value;
}

int32_t wl_size(Tables* tables, int32_t column) { return tables->columns[column].size(); }

// Gives the pairs of a collection's value; returns how many.
int32_t wl_pairs(Tables* tables, int32_t column, int32_t value, const int32_t** out) {
    const Collection& collection = *tables->columns[column].collection;
    *out = reinterpret_cast<const int32_t*>(collection.begin(value));
    return static_cast<int32_t>(collection.end(value) - collection.begin(value));
}

int32_t wl_birth(Tables* tables, int32_t column, int32_t value) {
    return tables->columns[column].collection->births[value];
}

// Says at which depth the values that are met from now on are.
void wl_clock(Tables* tables, int32_t depth) {
    for (Column& column : tables->columns)
        if (column.collection != nullptr) column.collection->clock = depth;
}

// `worth_threads` states that wait are worth more than one thread; `prune` and `done` are
// decisions, or -1.
BreadthFirst* wl_search(Tables* tables, int32_t threads, int64_t worth_threads,
                        int64_t most_states, int32_t prune, int32_t done) {
    return new BreadthFirst(*tables, threads, worth_threads, most_states, prune, done);
}
void wl_search_free(BreadthFirst* search) { delete search; }

// With the symmetry that was told, visits one row of all that differ in names only.
void wl_fold(BreadthFirst* search, int32_t sample) { search->fold(sample); }

// Gives samples of the rows that were expanded or (0) examined: the fingerprint's halves
// and the row of each. Returns how many there are.
int32_t wl_sample(BreadthFirst* search, int32_t of_expanded, int32_t* out) {
    const auto found = search->samples(of_expanded != 0);
    for (const auto* one : found) {
        if (out == nullptr) break;
        put_long(out, one->fingerprint);
        std::memcpy(out + 2, one->row.data(), 4 * one->row.size());
        out += 2 + one->row.size();
    }
    return static_cast<int32_t>(found.size());
}

void wl_watch(BreadthFirst* search, int32_t decision, int32_t target) {
    search->watches.push_back(Watch{decision, target != 0});
}

void wl_root(BreadthFirst* search, const int32_t* row, int32_t number) {
    search->add_root(row, number);
}

int64_t wl_advance(BreadthFirst* search) { return search->advance(); }

int64_t wl_step(BreadthFirst* search, int64_t quota) {
    try {
        return search->step(quota);
    } catch (const std::bad_alloc&) {
        return kOutOfMemory;
    }
}

// Gives the misses of the last step, four integers each (kind, first, second, where its
// row begins), and the rows.
int32_t wl_misses(BreadthFirst* search, int32_t* out) {
    int32_t count = 0;
    for (; count < static_cast<int32_t>(search->misses.size()); ++count) {
        const Miss& miss = search->misses[count];
        if (out == nullptr) continue;
        const int32_t words[4] = {static_cast<int32_t>(miss.kind), miss.first, miss.second, miss.row};
        std::memcpy(out + 4 * count, words, sizeof words);
    }
    return count;
}

const int32_t* wl_rows(BreadthFirst* search) { return search->misses.rows(); }

// Gives the fingerprint of the state that a watch found; 0: none.
int32_t wl_hit(BreadthFirst* search, int32_t watch, uint64_t* out) {
    *out = search->watches[watch].fingerprint;
    return *out != ~0ULL;
}

// Gives the endings met, three integers each: a fingerprint's halves and a leaf.
int32_t wl_endings(BreadthFirst* search, int32_t* out) {
    int32_t count = 0;
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
int32_t wl_path(BreadthFirst* search, uint64_t fingerprint, int32_t most, int32_t* out,
                int32_t* root) {
    std::vector<int32_t> leaves;
    *root = search->path(fingerprint, leaves);
    const size_t count = std::min(leaves.size(), static_cast<size_t>(most));
    if (count > 0) std::memcpy(out, leaves.data(), 4 * count);
    return static_cast<int32_t>(leaves.size());
}

void wl_statistics(BreadthFirst* search, int64_t* out) {
    out[0] = search->states;
    out[1] = search->generated;
    out[2] = search->pruned;
    out[3] = static_cast<int64_t>(search->bytes());
    out[4] = search->is_full ? 1 : 0;
}

}  // extern "C"
