// The compiled loop under the tabulated world: integers only, no user code.
//
// It mirrors the tables of engine/tables.py and must agree with engine/expand.py and
// engine/breadth_first.py in every result. What a table does not know is reported as a
// miss; Python works it out, tells it here, and the rows concerned are tried again.
//
// Nothing here calls Python, and everything is reached through the plain C functions at
// the end, so one library serves every version of Python.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int32_t kUnknown = -1;

inline uint64_t scramble(uint64_t word) {
    word ^= word >> 32;
    word *= 0xd6e8feb86659fd93ULL;
    word ^= word >> 32;
    return word;
}

// Open addressing with linear probing, from non-negative 64-bit keys to 32-bit values.
class Map {
  public:
    int32_t get(uint64_t key) const {
        if (count_ == 0) return kUnknown;
        for (size_t at = scramble(key) & mask_;; at = (at + 1) & mask_) {
            if (keys_[at] == key) return values_[at];
            if (keys_[at] == kFree) return kUnknown;
        }
    }

    void put(uint64_t key, int32_t value) {
        if (2 * (count_ + 1) > keys_.size()) grow();
        for (size_t at = scramble(key) & mask_;; at = (at + 1) & mask_) {
            if (keys_[at] == key) {
                values_[at] = value;
                return;
            }
            if (keys_[at] == kFree) {
                keys_[at] = key;
                values_[at] = value;
                ++count_;
                return;
            }
        }
    }

    size_t size() const { return count_; }

  private:
    static constexpr uint64_t kFree = ~0ULL;

    void grow() {
        std::vector<uint64_t> keys(keys_.empty() ? 8 : 2 * keys_.size(), kFree);
        std::vector<int32_t> values(keys.size());
        keys.swap(keys_);
        values.swap(values_);
        mask_ = keys_.size() - 1;
        count_ = 0;
        for (size_t at = 0; at < keys.size(); ++at)
            if (keys[at] != kFree) put(keys[at], values[at]);
    }

    std::vector<uint64_t> keys_;
    std::vector<int32_t> values_;
    size_t mask_ = 0;
    size_t count_ = 0;
};

// From small non-negative integers to 32-bit values: dense below a limit, hashed above.
class Table {
  public:
    int32_t get(int32_t key) const {
        const auto at = static_cast<size_t>(key);
        if (at < dense_.size()) return dense_[at];
        return at < kDense ? kUnknown : sparse_.get(at);
    }

    void put(int32_t key, int32_t value) {
        const auto at = static_cast<size_t>(key);
        if (at >= kDense) {
            sparse_.put(at, value);
            return;
        }
        if (at >= dense_.size()) dense_.resize(std::min(kDense, 2 * at + 2), kUnknown);
        dense_[at] = value;
    }

  private:
    static constexpr size_t kDense = 4096;

    std::vector<int32_t> dense_;
    Map sparse_;
};

// The set of all states met, by fingerprint, with the number of each.
class Visited {
  public:
    Visited() : slots_(1 << 12, Slot{0, kUnknown}), mask_(slots_.size() - 1) {}

    void prefetch(uint64_t fingerprint) const {
        __builtin_prefetch(&slots_[fingerprint & mask_], 1);
    }

    // Returns the number of a known state; else remembers `number` and returns it.
    int32_t add(uint64_t fingerprint, int32_t number) {
        for (size_t at = fingerprint & mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.number == kUnknown) {
                slot = Slot{fingerprint, number};
                if (10 * ++count_ > 6 * slots_.size()) grow();
                return number;
            }
            if (slot.fingerprint == fingerprint) return slot.number;
        }
    }

    size_t bytes() const { return slots_.size() * sizeof(Slot); }

  private:
#pragma pack(push, 4)
    struct Slot {
        uint64_t fingerprint;
        int32_t number;
    };
