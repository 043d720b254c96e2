// Compares results that have one right answer, bit for bit, and applies the suite's own tolerance.
// Both recurse into containers.
#include <cmath>
#include <complex>
#include <cstring>

#include "conformance/judge/judge.h"
#include "conformance/judge/text.h"
#include "core/numbers/convert.h"
#include "core/numbers/formats.h"

namespace touchstone::judge {
namespace {

// Compares two elements of tensors of one type and shape: 0 is equal, up to 1 accepted.
using Distance = double (*)(const Tensor& expected, const Tensor& actual, Index element,
                            const void* rule);

struct Walk {
  Distance distance;
  const void* rule;

  Comparison value(const Value& expected, const Value& actual) const;
  Comparison tensor(const Tensor& expected, const Tensor& actual) const;
  Comparison items(const std::vector<Value>& expected, const std::vector<Value>& actual) const;
};

Comparison refused(Verdict verdict, std::string detail) {
  Comparison out;
  out.verdict = verdict;
  out.detail = std::move(detail);
  return out;
}

void merge(Comparison& all, Comparison one, const std::string& place) {
  const Verdict verdict = worse(all.verdict, one.verdict);
  const bool leads = one.where >= 0 && (all.where < 0 || one.utilisation_max > all.utilisation_max);
  all.elements += one.elements;
  all.judged += one.judged;
  if (leads || (is_fail(one.verdict) && !is_fail(all.verdict))) {
    all.utilisation_max = one.utilisation_max;
    all.where = one.where;
    all.actual = std::move(one.actual);
    all.expected = std::move(one.expected);
  }
  if (is_fail(one.verdict) && !is_fail(all.verdict)) all.detail = place + ": " + one.detail;
  all.verdict = verdict;
}

Comparison Walk::tensor(const Tensor& expected, const Tensor& actual) const {
  if (expected.type() != actual.type()) {
    return refused(Verdict::wrong_type, std::string(touchstone::name(actual.type())) + " for " +
                                            std::string(touchstone::name(expected.type())));
  }
  if (!(expected.shape() == actual.shape())) {
    return refused(Verdict::wrong_shape, text(actual.shape()) + " for " + text(expected.shape()));
  }
  Comparison out;
  out.elements = out.judged = expected.size();
  Index wrong = 0;
  double sum = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    const double d = distance(expected, actual, i, rule);
    wrong += d > 1;
    sum += std::isfinite(d) ? d : 0;
    if (out.where < 0 || d > out.utilisation_max) {
      out.utilisation_max = d;
      out.where = i;
    }
  }
  if (out.where >= 0) {
    out.actual = element_text(actual, out.where);
    out.expected = element_text(expected, out.where);
    out.utilisation_mean = sum / static_cast<double>(out.judged);
  }
  out.verdict = wrong                     ? Verdict::wrong_value
                : out.utilisation_max > 0 ? Verdict::within
                                          : Verdict::exact;
  if (wrong) {
    out.detail = "element " + index_text(expected.shape(), out.where) + " is " + out.actual +
                 " for " + out.expected + ", " + std::to_string(wrong) + " of " +
                 std::to_string(out.judged) + " are wrong";
  }
  return out;
}

Comparison Walk::items(const std::vector<Value>& expected, const std::vector<Value>& actual) const {
  if (expected.size() != actual.size()) {
    return refused(Verdict::wrong_shape,
                   std::to_string(actual.size()) + " items for " + std::to_string(expected.size()));
  }
  Comparison out;
  out.verdict = Verdict::exact;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    merge(out, value(expected[k], actual[k]), "item " + std::to_string(k));
  }
  return out;
}

template <class Keyed>
Comparison entries(const Walk& walk, const Keyed& expected, const Keyed& actual) {
  if (expected.size() != actual.size()) {
    return refused(Verdict::wrong_shape,
                   std::to_string(actual.size()) + " keys for " + std::to_string(expected.size()));
  }
  Comparison out;
  out.verdict = Verdict::exact;
  for (auto e = expected.begin(), a = actual.begin(); e != expected.end(); ++e, ++a) {
    if (e->first != a->first) return refused(Verdict::wrong_value, "the keys differ");
    merge(out, walk.value(e->second, a->second), "an entry");
  }
  return out;
}

