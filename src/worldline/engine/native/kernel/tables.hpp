// The kernel's copy of the tables of engine/tables.py, as far as it was needed.
//
// Values are numbered from 0 in each column by itself, so that the tables of a column
// are as small as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "collections.hpp"
#include "group.hpp"
#include "hash.hpp"
#include "site.hpp"
#include "symmetry.hpp"

namespace worldline {

struct Column {
    Items<uint64_t> mixes;  // what each value contributes to a fingerprint
    std::unique_ptr<Collection> collection;

    int32_t size() const { return static_cast<int32_t>(mixes.size()); }
};

struct Operation {
    int32_t column = 0;
    Action action = Action::kOpaque;
    int32_t item = 0;
};

// What an operation makes of a value, and what that does to a fingerprint.
struct Effect {
    uint64_t change;
    int32_t after;
};

// What happens at an event in a local state: a leaf, nothing or a tree as one integer,
// and what the new local state does to the fingerprint, if it is a leaf.
struct Outcome {
    uint64_t change;
    int32_t what;
};
// One outcome of an event.
struct Leaf {
    int32_t entry = 0;
    int32_t local = 0;
    int32_t begin = 0;  // of its operations
    int32_t count = 0;
    bool failed = false;
    bool is_simple = true;  // no column is changed twice
    bool is_only = false;   // its event's only one in that local state
    uint32_t weight = 1;    // in random walks, among the outcomes of its event
};

constexpr int32_t kSeveral = -2;

struct Entry {
    int32_t column = kUnknown;  // of the node's fields; -1: no handler runs
    int32_t site = kUnknown;    // that offers it; kSeveral
    int32_t item = kUnknown;    // of that site's collection to which it belongs; kSeveral
    bool fault = false;
    int32_t own[2] = {kUnknown, kUnknown};  // the columns of an own step's key
    uint64_t content = 0;                   // of an own step: the event's content hash

    bool is_own() const { return own[0] >= 0; }
};

enum class TreeKind : int32_t { kLeaves = 0, kFork = 1, kAsk = 2 };

// A node of an outcome tree.
struct Tree {
    TreeKind kind = TreeKind::kLeaves;
    int32_t column = 0;
    int32_t answers = 0;
    int32_t peer = kUnknown;     // whose link alone is asked
    std::vector<int32_t> items;  // leaves, or the operations before a question
    std::vector<std::pair<int32_t, int32_t>> children;  // answer, tree; in order
};

struct Question {
    int32_t column = 0;
    int32_t answers = 0;
};

// Question numbers that are verdicts; the third where not enough of a state is known.
constexpr int32_t kFalse = 0, kTrue = 1, kUnseen = 2;

class Tables {
  public:
    explicit Tables(int32_t width) : width(width), columns(width) {}

    const int32_t width;
    std::vector<Column> columns;
    std::vector<Site> sites;
    std::vector<Group> groups;
    std::vector<std::vector<int32_t>> groups_of;  // by column
    int64_t version = 0;  // changes whenever a column needs more bits
    Items<int32_t> events;  // of all lists of all sites, each after its length
    Items<Entry> entries;
    Grid<Outcome> outcomes{{0, kUnknown}};  // by entry and local value
    Items<Leaf> leaves;
    Items<int32_t> changes;  // the operations of all leaves
    std::vector<Operation> operations;
    Grid<Effect> effects{{0, kUnknown}};  // by operation and value
    Grid<int32_t> links{kUnknown};  // by operation and link + 1: a link or kNothing
    Items<Tree> trees;
    Grid<int32_t> answers{kUnknown};  // by question asked and value
    Grid<int32_t> link_answers{kUnknown};  // by question asked and link + 1
    std::vector<Question> questions{3};
    Grid<int32_t> branches{kUnknown};  // by question and answer
    std::vector<int32_t> decisions;
    std::unique_ptr<Symmetry> symmetry;  // if there is one

    uint64_t fingerprint(const int32_t* row) const {
        uint64_t total = 0;
        for (int32_t column = 0; column < width; ++column)
            total ^= columns[column].mixes[row[column]];
        return total;
    }

    // What changes in a fingerprint when a value of a column becomes another.
    uint64_t change(int32_t column, int32_t before, int32_t after) const {
        return columns[column].mixes[before] ^ columns[column].mixes[after];
    }

