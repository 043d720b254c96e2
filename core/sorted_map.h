// Map kept as one sorted array: one allocation for all entries, and a lookup by binary search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace touchstone {

// Has those members of std::map that the project uses, with the same meaning. Inserting a key moves
// the entries after it, and invalidates iterators: fill() takes many.
template <class Key, class Item>
class SortedMap {
 public:
  using Entry = std::pair<Key, Item>;
  using Entries = std::vector<Entry>;
  using iterator = typename Entries::iterator;
  using const_iterator = typename Entries::const_iterator;

  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  void reserve(std::size_t count) { entries_.reserve(count); }

  // Takes entries in any order, in time n log n. Returns false, and stays as it was, if a key
  // occurs twice.
  bool fill(Entries entries) {
    const auto by_key = [](const Entry& a, const Entry& b) { return a.first < b.first; };
    if (!std::is_sorted(entries.begin(), entries.end(), by_key))
      std::sort(entries.begin(), entries.end(), by_key);
    const auto same = [](const Entry& a, const Entry& b) { return a.first == b.first; };
    if (std::adjacent_find(entries.begin(), entries.end(), same) != entries.end()) return false;
    entries_ = std::move(entries);
    return true;
  }

  // The entry of the key, which has the given item if there was none, and true in that case.
  std::pair<iterator, bool> emplace(Key key, Item item) {
    const iterator at = place(key);
    if (at != end() && at->first == key) return {at, false};
    return {entries_.emplace(at, std::move(key), std::move(item)), true};
  }
  std::pair<iterator, bool> insert_or_assign(Key key, Item item) {
    const iterator at = place(key);
    if (at == end() || at->first != key)
      return {entries_.emplace(at, std::move(key), std::move(item)), true};
    at->second = std::move(item);
    return {at, false};
  }
  Item& operator[](Key key) { return emplace(std::move(key), Item()).first->second; }
  // Throws std::out_of_range for a key that is not there.
  const Item& at(const Key& key) const {
    const auto found = std::lower_bound(begin(), end(), key, before);
    if (found == end() || found->first != key) throw std::out_of_range("no such key");
    return found->second;
  }
  iterator erase(const_iterator at) { return entries_.erase(at); }

 private:
  static bool before(const Entry& entry, const Key& key) { return entry.first < key; }
  iterator place(const Key& key) {  // that of the key, or where it belongs
    if (empty() || entries_.back().first < key) return end();
    return std::lower_bound(begin(), end(), key, before);
  }

  Entries entries_;  // by ascending keys
};

}  // namespace touchstone
