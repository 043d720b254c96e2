// Lifts an operation to numbers with several alternatives: applies it to each and joins the
// results. Internal to this library's sources.
#pragma once

#include <limits>
#include <vector>

#include "reference/semantics/bounded.h"

namespace touchstone::bounded {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Every alternative of a number, each without alternatives of its own.
std::vector<Bounded> alternatives(const Bounded& a);

// v with all of `results` admitted.
Bounded join(const Bounded& v, const std::vector<Bounded>& results);

// The exact value alone.
inline Bounded point(const Bounded& a) { return Bounded::raw(a.hi, a.lo, 0); }

template <class F>
Bounded spread(F f, const Bounded& a) {
  std::vector<Bounded> results;
  for (const Bounded& x : alternatives(a)) results.push_back(f(x));
  return join(f(point(a)), results);
}

template <class F>
Bounded spread(F f, const Bounded& a, const Bounded& b) {
  std::vector<Bounded> results;
  const std::vector<Bounded> right = alternatives(b);
  for (const Bounded& x : alternatives(a))
    for (const Bounded& y : right) results.push_back(f(x, y));
  return join(f(point(a), point(b)), results);
}

}  // namespace touchstone::bounded
