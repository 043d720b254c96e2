// Measures distances element by element if both values are tensors of one type and shape; otherwise
// describes the difference in words.
#include "conformance/compare/distance.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "conformance/judge/judge.h"
#include "conformance/judge/text.h"
#include "core/numbers/convert.h"

namespace touchstone::compare {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string unlike(const Value& left, const Value& right) {
  if (left.absent() || right.absent()) {
    return left.absent() == right.absent() ? ""
           : left.absent()                 ? "not on the left"
                                           : "not on the right";
  }
  if (!(left.type() == right.type())) return text(left.type()) + " | " + text(right.type());
  if (!left.is_tensor() || left.tensor().shape() == right.tensor().shape()) return "";
  return text(left.tensor().shape()) + " | " + text(right.tensor().shape());
}

struct Apart {
  double by = 0, scale = 0;
};

Apart apart(long double left, long double right) {
  const auto scale = [](long double x) {
    return std::isfinite(x) ? static_cast<double>(std::abs(x)) : 0;
  };
  Apart found{0, std::max(scale(left), scale(right))};
  if (left == right || (std::isnan(left) && std::isnan(right))) return found;
  found.by = static_cast<double>(std::abs(left - right));
  if (std::isnan(found.by)) found.by = infinity;
  return found;
}

template <class T>
Apart apart_complex(const Tensor& left, const Tensor& right, Index k) {
  const std::complex<T> a = left.data<std::complex<T>>()[k], b = right.data<std::complex<T>>()[k];
  const Apart real = apart(a.real(), b.real()), imaginary = apart(a.imag(), b.imag());
  // Not std::hypot: its symbol needs glibc 2.35, which the wheel does not.
  const double by = std::abs(std::complex<double>(real.by, imaginary.by));
  return {by, std::max(real.scale, imaginary.scale)};
}

Apart apart(const Tensor& left, const Tensor& right, Index k) {
  switch (left.type()) {
    case Type::string:
      return {left.data<std::string>()[k] == right.data<std::string>()[k] ? 0 : infinity, 0};
    case Type::complex64:
      return apart_complex<float>(left, right, k);
    case Type::complex128:
      return apart_complex<double>(left, right, k);
    default:
      return apart(number_at(left, k), number_at(right, k));
  }
}

void measure(const Tensor& left, const Tensor& right, Distance& found) {
  found.elements = left.size();
  for (Index k = 0; k < left.size(); ++k) {
    const Apart one = apart(left, right, k);
    found.scale = std::max(found.scale, one.scale);
    if (one.by == 0) continue;
    ++found.different;
    if (found.where >= 0 && !(one.by > found.most)) continue;
    found.most = one.by;
    found.where = k;
  }
  if (found.where < 0) return;
  found.place = judge::index_text(left.shape(), found.where);
  found.left = judge::element_text(left, found.where);
  found.right = judge::element_text(right, found.where);
}

}  // namespace

double Distance::relative() const {
  if (!unlike.empty()) return infinity;
  return most == 0 ? 0 : scale == 0 ? infinity : most / scale;
}

Distance distance(const std::string& output, const Value& left, const Value& right) {
  Distance found;
  found.output = output;
  found.unlike = unlike(left, right);
  if (!found.unlike.empty() || left.absent()) return found;
  if (left.is_tensor()) {
    measure(left.tensor(), right.tensor(), found);
  } else if (const judge::Comparison all = judge::judge_exact(left, right);
             !judge::is_pass(all.verdict)) {
    found.unlike = all.detail.empty() ? "other values" : all.detail;
  }
  return found;
}

std::vector<Distance> distances(const std::vector<ValueInfo>& outputs,
                                const std::map<std::string, Value>& left,
                                const std::map<std::string, Value>& right) {
  const auto value = [](const std::map<std::string, Value>& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? Value{} : found->second;
  };
  std::vector<Distance> all;
  for (const ValueInfo& output : outputs) {
    all.push_back(distance(output.name, value(left, output.name), value(right, output.name)));
  }
  return all;
}

double farthest(const std::vector<Distance>& distances) {
  double most = 0;
  for (const Distance& one : distances) most = std::max(most, one.relative());
  return most;
}

}  // namespace touchstone::compare
