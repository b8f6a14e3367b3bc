// The decoder of the command stream by which Python fills the kernel's tables.
//
// Each command is an opcode and its arguments, all integers; engine/native/commands.py writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tables.hpp"

namespace worldline {

enum class Opcode : int32_t {
    kValue = 0,       // column, mix (low, high half)
    kCollection = 1,  // column, shape
    kItem = 2,        // column, content (low, high), sender
    kRanks = 3,       // column, count, ranks
    kSite = 4,        // local column, position of the collection, kinds, count, columns
    kList = 5,        // site, values, count, events
    kParts = 6,       // site, item, row, events
    kEntry = 7,       // entry, column, whether it is a fault, two columns or -1, content
                      // (low, high)
    kOutcome = 8,     // entry, local value, outcome
    kLeaf = 9,        // leaf, entry, local value, whether it failed, weight, count,
                      // operations
    kTree = 10,       // tree, kind, column, answers, peer, count, items
    kChild = 11,      // tree, answer, child
    kOperation = 12,  // operation, column, action, item
    kApply = 13,      // operation, value, value after
    kAnswer = 14,     // table of answers, value, answer
    kDecision = 15,   // decision, question
    kQuestion = 16,   // question, column, answers
    kBranch = 17,     // question, answer, child
    kSymmetry = 18,   // groups, members, columns each; where groups end; columns; salts
    kTrait = 19,      // column, value, own (low, high), count, shares (member, two longs)
    kRename = 20,     // table, value, value after
    kOutline = 21,    // column, item, outline (low, high), count, told apart (member, long)
    kItemRename = 22, // table, item, item after
    kLinks = 23,      // column, bytes of the class (count, words)
    kLink = 24,       // column, peer, messages, aspect, bytes (count, words)
    kLinkApply = 25,  // operation, link or -1, link after or -2
    kLinkAnswer = 26, // table of answers, link or -1, answer
};

class Decoder {
  public:
    Decoder(Tables& tables, const int32_t* words) : tables_(tables), at_(words) {}

    void decode(const int32_t* end) {
        while (at_ != end) command();
    }

  private:
    int32_t next() { return *at_++; }

    const int32_t* skip(int32_t count) {
        const int32_t* from = at_;
        at_ += count;
        return from;
    }

    uint64_t long_word() {
        const auto low = static_cast<uint32_t>(next());
        return static_cast<uint64_t>(static_cast<uint32_t>(next())) << 32 | low;
    }

    std::string bytes() {
        const auto count = static_cast<size_t>(next());
        const auto* first = reinterpret_cast<const char*>(skip(static_cast<int32_t>((count + 3) / 4)));
        return std::string(first, count);
    }

    void command() {
        switch (static_cast<Opcode>(next())) {
            case Opcode::kValue: return value();
            case Opcode::kCollection: return collection();
            case Opcode::kItem: return item();
            case Opcode::kRanks: return ranks();
            case Opcode::kSite: return site();
            case Opcode::kList: return list();
            case Opcode::kParts: return parts();
            case Opcode::kEntry: return entry();
            case Opcode::kOutcome: return outcome();
            case Opcode::kLeaf: return leaf();
            case Opcode::kTree: return tree();
            case Opcode::kChild: return child();
            case Opcode::kOperation: return operation();
            case Opcode::kApply: return apply();
            case Opcode::kAnswer: return answer();
            case Opcode::kDecision: return decision();
            case Opcode::kQuestion: return question();
            case Opcode::kBranch: return branch();
            case Opcode::kSymmetry: return symmetry();
            case Opcode::kTrait: return trait();
            case Opcode::kRename: return rename();
            case Opcode::kOutline: return outline();
            case Opcode::kItemRename: return item_rename();
            case Opcode::kLinks: return links();
            case Opcode::kLink: return link();
            case Opcode::kLinkApply: return link_apply();
            case Opcode::kLinkAnswer: return link_answer();
        }
    }

    void value() {
        Column& column = tables_.columns[next()];
        column.mixes.push_back(long_word());
    }

    void collection() {
        Column& column = tables_.columns[next()];
        column.collection = std::make_unique<Collection>(static_cast<Shape>(next()));
    }

    void item() {
        Collection& collection = *tables_.columns[next()].collection;
        const uint64_t content = long_word();
        collection.add_item(content, next());
    }

    void links() {
        Column& column = tables_.columns[next()];
        column.collection = std::make_unique<Collection>(Shape::kLinks, bytes());
    }

    void link() {
        Collection& collection = *tables_.columns[next()].collection;
        const int32_t peer = next(), messages = next(), aspect = next();
        collection.add_link(peer, messages, aspect, bytes());
    }

    void link_apply() {
        const int32_t operation = next(), link = next();
        tables_.links.put(operation, link + 1, next());
    }

    void link_answer() {
        const int32_t answers = next(), link = next();
        tables_.link_answers.put(answers, link + 1, next());
    }

    void ranks() {
        Collection& collection = *tables_.columns[next()].collection;
        const int32_t count = next();
        collection.rank(skip(count), count);
    }

    void site() {
        const int32_t local = next(), collection = next(), kinds = next(), count = next();
        const int32_t* columns = skip(count);
        tables_.sites.emplace_back(columns, columns + count, local, collection, kinds);
    }

    void list() {
        const int32_t number = next();
        Site& site = tables_.sites[number];
        tables_.settle(site);
        const int32_t* values = skip(static_cast<int32_t>(site.columns.size()));
        const int32_t count = next();
        const int32_t list = tables_.add_list(number, skip(count), count);
        site.put(values, list);
        if (site.sees_aspects()) tables_.put_alike(site, values, list);
    }

