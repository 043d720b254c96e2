// Assumptions of bounded semantics: the compute format of a faithful evaluation and its accuracy
// class. One thread-local record, since every operator of Bounded reads it and templates cannot
// pass it on.
#pragma once

#include <limits>

#include "core/types.h"

namespace touchstone {

// Accuracy class of an evaluation (docs/glossary.md).
enum class Class { strict, fast, reduced };
// Roundings of a sum of n terms: n - 1 that all add up, or 2 sqrt(n) as for random ones.
enum class Sums { worst, aggregate };

struct SemanticsContext {
  Type type = Type::float32;
  Class cls = Class::strict;
  Sums sums = Sums::worst;
  bool flush = false;  // subnormals may become zero

  int precision = 24;
  double u = 0x1p-24;  // unit roundoff
  // Largest loss of a rounding near zero: smallest subnormal, or smallest normal if flushed.
  double h = 0x1p-149;
  double tiny = 0x1p-149;    // smallest subnormal
  double normal = 0x1p-126;  // smallest normal
  double largest = 0x1.fffffep127;
  double limit = 0x1.ffffffp127;  // from here on rounding gives the overflow value
  double splitter = 0x1p29 + 1;   // rounds a double to `precision` bits; 0 if that is double's own
  double sum_u = 0x1p-24;         // unit roundoff of additions inside a sum
  int sum_precision = 24;
};

// Read by every multiply-add: the initial-exec model avoids the call that position-independent code
// would make for it.
#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
inline constinit thread_local SemanticsContext semantics_context;

// While it exists, Bounded numbers of this thread belong to a kernel whose elements are of
// `computing`. strict: 16-bit and narrower elements compute in float. fast: operations on 16-bit
// elements may round to 16 bits, sums in float. reduced throws Error (unsupported).
class BoundedScope {
 public:
  explicit BoundedScope(Type computing) : BoundedScope(computing, semantics_context.cls) {}
  BoundedScope(Type computing, Class cls);
  // Set by the judge before it calls a kernel; scopes that the kernel opens with a type alone
  // inherit the rest.
  BoundedScope(Type computing, Class cls, Sums sums, bool flush);
  ~BoundedScope() { semantics_context = before_; }
  BoundedScope(const BoundedScope&) = delete;
  BoundedScope& operator=(const BoundedScope&) = delete;

 private:
  SemanticsContext before_;
};

}  // namespace touchstone