#pragma pack(pop)

    void grow() {
        std::vector<Slot> old(2 * slots_.size(), Slot{0, kUnknown});
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.number == kUnknown) continue;
            size_t at = slot.fingerprint & mask_;
            while (slots_[at].number != kUnknown) at = (at + 1) & mask_;
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_;
    size_t mask_;
    size_t count_ = 0;
};

struct Operation {
    int32_t column;
    Table after;
};

struct Leaf {
    int32_t local;
    bool failed;
    std::vector<int32_t> operations;
};

struct Entry {
    int32_t column;  // -1: the event runs no handler
    bool fault;
    Table outcomes;  // by local value: an outcome node
};

enum class NodeKind : int32_t { kLeaves = 0, kFork = 1, kAsk = 2 };

struct OutcomeNode {
    NodeKind kind;
    int32_t column;
    int32_t answers;
    std::vector<int32_t> before;
    std::vector<int32_t> leaves;
    std::vector<std::pair<int32_t, int32_t>> children;  // answer, node; in order
};

struct Site {
    std::vector<int32_t> columns;
    std::vector<Map> pairs;  // folds the values of the columns into one key
    Map lists;
};

struct Question {
    int32_t column;  // -1: ask decision `inner`
    int32_t answers;
    int32_t inner;
    Table children;
    Table shortcut;  // from values of the column straight to children
};

constexpr int32_t kFalse = 0, kTrue = 1;  // question numbers that are verdicts

enum MissKind : int32_t { kSite = 0, kOutcome = 1, kApply = 2, kAnswer = 3, kDecide = 4 };

struct Miss {
    int32_t kind, first, second, row;
};

struct Successor {
    uint64_t fingerprint;
    int32_t entry, leaf;
};

struct Level {
    std::vector<int32_t> rows;
    std::vector<uint64_t> fingerprints;
    int32_t first = 0;  // number of its first state

    size_t size() const { return fingerprints.size(); }
};

struct Found {
    uint64_t fingerprint;  // of the state where it happened
    int32_t state, entry, leaf;
};

class Kernel {
  public:
    explicit Kernel(int32_t width) : width(width), mixes(width) {}

    const int32_t width;
    std::vector<std::vector<uint64_t>> mixes;
    std::vector<Site> sites;
    std::vector<std::vector<int32_t>> lists;
    std::vector<Entry> entries;
    std::vector<Leaf> leaves;
    std::vector<Operation> operations;
    std::vector<OutcomeNode> nodes;
    std::vector<Table> answers;
    std::vector<Question> questions{2};
    std::vector<int32_t> decisions;

    Level level, next;
    std::vector<int32_t> parents, parent_entries, parent_leaves;
    std::vector<Miss> misses;
    std::vector<Found> failures, stuck;
    int64_t generated = 0, pruned = 0;
    int32_t prune = kUnknown;
    bool notes_stuck = false;
    bool is_full = false;  // one more state than allowed was met

    bool add_root(const int32_t* row, int32_t number) {
        const uint64_t fingerprint = fingerprint_of(row);
        ++generated;
        const auto state = static_cast<int32_t>(parents.size());
        if (visited_.add(fingerprint, state) != state) return false;
        remember(row, fingerprint, -1 - number, 0, 0);
        return true;
    }

    // Makes the states found the level that is expanded next, in order of fingerprints.
    void advance() {
        std::swap(level, next);
        next.rows.clear();
        next.fingerprints.clear();
        next.first = static_cast<int32_t>(parents.size());
        pending_.resize(level.size());
        for (size_t at = 0; at < level.size(); ++at)
            pending_[at] = static_cast<int32_t>(at);
        retry_.clear();
        cursor_ = 0;
    }

    // Expands up to `count` states. Returns how many of the level are left.
    int64_t expand(int64_t count, int64_t most_states) {
        misses.clear();
        while (count-- > 0 && misses.size() < kMostMisses && !is_full) {
            if (cursor_ == pending_.size()) {
                if (!misses.empty() || retry_.empty()) break;
                pending_.swap(retry_);
                retry_.clear();
                cursor_ = 0;
            }
            most_states_ = most_states;
            const int32_t at = pending_[cursor_++];
            if (!expand_one(at)) retry_.push_back(at);
        }
        return static_cast<int64_t>(pending_.size() - cursor_ + retry_.size());
    }

