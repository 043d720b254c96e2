// Arithmetic on symbolic integers and reals, and their canonical forms.
#include "reference/shapes/symbols.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "reference/lists.h"

namespace touchstone {
namespace {

constexpr std::size_t max_terms = 24, max_factors = 12, max_atoms = 12;
constexpr int max_steps_of_division = 8;
constexpr const char* long_name = "#long";
constexpr std::size_t max_polynomials = 300'000;  // a hostile model ends here

Index checked_add(Index a, Index b) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw Undecided{};
  return sum;
}
Index checked_multiply(Index a, Index b) {
  Index product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw Undecided{};
  return product;
}

Index floor_of(Index a, Index b) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) throw Undecided{};
  return floor_div(a, b);
}

std::vector<Monomial> terms_of(SymbolicInteger a) {
  if (a.polynomial()) return a.polynomial()->terms;
  if (*a.constant() == 0) return {};
  return {{{}, *a.constant()}};
}

// Merges the terms of one product of atoms; `terms` need no order.
std::vector<Monomial> merged(std::vector<Monomial> terms) {
  std::sort(terms.begin(), terms.end());
  std::vector<Monomial> out;
  for (Monomial& term : terms) {
    if (!out.empty() && out.back().atoms == term.atoms)
      out.back().coefficient = checked_add(out.back().coefficient, term.coefficient);
    else
      out.push_back(std::move(term));
  }
  std::erase_if(out, [](const Monomial& term) { return term.coefficient == 0; });
  return out;
}

bool is_larger(const Monomial& a, const Monomial& b) {
  return std::pair(a.atoms.size(), a.atoms) > std::pair(b.atoms.size(), b.atoms);
}
const Monomial& leading(const std::vector<Monomial>& terms) {
  return *std::min_element(terms.begin(), terms.end(), is_larger);
}

Index integer_value(double x) {
  if (!(std::abs(x) < 0x1p62)) throw Undecided{};
  return static_cast<Index>(x);
}

}  // namespace

bool SymbolicReal::operator==(const SymbolicReal& other) const {
  return operation_ == other.operation_ &&
         (operation_ ||
          std::bit_cast<std::uint64_t>(constant_) == std::bit_cast<std::uint64_t>(other.constant_));
}

std::size_t SymbolTable::HashKey::operator()(const Key& key) const {
  std::uint64_t hash = key.size();
  for (const std::int64_t part : key) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

void SymbolTable::append(Key& key, SymbolicInteger a) const {
  key.push_back(a.polynomial() ? a.polynomial()->number : 0);
  key.push_back(a.constant().value_or(0));
}
void SymbolTable::append(Key& key, const SymbolicReal& a) const {
  key.push_back(a.operation() ? a.operation()->number : 0);
  key.push_back(std::bit_cast<std::int64_t>(a.constant().value_or(0)));
}

SymbolicInteger SymbolTable::made(std::vector<Monomial> terms) {
  if (terms.empty()) return 0;
  if (terms.size() == 1 && terms[0].atoms.empty()) return terms[0].coefficient;
  work_ += static_cast<Index>(terms.size());
  if (terms.size() > max_terms) throw Undecided{};
  Key key;
  Index hint = 0;
  for (const Monomial& term : terms) {
    if (term.atoms.size() > max_factors) throw Undecided{};
    key.push_back(static_cast<std::int64_t>(term.atoms.size()));
    key.insert(key.end(), term.atoms.begin(), term.atoms.end());
    key.push_back(term.coefficient);
    Index product = term.coefficient;
    for (const std::uint32_t a : term.atoms) product = checked_multiply(product, atoms_[a].hint);
    hint = checked_add(hint, product);
  }
  std::unique_ptr<Polynomial>& stored = polynomials_[key];
  if (!stored) {
    const auto number = static_cast<std::int64_t>(polynomials_.size());
    if (polynomials_.size() > max_polynomials) {
      polynomials_.erase(key);
      throw Undecided{};
    }
    stored = std::make_unique<Polynomial>(Polynomial{std::move(terms), hint, number});
  }
  return SymbolicInteger::of(*stored);
}

SymbolicInteger SymbolTable::of_atom(std::uint32_t atom) { return made({{{atom}, 1}}); }

std::uint32_t SymbolTable::atom(SymbolicAtom atom) {
  Key key{static_cast<std::int64_t>(atom.kind)};
  for (const SymbolicInteger& operand : atom.operands) append(key, operand);
  if (atom.kind == SymbolicAtom::Kind::integer_of_real) append(key, atom.real);
  const auto [at, is_new] =
      atom_numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(atoms_.size()));
  if (is_new) atoms_.push_back(std::move(atom));
  return at->second;
}

