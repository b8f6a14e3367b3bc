// The row that stands for all that differ only in names; engine/symmetry.py explains it,
// and must agree in every row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "misses.hpp"
#include "symmetry.hpp"
#include "tables.hpp"

namespace worldline {

// It only reads the tables, so each thread has its own.
class Canonical {
  public:
    Canonical(const Tables& tables, Misses& misses)
        : tables_(tables), symmetry_(*tables.symmetry), misses_(misses) {
        now_.row.resize(tables.width);
        now_.mentions.resize(tables.width);
    }

    // Puts the canonical row and its fingerprint in the place of a row and its own.
    // False on a miss: then both are as they were.
    bool canonical(int32_t* row, uint64_t& fingerprint) {
        now_.row.assign(row, row + tables_.width);
        is_changed_ = false;
        if (!find_signatures() || !settle()) return false;
        if (!is_changed_) return true;
        std::copy(now_.row.begin(), now_.row.end(), row);
        fingerprint = tables_.fingerprint(row);
        return true;
    }

  private:
    struct Named {
        std::vector<int32_t> row;
        std::vector<Mentions> mentions;  // of each value
    };

    bool settle() {
        while (true) {
            sort();
            if (!exchanges_.empty()) {
                if (!rename(now_, exchanges_, next_)) return false;
                std::swap(now_, next_);
                is_changed_ = true;
            }
            find_tied();
            int32_t is_settled = kTrue;
            for (size_t at = 0; at < tied_.size() && is_settled != kFalse; ++at) {
                const int32_t is_fixed = this->is_fixed(tied_[at]);
                if (is_fixed != kTrue) is_settled = is_fixed;
            }
            if (is_settled != kFalse) return is_settled == kTrue;
            if (!refine()) return false;
            if (distinct(refined_) == distinct(signatures_)) return take_least();
            signatures_.swap(refined_);
        }
    }

    bool find_signatures() {
        bool is_known = true;
        signatures_.assign(symmetry_.count, 0);
        for (int32_t column = 0; column < tables_.width; ++column) {
            const Trait* trait = this->trait(now_, column);
            if (trait == nullptr) {
                is_known = false;
                continue;
            }
            const int32_t mine = symmetry_.owner[column];
            if (mine >= 0) signatures_[mine] += trait->own;
            now_.mentions[column] = trait->mentions;
            for (const Share* one = symmetry_.begin(*trait); one != symmetry_.end(*trait); ++one)
                signatures_[one->member] += one->member != mine ? one->share : one->besides;
        }
        return is_known;
    }

    // Sorts signatures, group by group, by exchanges of neighbours.
    void sort() {
        exchanges_.clear();
        for (const auto& group : symmetry_.groups)
            for (int32_t start = group.first + 1; start < group.second; ++start) {
                const uint64_t signature = signatures_[start];
                int32_t at = start;
                for (; at > group.first && signatures_[at - 1] > signature; --at) {
                    exchanges_.push_back(at - 1);
                    signatures_[at] = signatures_[at - 1];
                }
                signatures_[at] = signature;
            }
    }

    // Notes neighbours with equal signatures, and the columns that mention members.
    void find_tied() {
        tied_.clear();
        for (const auto& group : symmetry_.groups)
            for (int32_t member = group.first; member + 1 < group.second; ++member)
                if (signatures_[member] == signatures_[member + 1]) tied_.push_back(member);
        speaking_.clear();
        for (int32_t column = 0; column < tables_.width; ++column)
            if (now_.mentions[column] != 0) speaking_.push_back(column);
    }

    // Makes signatures take in those of the members that one has to do with.
    bool refine() {
        bool is_known = true;
        refined_.clear();
        for (const uint64_t signature : signatures_) refined_.push_back(mixed(signature, 0));
        for (int32_t column = 0; column < tables_.width; ++column) {
            const int32_t mine = symmetry_.owner[column];
            if (mine < 0 || now_.mentions[column] == 0) continue;
            const Trait* trait = this->trait(now_, column);
            if (trait == nullptr) {
                is_known = false;
                continue;
            }
            for (const Share* one = symmetry_.begin(*trait); one != symmetry_.end(*trait); ++one) {
                if (one->member == mine) continue;
                refined_[mine] += mixed(one->share + signatures_[one->member], 1);
                refined_[one->member] += mixed(one->share + signatures_[mine], 2);
            }
        }
        return is_known;
    }

    size_t distinct(const std::vector<uint64_t>& signatures) {
        sorted_ = signatures;
        std::sort(sorted_.begin(), sorted_.end());
        return std::unique(sorted_.begin(), sorted_.end()) - sorted_.begin();
    }

    const Trait* trait(const Named& named, int32_t column) {
        const Trait* trait = symmetry_.trait(column, named.row[column]);
        if (trait == nullptr) misses_.add(MissKind::kTrait, column, named.row[column], 0, nullptr);
        return trait;
    }

