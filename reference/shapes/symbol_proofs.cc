// Bounds of symbolic integers, proofs of comparisons, and the guards that decide the others.
#include <cmath>
#include <numeric>

#include "reference/shapes/symbols.h"

namespace touchstone {
namespace {

constexpr int proof_depth = 5, max_nested = 6, max_tries = 300;
constexpr std::size_t max_guards = 256, max_facts = 64;
constexpr double infinite = std::numeric_limits<double>::infinity();

double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

std::pair<double, double> product(std::pair<double, double> a, std::pair<double, double> b) {
  const double ends[] = {times(a.first, b.first), times(a.first, b.second),
                         times(a.second, b.first), times(a.second, b.second)};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

// The greatest common divisor of the coefficients, the constant apart.
Index common_factor(const Polynomial& a) {
  Index factor = 0;
  for (const Monomial& term : a.terms) {
    if (!term.atoms.empty()) factor = std::gcd(factor, term.coefficient);
  }
  return factor;
}
Index constant_of(const Polynomial& a) {
  return a.terms[0].atoms.empty() ? a.terms[0].coefficient : 0;
}

}  // namespace

// -- canonical forms under the guards

SymbolicInteger SymbolTable::normal_atom(std::uint32_t number) {
  const SymbolicAtom& of = atoms_[number];
  switch (of.kind) {
    case SymbolicAtom::Kind::symbol: {
      const auto found = replaced_.find(number);
      return found == replaced_.end() ? of_atom(number) : normal(found->second);
    }
    case SymbolicAtom::Kind::floor:
      return floor_div(of.operands[0], of.operands[1]);
    case SymbolicAtom::Kind::minimum:
    case SymbolicAtom::Kind::maximum: {
      std::vector<SymbolicInteger> items;
      for (const SymbolicInteger& item : std::vector(of.operands)) items.push_back(normal(item));
      return extreme(atoms_[number].kind, items);
    }
    default:
      return of_atom(number);
  }
}

SymbolicInteger SymbolTable::normal(SymbolicInteger a) {
  if (a.constant() || changes_ == 0 || normalising_ > max_nested) return a;
  if (const auto found = cached_.find(a.polynomial());
      found != cached_.end() && found->second.normal_at == changes_)
    return found->second.normal;
  struct Nested {
    explicit Nested(int& depth) : depth(depth) { ++depth; }
    ~Nested() { --depth; }
    int& depth;
  } nested(normalising_);
  const Frozen frozen(*this);
  SymbolicInteger result = 0;
  try {
    for (const Monomial& term : a.polynomial()->terms) {
      SymbolicInteger product = term.coefficient;
      for (const std::uint32_t atom : term.atoms) product = multiply(product, normal_atom(atom));
      result = add(result, product);
    }
  } catch (const Undecided&) {
    result = a;
  }
  if (normalising_ == 1) {
    Cached& cached = cached_[a.polynomial()];
    cached.normal = result, cached.normal_at = changes_;
  }
  return result;
}

// -- bounds

SymbolTable::Bounds SymbolTable::atom_bounds(std::uint32_t number) {
  const SymbolicAtom& of = atoms_[number];
  const auto own = [&] {
    return Bounds{of.low == INT64_MIN ? -infinite : static_cast<double>(of.low),
                  of.high == INT64_MAX ? infinite : static_cast<double>(of.high)};
  };
  switch (of.kind) {
    case SymbolicAtom::Kind::symbol: {
      if (of.operands.empty()) return own();
      const Bounds inner = bounds(of.operands[0]);
      return {std::max(inner.low, own().low), inner.high};
    }
    case SymbolicAtom::Kind::minimum:
    case SymbolicAtom::Kind::maximum: {
      Bounds all = bounds(of.operands[0]);
      for (const SymbolicInteger& item : of.operands) {
        const Bounds one = bounds(item);
        const bool most = of.kind == SymbolicAtom::Kind::maximum;
        all.low = most ? std::max(all.low, one.low) : std::min(all.low, one.low);
        all.high = most ? std::max(all.high, one.high) : std::min(all.high, one.high);
      }
      return all;
    }
    case SymbolicAtom::Kind::floor: {
      const Bounds inner = bounds(of.operands[0]);
      const std::optional<Index> divisor = of.operands[1].constant();
      if (divisor && *divisor > 0) {
        const auto by = static_cast<double>(*divisor);
        return {std::floor(inner.low / by), std::floor(inner.high / by)};
      }
      // A quotient by zero is an error of the node, not a size.
      if (inner.low >= 0 && bounds(of.operands[1]).low >= 0) return {0, inner.high};
      return {-infinite, infinite};
    }
    default:
      return {-infinite, infinite};
  }
}

SymbolTable::Bounds SymbolTable::bounds(SymbolicInteger a) {
  if (a.constant()) {
    const auto value = static_cast<double>(*a.constant());
    return {value, value};
  }
  if (const auto found = cached_.find(a.polynomial());
      found != cached_.end() && found->second.bounds_at == changes_)
    return found->second.bounds;
  Bounds all{0, 0};
  for (const Monomial& term : a.polynomial()->terms) {
    const auto coefficient = static_cast<double>(term.coefficient);
    std::pair<double, double> one{coefficient, coefficient};
    for (const std::uint32_t atom : term.atoms) {
      const Bounds factor = atom_bounds(atom);
      one = product(one, {factor.low, factor.high});
    }
    all.low += one.first, all.high += one.second;
  }
  Cached& cached = cached_[a.polynomial()];
  cached.bounds = all, cached.bounds_at = changes_;
  return all;
}

// -- proofs

// True if a >= 0 follows for every value of the symbols that the guards admit.
bool SymbolTable::is_never_negative(SymbolicInteger a, int depth) {
  if (a.constant()) return *a.constant() >= 0;
  if (bounds(a).low >= 0) return true;
  ++work_;
  if (depth == 0 || --tries_ < 0) return false;
  for (std::size_t k = 0; k < never_negative_.size(); ++k) {
    const SymbolicInteger rest = subtract(a, never_negative_[k]);
    if (bounds(rest).low >= 0) return true;
  }
  const Polynomial& terms = *a.polynomial();
  for (const Monomial& term : terms.terms) {
    if (term.atoms.size() != 1) continue;
    const std::uint32_t number = term.atoms[0];
    const SymbolicAtom::Kind kind = atoms_[number].kind;
    const Index c = term.coefficient;
    if (kind == SymbolicAtom::Kind::minimum || kind == SymbolicAtom::Kind::maximum) {
      const SymbolicInteger rest = subtract(a, multiply(of_atom(number), c));
      // One item suffices where the extreme can only be better, else each must hold.
      const bool one_suffices = (c > 0) == (kind == SymbolicAtom::Kind::maximum);
      bool all = true, any = false;
      for (const SymbolicInteger& item : std::vector(atoms_[number].operands)) {
        const bool holds = is_never_negative(add(rest, multiply(item, c)), depth - 1);
        all = all && holds, any = any || holds;
      }
      if (one_suffices ? any : all) return true;
    } else if (kind == SymbolicAtom::Kind::floor) {
      const std::optional<Index> q = atoms_[number].operands[1].constant();
      if (!q || *q <= 0) continue;
      // p - q + 1 <= q * floor(p / q) <= p
      const SymbolicInteger p = atoms_[number].operands[0];
      const SymbolicInteger rest = subtract(a, multiply(of_atom(number), c));
      const SymbolicInteger least = c < 0 ? p : add(p, 1 - *q);
      if (is_never_negative(add(multiply(rest, *q), multiply(least, c)), depth - 1)) return true;
    }
  }
  return false;
}

std::optional<bool> SymbolTable::proved(Relation relation, SymbolicInteger a, SymbolicInteger b) {
  const SymbolicInteger difference = normal(subtract(a, b));
  if (difference.constant()) {
    const Index d = *difference.constant();
    return relation == Relation::equal ? d == 0 : d < 0;
  }
  tries_ = max_tries;
  const SymbolicInteger opposite = negative(difference);
  if (relation == Relation::less) {
    if (is_never_negative(difference, proof_depth)) return false;
    if (is_never_negative(subtract(opposite, 1), proof_depth)) return true;
    return std::nullopt;
  }
  if (never_zero_.contains(difference.polynomial()) || never_zero_.contains(opposite.polynomial()))
    return false;
  const Index factor = common_factor(*difference.polynomial());
  if (factor > 1 && constant_of(*difference.polynomial()) % factor != 0) return false;
  const bool up = is_never_negative(difference, proof_depth);
  const bool down = is_never_negative(opposite, proof_depth);
  if (up && down) return true;
  if (up && is_never_negative(subtract(difference, 1), proof_depth)) return false;
  if (down && is_never_negative(subtract(opposite, 1), proof_depth)) return false;
  return std::nullopt;
}

// -- guards

bool SymbolTable::decide(Relation relation, SymbolicInteger a, SymbolicInteger b) {
  if (const std::optional<bool> known = proved(relation, a, b)) return *known;
  if (frozen_ || guards_.size() >= max_guards) throw Undecided{};
  return by_hint(relation, normal(subtract(a, b)));
}

bool SymbolTable::decide(Relation relation, SymbolicReal a, SymbolicReal b) {
  const bool answer = relation == Relation::equal ? a.hint() == b.hint() : a.hint() < b.hint();
  if (a.constant() && b.constant()) return answer;
  if (frozen_ || guards_.size() >= max_guards) throw Undecided{};
  guards_.push_back({relation, 0, std::pair(a, b), answer});
  return answer;
}

bool SymbolTable::by_hint(Relation relation, SymbolicInteger difference) {
  const Index value = difference.hint();
  guards_.push_back(
      {relation, difference, {}, relation == Relation::equal ? value == 0 : value < 0});
  ++changes_;
  if (relation == Relation::equal) {
    if (value == 0) {
      learn_zero(difference);
      return true;
    }
    never_zero_.insert(difference.polynomial());
    if (value > 0 && is_never_negative(difference, proof_depth))
      learn_never_negative(subtract(difference, 1));
    return false;
  }
  const bool answer = value < 0;
  learn_never_negative(answer ? subtract(negative(difference), 1) : difference);
  return answer;
}

void SymbolTable::learn_never_negative(SymbolicInteger a) {
  if (a.constant() || never_negative_.size() >= max_facts) return;
  never_negative_.push_back(a);
  ++changes_;
  // A product of sizes that is at least 1: so is each factor.
  const std::vector<Monomial>& terms = a.polynomial()->terms;
  const std::size_t symbols = terms.size() - (terms[0].atoms.empty() ? 1 : 0);
  const Index constant = constant_of(*a.polynomial());
  const Monomial& term = terms.back();
  if (symbols != 1 || term.coefficient <= 0 || constant >= 0) return;
  const bool sizes = std::all_of(term.atoms.begin(), term.atoms.end(), [&](std::uint32_t atom) {
    return atoms_[atom].kind == SymbolicAtom::Kind::symbol && atoms_[atom].low >= 0;
  });
  if (!sizes) return;
  const Index least = term.atoms.size() == 1 ? (-constant - 1) / term.coefficient + 1 : 1;
  for (const std::uint32_t atom : term.atoms) atoms_[atom].low = std::max(atoms_[atom].low, least);
}

// Replaces a symbol that stands alone in `a`, which is 0.
void SymbolTable::learn_zero(SymbolicInteger a) {
  ++changes_;
  const std::vector<Monomial> terms = a.polynomial()->terms;
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
    if (term->atoms.size() != 1 || std::abs(term->coefficient) != 1) continue;
    const std::uint32_t number = term->atoms[0];
    if (atoms_[number].kind != SymbolicAtom::Kind::symbol || !atoms_[number].operands.empty())
      continue;
    const SymbolicInteger rest =
        multiply(subtract(a, multiply(of_atom(number), term->coefficient)), -term->coefficient);
    std::set<std::uint32_t> inside;
    count_atoms(rest, inside);
    if (inside.contains(number)) continue;
    replaced_[number] = rest;
    std::vector<SymbolicInteger> kept;
    for (const SymbolicInteger& known : std::vector(never_negative_)) {
      const SymbolicInteger now = normal(known);
      if (!now.constant()) kept.push_back(now);
    }
    never_negative_ = std::move(kept);
    return;
  }
  never_negative_.push_back(a);
  never_negative_.push_back(negative(a));
}

}  // namespace touchstone
