// Three-valued Boolean of bounded semantics. A comparison of overlapping intervals is `maybe`, and
// also records the exact values' answer, so that the exact result stays known.
#pragma once

namespace touchstone {

struct TriBool {
  bool exact = false;   // the answer for the exact values
  bool certain = true;  // false: a faithful evaluation may give the other answer

  constexpr TriBool() = default;
  constexpr TriBool(bool answer) : exact(answer) {}  // NOLINT: implicit on purpose
  constexpr TriBool(bool answer, bool sure) : exact(answer), certain(sure) {}

  static const TriBool no, yes, maybe;

  constexpr bool can_be_true() const { return exact || !certain; }
  constexpr bool can_be_false() const { return !exact || !certain; }
  constexpr bool surely() const { return exact && certain; }
  constexpr bool is_maybe() const { return !certain; }
  // Two values are equal if they admit the same answers.
  friend constexpr bool operator==(TriBool a, TriBool b) {
    return a.can_be_true() == b.can_be_true() && a.can_be_false() == b.can_be_false();
  }
  explicit operator bool() const = delete;  // three answers do not fit a branch
};

inline constexpr TriBool TriBool::no{false, true};
inline constexpr TriBool TriBool::yes{true, true};
inline constexpr TriBool TriBool::maybe{true, false};

constexpr bool both(bool a, bool b) { return a && b; }
constexpr bool either(bool a, bool b) { return a || b; }
constexpr bool negate(bool a) { return !a; }

constexpr TriBool both(TriBool a, TriBool b) {
  const bool exact = a.exact && b.exact;
  const bool can = a.can_be_true() && b.can_be_true(), must = a.surely() && b.surely();
  return {exact, can == must};
}
constexpr TriBool negate(TriBool a) { return {!a.exact, a.certain}; }
constexpr TriBool either(TriBool a, TriBool b) { return negate(both(negate(a), negate(b))); }
constexpr TriBool both(bool a, TriBool b) { return both(TriBool(a), b); }
constexpr TriBool both(TriBool a, bool b) { return both(a, TriBool(b)); }
constexpr TriBool either(bool a, TriBool b) { return either(TriBool(a), b); }
constexpr TriBool either(TriBool a, bool b) { return either(a, TriBool(b)); }

// The exact values' answer, for branches.
constexpr bool surely(TriBool predicate) { return predicate.exact; }

}  // namespace touchstone