    void begin_examination() {
        pending_.resize(next.size());
        for (size_t at = 0; at < next.size(); ++at) pending_[at] = static_cast<int32_t>(at);
        retry_.clear();
        cursor_ = 0;
        best_ = kNone;
    }

    // Looks for the state with the least fingerprint for which a decision says
    // `target`. Returns its number, kNone, or kMissed: verdicts are missing, call again.
    int32_t examine(int32_t decision, bool target) {
        misses.clear();
        while (misses.size() < kMostMisses) {
            if (cursor_ == pending_.size()) {
                if (!misses.empty() || retry_.empty()) break;
                pending_.swap(retry_);
                retry_.clear();
                cursor_ = 0;
            }
            const int32_t at = pending_[cursor_++];
            const int32_t verdict = decide(decision, row_of(next, at), at);
            if (verdict == kUnknown)
                retry_.push_back(at);
            else if ((verdict == kTrue) == target &&
                     (best_ == kNone || next.fingerprints[at] < next.fingerprints[best_]))
                best_ = at;
        }
        if (!misses.empty()) return kMissed;
        return best_ == kNone ? kNone : next.first + best_;
    }

    size_t bytes() const {
        const size_t rows = level.rows.capacity() + next.rows.capacity();
        return visited_.bytes() + 4 * rows + 12 * parents.capacity();
    }

  private:
    static constexpr size_t kMostMisses = 4096;
    static constexpr int32_t kNone = -1, kMissed = -2;

    const int32_t* row_of(const Level& states, int32_t at) const {
        return &states.rows[static_cast<size_t>(at) * width];
    }

    uint64_t fingerprint_of(const int32_t* row) const {
        uint64_t total = 0;
        for (int32_t column = 0; column < width; ++column)
            total ^= mixes[column][row[column]];
        return total;
    }

    void remember(const int32_t* row, uint64_t fingerprint, int32_t parent,
                  int32_t entry, int32_t leaf) {
        parents.push_back(parent);
        parent_entries.push_back(entry);
        parent_leaves.push_back(leaf);
        next.rows.insert(next.rows.end(), row, row + width);
        next.fingerprints.push_back(fingerprint);
    }

    bool expand_one(int32_t at) {
        const int32_t* row = row_of(level, at);
        const uint64_t fingerprint = level.fingerprints[at];
        const size_t before = misses.size();
        if (prune != kUnknown) {
            const int32_t verdict = decide(prune, row, at);
            if (verdict == kUnknown) return false;
            if (verdict == kTrue) {
                ++pruned;
                return true;
            }
        }
        found_.clear();
        scratch_.clear();
        for (size_t site = 0; site < sites.size(); ++site) successors(site, row, fingerprint, at);
        if (misses.size() != before) return false;
        keep(at, fingerprint);
        return true;
    }

    void keep(int32_t at, uint64_t fingerprint) {
        generated += static_cast<int64_t>(found_.size());
        const int32_t parent = level.first + at;
        bool moves = false;
        for (size_t number = 0; number < found_.size(); ++number) {
            const Successor& one = found_[number];
            moves |= !entries[one.entry].fault;
            if (leaves[one.leaf].failed) {
                failures.push_back(Found{fingerprint, parent, one.entry, one.leaf});
                continue;
            }
            const auto fresh = static_cast<int32_t>(parents.size());
            const int32_t state = visited_.add(one.fingerprint, fresh);
            if (state == fresh) {
                if (fresh >= most_states_) {
                    is_full = true;
                    return;
                }
                remember(&scratch_[number * width], one.fingerprint, parent, one.entry,
                         one.leaf);
            } else if (state >= next.first && fingerprint < fingerprint_at(parents[state])) {
                parents[state] = parent;
                parent_entries[state] = one.entry;
                parent_leaves[state] = one.leaf;
            }
        }
        if (notes_stuck && !moves) stuck.push_back(Found{fingerprint, parent, 0, 0});
    }

