// Sets the compute format of bounded semantics from the facts of the element types.
#include "reference/semantics/context.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/numbers/formats.h"
#include "reference/semantics/overflow.h"

namespace touchstone {
namespace {

void set_format(SemanticsContext& c, const Format& f) {
  c.type = f.type;
  c.precision = f.precision;
  c.u = std::ldexp(1.0, -f.precision);
  c.tiny = f.smallest_subnormal;
  c.normal = f.smallest_normal;
  c.h = c.flush ? f.smallest_normal : f.smallest_subnormal;
  c.largest = f.largest;
  // Double has no such number: values past its largest are infinite when checked.
  c.limit = f.precision < 53 ? overflow_threshold(f) : std::numeric_limits<double>::infinity();
  c.splitter = f.precision < 53 ? std::ldexp(1.0, 53 - f.precision) + 1 : 0;
  if (f.precision == 53) {
    // Covers double-double's own error, and the rounding of a bound that is only a few of these.
    c.u += 0x1p-73;
    c.h = std::max(c.h, 0x1p-1072);
  }
}

}  // namespace

namespace {

// A kernel opens its scope with double or float. If the judge's outer scope declares 16-bit
// elements, that type is used.
Type around(Type computing, Class cls) {
  const Type said = semantics_context.type;
  const bool half = said == Type::float16 || said == Type::bfloat16;
  return half && cls == Class::fast && computing == Type::float32 ? said : computing;
}

}  // namespace

BoundedScope::BoundedScope(Type computing, Class cls)
    : BoundedScope(around(computing, cls), cls, semantics_context.sums, semantics_context.flush) {}

BoundedScope::BoundedScope(Type computing, Class cls, Sums sums, bool flush)
    : before_(semantics_context) {
  if (cls == Class::reduced) {
    throw Error(ErrorKind::unsupported, "class reduced is not judged yet")
        .with_help("use strict or fast");
  }
  SemanticsContext& c = semantics_context;
  c.cls = cls;
  c.sums = sums;
  c.flush = flush;
  // Integers that a kernel reads as reals (coordinates, scales of averages) compute in float, as in
  // their native kernels.
  const bool is_double = computing == Type::float64 || computing == Type::complex128;
  const Type sum = is_double ? Type::float64 : Type::float32;
  const bool half = computing == Type::float16 || computing == Type::bfloat16;
  set_format(c, format_of(sum));
  c.sum_u = c.u;
  c.sum_precision = c.precision;
  if (cls == Class::fast && half) set_format(c, format_of(computing));
}

}  // namespace touchstone
