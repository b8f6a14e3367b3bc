// Columns whose values are collections of items: bags, sets, one queue per sender, or the
// links with each peer.
//
// What is put in and taken out needs no user code, so it is worked out here. A value is
// a list of pairs (item, k): with its count in a bag, with 1 in a set, with its position
// from 1 on in the queue of its sender. Of links, `k` is 1 and the sender the peer: there is
// at most one item of each, which Python changes; here it is remembered what each becomes.
//
// A value whose one item has no sender swallows all that is put into it, and gives nothing:
// that of a column of which nothing is known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "blake2b.hpp"
#include "hash.hpp"

namespace worldline {

enum class Shape : int32_t { kBag = 0, kSet = 1, kQueues = 2, kLinks = 3 };
enum class Action : int32_t {
    kOpaque = 0,
    kPut = 1,
    kTake = 2,
    kCopy = 3,
    kAtPeer = 4,  // changes the link with one peer
    kAtAll = 5,   // changes every link, each by itself
};

// In the place of an item that an action leaves nothing of.
constexpr int32_t kNothing = -2;

class Collection {
  public:
    using Pair = std::pair<int32_t, int32_t>;

    // `kind` are the bytes of the class of frozen values made of links.
    explicit Collection(Shape shape, std::string kind = {}) : shape_(shape), kind_(std::move(kind)) {}

    bool is_links() const { return shape_ == Shape::kLinks; }

    void add_item(uint64_t content, int32_t sender) {
        items_.push_back(Item{content, sender, 1, {}, kUnknown});
        ranks_.push_back(static_cast<int32_t>(ranks_.size()));
    }

    // Adds a link with so many messages, and what own events of its node see of it, or
    // kUnknown; `bytes` are those of its canonical encoding.
    void add_link(int32_t peer, int32_t messages, int32_t aspect, std::string bytes) {
        items_.push_back(Item{items_.size(), peer, messages, std::move(bytes), aspect});
    }

    // Adds the aspects of the links of a value that have one.
    void aspects(int32_t value, std::vector<int32_t>& out) const {
        for (const Pair* pair = begin(value); pair != end(value); ++pair)
            if (items_[pair->first].aspect >= 0) out.push_back(items_[pair->first].aspect);
    }

    // Says where each item stands in the canonical order of all.
    void rank(const int32_t* ranks, int32_t count) { ranks_.assign(ranks, ranks + count); }

    // Returns the number of a value, a new one at first sight; `pairs` are in order of
    // senders and positions for queues, in any order else.
    int32_t intern(std::vector<Pair>& pairs) {
        if (shape_ < Shape::kQueues) std::sort(pairs.begin(), pairs.end());
        const uint64_t content = content_of(pairs);
        for (uint64_t key = content >> 1;; key = (key + 1) & (~0ULL >> 1)) {
            const int32_t known = numbers_.get(key);
            if (known == kUnknown) {
                numbers_.put(key, static_cast<int32_t>(begins_.size()));
                return add(pairs, is_links() ? encoded(pairs) : content);
            }
            if (equals(known, pairs)) return known;
        }
    }

    // What an item, by its content, and `k` add to the sum that makes a value's content.
    static uint64_t part(uint64_t content, int32_t k) {
        return splitmix(content + static_cast<uint64_t>(k) * 0x9e3779b97f4a7c15ULL);
    }
    uint64_t total(uint64_t parts) const { return splitmix(static_cast<uint64_t>(shape_) + 1 + parts); }

    // The same as `intern` for pairs in any order.
    int32_t intern_unordered(std::vector<Pair>& pairs) {
        if (shape_ == Shape::kQueues)
            std::sort(pairs.begin(), pairs.end(), [this](const Pair& a, const Pair& b) {
                return std::make_pair(items_[a.first].sender, a.second) <
                       std::make_pair(items_[b.first].sender, b.second);
            });
        return intern(pairs);
    }

    // Returns the number of what an action makes of a value.
    int32_t act(int32_t value, Action action, int32_t item) {
        if (swallows(value)) return value;
        scratch_.assign(begin(value), end(value));
        if (shape_ == Shape::kQueues)
            act_on_queues(action, item);
        else if (shape_ == Shape::kSet)
            act_on_set(action, item);
        else
            act_on_bag(action, item);
        return intern(scratch_);
    }

    // The link with a peer, or kUnknown; of a value of which nothing is known, what it has.
    int32_t link_with(int32_t value, int32_t peer) const {
        if (swallows(value)) return begin(value)->first;
        const auto link = std::find_if(begin(value), end(value), [&](const Pair& pair) {
            return items_[pair.first].sender == peer;
        });
        return link == end(value) ? kUnknown : link->first;
    }

    // Returns the number of what an action at links makes of a value; kUnknown if that is not
    // known of an item. `become` says what an item becomes, or kUnknown, that of no item: an
    // item, kNothing or kUnknown.
    template <typename Become>
    int32_t change(int32_t value, Action action, int32_t peer, const Become& become) {
        if (swallows(value)) return value;
        scratch_.clear();
        bool is_known = true, is_left = action == Action::kAtPeer;  // whether `peer` comes yet
        const auto put = [&](int32_t item) {
            const int32_t after = become(item);
            is_known &= after != kUnknown;
            if (after >= 0) scratch_.emplace_back(after, 1);
        };
        for (const Pair* pair = begin(value); pair != end(value); ++pair) {
            const int32_t other = items_[pair->first].sender;
            if (action == Action::kAtAll || (is_left && other == peer)) {
                put(pair->first);
                is_left = false;
                continue;
            }
            if (is_left && other > peer) put(kUnknown);
            is_left &= other < peer;
            scratch_.push_back(*pair);
        }
        if (is_left) put(kUnknown);
        return is_known ? intern(scratch_) : kUnknown;
    }