    uint64_t fingerprint_at(int32_t state) const {
        return level.fingerprints[state - level.first];
    }

    void successors(size_t number, const int32_t* row, uint64_t fingerprint, int32_t at) {
        const int32_t list = list_of(sites[number], row);
        if (list == kUnknown) {
            misses.push_back(Miss{kSite, static_cast<int32_t>(number), 0, at});
            return;
        }
        for (const int32_t event : lists[list]) {
            const Entry& entry = entries[event];
            const int32_t local = entry.column < 0 ? 0 : row[entry.column];
            const int32_t node = entry.outcomes.get(local);
            if (node == kUnknown || !gather(node, row, fingerprint, event, at))
                misses.push_back(Miss{kOutcome, event, 0, at});
        }
    }

    int32_t list_of(const Site& site, const int32_t* row) const {
        uint64_t key = static_cast<uint32_t>(row[site.columns[0]]);
        for (size_t at = 1; at < site.columns.size(); ++at) {
            const auto value = static_cast<uint32_t>(row[site.columns[at]]);
            const int32_t folded = site.pairs[at - 1].get(key << 32 | value);
            if (folded == kUnknown) return kUnknown;
            key = static_cast<uint32_t>(folded);
        }
        return site.lists.get(key);
    }

    // Applies every leaf that the row's answers lead to. False at a gap in the tree.
    bool gather(int32_t number, const int32_t* row, uint64_t fingerprint, int32_t event,
                int32_t at) {
        const OutcomeNode& node = nodes[number];
        if (node.kind == NodeKind::kLeaves) {
            for (const int32_t leaf : node.leaves) produce(leaf, row, fingerprint, event, at);
            return true;
        }
        if (node.kind == NodeKind::kFork) {
            for (const auto& child : node.children)
                if (!gather(child.second, row, fingerprint, event, at)) return false;
            return true;
        }
        int32_t value = row[node.column];
        for (const int32_t operation : node.before) {
            value = apply(operation, value, at);
            if (value == kUnknown) return true;  // the miss is noted
        }
        const int32_t answer = answers[node.answers].get(value);
        if (answer == kUnknown) {
            misses.push_back(Miss{kAnswer, number, value, at});
            return true;
        }
        for (const auto& child : node.children)
            if (child.first == answer)
                return gather(child.second, row, fingerprint, event, at);
        return false;
    }

    int32_t apply(int32_t operation, int32_t value, int32_t at) {
        const int32_t after = operations[operation].after.get(value);
        if (after == kUnknown) misses.push_back(Miss{kApply, operation, value, at});
        return after;
    }

    void produce(int32_t number, const int32_t* row, uint64_t fingerprint, int32_t event,
                 int32_t at) {
        const Leaf& leaf = leaves[number];
        const size_t offset = scratch_.size();
        scratch_.insert(scratch_.end(), row, row + width);
        int32_t* state = &scratch_[offset];
        const int32_t column = entries[event].column;
        if (column >= 0) fingerprint = place(state, column, leaf.local, fingerprint);
        for (const int32_t operation : leaf.operations) {
            const int32_t where = operations[operation].column;
            const int32_t after = apply(operation, state[where], at);
            if (after == kUnknown) return;  // the row is tried again
            fingerprint = place(state, where, after, fingerprint);
        }
        visited_.prefetch(fingerprint);
        found_.push_back(Successor{fingerprint, event, number});
    }

    uint64_t place(int32_t* state, int32_t column, int32_t value, uint64_t fingerprint) const {
        const std::vector<uint64_t>& mix = mixes[column];
        fingerprint ^= mix[state[column]] ^ mix[value];
        state[column] = value;
        return fingerprint;
    }

