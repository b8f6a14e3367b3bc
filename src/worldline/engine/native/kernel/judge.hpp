// Decisions on packed rows, with one look for each question.
#pragma once

#include <cstdint>
#include <vector>

#include "misses.hpp"
#include "packing.hpp"
#include "tables.hpp"

namespace worldline {

// Remembers for each question which comes next by the value that it is asked of, answer
// and branch together, as far as there are few values. Each thread has its own.
class Judge {
  public:
    explicit Judge(const Tables& tables) : tables_(tables), row_(tables.width) {}

    // From now on, rows are packed in another way.
    void forget() {
        asked_.clear();
        next_.clear();
    }

    // Returns kTrue, kFalse or, with a miss, kUnknown.
    int32_t decide(int32_t decision, const Packing& packing, const uint64_t* words, Misses& misses) {
        int32_t number = tables_.decisions[decision];
        while (number > kTrue) {
            if (static_cast<size_t>(number) >= asked_.size() || asked_[number].is_new)
                learn(number, packing);
            const Asked& asked = asked_[number];
            const uint64_t value = words[asked.word] >> asked.shift & asked.mask;
            int32_t next = asked.is_large ? kUnknown : next_[asked.begin + value];
            if (next == kUnknown) {
                next = tables_.next(number, static_cast<int32_t>(value));
                if (next == kUnknown) break;
                if (!asked.is_large) next_[asked.begin + value] = next;
            }
            number = next;
        }
        return number > kTrue || number == kUnknown ? miss(decision, packing, words, misses) : number;
    }

  private:
    static constexpr uint64_t kFew = 256;

    struct Asked {
        uint32_t word = 0, shift = 0;
        uint64_t mask = 0;
        uint32_t begin = 0;
        bool is_new = true, is_large = false;
    };

    void learn(int32_t number, const Packing& packing) {
        const Packing::Field& field = packing.field(tables_.questions[number].column);
        Asked& asked = reach(asked_, number);
        asked = Asked{field.word, field.shift, field.mask, static_cast<uint32_t>(next_.size()),
                      false, field.mask >= kFew};
        if (!asked.is_large) next_.resize(next_.size() + field.mask + 1, kUnknown);
    }

    int32_t miss(int32_t decision, const Packing& packing, const uint64_t* words, Misses& misses) {
        packing.unpack(words, row_.data());
        std::pair<int32_t, int32_t> stuck;
        tables_.decide(decision, row_.data(), stuck);
        misses.add_verdict(decision, stuck, row_.data());
        return kUnknown;
    }

    const Tables& tables_;
    std::vector<int32_t> row_;
    std::vector<Asked> asked_;   // by number of the question
    std::vector<int32_t> next_;  // the numbers of questions and verdicts, by value
};

}  // namespace worldline
