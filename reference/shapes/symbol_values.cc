// Values and texts of symbolic numbers.
#include <charconv>
#include <cmath>

#include "reference/lists.h"
#include "reference/shapes/symbols.h"

namespace touchstone {

double narrowed(double x, Type type) {
  return type == Type::float32 ? static_cast<double>(static_cast<float>(x)) : x;
}

double applied(RealOperator op, const std::vector<double>& x) {
  switch (op) {
    case RealOperator::add:
      return x[0] + x[1];
    case RealOperator::subtract:
      return x[0] - x[1];
    case RealOperator::multiply:
      return x[0] * x[1];
    case RealOperator::divide:
      return x[0] / x[1];
    case RealOperator::minimum:
      return x[1] < x[0] ? x[1] : x[0];
    case RealOperator::maximum:
      return x[0] < x[1] ? x[1] : x[0];
    case RealOperator::floor:
      return std::floor(x[0]);
    case RealOperator::ceil:
      return std::ceil(x[0]);
    case RealOperator::truncate:
      return std::trunc(x[0]);
    case RealOperator::round_even:
      return std::nearbyint(x[0]);
    case RealOperator::sqrt:
      return std::sqrt(x[0]);
    case RealOperator::reciprocal:
      return 1 / x[0];
    case RealOperator::negate:
      return -x[0];
    case RealOperator::absolute:
      return std::abs(x[0]);
    default:
      return x[0];
  }
}

// -- values at other sizes

std::optional<Index> SymbolTable::value(SymbolicInteger a, const Values& of) const {
  if (a.constant()) return a.constant();
  Index sum = 0;
  for (const Monomial& term : a.polynomial()->terms) {
    Index product = term.coefficient;
    for (const std::uint32_t atom : term.atoms) {
      const std::optional<Index> factor = atom_value(atom, of);
      if (!factor || __builtin_mul_overflow(product, *factor, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

std::optional<Index> SymbolTable::atom_value(std::uint32_t number, const Values& of) const {
  const SymbolicAtom& atom = atoms_[number];
  if (atom.kind == SymbolicAtom::Kind::symbol && atom.operands.empty()) {
    const auto found = of.find(atom.name);
    return found == of.end() ? std::nullopt : std::optional(found->second);
  }
  if (atom.kind == SymbolicAtom::Kind::integer_of_real) {
    const std::optional<double> real = value(atom.real, of);
    if (!real || !(std::abs(*real) < 0x1p62)) return std::nullopt;
    return static_cast<Index>(*real);
  }
  std::vector<Index> operands;
  for (const SymbolicInteger& operand : atom.operands) {
    const std::optional<Index> one = value(operand, of);
    if (!one) return std::nullopt;
    operands.push_back(*one);
  }
  switch (atom.kind) {
    case SymbolicAtom::Kind::floor: {
      const Index p = operands[0], q = operands[1];
      if (q == 0 || (q == -1 && p == INT64_MIN)) return std::nullopt;
      return touchstone::floor_div(p, q);
    }
    case SymbolicAtom::Kind::minimum:
      return *std::min_element(operands.begin(), operands.end());
    case SymbolicAtom::Kind::maximum:
      return *std::max_element(operands.begin(), operands.end());
    default:
      return operands[0];
  }
}

std::optional<double> SymbolTable::value(SymbolicReal a, const Values& of) const {
  if (a.constant()) return a.constant();
  const RealOperation& is = *a.operation();
  if (is.is == RealOperator::of_integer) {
    const std::optional<Index> number = value(is.integer, of);
    if (!number) return std::nullopt;
    return is.type == Type::float32 ? static_cast<double>(static_cast<float>(*number))
                                    : static_cast<double>(*number);
  }
  std::vector<double> operands;
  for (const SymbolicReal& operand : is.operands) {
    const std::optional<double> one = value(operand, of);
    if (!one) return std::nullopt;
    operands.push_back(narrowed(*one, is.type));
  }
  return narrowed(applied(is.is, operands), is.type);
}

bool SymbolTable::hold(const Values& of) const {
  return std::all_of(guards_.begin(), guards_.end(),
                     [&](const Guard& guard) { return hold(guard, of); });
}

bool SymbolTable::hold(const Guard& guard, const Values& of) const {
  if (guard.reals) {
    const auto a = value(guard.reals->first, of), b = value(guard.reals->second, of);
    return a && b && (guard.relation == Relation::equal ? *a == *b : *a < *b) == guard.answer;
  }
  const std::optional<Index> d = value(guard.difference, of);
  return d && (guard.relation == Relation::equal ? *d == 0 : *d < 0) == guard.answer;
}

std::vector<std::string> SymbolTable::names(SymbolicInteger a) const {
  std::vector<std::string> found;
  std::vector<SymbolicInteger> open{a};
  std::set<std::uint32_t> seen;
  while (!open.empty()) {
    const SymbolicInteger next = open.back();
    open.pop_back();
    if (!next.polynomial()) continue;
    for (const Monomial& term : next.polynomial()->terms) {
      for (const std::uint32_t number : term.atoms) {
        if (!seen.insert(number).second) continue;
        const SymbolicAtom& atom = atoms_[number];
        if (atom.kind == SymbolicAtom::Kind::symbol) found.push_back(atom.name);
        open.insert(open.end(), atom.operands.begin(), atom.operands.end());
        std::vector<SymbolicReal> reals{atom.real};
        while (!reals.empty()) {
          const RealOperation* const of = reals.back().operation();
          reals.pop_back();
          if (!of) continue;
          open.push_back(of->integer);
          reals.insert(reals.end(), of->operands.begin(), of->operands.end());
        }
      }
    }
  }
  return found;
}

// -- texts

std::string SymbolTable::text(SymbolicReal a, const Name& name) const {
  if (a.constant()) {
    std::string digits(32, ' ');
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *a.constant());
    return digits.substr(0, static_cast<std::size_t>(end.ptr - digits.data()));
  }
  const RealOperation& is = *a.operation();
  const auto operand = [&](std::size_t k) { return text(is.operands[k], name); };
  switch (is.is) {
    case RealOperator::of_integer:
      return text(is.integer, name);
    case RealOperator::convert:
      return operand(0);
    case RealOperator::add:
      return "(" + operand(0) + " + " + operand(1) + ")";
    case RealOperator::subtract:
      return "(" + operand(0) + " - " + operand(1) + ")";
    case RealOperator::multiply:
      return "(" + operand(0) + " * " + operand(1) + ")";
    case RealOperator::divide:
      return "(" + operand(0) + " / " + operand(1) + ")";
    case RealOperator::minimum:
      return "min(" + operand(0) + ", " + operand(1) + ")";
    case RealOperator::maximum:
      return "max(" + operand(0) + ", " + operand(1) + ")";
    case RealOperator::negate:
      return "-" + operand(0);
    case RealOperator::reciprocal:
      return "(1 / " + operand(0) + ")";
    case RealOperator::floor:
      return "floor(" + operand(0) + ")";
    case RealOperator::ceil:
      return "ceil(" + operand(0) + ")";
    case RealOperator::truncate:
      return "trunc(" + operand(0) + ")";
    case RealOperator::round_even:
      return "round(" + operand(0) + ")";
    case RealOperator::sqrt:
      return "sqrt(" + operand(0) + ")";
    default:
      return "abs(" + operand(0) + ")";
  }
}

std::string SymbolTable::quotient_text(SymbolicInteger dividend, SymbolicInteger divisor,
                                       const Name& name) const {
  const std::string top = text(dividend, name), by = text(divisor, name);
  const bool simple = dividend.constant() || dividend.polynomial()->terms.size() == 1;
  const bool plain = divisor.constant() || divisor.polynomial()->terms.size() == 1;
  return "floor(" + (simple ? top : "(" + top + ")") + "/" + (plain ? by : "(" + by + ")") + ")";
}

std::string SymbolTable::text(SymbolicInteger a, const Name& name) const {
  if (a.constant()) return std::to_string(*a.constant());
  const auto atom_text = [&](std::uint32_t number) -> std::string {
    const SymbolicAtom& of = atoms_[number];
    if (of.kind == SymbolicAtom::Kind::symbol) return name ? name(of.name) : of.name;
    if (of.kind == SymbolicAtom::Kind::integer_of_real) return text(of.real, name);
    std::string list;
    for (const SymbolicInteger& operand : of.operands)
      list += (list.empty() ? "" : ", ") + text(operand, name);
    if (of.kind == SymbolicAtom::Kind::floor) {
      return quotient_text(of.operands[0], of.operands[1], name);
    }
    return (of.kind == SymbolicAtom::Kind::minimum ? "min(" : "max(") + list + ")";
  };
  // floor(p/q) + e with a constant e: one division.
  if (const std::vector<Monomial>& sum = a.polynomial()->terms;
      sum.size() == 2 && sum[0].atoms.empty() && sum[1].coefficient == 1 &&
      sum[1].atoms.size() == 1) {
    const SymbolicAtom& of = atoms_[sum[1].atoms[0]];
    const std::optional<Index> by =
        of.kind == SymbolicAtom::Kind::floor ? of.operands[1].constant() : std::optional<Index>();
    Index more = 0;
    if (by && !__builtin_mul_overflow(sum[0].coefficient, *by, &more)) {
      std::vector<Monomial> dividend = of.operands[0].polynomial()->terms;
      if (dividend[0].atoms.empty())
        dividend[0].coefficient += more;
      else
        dividend.insert(dividend.begin(), {{}, more});
      if (dividend[0].coefficient == 0 && dividend[0].atoms.empty())
        dividend.erase(dividend.begin());
      const Polynomial joined{std::move(dividend), 0, 0};
      return quotient_text(SymbolicInteger::of(joined), of.operands[1], name);
    }
  }
  std::string out;
  const auto put = [&](const Monomial& term) {
    const bool negative = term.coefficient < 0;
    const std::string size = std::to_string(term.coefficient).substr(negative ? 1 : 0);
    std::string product;
    for (const std::uint32_t atom : term.atoms)
      product += (product.empty() ? "" : "*") + atom_text(atom);
    if (product.empty())
      product = size;
    else if (size != "1")
      product = size + "*" + product;
    if (out.empty())
      out = (negative ? "-" : "") + product;
    else
      out += (negative ? " - " : " + ") + product;
  };
  const std::vector<Monomial>& terms = a.polynomial()->terms;
  for (const Monomial& term : terms) {
    if (!term.atoms.empty()) put(term);
  }
  if (terms[0].atoms.empty()) put(terms[0]);
  return out;
}

}  // namespace touchstone