    // Returns kTrue, kFalse or, with a miss noted, kUnknown.
    int32_t decide(int32_t decision, const int32_t* row, size_t at) {
        const int32_t verdict = walk(decision, row);
        if (verdict == kUnknown)
            misses.push_back(Miss{kDecide, decision, 0, static_cast<int32_t>(at)});
        return verdict;
    }

    int32_t walk(int32_t decision, const int32_t* row) {
        int32_t number = decisions[decision];
        while (number > kTrue) {
            Question& question = questions[number];
            if (question.column < 0) {
                const int32_t verdict = walk(question.inner, row);
                if (verdict == kUnknown) return kUnknown;
                number = question.children.get(verdict);
                continue;
            }
            const int32_t value = row[question.column];
            number = question.shortcut.get(value);
            if (number == kUnknown) number = follow(question, value);
        }
        return number;
    }

    // Finds the child for a value by its answer, and remembers it by the value.
    int32_t follow(Question& question, int32_t value) {
        const int32_t answer = answers[question.answers].get(value);
        if (answer == kUnknown) return kUnknown;
        const int32_t child = question.children.get(answer);
        if (child != kUnknown) question.shortcut.put(value, child);
        return child;
    }

    Visited visited_;
    std::vector<Successor> found_;
    std::vector<int32_t> scratch_;
    std::vector<int32_t> pending_, retry_;
    size_t cursor_ = 0;
    int32_t best_ = kNone;
    int64_t most_states_ = 0;
};

template <typename T>
T& at(std::vector<T>& items, int32_t number) {
    if (items.size() <= static_cast<size_t>(number)) items.resize(number + 1);
    return items[number];
}

}  // namespace

