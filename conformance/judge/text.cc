// Formats elements and bounded numbers in decimal and hex.
#include "conformance/judge/text.h"

#include <cinttypes>
#include <complex>
#include <cstdio>

#include "core/numbers/convert.h"

namespace touchstone::judge {
namespace {

template <class... Args>
std::string format(const char* pattern, Args... args) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, pattern, args...);
  return buffer;
}

}  // namespace

std::string element_text(const Tensor& tensor, Index element) {
  const TypeFacts& t = facts(tensor.type());
  if (tensor.type() == Type::string) return '"' + tensor.data<std::string>()[element] + '"';
  if (tensor.type() == Type::complex64) {
    const auto c = tensor.data<std::complex<float>>()[element];
    return format("%.9g%+.9gi (%a%+ai)", c.real(), c.imag(), c.real(), c.imag());
  }
  if (tensor.type() == Type::complex128) {
    const auto c = tensor.data<std::complex<double>>()[element];
    return format("%.17g%+.17gi (%a%+ai)", c.real(), c.imag(), c.real(), c.imag());
  }
  const std::uint64_t code = code_at(tensor, element);
  const int digits = (t.bits + 3) / 4;
  const long double x = number_at(tensor, element);
  if (!t.is_float) return format("%.0Lf (0x%0*" PRIx64 ")", x, digits, code);
  return format("%.*Lg (0x%0*" PRIx64 ")", t.bits > 32 ? 17 : 9, x, digits, code);
}

std::string bounded_text(const Bounded& value) {
  std::string text;
  if (value.is_set()) {
    for (const Bounded::Member* m = value.members_begin(); m != value.members_end(); ++m) {
      text += text.empty() ? "{" : ", ";
      text += m->e == 0 ? format("%.17g", m->hi) : format("%.17g +- %.3g", m->hi, m->e);
    }
    text += "}";
  } else {
    text = format("%.17g (%a)", value.hi, value.hi);
    if (value.e != 0) text += format(" +- %.3g", value.e);
  }
  const std::uint8_t s = value.specials();
  if (s & special::infinity) text += " or inf";
  if (s & special::minus_infinity) text += " or -inf";
  if (s & special::nan) text += " or nan";
  if (s & (special::largest | special::minus_largest)) text += " or the largest number";
  return text;
}

std::string index_text(const Shape& shape, Index element) {
  IndexVector at;
  at.resize(shape.size());
  for (Index k = shape.size() - 1; k >= 0; --k) {
    const Index extent = shape[k] > 0 ? shape[k] : 1;
    at[k] = element % extent;
    element /= extent;
  }
  return text(at);
}

}  // namespace touchstone::judge
