// Items by their numbers, of which few are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace worldline {

// Those whose numbers are close share a page, so that what there is of pages is little, however
// large the numbers are: a search of few states by large tables looks at few of their questions.
template <typename Item>
class Pages {
  public:
    // Returns the item of a number; null if nothing near it is there.
    Item* find(int32_t number) const {
        const size_t page = static_cast<uint32_t>(number) >> kBits;
        if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
        return &pages_[page][static_cast<uint32_t>(number) % kPage];
    }

    // Returns the item of a number, a fresh one if it was not there.
    Item& reach(int32_t number) {
        const size_t page = static_cast<uint32_t>(number) >> kBits;
        if (page >= pages_.size()) pages_.resize(page + 1);
        if (pages_[page] == nullptr) pages_[page] = std::make_unique<Item[]>(kPage);
        return pages_[page][static_cast<uint32_t>(number) % kPage];
    }

    void clear() { pages_.clear(); }

  private:
    static constexpr uint32_t kBits = 5, kPage = 1 << kBits;

    std::vector<std::unique_ptr<Item[]>> pages_;
};

}  // namespace worldline
