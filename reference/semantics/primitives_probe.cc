// Filter for tests: evaluates primitives. Reads lines "reading name x [y]" in hexadecimal floats,
// writes lines "hi lo e".
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "reference/semantics/bounded.h"
#include "reference/semantics/exact.h"

namespace touchstone {
namespace {

template <class S>
using Unary = S (*)(const S&);

template <class S>
const std::map<std::string, Unary<S>>& unary_primitives() {
  static const std::map<std::string, Unary<S>> all = {{"exp", prim::exp},
                                                      {"log", prim::log},
                                                      {"sqrt", prim::sqrt},
                                                      {"tanh", prim::tanh},
                                                      {"erf", prim::erf},
                                                      {"sin", prim::sin},
                                                      {"cos", prim::cos},
                                                      {"tan", prim::tan},
                                                      {"asin", prim::asin},
                                                      {"acos", prim::acos},
                                                      {"atan", prim::atan},
                                                      {"sinh", prim::sinh},
                                                      {"cosh", prim::cosh},
                                                      {"asinh", prim::asinh},
                                                      {"acosh", prim::acosh},
                                                      {"atanh", prim::atanh},
                                                      {"sigmoid", prim::sigmoid},
                                                      {"softplus", prim::softplus},
                                                      {"reciprocal", prim::reciprocal}};
  return all;
}

template <class S>
S apply(const std::string& name, const S& x, const S& y) {
  if (name == "pow") return prim::pow(x, y);
  if (name == "fmod") return prim::fmod(x, y);
  if (name == "divide") return x / y;
  return unary_primitives<S>().at(name)(x);
}

void answer(const std::string& line) {
  std::istringstream words(line);
  std::string reading, name, x, y = "0";
  words >> reading >> name >> x >> y;
  const double a = std::strtod(x.c_str(), nullptr), b = std::strtod(y.c_str(), nullptr);
  if (reading == "exact") {
    const Exact r = apply(name, Exact(a), Exact(b));
    std::printf("%a %a 0\n", r.hi(), r.lo());
    return;
  }
  const BoundedScope scope(reading == "float" ? Type::float32 : Type::float64, Class::strict);
  const Bounded r = apply(name, Bounded::of(a), Bounded::of(b));
  std::printf("%a %a %a\n", r.hi, r.lo, r.e);
}

}  // namespace
}  // namespace touchstone

int main() {
  for (std::string line; std::getline(std::cin, line);) touchstone::answer(line);
}