    // Gives what a row becomes by exchanges of neighbours. False on a miss.
    bool rename(const Named& named, const std::vector<int32_t>& exchanges, Named& out) {
        out = named;
        target_.resize(symmetry_.count);
        for (int32_t member = 0; member < symmetry_.count; ++member) target_[member] = member;
        for (const int32_t member : exchanges) std::swap(target_[member], target_[member + 1]);
        moved_to_.resize(symmetry_.count);
        for (int32_t place = 0; place < symmetry_.count; ++place) moved_to_[target_[place]] = place;
        bool is_known = true;
        for (int32_t column = 0; column < tables_.width; ++column) {
            const int32_t mine = symmetry_.owner[column], value = named.row[column];
            Mentions mentions = named.mentions[column];
            if (mentions == 0 && (mine < 0 || moved_to_[mine] == mine)) continue;
            steps_.clear();
            if (mentions == 0)
                steps_.push_back(symmetry_.move_to(moved_to_[mine]));
            else
                mentions = add_steps(exchanges, mine, mentions);
            int32_t to = column;
            const int32_t after = follow(to, value);
            out.row[to] = after;
            out.mentions[to] = mentions;
            is_known &= after != kUnknown;
        }
        return is_known;
    }

    // Keeps the exchanges that matter to a value. Returns whom it mentions after them.
    Mentions add_steps(const std::vector<int32_t>& exchanges, int32_t mine, Mentions mentions) {
        for (const int32_t member : exchanges) {
            const Mentions found = mentions >> member & 3;
            const bool is_mine = mine == member || mine == member + 1;
            if (is_mine) mine = 2 * member + 1 - mine;
            if (found == 1 || found == 2) mentions ^= Mentions{3} << member;
            if (is_mine || found != 0) steps_.push_back(member);
        }
        return mentions;
    }

    // Returns what the steps make of a value, and where it stands then.
    int32_t follow(int32_t& column, int32_t value) {
        for (size_t at = 0; at < steps_.size(); ++at) {
            const int32_t after = symmetry_.exchanged.get(symmetry_.table(column, steps_[at]), value);
            if (after == kUnknown) {
                misses_.add_steps(column, value, &steps_[at], steps_.size() - at);
                for (; at < steps_.size(); ++at) column = symmetry_.destination(column, steps_[at]);
                return kUnknown;
            }
            column = symmetry_.destination(column, steps_[at]);
            value = after;
        }
        return value;
    }

    // Says whether exchanging a member and the next leaves the row as it is.
    int32_t is_fixed(int32_t member) {
        int32_t found = kTrue;
        for (const int32_t column : symmetry_.members[member]) {
            const bool is_silent = now_.mentions[column] == 0;
            const int32_t code = is_silent ? symmetry_.move_to(member + 1) : member;
            const int32_t is_kept = this->is_kept(column, code);
            if (is_kept == kFalse) return kFalse;
            if (is_kept == kUnknown) found = kUnknown;
        }
        for (const int32_t column : speaking_) {
            const int32_t mine = symmetry_.owner[column];
            if (mine == member || mine == member + 1 || (now_.mentions[column] >> member & 3) == 0)
                continue;
            const int32_t is_kept = this->is_kept(column, member);
            if (is_kept == kFalse) return kFalse;
            if (is_kept == kUnknown) found = kUnknown;
        }
        return found;
    }

    // Says whether a renaming makes of a value what stands where it goes to.
    int32_t is_kept(int32_t column, int32_t code) {
        const int32_t value = now_.row[column];
        const int32_t after = symmetry_.exchanged.get(symmetry_.table(column, code), value);
        if (after == kUnknown) misses_.add_steps(column, value, &code, 1);
        if (after == kUnknown) return kUnknown;
        return after == now_.row[symmetry_.destination(column, code)] ? kTrue : kFalse;
    }

    // Takes the least of all rows that exchanges of tied members lead to.
    bool take_least() {
        bool is_known = true;
        std::set<std::vector<int32_t>> found{now_.row};
        std::vector<Named> pending{now_};
        uint64_t least = tables_.fingerprint(now_.row.data());
        while (!pending.empty()) {
            const Named known = std::move(pending.back());
            pending.pop_back();
            for (const int32_t member : tied_) {
                if (!rename(known, {member}, next_)) {
                    is_known = false;
                    continue;
                }
                if (!found.insert(next_.row).second) continue;
                pending.push_back(next_);
                const uint64_t fingerprint = tables_.fingerprint(next_.row.data());
                if (fingerprint >= least) continue;
                least = fingerprint;
                now_ = next_;
                is_changed_ = true;
            }
        }
        return is_known;
    }

    const Tables& tables_;
    const Symmetry& symmetry_;
    Misses& misses_;
    Named now_, next_;
    bool is_changed_ = false;
    std::vector<uint64_t> signatures_, refined_, sorted_;
    std::vector<int32_t> exchanges_, tied_, speaking_, steps_, target_, moved_to_;
};

}  // namespace worldline