    void parts() {
        const int32_t site = next(), item = next();
        const int32_t* row = skip(tables_.width);
        tables_.add_parts(site, item, row, skip(tables_.sites[site].kinds));
    }

    void entry() {
        const int32_t number = next();
        tables_.outcomes.add(number);
        Entry& entry = reach(tables_.entries, number);
        entry.column = next();
        entry.fault = next() != 0;
        for (int32_t& column : entry.own) column = next();
        entry.content = long_word();
    }

    void outcome() {
        const int32_t entry = next(), local = next(), what = next();
        const int32_t column = tables_.entries[entry].column;
        uint64_t change = 0;
        if (what >= 0 && what % 2 == 0 && column >= 0)
            change = tables_.change(column, local, tables_.leaves[what / 2].local);
        tables_.outcomes.put(entry, local, Outcome{change, what});
        if (what >= 0 && what % 2 == 0) tables_.leaves[what / 2].is_only = true;
    }

    static constexpr int32_t kMany = 64;

    void leaf() {
        Leaf& leaf = reach(tables_.leaves, next());
        leaf.entry = next();
        leaf.local = next();
        leaf.failed = next() != 0;
        leaf.weight = static_cast<uint32_t>(next());
        leaf.count = next();
        const int32_t* operations = skip(leaf.count);
        leaf.begin = static_cast<int32_t>(tables_.changes.size());
        tables_.changes.insert(tables_.changes.end(), operations, operations + leaf.count);
        leaf.is_simple = changes_each_once(leaf);
    }

    // Of many operations that is not worth finding out: false is always safe.
    bool changes_each_once(const Leaf& leaf) const {
        if (leaf.count > kMany) return false;
        const int32_t* changes = tables_.changes.data() + leaf.begin;
        for (int32_t one = 0; one < leaf.count; ++one) {
            const int32_t column = tables_.operations[changes[one]].column;
            if (column == tables_.entries[leaf.entry].column) return false;
            for (int32_t other = 0; other < one; ++other)
                if (tables_.operations[changes[other]].column == column) return false;
        }
        return true;
    }

    void tree() {
        Tree& tree = reach(tables_.trees, next());
        tree.kind = static_cast<TreeKind>(next());
        tree.column = next();
        tree.answers = next();
        tree.peer = next();
        if (tree.answers >= 0) tables_.answers.add(tree.answers);
        if (tree.peer >= 0) tables_.link_answers.add(tree.answers);
        const int32_t count = next();
        const int32_t* items = skip(count);
        tree.items.assign(items, items + count);
    }

    void child() {
        auto& children = tables_.trees[next()].children;
        const int32_t answer = next(), tree = next();
        auto place = std::lower_bound(
            children.begin(), children.end(), answer,
            [](const auto& one, int32_t key) { return one.first < key; });
        if (place != children.end() && place->first == answer)
            place->second = tree;
        else
            children.insert(place, {answer, tree});
    }

    void operation() {
        const int32_t number = next();
        tables_.effects.add(number);
        tables_.links.add(number);
        Operation& operation = reach(tables_.operations, number);
        operation.column = next();
        operation.action = static_cast<Action>(next());
        operation.item = next();
    }

    void apply() {
        const int32_t operation = next(), value = next();
        tables_.put_effect(operation, value, next());
    }

    void answer() {
        const int32_t answers = next(), value = next();
        tables_.answers.put(answers, value, next());
    }

    void decision() {
        const int32_t number = next();
        if (tables_.decisions.size() <= static_cast<size_t>(number))
            tables_.decisions.resize(number + 1, kUnknown);
        tables_.decisions[number] = next();
    }

    void question() {
        const int32_t number = next();
        tables_.branches.add(number);
        Question& question = reach(tables_.questions, number);
        question.column = next();
        question.answers = next();
        tables_.answers.add(question.answers);
    }

    void branch() {
        const int32_t question = next(), answer = next();
        tables_.branches.put(question, answer, next());
    }

    void symmetry() {
        const int32_t groups = next(), members = next(), places = next();
        tables_.symmetry = std::make_unique<Symmetry>(tables_.width, members);
        Symmetry& symmetry = *tables_.symmetry;
        for (int32_t first = 0, number = 0; number < groups; ++number) {
            const int32_t end = next();
            symmetry.groups.emplace_back(first, end);
            first = end;
        }
        for (int32_t member = 0; member < members; ++member)
            symmetry.add_member(skip(places), places);
        for (int32_t& salt : symmetry.salts) salt = next();
    }

    void trait() {
        const int32_t column = next(), value = next();
        const uint64_t own = long_word();
        tables_.symmetry->put_trait(column, value, own, shares(true));
    }

    void outline() {
        const int32_t column = next(), item = next();
        const uint64_t common = long_word();
        tables_.symmetry->put_outline(column, item, common, shares(false));
    }

    std::vector<Share> shares(bool is_double) {
        std::vector<Share> found(next());
        for (Share& one : found) {
            one.member = next();
            one.share = long_word();
            one.besides = is_double ? long_word() : 0;
        }
        return found;
    }

    void rename() {
        const int32_t table = next(), value = next();
        tables_.symmetry->put(table, value, next());
    }

    void item_rename() {
        const int32_t table = next(), item = next();
        tables_.symmetry->put_item(table, item, next());
    }

    Tables& tables_;
    const int32_t* at_;
};

}  // namespace worldline
