// Fits size expressions. Solves for coefficients modulo a prime, which is exact and cheap, and then
// verifies the solution in integers.
#include "reference/shapes/size_expression.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace touchstone {
namespace {

__extension__ using Wide = __int128;
using Monomial = std::vector<std::size_t>;

constexpr Wide prime = (Wide{1} << 61) - 1;
constexpr Wide largest_coefficient = Wide{1} << 40;
constexpr std::size_t max_poly_symbols = 3, degree = 3;
constexpr Index max_divisor = 4096;

Wide reduced(Wide a) {
  const Wide r = a % prime;
  return r < 0 ? r + prime : r;
}

Wide inverse(Wide a) {
  Wide result = 1;
  for (Wide exponent = prime - 2; exponent > 0; exponent /= 2, a = a * a % prime) {
    if (exponent % 2 == 1) result = result * a % prime;
  }
  return result;
}

Wide floor_quotient(Wide a, Wide b) {
  const Wide q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Returns nothing if the product exceeds the exact range.
std::optional<Wide> product(const Monomial& monomial, const std::vector<Index>& sizes,
                            Index step = 1) {
  Wide p = 1;
  for (const std::size_t symbol : monomial) {
    p *= sizes[symbol] / step;
    if (p > (Wide{1} << 80)) return std::nullopt;
  }
  return p;
}

bool gives_all(const SizeExpression& form, const Examples& examples,
               const std::vector<Index>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!gives(form, examples.sizes[k], values[k])) return false;
  }
  return true;
}

// Reduces to lowest terms and drops zero terms; unknown if a coefficient is implausibly large.
SizeExpression canonical(std::map<Monomial, Wide> terms, Wide constant, Wide divisor) {
  std::erase_if(terms, [](const auto& term) { return term.second == 0; });
  const auto gcd = [](Wide a, Wide b) {
    while (b != 0) std::swap(a %= b, b);
    return a < 0 ? -a : a;
  };
  Wide common = gcd(divisor, constant);
  for (const auto& term : terms) common = gcd(common, term.second);
  SizeExpression form;
  const auto held = [&](Wide a) {
    a /= common;
    if (a > largest_coefficient || a < -largest_coefficient) return std::optional<Index>();
    return std::optional(static_cast<Index>(a));
  };
  const auto c = held(constant), d = held(divisor);
  if (!c || !d) return form;
  for (const auto& [monomial, coefficient] : terms) {
    const auto h = held(coefficient);
    if (!h) return form;
    form.terms[monomial] = *h;
  }
  form.constant = *c, form.divisor = *d, form.known = true;
  return form;
}

// All products of at most `degree` symbols; with three symbols each appears at most once.
std::vector<Monomial> monomials(const std::vector<std::size_t>& symbols) {
  std::vector<Monomial> all{{}};
  for (std::size_t from = 0, d = 0; d < degree; ++d) {
    const std::size_t end = all.size();
    for (; from < end; ++from) {
      for (const std::size_t symbol : symbols) {
        Monomial next = all[from];
        const bool ordered = next.empty() || next.back() < symbol ||
                             (next.back() == symbol && symbols.size() < max_poly_symbols);
        if (!ordered) continue;
        next.push_back(symbol);
        all.push_back(std::move(next));
      }
    }
  }
  return all;
}

// Gaussian elimination modulo the prime; empty if the examples are underdetermined.
std::vector<Wide> solved(std::vector<std::vector<Wide>> rows, std::size_t unknowns) {
  std::size_t done = 0;
  for (std::size_t column = 0; column < unknowns; ++column, ++done) {
    std::size_t pivot = done;
    while (pivot < rows.size() && rows[pivot][column] == 0) ++pivot;
    if (pivot == rows.size()) return {};
    std::swap(rows[done], rows[pivot]);
    const Wide scale = inverse(rows[done][column]);
    for (Wide& entry : rows[done]) entry = entry * scale % prime;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r == done || rows[r][column] == 0) continue;
      const Wide factor = rows[r][column];
      for (std::size_t c = column; c <= unknowns; ++c)
        rows[r][c] = reduced(rows[r][c] - factor * rows[done][c] % prime);
    }
  }
  std::vector<Wide> solution;
  for (std::size_t k = 0; k < unknowns; ++k) {
    const Wide value = rows[k][unknowns];
    solution.push_back(value > prime / 2 ? value - prime : value);
  }
  return solution;
}

