// Sizes, shapes and points: short lists of indices with the arithmetic that index notation uses.
// The innermost code copies them, so up to eight indices are stored inline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace touchstone {

using Index = std::int64_t;

// Charges a list that grows to so many indices; only long lists are charged (core/budget.h).
void charge_list(Index indices);

// A short list of indices with inline storage. Element access is unchecked.
class IndexVector {
 public:
  IndexVector() = default;
  // Parentheses count, braces list: IndexVector(2, 3) is [3,3], IndexVector{2, 3} is [2,3].
  explicit IndexVector(Index count, Index fill) { resize(count, fill); }
  IndexVector(std::initializer_list<Index> list) { append(list.begin(), list.end()); }
  template <class Pointer>  // a template, so that IndexVector(0, 0) is not a pair of null pointers
  requires std::is_same_v<Pointer, Index*> || std::is_same_v<Pointer, const Index*> IndexVector(
      Pointer first, Pointer last) {
    append(first, last);
  }
  IndexVector(const IndexVector& other) { append(other.begin(), other.end()); }
  IndexVector(IndexVector&& other) noexcept { take(other); }
  IndexVector& operator=(const IndexVector& other) {
    if (this != &other) {
      size_ = 0;
      append(other.begin(), other.end());
    }
    return *this;
  }
  IndexVector& operator=(IndexVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  Index size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Index& operator[](Index k) { return data()[k]; }
  Index operator[](Index k) const { return data()[k]; }
  Index front() const { return data()[0]; }
  Index back() const { return data()[size_ - 1]; }
  Index* begin() { return data(); }
  Index* end() { return data() + size_; }
  const Index* begin() const { return data(); }
  const Index* end() const { return data() + size_; }

  void push_back(Index i) {
    reserve(size_ + 1);
    data()[size_++] = i;
  }
  void append(const Index* first, const Index* last) {
    const Index count = last - first;
    // The range may alias this point, so the old storage lives until the copy is done.
    const std::unique_ptr<Index[]> kept = size_ + count > capacity_ ? grow(size_ + count) : nullptr;
    std::copy(first, last, data() + size_);
    size_ += count;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(Index count, Index fill = 0) {
    count = std::max<Index>(count, 0);
    reserve(count);
    for (Index k = size_; k < count; ++k) data()[k] = fill;
    size_ = count;
  }

  friend bool operator==(const IndexVector& a, const IndexVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr Index in_place = 8, uncharged = 4096;

  Index* data() { return heap_ ? heap_.get() : here_; }
  const Index* data() const { return heap_ ? heap_.get() : here_; }
  void reserve(Index count) {
    if (count > capacity_) grow(count);
  }
  // Returns the old storage.
  std::unique_ptr<Index[]> grow(Index count) {
    const Index capacity = std::max<Index>(count, 2 * capacity_);
    if (capacity > uncharged) charge_list(capacity);
    auto grown = std::make_unique<Index[]>(static_cast<std::size_t>(capacity));
    std::copy(begin(), end(), grown.get());
    capacity_ = capacity;
    return std::exchange(heap_, std::move(grown));
  }
  void take(IndexVector& other) {
    size_ = other.size_;
    capacity_ = other.capacity_;
    heap_ = std::move(other.heap_);
    if (!heap_) std::copy_n(other.here_, std::min(size_, in_place), here_);
    other.size_ = 0;
    other.capacity_ = in_place;
  }

  Index size_ = 0;
  Index capacity_ = in_place;
  Index here_[in_place];
  std::unique_ptr<Index[]> heap_;
};

using Shape = IndexVector;

// Returns the number of elements of a shape; 0 if any size is 0, even if others overflow. Throws
// Error: kind limit if it does not fit an Index, kind invalid_input if a size is negative.
Index count(const Shape& shape);

// Returns the strides, in elements, of a contiguous tensor. All are 0 for a tensor without elements
// whose sizes are too large. Throws Error as count does.
IndexVector dense_strides(const Shape& shape);

// "[2,3,4]"
std::string text(const Shape& shape);

}  // namespace touchstone
