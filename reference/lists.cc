// See reference/lists.h.
#include "reference/lists.h"

#include <algorithm>

namespace touchstone {

namespace {

void check_position(const Point& list, Index at) {
  if (at < 0 || at >= list.size()) {
    throw Error(ErrorKind::invalid_input,
                "position " + std::to_string(at) + " is outside a list of " + std::to_string(list.size()));
  }
}

}  // namespace

Point replaced(Point list, Index at, Index by) {
  check_position(list, at);
  list[at] = by;
  return list;
}

Point replaced(Point list, const Point& at, Index by) {
  for (Index k : at) {
    check_position(list, k);
    list[k] = by;
  }
  return list;
}

Point replaced(Point list, const Point& at, const Point& by) {
  for (Index k = 0; k < at.size(); ++k) {
    check_position(list, at[k]);
    list[at[k]] = item(by, k);
  }
  return list;
}

Point pick(const Point& list, const Point& at) {
  Point r;
  for (Index k : at) r.push_back(item(list, k));
  return r;
}

Point part(const Point& list, Index from, Index n) {
  if (from < 0 || n < 0 || from + n > list.size()) {
    throw Error(ErrorKind::invalid_input, "items " + std::to_string(from) + " to " + std::to_string(from + n) +
                                              " are asked of a list of " + std::to_string(list.size()));
  }
  return Point(list.begin() + from, list.begin() + from + n);
}

Point head(const Point& list, Index n) { return part(list, 0, n); }
Point tail(const Point& list, Index from) { return part(list, from, list.size() - from); }

Point placed(const Point& list, const Point& at) {
  Point r(list.size(), 0);
  for (Index k = 0; k < list.size(); ++k) {
    check_position(r, item(at, k));
    r[at[k]] = list[k];
  }
  return r;
}

Point without(const Point& list, const Point& positions) {
  Point r;
  for (Index k = 0; k < list.size(); ++k) {
    if (!contains(positions, k)) r.push_back(list[k]);
  }
  return r;
}

Point unsqueezed(const Point& list, const Point& at) {
  Point r;
  Index next = 0;
  const Index rank = list.size() + at.size();
  for (Index k = 0; k < rank; ++k) r.push_back(contains(at, k) ? 1 : item(list, next++));
  return r;
}

Point repeat(Index i, Index n) { return Point(max(n, Index{0}), i); }

bool contains(const Point& list, Index i) { return std::find(list.begin(), list.end(), i) != list.end(); }

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

Index position(const Point& list, Index i) {
  const Index* at = std::find(list.begin(), list.end(), i);
  return at == list.end() ? -1 : at - list.begin();
}

bool distinct(const Point& list) {
  Point sorted = list;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

bool is_permutation(const Point& list) {
  for (Index i : list) {
    if (i < 0 || i >= list.size()) return false;
  }
  return distinct(list);
}

namespace {

// The broadcast of the shapes; false where two dims differ and none is 1.
bool lay_over(std::span<const Shape> shapes, Point& result) {
  Index rank = 0;
  for (const Shape& s : shapes) rank = max(rank, s.size());
  result = Point(rank, 1);
  for (const Shape& s : shapes) {
    for (Index k = 0; k < s.size(); ++k) {
      Index& dim = result[rank - s.size() + k];
      if (s[k] != 1 && dim != 1 && s[k] != dim) return false;
      if (s[k] != 1) dim = s[k];
    }
  }
  return true;
}

}  // namespace

Point broadcast(std::span<const Shape> shapes) {
  Point result;
  if (!lay_over(shapes, result)) {
    std::string all;
    for (const Shape& s : shapes) all += (all.empty() ? "" : ", ") + text(s);
    throw Error(ErrorKind::invalid_input, "shapes " + all + " do not broadcast");
  }
  return result;
}

bool broadcastable(std::span<const Shape> shapes) {
  Point result;
  return lay_over(shapes, result);
}

Index ravel(const Point& point, const Shape& shape) {
  Index linear = 0;
  for (Index k = 0; k < shape.size(); ++k) linear = linear * shape[k] + item(point, k);
  return linear;
}

Point unravel(Index linear, const Shape& shape) {
  Point r(shape.size(), 0);
  for (Index k = shape.size() - 1; k >= 0; --k) {
    r[k] = mod(linear, shape[k]);
    linear = floor_div(linear, shape[k]);
  }
  return r;
}

Index locate(const Point& ends, Index i) {
  for (Index k = 0; k < ends.size(); ++k) {
    if (i < ends[k]) return k;
  }
  throw Error(ErrorKind::invalid_input, "index " + std::to_string(i) + " is past the end of a list of parts");
}

std::string lower(std::string_view text) {
  std::string r(text);
  std::transform(r.begin(), r.end(), r.begin(), [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
  return r;
}

}  // namespace touchstone