SizeExpression fit_polynomial(const Examples& examples, const std::vector<Index>& values,
                              const std::vector<std::size_t>& symbols) {
  const std::vector<Monomial> basis = monomials(symbols);
  std::vector<std::vector<Wide>> rows;
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::vector<Wide> row;
    for (const Monomial& monomial : basis) {
      const std::optional<Wide> p = product(monomial, examples.sizes[k], examples.step);
      if (!p) return {};
      row.push_back(reduced(*p));
    }
    row.push_back(reduced(values[k]));
    rows.push_back(std::move(row));
  }
  // Too few examples would be left to verify the fit.
  if (rows.size() < basis.size() + 4) return {};
  const std::vector<Wide> solution = solved(std::move(rows), basis.size());
  if (solution.empty()) return {};
  // Solved for multiples of the step: converts back to sizes by a common divisor.
  Wide divisor = 1, constant = 0;
  for (std::size_t d = 0; d < degree; ++d) divisor *= examples.step;
  std::map<Monomial, Wide> terms;
  for (std::size_t k = 0; k < basis.size(); ++k) {
    if (solution[k] > largest_coefficient || solution[k] < -largest_coefficient) return {};
    Wide scale = divisor;
    for (std::size_t d = 0; d < basis[k].size(); ++d) scale /= examples.step;
    (basis[k].empty() ? constant : terms[basis[k]]) = solution[k] * scale;
  }
  return canonical(std::move(terms), constant, divisor);
}

// The example that changed a symbol alone gives its slope.
SizeExpression fit_linear(const Examples& examples, const std::vector<Index>& values,
                          const std::vector<std::size_t>& symbols) {
  std::map<std::size_t, std::pair<Wide, Wide>> slopes;
  Wide divisor = 1;
  for (std::size_t k = 0; k < examples.changes.size(); ++k) {
    if (examples.changes[k].size() != 1) continue;
    const std::size_t symbol = examples.changes[k][0];
    if (!std::binary_search(symbols.begin(), symbols.end(), symbol)) continue;
    Wide rise = Wide{values[k + 1]} - values[0],
         run = examples.sizes[k + 1][symbol] - examples.sizes[0][symbol];
    if (run == 0) return {};
    if (run < 0) rise = -rise, run = -run;
    const Wide common = std::gcd(static_cast<Index>(rise), static_cast<Index>(run));
    slopes[symbol] = {rise / common, run / common};
    divisor = divisor / std::gcd(static_cast<Index>(divisor), static_cast<Index>(run / common)) *
              (run / common);
    if (divisor > max_divisor) return {};
  }
  if (slopes.size() != symbols.size()) return {};
  std::map<Monomial, Wide> terms;
  Wide constant = divisor * values[0];
  for (const auto& [symbol, slope] : slopes) {
    const Wide coefficient = slope.first * (divisor / slope.second);
    terms[{symbol}] = coefficient;
    constant -= coefficient * examples.sizes[0][symbol];
  }
  return canonical(std::move(terms), constant, divisor);
}

std::string sum_text(const SizeExpression& form, const std::vector<std::string>& names,
                     bool alone) {
  const auto named = [&](std::size_t symbol) {
    const std::string& name = names[symbol];
    const bool word = name.find_first_of(" +-*/()") == std::string::npos;
    return alone || word ? name : "(" + name + ")";
  };
  std::string out;
  const auto add = [&](Index coefficient, const std::string& what) {
    const Index size = std::abs(coefficient);
    out += out.empty() ? (coefficient < 0 ? "-" : "") : coefficient < 0 ? " - " : " + ";
    if (size != 1 || what.empty()) out += std::to_string(size) + (what.empty() ? "" : "*");
    out += what;
  };
  std::vector<std::pair<Monomial, Index>> ordered(form.terms.begin(), form.terms.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [monomial, coefficient] : ordered) {
    std::string what;
    for (const std::size_t symbol : monomial) what += (what.empty() ? "" : "*") + named(symbol);
    add(coefficient, what);
  }
  if (form.constant != 0 || out.empty()) add(form.constant, "");
  return out;
}

}  // namespace