SymbolicInteger SymbolTable::symbol(std::string name, Index hint, Index low, Index high) {
  SymbolicAtom made;
  made.name = std::move(name), made.hint = hint, made.low = low, made.high = high;
  atoms_.push_back(std::move(made));
  return of_atom(static_cast<std::uint32_t>(atoms_.size() - 1));
}

SymbolicInteger SymbolTable::add(SymbolicInteger a, SymbolicInteger b) {
  if (a.constant() && b.constant()) return checked_add(*a.constant(), *b.constant());
  std::vector<Monomial> terms = terms_of(a);
  for (Monomial& term : terms_of(b)) terms.push_back(std::move(term));
  return made(merged(std::move(terms)));
}

SymbolicInteger SymbolTable::subtract(SymbolicInteger a, SymbolicInteger b) {
  return a == b ? SymbolicInteger(0) : add(a, negative(b));
}

SymbolicInteger SymbolTable::multiply(SymbolicInteger a, SymbolicInteger b) {
  if (a.constant() && b.constant()) return checked_multiply(*a.constant(), *b.constant());
  if (a.constant() == 1) return b;
  if (b.constant() == 1) return a;
  const std::vector<Monomial> left = terms_of(a), right = terms_of(b);
  work_ += static_cast<Index>(left.size() * right.size());
  std::vector<Monomial> terms;
  for (const Monomial& x : left) {
    for (const Monomial& y : right) {
      Monomial product{x.atoms, checked_multiply(x.coefficient, y.coefficient)};
      product.atoms.insert(product.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(product.atoms.begin(), product.atoms.end());
      terms.push_back(std::move(product));
    }
  }
  return made(merged(std::move(terms)));
}

// The quotient if nothing is left over, by division of polynomials.
std::optional<SymbolicInteger> SymbolTable::exact_quotient(SymbolicInteger a, const Polynomial& b) {
  const Monomial& lead = leading(b.terms);
  SymbolicInteger result = 0;
  for (int step = 0; step < max_steps_of_division; ++step) {
    if (a.constant()) return *a.constant() == 0 ? std::optional(result) : std::nullopt;
    const Monomial& top = leading(a.polynomial()->terms);
    if (!std::includes(top.atoms.begin(), top.atoms.end(), lead.atoms.begin(), lead.atoms.end()) ||
        top.coefficient % lead.coefficient != 0)
      return std::nullopt;
    Monomial part{{}, top.coefficient / lead.coefficient};
    std::set_difference(top.atoms.begin(), top.atoms.end(), lead.atoms.begin(), lead.atoms.end(),
                        std::back_inserter(part.atoms));
    const SymbolicInteger quotient = made({std::move(part)});
    result = add(result, quotient);
    a = subtract(a, multiply(quotient, SymbolicInteger::of(b)));
  }
  return std::nullopt;
}

// floor((floor(p / r) + c) / q) as one division: floor((p + c * r) / (q * r)).
std::optional<SymbolicInteger> SymbolTable::nested_floor(const std::vector<Monomial>& terms,
                                                         Index q) {
  const Monomial& term = terms.back();
  const bool single = terms.size() == 1 || (terms.size() == 2 && terms[0].atoms.empty());
  if (!single || term.coefficient != 1 || term.atoms.size() != 1) return std::nullopt;
  const SymbolicAtom& inner = atoms_[term.atoms[0]];
  if (inner.kind != SymbolicAtom::Kind::floor) return std::nullopt;
  const std::optional<Index> r = inner.operands[1].constant();
  if (!r || *r <= 0) return std::nullopt;
  const Index c = terms.size() == 2 ? terms[0].coefficient : 0;
  const SymbolicInteger dividend = add(inner.operands[0], checked_multiply(c, *r));
  return floor_div(dividend, checked_multiply(q, *r));
}

SymbolicInteger SymbolTable::floor_div(SymbolicInteger a, SymbolicInteger b) {
  b = settled(b);
  a = normal(a);
  if (a.constant() && b.constant()) return floor_of(*a.constant(), *b.constant());
  if (b.constant()) {
    const Index q = *b.constant();
    if (q == 0 || q == INT64_MIN) throw Undecided{};
    if (q < 0) return floor_div(negative(a), -q);
    if (q == 1) return a;
    std::vector<Monomial> whole, rest;
    for (const Monomial& term : a.polynomial()->terms) {
      const Index times = floor_of(term.coefficient, q), left = term.coefficient - times * q;
      if (times != 0) whole.push_back({term.atoms, times});
      if (left != 0) rest.push_back({term.atoms, left});
    }
    const bool constant_left = rest.empty() || (rest.size() == 1 && rest[0].atoms.empty());
    const SymbolicInteger quotient = made(std::move(whole));
    if (constant_left) return quotient;
    if (const std::optional<SymbolicInteger> inner = nested_floor(rest, q))
      return add(quotient, *inner);
    SymbolicAtom floor;
    floor.kind = SymbolicAtom::Kind::floor;
    floor.operands = {made(std::move(rest)), q};
    floor.hint = floor_of(floor.operands[0].hint(), q);
    return add(quotient, of_atom(atom(std::move(floor))));
  }
  if (const std::optional<SymbolicInteger> exact = exact_quotient(a, *b.polynomial()))
    return *exact;
  SymbolicAtom floor;
  floor.kind = SymbolicAtom::Kind::floor;
  floor.operands = {a, b};
  floor.hint = floor_of(a.hint(), b.hint());
  return of_atom(atom(std::move(floor)));
}

SymbolicInteger SymbolTable::ceil_div(SymbolicInteger a, SymbolicInteger b) {
  return negative(floor_div(negative(a), b));
}

SymbolicInteger SymbolTable::quotient(SymbolicInteger a, SymbolicInteger b) {
  if (a.constant() && b.constant()) {
    if (*b.constant() == 0 || (*b.constant() == -1 && *a.constant() == INT64_MIN))
      throw Undecided{};
    return *a.constant() / *b.constant();
  }
  b = settled(b);
  if (less(b, 0)) a = negative(a), b = negative(b);
  return less(a, 0) ? negative(floor_div(negative(a), b)) : floor_div(a, b);
}

// A divisor without minimum and maximum: a guard says which item it is, so quotients are exact.
SymbolicInteger SymbolTable::settled(SymbolicInteger divisor) {
  divisor = normal(divisor);
  if (divisor.constant() || divisor.polynomial()->terms.size() != 1) return divisor;
  const Monomial& term = divisor.polynomial()->terms[0];
  if (term.atoms.size() != 1) return divisor;
  const SymbolicAtom& of = atoms_[term.atoms[0]];
  const bool least = of.kind == SymbolicAtom::Kind::minimum;
  if (!least && of.kind != SymbolicAtom::Kind::maximum) return divisor;
  SymbolicInteger best = of.operands[0];
  for (const SymbolicInteger& item : std::vector(of.operands)) {
    if (least ? less(item, best) : less(best, item)) best = item;
  }
  return multiply(best, term.coefficient);
}

SymbolicInteger SymbolTable::extreme(SymbolicAtom::Kind kind,
                                     const std::vector<SymbolicInteger>& items) {
  std::vector<SymbolicInteger> flat, kept;
  for (const SymbolicInteger& item : items) {
    const Polynomial* of = item.polynomial();
    const bool nested = of && of->terms.size() == 1 && of->terms[0].coefficient == 1 &&
                        of->terms[0].atoms.size() == 1 &&
                        atoms_[of->terms[0].atoms[0]].kind == kind;
    if (!nested) {
      flat.push_back(item);
      continue;
    }
    const std::vector<SymbolicInteger>& inner = atoms_[of->terms[0].atoms[0]].operands;
    flat.insert(flat.end(), inner.begin(), inner.end());
  }
  // True if `a` never counts beside `b`.
  const auto is_covered = [&](SymbolicInteger a, SymbolicInteger b) {
    return kind == SymbolicAtom::Kind::maximum ? proved(Relation::less, b, a) == false
                                               : proved(Relation::less, a, b) == false;
  };
  for (const SymbolicInteger& item : flat) {
    if (std::any_of(kept.begin(), kept.end(), [&](auto other) { return is_covered(item, other); }))
      continue;
    std::erase_if(kept, [&](SymbolicInteger other) { return is_covered(other, item); });
    kept.push_back(item);
  }
  if (kept.size() == 1) return kept[0];
  if (kept.size() > max_atoms) throw Undecided{};
  std::sort(kept.begin(), kept.end(), [](const SymbolicInteger& a, const SymbolicInteger& b) {
    const auto place = [](const SymbolicInteger& of) {
      return std::pair(of.polynomial() ? of.polynomial()->number : 0, of.constant());
    };
    return place(a) < place(b);
  });
  SymbolicAtom made;
  made.kind = kind;
  made.hint = kept[0].hint();
  for (const SymbolicInteger& item : kept) {
    made.hint = kind == SymbolicAtom::Kind::maximum ? std::max(made.hint, item.hint())
                                                    : std::min(made.hint, item.hint());
  }
  made.operands = std::move(kept);
  return of_atom(atom(std::move(made)));
}

SymbolicInteger SymbolTable::minimum(std::vector<SymbolicInteger> items) {
  return extreme(SymbolicAtom::Kind::minimum, items);
}
SymbolicInteger SymbolTable::maximum(std::vector<SymbolicInteger> items) {
  return extreme(SymbolicAtom::Kind::maximum, items);
}

void SymbolTable::count_atoms(SymbolicInteger a, std::set<std::uint32_t>& into) const {
  if (!a.polynomial()) return;
  for (const Monomial& term : a.polynomial()->terms) {
    for (const std::uint32_t of : term.atoms) {
      if (!into.insert(of).second || atoms_[of].kind == SymbolicAtom::Kind::symbol) continue;
      for (const SymbolicInteger& operand : atoms_[of].operands) count_atoms(operand, into);
    }
  }
}

SymbolicInteger SymbolTable::named(SymbolicInteger a) {
  a = normal(a);
  std::set<std::uint32_t> atoms;
  count_atoms(a, atoms);
  if (atoms.size() <= max_atoms) return a;
  SymbolicAtom of;
  of.operands = {a};
  of.name = long_name + std::to_string(atoms_.size());
  of.hint = a.hint();
  of.low = 0;
  return of_atom(atom(std::move(of)));
}

// -- reals

SymbolicReal SymbolTable::real(RealOperator op, Type type, std::vector<SymbolicReal> operands) {
  if (type != Type::float32 && type != Type::float64) throw Undecided{};
  std::vector<double> hints;
  bool constant = true;
  Key key{static_cast<std::int64_t>(op), static_cast<std::int64_t>(type)};
  for (const SymbolicReal& operand : operands) {
    hints.push_back(narrowed(operand.hint(), type));
    constant = constant && operand.constant();
    append(key, operand);
  }
  const double hint = narrowed(applied(op, hints), type);
  if (constant) return hint;
  if (op == RealOperator::convert && operands[0].operation()->type == type) return operands[0];
  std::unique_ptr<RealOperation>& stored = reals_[std::move(key)];
  if (!stored) {
    const auto number = static_cast<std::int64_t>(reals_.size());
    stored = std::make_unique<RealOperation>(
        RealOperation{op, type, std::move(operands), 0, hint, number});
  }
  return SymbolicReal::of(*stored);
}

SymbolicReal SymbolTable::real_of(SymbolicInteger a, Type type) {
  if (type != Type::float32 && type != Type::float64) throw Undecided{};
  const double hint = type == Type::float32 ? static_cast<double>(static_cast<float>(a.hint()))
                                            : static_cast<double>(a.hint());
  if (a.constant()) return hint;
  Key key{static_cast<std::int64_t>(RealOperator::of_integer), static_cast<std::int64_t>(type)};
  append(key, a);
  std::unique_ptr<RealOperation>& stored = reals_[std::move(key)];
  if (!stored) {
    stored = std::make_unique<RealOperation>(RealOperation{
        RealOperator::of_integer, type, {}, a, hint, static_cast<std::int64_t>(reals_.size())});
  }
  return SymbolicReal::of(*stored);
}

SymbolicInteger SymbolTable::integer_of(RealOperator rounding, SymbolicReal a, Type type) {
  if (a.constant()) return integer_value(applied(rounding, {*a.constant()}));
  const SymbolicReal whole = real(rounding, type, {a});
  SymbolicAtom of;
  of.kind = SymbolicAtom::Kind::integer_of_real;
  of.real = whole;
  of.hint = integer_value(whole.hint());
  return of_atom(atom(std::move(of)));
}

}  // namespace touchstone