    // Changes a row by an outcome whose operations are known.
    void apply(const Leaf& leaf, int32_t* row) const {
        const int32_t local = entries[leaf.entry].column;
        if (local >= 0) row[local] = leaf.local;
        for (int32_t at = leaf.begin; at < leaf.begin + leaf.count; ++at) {
            int32_t& value = row[operations[changes[at]].column];
            value = effects.get(changes[at], value).after;
        }
    }

    void put_effect(int32_t operation, int32_t value, int32_t after) {
        const int32_t column = operations[operation].column;
        effects.put(operation, value, Effect{change(column, value, after), after});
    }

    // Gives a value of a collection, a new one or not, its place in its column.
    void note_collection(int32_t column, int32_t value) {
        Column& owner = columns[column];
        if (value == owner.size())
            owner.mixes.push_back(mixed(owner.collection->content(value), column));
    }

    // Adds a list of events of a site; returns where it is.
    int32_t add_list(int32_t site, const int32_t* found, size_t count) {
        for (size_t at = 0; at < count; ++at) note(entries[found[at]].site, site);
        const auto at = static_cast<int32_t>(events.size());
        events.push_back(static_cast<int32_t>(count));
        events.insert(events.end(), found, found + count);
        return at;
    }

    // What a site that sees aspects sees of the values of its columns.
    std::vector<int32_t> seen(const Site& site, const int32_t* values) const {
        std::vector<int32_t> found;
        for (int32_t at = 0; at < static_cast<int32_t>(site.columns.size()); ++at)
            if (at != site.collection) found.push_back(values[at]);
        columns[site.columns[site.collection]].collection->aspects(values[site.collection], found);
        return found;
    }

    void put_alike(Site& site, const int32_t* values, int32_t list) {
        site.alike[seen(site, values)] = list;
    }

    // Adds the events that one item of a site's collection can have.
    void add_parts(int32_t site, int32_t item, const int32_t* row, const int32_t* found) {
        for (int32_t kind = 0; kind < sites[site].kinds; ++kind)
            if (found[kind] >= 0) note(entries[found[kind]].item, item);
        sites[site].put_events(item, row, found);
    }

    // Says at which depth the values that are met from now on are.
    void set_clock(int32_t depth) {
        for (Column& column : columns)
            if (column.collection != nullptr) column.collection->clock = depth;
    }

    // Brings the keys of sites up to the present number of values. Call it before
    // rows with new values are looked at.
    void settle() {
        bool is_new = groups.empty();
        for (Site& site : sites) is_new |= settle(site);
        is_new |= sizes_.empty();
        sizes_.resize(width, 0);
        for (int32_t column = 0; column < width; ++column) {
            is_new |= bits_for(columns[column].size()) > sizes_[column];
            sizes_[column] = bits_for(columns[column].size());
        }
        if (is_new) regroup();
    }

    bool settle(Site& site) {
        for (size_t at = 0; at < site.columns.size(); ++at)
            site.bound(at, columns[site.columns[at]].size());
        return site.settle();
    }

    // Follows a decision as far as it is known. Returns a verdict or kUnknown; then `stuck`
    // is the question without an answer, and the value it was asked of.
    int32_t decide(int32_t decision, const int32_t* row, std::pair<int32_t, int32_t>& stuck) const {
        int32_t number = decisions[decision];
        stuck = {kUnknown, decision};
        while (number > kUnseen) {
            stuck = {number, row[questions[number].column]};
            number = next(number, stuck.second);
        }
        return number;
    }

    // The question that comes after one, or the verdict; kUnknown if that is not known.
    int32_t next(int32_t question, int32_t value) const {
        const int32_t answer = answers.get(questions[question].answers, value);
        return answer == kUnknown ? kUnknown : branches.get(question, answer);
    }

  private:
    static void note(int32_t& known, int32_t number) {
        known = known == kUnknown || known == number ? number : kSeveral;
    }

    void regroup() {
        ++version;
        groups = group_sites(sites);
        groups_of.assign(width, {});
        for (Group& group : groups)
            for (const int32_t column : group.columns) {
                groups_of[column].push_back(static_cast<int32_t>(&group - groups.data()));
                if (sizes_[column] > 0) group.fields.emplace_back(column, group.bits);
                group.bits += sizes_[column];
            }
    }

    std::vector<int32_t> sizes_;  // the bits that the values of each column need
};

}  // namespace worldline