extern "C" {

// Changes whenever a function here changes its meaning or its arguments.
int32_t wl_interface() { return 1; }

Kernel* wl_new(int32_t width) { return new Kernel(width); }
void wl_delete(Kernel* k) { delete k; }

void wl_mix(Kernel* k, int32_t column, int32_t count, const uint64_t* mixes) {
    k->mixes[column].insert(k->mixes[column].end(), mixes, mixes + count);
}

void wl_site(Kernel* k, int32_t count, const int32_t* columns) {
    Site site;
    site.columns.assign(columns, columns + count);
    site.pairs.resize(count > 0 ? count - 1 : 0);
    k->sites.push_back(std::move(site));
}

void wl_list(Kernel* k, int32_t number, const int32_t* values, int32_t count,
             const int32_t* events) {
    Site& site = k->sites[number];
    uint64_t key = static_cast<uint32_t>(values[0]);
    for (size_t at = 1; at < site.columns.size(); ++at) {
        Map& pairs = site.pairs[at - 1];
        const uint64_t pair = key << 32 | static_cast<uint32_t>(values[at]);
        int32_t folded = pairs.get(pair);
        if (folded == kUnknown) {
            folded = static_cast<int32_t>(pairs.size());
            pairs.put(pair, folded);
        }
        key = static_cast<uint32_t>(folded);
    }
    site.lists.put(key, static_cast<int32_t>(k->lists.size()));
    k->lists.emplace_back(events, events + count);
}

void wl_entry(Kernel* k, int32_t number, int32_t column, int32_t fault) {
    Entry& entry = at(k->entries, number);
    entry.column = column;
    entry.fault = fault != 0;
}

void wl_operation(Kernel* k, int32_t number, int32_t column) {
    at(k->operations, number).column = column;
}

void wl_leaf(Kernel* k, int32_t number, int32_t local, int32_t failed, int32_t count,
             const int32_t* operations) {
    Leaf& leaf = at(k->leaves, number);
    leaf.local = local;
    leaf.failed = failed != 0;
    leaf.operations.assign(operations, operations + count);
}

void wl_apply(Kernel* k, int32_t operation, int32_t value, int32_t after) {
    k->operations[operation].after.put(value, after);
}

void wl_node(Kernel* k, int32_t number, int32_t kind, int32_t column, int32_t answers,
             int32_t count, const int32_t* items) {
    OutcomeNode& node = at(k->nodes, number);
    node.kind = static_cast<NodeKind>(kind);
    node.column = column;
    node.answers = answers;
    (node.kind == NodeKind::kLeaves ? node.leaves : node.before).assign(items, items + count);
    if (answers >= 0) at(k->answers, answers);
}

void wl_child(Kernel* k, int32_t number, int32_t answer, int32_t child) {
    auto& children = k->nodes[number].children;
    auto place = std::lower_bound(children.begin(), children.end(), answer,
                                  [](const auto& one, int32_t key) { return one.first < key; });
    if (place != children.end() && place->first == answer)
        place->second = child;
    else
        children.insert(place, {answer, child});
}

void wl_outcome(Kernel* k, int32_t entry, int32_t local, int32_t node) {
    k->entries[entry].outcomes.put(local, node);
}

void wl_answer(Kernel* k, int32_t table, int32_t value, int32_t answer) {
    at(k->answers, table).put(value, answer);
}

void wl_decision(Kernel* k, int32_t number, int32_t question) {
    if (k->decisions.size() <= static_cast<size_t>(number))
        k->decisions.resize(number + 1, kUnknown);
    k->decisions[number] = question;
}

void wl_question(Kernel* k, int32_t number, int32_t column, int32_t answers, int32_t inner) {
    Question& question = at(k->questions, number);
    question.column = column;
    question.answers = answers;
    question.inner = inner;
    if (answers >= 0) at(k->answers, answers);
}

void wl_branch(Kernel* k, int32_t question, int32_t answer, int32_t child) {
    k->questions[question].children.put(answer, child);
}

void wl_options(Kernel* k, int32_t prune, int32_t notes_stuck) {
    k->prune = prune;
    k->notes_stuck = notes_stuck != 0;
}

int32_t wl_root(Kernel* k, const int32_t* row, int32_t number) {
    return k->add_root(row, number) ? 1 : 0;
}

void wl_advance(Kernel* k) { k->advance(); }

int64_t wl_expand(Kernel* k, int64_t count, int64_t most_states) {
    return k->expand(count, most_states);
}

void wl_begin_examination(Kernel* k) { k->begin_examination(); }

int32_t wl_examine(Kernel* k, int32_t decision, int32_t target) {
    return k->examine(decision, target != 0);
}

// The misses of the last call: four integers each.
int32_t wl_misses(Kernel* k, const int32_t** out) {
    *out = reinterpret_cast<const int32_t*>(k->misses.data());
    return static_cast<int32_t>(k->misses.size());
}

// A state of the level being expanded, or of the next.
void wl_row(Kernel* k, int32_t of_next, int32_t index, int32_t* out) {
    const Level& level = of_next ? k->next : k->level;
    std::memcpy(out, &level.rows[static_cast<size_t>(index) * k->width], 4 * k->width);
}

void wl_parent(Kernel* k, int32_t state, int32_t* out) {
    out[0] = k->parents[state];
    out[1] = k->parent_entries[state];
    out[2] = k->parent_leaves[state];
}

// The failures or dead ends met: fingerprint and three integers each.
int32_t wl_found(Kernel* k, int32_t dead_ends, const void** out) {
    const auto& found = dead_ends ? k->stuck : k->failures;
    *out = found.data();
    return static_cast<int32_t>(found.size());
}

void wl_statistics(Kernel* k, int64_t* out) {
    out[0] = static_cast<int64_t>(k->parents.size());
    out[1] = k->generated;
    out[2] = static_cast<int64_t>(k->next.size());
    out[3] = k->pruned;
    out[4] = static_cast<int64_t>(k->bytes());
    out[5] = k->is_full ? 1 : 0;
}

}  // extern "C"
