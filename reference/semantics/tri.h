// Three-valued Boolean of bounded semantics. A comparison of overlapping intervals is `maybe`, and
// also records the exact values' answer, so that the exact result stays known.
#pragma once

namespace touchstone {

struct Tri {
  bool exact = false;   // the answer for the exact values
  bool certain = true;  // false: a faithful evaluation may give the other answer

  constexpr Tri() = default;
  constexpr Tri(bool answer) : exact(answer) {}  // NOLINT: implicit on purpose
  constexpr Tri(bool answer, bool sure) : exact(answer), certain(sure) {}

  static const Tri no, yes, maybe;

  constexpr bool can_be_true() const { return exact || !certain; }
  constexpr bool can_be_false() const { return !exact || !certain; }
  constexpr bool surely() const { return exact && certain; }
  constexpr bool is_maybe() const { return !certain; }
  // Two values are equal if they admit the same answers.
  friend constexpr bool operator==(Tri a, Tri b) {
    return a.can_be_true() == b.can_be_true() && a.can_be_false() == b.can_be_false();
  }
  explicit operator bool() const = delete;  // three answers do not fit a branch
};

inline constexpr Tri Tri::no{false, true};
inline constexpr Tri Tri::yes{true, true};
inline constexpr Tri Tri::maybe{true, false};

constexpr bool both(bool a, bool b) { return a && b; }
constexpr bool either(bool a, bool b) { return a || b; }
constexpr bool negate(bool a) { return !a; }

constexpr Tri both(Tri a, Tri b) {
  const bool exact = a.exact && b.exact;
  const bool can = a.can_be_true() && b.can_be_true(), must = a.surely() && b.surely();
  return {exact, can == must};
}
constexpr Tri negate(Tri a) { return {!a.exact, a.certain}; }
constexpr Tri either(Tri a, Tri b) { return negate(both(negate(a), negate(b))); }
constexpr Tri both(bool a, Tri b) { return both(Tri(a), b); }
constexpr Tri both(Tri a, bool b) { return both(a, Tri(b)); }
constexpr Tri either(bool a, Tri b) { return either(Tri(a), b); }
constexpr Tri either(Tri a, bool b) { return either(a, Tri(b)); }

// The exact values' answer, for branches.
constexpr bool surely(Tri truth) { return truth.exact; }

}  // namespace touchstone