bool gives(const SizeExpression& form, const std::vector<Index>& sizes, Index value) {
  Wide sum = form.constant;
  for (const auto& [monomial, coefficient] : form.terms) {
    const std::optional<Wide> p = product(monomial, sizes);
    if (!p) return false;
    sum += coefficient * *p;
  }
  return form.scale * floor_quotient(sum, form.divisor) + form.offset == value;
}

SizeExpression number_expression(Index number) {
  SizeExpression form;
  form.known = true, form.constant = number;
  return form;
}

SizeExpression symbol_expression(std::size_t symbol) {
  SizeExpression form;
  form.known = true, form.terms[{symbol}] = 1;
  return form;
}

std::optional<Index> constant_difference(const SizeExpression& a, const SizeExpression& b) {
  if (!a.known || !b.known || a.terms != b.terms || a.divisor != 1 || b.divisor != 1)
    return std::nullopt;
  return a.constant - b.constant;
}

std::string SizeExpression::text(const std::vector<std::string>& names) const {
  if (!known) return "?";
  const bool alone = divisor == 1 && constant == 0 && terms.size() == 1 &&
                     terms.begin()->first.size() == 1 && terms.begin()->second == 1;
  const std::string sum = sum_text(*this, names, alone);
  if (divisor == 1) return sum;
  const bool one_word = sum.find(' ') == std::string::npos;
  std::string out =
      "floor(" + (one_word ? sum : "(" + sum + ")") + "/" + std::to_string(divisor) + ")";
  if (scale != 1) out = std::to_string(scale) + "*" + out;
  return offset == 0 ? out : out + " + " + std::to_string(offset);
}

Fit fit(const Examples& examples, const std::vector<Index>& values) {
  Fit found;
  for (std::size_t k = 0; k < examples.changes.size(); ++k) {
    if (values[k + 1] == values[0]) continue;
    found.depends.insert(found.depends.end(), examples.changes[k].begin(),
                         examples.changes[k].end());
  }
  std::sort(found.depends.begin(), found.depends.end());
  const auto keep = [&](SizeExpression form) {
    if (form.known && gives_all(form, examples, values)) found.form = std::move(form);
    return found.form.known;
  };
  if (keep(number_expression(values[0]))) return found;
  for (const std::size_t symbol : found.depends) {
    if (keep(symbol_expression(symbol))) return found;
  }
  if (found.depends.empty()) return found;
  if (keep(fit_linear(examples, values, found.depends))) return found;
  if (found.depends.size() <= max_poly_symbols)
    keep(fit_polynomial(examples, values, found.depends));
  return found;
}

SizeExpression fit_floor(const Examples& examples, const std::vector<Index>& values,
                         const Staircase& stairs) {
  std::vector<Index> v = stairs.values;
  Index scale = 0;  // every rise is a multiple of it
  for (std::size_t k = 1; k < v.size(); ++k) scale = std::gcd(scale, v[k] - v[k - 1]);
  if (scale == 0) return {};
  const Index offset = (v[0] % scale + scale) % scale;
  for (Index& each : v) each = (each - offset) / scale;
  for (std::size_t period = 1; 2 * period <= v.size(); ++period) {
    const Index rise = v[period] - v[0];
    bool repeats = true;
    for (std::size_t k = 0; repeats && k + period < v.size(); ++k)
      repeats = v[k + period] - v[k] == rise;
    if (!repeats) continue;
    // c*v <= rise*n + b < c*v + c for every n: as n takes every remainder, only one b is left.
    const Wide c = static_cast<Wide>(period);
    Wide low = -(Wide{1} << 100), high = Wide{1} << 100;
    for (std::size_t k = 0; k < v.size(); ++k) {
      const Wide b = c * v[k] - Wide{rise} * (stairs.first + static_cast<Index>(k));
      low = std::max(low, b), high = std::min(high, b + c - 1);
    }
    if (low > high) return {};
    SizeExpression form = canonical({{{stairs.symbol}, rise}}, low, c);
    form.scale = scale, form.offset = offset;
    if (form.known && gives_all(form, examples, values)) return form;
    return {};
  }
  return {};
}

}  // namespace touchstone