    // Gives the items whose events are possible, in canonical order: the heads of
    // queues, in order of senders, or every item; links in order of peers.
    void ready(int32_t value, std::vector<int32_t>& out) const {
        out.clear();
        if (swallows(value)) return;
        for (const Pair* pair = begin(value); pair != end(value); ++pair)
            if (shape_ != Shape::kQueues || pair->second == 1) out.push_back(pair->first);
        if (shape_ < Shape::kQueues)
            std::sort(out.begin(), out.end(),
                      [this](int32_t a, int32_t b) { return ranks_[a] < ranks_[b]; });
    }

    size_t size() const { return begins_.size(); }
    uint64_t content(int32_t value) const { return contents_[value]; }
    const Pair* begin(int32_t value) const { return pairs_.data() + begins_[value]; }
    const Pair* end(int32_t value) const {
        const size_t next = static_cast<size_t>(value) + 1;
        return pairs_.data() + (next < begins_.size() ? begins_[next] : pairs_.size());
    }

    // Of those first met at each depth, the size and number of the largest value.
    std::map<int32_t, std::pair<int32_t, int32_t>> largest;
    int32_t clock = 1;

  private:
    struct Item {
        uint64_t content;  // of a link just a number
        int32_t sender;
        int32_t size;
        std::string bytes;  // of a link
        int32_t aspect;     // of a link: what own events of its node see of it; kUnknown
    };

    bool swallows(int32_t value) const {
        return begin(value) != end(value) && items_[begin(value)->first].sender < 0;
    }

    // engine/collections.py has the same.
    uint64_t content_of(const std::vector<Pair>& pairs) const {
        uint64_t parts = 0;
        for (const Pair& pair : pairs) parts += part(items_[pair.first].content, pair.second);
        return total(parts);
    }

    // The content of links, as `model/data/content` has it: the class, how many, each.
    uint64_t encoded(const std::vector<Pair>& pairs) {
        bytes_.clear();
        const bool is_plain = pairs.empty() || items_[pairs[0].first].sender >= 0;
        if (is_plain) bytes_ = "(r" + std::to_string(pairs.size()) + " " + kind_;
        for (const Pair& pair : pairs) bytes_ += items_[pair.first].bytes;
        return Blake2b::hash(reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size());
    }

    int32_t add(const std::vector<Pair>& pairs, uint64_t content) {
        int32_t size = 0;
        for (const Pair& pair : pairs) size += pair.second * items_[pair.first].size;
        auto& most = largest[clock];
        most = std::max(most, {size, static_cast<int32_t>(begins_.size())});
        begins_.push_back(pairs_.size());
        pairs_.insert(pairs_.end(), pairs.begin(), pairs.end());
        contents_.push_back(content);
        return static_cast<int32_t>(begins_.size()) - 1;
    }

    bool equals(int32_t value, const std::vector<Pair>& pairs) const {
        return std::equal(begin(value), end(value), pairs.begin(), pairs.end());
    }

    void act_on_bag(Action action, int32_t item) {
        const auto place = find(item);
        if (action != Action::kTake) {
            if (place == scratch_.end())
                scratch_.emplace_back(item, 1);
            else
                ++place->second;
        } else if (place != scratch_.end() && --place->second == 0) {
            scratch_.erase(place);
        }
    }

    void act_on_set(Action action, int32_t item) {
        if (action == Action::kPut && find(item) == scratch_.end())
            scratch_.emplace_back(item, 1);
    }

    void act_on_queues(Action action, int32_t item) {
        const int32_t sender = items_[item].sender;
        const auto first = std::find_if(scratch_.begin(), scratch_.end(), [&](const Pair& one) {
            return items_[one.first].sender >= sender;
        });
        auto last = std::find_if(first, scratch_.end(), [&](const Pair& one) {
            return items_[one.first].sender > sender;
        });
        if (action == Action::kPut) {
            scratch_.insert(last, Pair(item, static_cast<int32_t>(last - first) + 1));
            return;
        }
        const auto place = action == Action::kCopy ? scratch_.insert(first, Pair(item, 0))
                                                   : std::find_if(first, last, [&](const Pair& one) {
                                                         return one.first == item;
                                                     });
        if (action == Action::kCopy) {
            for (auto one = place; one != scratch_.end(); ++one)
                if (items_[one->first].sender == sender) ++one->second;
        } else if (place != last) {
            for (auto one = scratch_.erase(place);
                 one != scratch_.end() && items_[one->first].sender == sender; ++one)
                --one->second;
        }
    }

    std::vector<Pair>::iterator find(int32_t item) {
        return std::find_if(scratch_.begin(), scratch_.end(),
                            [item](const Pair& one) { return one.first == item; });
    }

    Shape shape_;
    std::string kind_, bytes_;
    std::vector<Item> items_;
    std::vector<int32_t> ranks_;
    Items<size_t> begins_;
    Items<Pair> pairs_;
    Items<uint64_t> contents_;
    std::vector<Pair> scratch_;
    Map numbers_;
};

}  // namespace worldline
