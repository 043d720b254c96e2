// Index arithmetic and lists of indices. Every function here has the name that the notation uses.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/budget.h"
#include "core/checked.h"
#include "core/error.h"
#include "core/shape.h"

namespace touchstone {

// -- single indices, and lists elementwise (an index is combined with every item of a list)

// Returns item k. Throws Error (invalid_input) past the end, an error of the entry or the model.
inline Index item(const IndexVector& list, Index k) {
  if (k < 0 || k >= list.size())
    throw Error(ErrorKind::invalid_input,
                "a list of " + std::to_string(list.size()) + " has no item " + std::to_string(k));
  return list[k];
}
template <class T>
const T& item(const std::vector<T>& list, Index k) {
  if (k < 0 || k >= static_cast<Index>(list.size()))
    throw Error(ErrorKind::invalid_input,
                "a list of " + std::to_string(list.size()) + " has no item " + std::to_string(k));
  return list[static_cast<std::size_t>(k)];
}

inline Index quotient(Index a, Index b) {  // towards zero
  if (b == 0) throw Error(ErrorKind::invalid_input, "an index is divided by zero");
  return b == -1 ? negative(a) : a / b;
}
inline Index remainder(Index a, Index b) {  // has the sign of a
  if (b == 0) throw Error(ErrorKind::invalid_input, "an index is divided by zero");
  return b == -1 ? 0 : a % b;
}
// If there is a remainder, |b| >= 2, so the adjustment by 1 cannot overflow.
inline Index floor_div(Index a, Index b) {
  return quotient(a, b) - (remainder(a, b) != 0 && (a < 0) != (b < 0));
}
inline Index ceil_div(Index a, Index b) {
  return quotient(a, b) + (remainder(a, b) != 0 && (a < 0) == (b < 0));
}
inline Index mod(Index a, Index b) {  // has the sign of b
  const Index rest = remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? add(rest, b) : rest;
}
inline Index wrap(Index i, Index n) { return i < 0 ? add(i, n) : i; }
inline Index clamp(Index i, Index low, Index high) { return i < low ? low : i > high ? high : i; }
// i mirrored at both ends of 0..n-1 without repeating them.
inline Index reflect(Index i, Index n) {
  if (n == 1) return 0;
  const Index period = multiply(2, subtract(n, 1)), k = mod(i, period);
  return k < n ? k : subtract(period, k);
}

template <class F>
IndexVector each(const IndexVector& a, const IndexVector& b, F f) {
  if (a.size() != b.size())
    throw Error(ErrorKind::invalid_input, "lists of " + std::to_string(a.size()) + " and " +
                                              std::to_string(b.size()) + " items meet");
  IndexVector r;
  for (Index k = 0; k < a.size(); ++k) r.push_back(f(a[k], b[k]));
  return r;
}
template <class F>
IndexVector each(const IndexVector& a, Index b, F f) {
  IndexVector r;
  for (Index k = 0; k < a.size(); ++k) r.push_back(f(a[k], b));
  return r;
}
template <class F>
IndexVector each(Index a, const IndexVector& b, F f) {
  IndexVector r;
  for (Index k = 0; k < b.size(); ++k) r.push_back(f(a, b[k]));
  return r;
}
#define TOUCHSTONE_EACH(name, expression)                               \
  inline IndexVector name(const IndexVector& a, const IndexVector& b) { \
    return each(a, b, [](Index x, Index y) { return expression; });     \
  }                                                                     \
  inline IndexVector name(const IndexVector& a, Index b) {              \
    return each(a, b, [](Index x, Index y) { return expression; });     \
  }                                                                     \
  inline IndexVector name(Index a, const IndexVector& b) {              \
    return each(a, b, [](Index x, Index y) { return expression; });     \
  }
TOUCHSTONE_EACH(operator+, add(x, y))
TOUCHSTONE_EACH(operator-, subtract(x, y))
TOUCHSTONE_EACH(operator*, multiply(x, y))
TOUCHSTONE_EACH(quotient, quotient(x, y))
TOUCHSTONE_EACH(remainder, remainder(x, y))
TOUCHSTONE_EACH(floor_div, floor_div(x, y))
TOUCHSTONE_EACH(ceil_div, ceil_div(x, y))
TOUCHSTONE_EACH(mod, mod(x, y))
TOUCHSTONE_EACH(wrap, wrap(x, y))
TOUCHSTONE_EACH(reflect, reflect(x, y))
TOUCHSTONE_EACH(min, (x < y ? x : y))
TOUCHSTONE_EACH(max, (x < y ? y : x))
#undef TOUCHSTONE_EACH
inline Index min(Index a, Index b) { return a < b ? a : b; }
inline Index max(Index a, Index b) { return a < b ? b : a; }
template <class... A>
Index min(Index a, Index b, A... c) {
  return min(min(a, b), c...);
}
template <class... A>
Index max(Index a, Index b, A... c) {
  return max(max(a, b), c...);
}
template <class Low, class High>
IndexVector clamp(const IndexVector& i, const Low& low, const High& high) {
  return min(max(i, low), high);
}
inline IndexVector negative(const IndexVector& a) { return Index{0} - a; }

// -- lists
inline Index size(const IndexVector& list) { return list.size(); }
template <class T>
Index size(const std::vector<T>& list) {
  return static_cast<Index>(list.size());
}
inline Index total(const IndexVector& list) {
  Index sum = 0;
  for (Index i : list) sum = add(sum, i);
  return sum;
}
IndexVector replaced(IndexVector list, Index at, Index by);
IndexVector replaced(IndexVector list, const IndexVector& at, Index by);
IndexVector replaced(IndexVector list, const IndexVector& at, const IndexVector& by);
IndexVector pick(const IndexVector& list, const IndexVector& at);
IndexVector head(const IndexVector& list, Index n);     // the first n
IndexVector tail(const IndexVector& list, Index from);  // all from `from` on
IndexVector part(const IndexVector& list, Index from, Index n);
IndexVector placed(const IndexVector& list,
                   const IndexVector& at);  // item k is placed at position at[k]
IndexVector without(const IndexVector& list, const IndexVector& positions);
// Inserts ones at those positions of the result.
IndexVector unsqueezed(const IndexVector& list, const IndexVector& at);
IndexVector repeat(Index i, Index n);
bool contains(const IndexVector& list, Index i);
bool contains(const std::vector<std::string>& list, std::string_view text);
Index position(const IndexVector& list, Index i);  // first position of i, or -1
bool distinct(const IndexVector& list);
bool is_permutation(const IndexVector& list);
template <class T>
std::vector<T> part(const std::vector<T>& list, Index from, Index n) {
  if (from < 0 || n < 0 || from > size(list) || n > size(list) - from)
    throw Error(ErrorKind::invalid_input, "a part past the end of a list");
  return {list.begin() + from, list.begin() + from + n};
}
template <class T>
std::vector<T> tail(const std::vector<T>& list, Index from) {
  return part(list, from, subtract(size(list), from));
}
template <class T>
std::vector<T> pick(const std::vector<T>& list, const IndexVector& at) {
  std::vector<T> r;
  for (Index k : at) r.push_back(item(list, k));
  return r;
}

// Broadcast shape, aligned from the right. Throws Error (invalid_input) if two dims differ and
// neither is 1.
IndexVector broadcast(std::span<const Shape> shapes);
bool broadcastable(std::span<const Shape> shapes);
template <class... S>
IndexVector broadcast(const IndexVector& a, const S&... more) {
  const Shape all[] = {a, more...};
  return broadcast(std::span<const Shape>(all));
}
template <class... S>
bool broadcastable(const IndexVector& a, const S&... more) {
  const Shape all[] = {a, more...};
  return broadcastable(std::span<const Shape>(all));
}
Index ravel(const IndexVector& point, const Shape& shape);
IndexVector unravel(Index linear, const Shape& shape);
// The first k with i < ends[k].
Index locate(const IndexVector& ends, Index i);

// [a, b.., c]: a list from indices and lists.
inline void append(IndexVector& list, Index i) { list.push_back(i); }
inline void append(IndexVector& list, const IndexVector& more) {
  list.append(more.begin(), more.end());
}
template <class... A>
IndexVector join(const A&... parts) {
  IndexVector r;
  (append(r, parts), ...);
  return r;
}
template <class T>
void append(std::vector<T>& list, const T& one) {
  list.push_back(one);
}
template <class T>
void append(std::vector<T>& list, const std::vector<T>& more) {
  list.insert(list.end(), more.begin(), more.end());
}
template <class T, class... A>
std::vector<T> list_of(const A&... parts) {
  std::vector<T> r;
  (append(r, parts), ...);
  return r;
}
// List type for items of a type: IndexVector for indices.
template <class Item>
struct PackOf;
template <>
struct PackOf<Index> {
  using Is = IndexVector;
};
// [f(k) for k in low..high where test(k)]
inline bool every(Index) { return true; }
template <class F, class Test = bool (*)(Index)>
auto collect(Index low, Index high, F f, Test test = every) {
  typename PackOf<decltype(f(low))>::Is r;
  for (const Index k : Steps(low, high)) {
    if (test(k)) r.push_back(f(k));
  }
  return r;
}
template <class T, class F, class Test = bool (*)(Index)>
std::vector<T> collect_list(Index low, Index high, F f, Test test = every) {
  std::vector<T> r;
  for (const Index k : Steps(low, high)) {
    if (!test(k)) continue;
    if (r.size() == r.capacity()) charge_scratch(static_cast<Index>((r.size() + 1) * sizeof(T)));
    r.push_back(f(k));
  }
  return r;
}

std::string lower(std::string_view text);

// An einsum equation as numbers: the label of each dimension of each input, of the given ranks,
// then of the result. The result's labels count from 0; summed labels follow. Throws Error
// (invalid_model) if the equation is malformed.
IndexVector subscripts(std::string_view equation, const IndexVector& ranks);

// All points of a box, the last index fastest. Each charges one operation.
class Box {
 public:
  explicit Box(Shape shape) : shape_(std::move(shape)) {}
  class Iterator {
   public:
    Iterator(const Shape* shape, bool done) : shape_(shape), at_(shape->size(), 0), done_(done) {}
    const IndexVector& operator*() const { return at_; }
    bool operator!=(const Iterator&) const { return !done_; }
    Iterator& operator++() {
      if (++unpaid_ == most) pay();
      for (Index k = at_.size() - 1; k >= 0; --k) {
        if (++at_[k] < (*shape_)[k]) return *this;
        at_[k] = 0;
      }
      done_ = true;
      pay();
      return *this;
    }

   private:
    void pay() { charge_work(std::exchange(unpaid_, 0)); }
    static constexpr Index most = 4096;
    const Shape* shape_;
    IndexVector at_;
    Index unpaid_ = 0;  // operations
    bool done_;
  };
  Iterator begin() const {
    for (Index d : shape_) {
      if (d <= 0) return {&shape_, true};
    }
    return {&shape_, false};
  }
  Iterator end() const { return {&shape_, true}; }

 private:
  Shape shape_;
};
inline Box box(const Shape& shape) { return Box(shape); }

}  // namespace touchstone