Comparison Walk::value(const Value& expected, const Value& actual) const {
  if (expected.is.index() != actual.is.index()) {
    const auto kind = [](const Value& v) {
      return v.absent() ? std::string("nothing") : text(v.type());
    };
    return refused(actual.absent() ? Verdict::unwritten : Verdict::wrong_type,
                   kind(actual) + " for " + kind(expected));
  }
  if (const Tensor* e = std::get_if<Tensor>(&expected.is))
    return tensor(*e, std::get<Tensor>(actual.is));
  if (const Sequence* e = std::get_if<Sequence>(&expected.is)) {
    const Sequence& a = std::get<Sequence>(actual.is);
    return items(e->items, a.items);
  }
  if (const Optional* e = std::get_if<Optional>(&expected.is)) {
    const Optional& a = std::get<Optional>(actual.is);
    if (!e->item != !a.item) {
      return refused(Verdict::wrong_value,
                     a.item ? "a value for an empty optional" : "an empty optional for a value");
    }
    if (e->item) return value(*e->item, *a.item);
  }
  if (const Map* e = std::get_if<Map>(&expected.is)) {
    const Map& a = std::get<Map>(actual.is);
    if (e->key != a.key)
      return refused(Verdict::wrong_type, "the maps have keys of different types");
    return e->key == Type::string ? entries(*this, e->by_string, a.by_string)
                                  : entries(*this, e->by_integer, a.by_integer);
  }
  if (const SparseTensor* e = std::get_if<SparseTensor>(&expected.is)) {
    const SparseTensor& a = std::get<SparseTensor>(actual.is);
    if (!(e->shape == a.shape))
      return refused(Verdict::wrong_shape, text(a.shape) + " for " + text(e->shape));
    Comparison out = tensor(e->values, a.values);
    merge(out, tensor(e->indices, a.indices), "indices");
    return out;
  }
  Comparison out;  // two absent values or empty optionals
  out.verdict = Verdict::exact;
  return out;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

bool same_number(long double e, long double a, bool signs) {
  if (std::isnan(e) || std::isnan(a)) return std::isnan(e) && std::isnan(a);
  return e == a && (!signs || e != 0 || std::signbit(e) == std::signbit(a));
}

template <class C>
bool same_complex(const Tensor& e, const Tensor& a, Index i, bool signs) {
  const C x = e.data<C>()[i], y = a.data<C>()[i];
  return same_number(x.real(), y.real(), signs) && same_number(x.imag(), y.imag(), signs);
}

double exact_distance(const Tensor& e, const Tensor& a, Index i, const void* rule) {
  const bool signs = *static_cast<const ZeroSign*>(rule) == ZeroSign::compared;
  bool same = false;
  if (e.type() == Type::string)
    same = e.data<std::string>()[i] == a.data<std::string>()[i];
  else if (e.type() == Type::complex64)
    same = same_complex<std::complex<float>>(e, a, i, signs);
  else if (e.type() == Type::complex128)
    same = same_complex<std::complex<double>>(e, a, i, signs);
  else
    same = code_at(e, i) == code_at(a, i) || same_number(number_at(e, i), number_at(a, i), signs);
  return same ? 0 : infinity;
}

struct Tolerance {
  double rtol, atol;
};

// numpy.isclose, with equal NaN; complex numbers by their modulus.
template <class Number>
double close(Number e, Number a, double size, double distance, const Tolerance& t, double rtol) {
  if (e == a || (e != e && a != a)) return 0;
  const double allowed = t.atol + rtol * size;
  if (!std::isfinite(size) || std::isnan(distance)) return infinity;
  return distance <= allowed ? (allowed > 0 ? distance / allowed : 0)
                             : std::max(distance / allowed, std::nextafter(1.0, 2.0));
}

template <class C>
double close_complex(const Tensor& e, const Tensor& a, Index i, const Tolerance& t) {
  const std::complex<double> x = e.data<C>()[i], y = a.data<C>()[i];
  return close(x, y, std::abs(x), std::abs(y - x), t, t.rtol);
}

double tolerance_distance(const Tensor& e, const Tensor& a, Index i, const void* rule) {
  const Tolerance& t = *static_cast<const Tolerance*>(rule);
  switch (e.type()) {
    case Type::string:
      return e.data<std::string>()[i] == a.data<std::string>()[i] ? 0 : infinity;
    case Type::complex64:
      return close_complex<std::complex<float>>(e, a, i, t);
    case Type::complex128:
      return close_complex<std::complex<double>>(e, a, i, t);
    default: {
      const long double x = number_at(e, i), y = number_at(a, i);
      const double rtol = e.type() == Type::bfloat16 ? std::max(t.rtol, 0x1p-6) : t.rtol;
      return close(x, y, static_cast<double>(std::abs(x)), static_cast<double>(std::abs(y - x)), t,
                   rtol);
    }
  }
}

}  // namespace

Comparison judge_exact(const Value& expected, const Value& actual, ZeroSign zeros) {
  return Walk{exact_distance, &zeros}.value(expected, actual);
}

Comparison judge_tolerance(const Value& expected, const Value& actual, double rtol, double atol) {
  const Tolerance rule{rtol, atol};
  return Walk{tolerance_distance, &rule}.value(expected, actual);
}

}  // namespace touchstone::judge
