// Arithmetic, conversions, comparisons and conditions of index programs.
#include "reference/shapes/index_evaluator.h"

#include "core/types.h"
#include "reference/shapes/index_functions.h"

namespace touchstone {
namespace {

bool is_real_type(Type type) { return type == Type::float32 || type == Type::float64; }

// Least and greatest integer of a type; nothing for other types.
struct Range64 {
  Index low, high;
};
std::optional<Range64> range_of(Type type) {
  if (type == Type::undefined) return std::nullopt;
  const TypeFacts& of = facts(type);
  if (!of.is_integer) return std::nullopt;
  if (of.bits >= 64) return Range64{of.is_signed ? INT64_MIN : 0, INT64_MAX};
  const Index size = Index{1} << (of.is_signed ? of.bits - 1 : of.bits);
  return Range64{of.is_signed ? -size : 0, size - 1};
}

RealOperator real_operator(IndexOperation op) {
  switch (op) {
    case IndexOperation::add:
      return RealOperator::add;
    case IndexOperation::subtract:
      return RealOperator::subtract;
    case IndexOperation::multiply:
      return RealOperator::multiply;
    case IndexOperation::divide:
      return RealOperator::divide;
    default:
      throw Undecided{};
  }
}

}  // namespace

// -- facts of values

bool IndexEvaluator::predicate(const IndexValue& value) {
  if (const auto* known = value.as<bool>()) return *known;
  if (const auto* number = value.as<SymbolicInteger>()) return !symbols_.equal(*number, 0);
  throw Undecided{};
}

SymbolicInteger IndexEvaluator::integer(const IndexValue& value) const {
  if (const auto* number = value.as<SymbolicInteger>()) return *number;
  throw Undecided{};
}

Index IndexEvaluator::constant(const SymbolicInteger& value) {
  const std::optional<Index> number = symbols_.normal(value).constant();
  if (!number) throw Undecided{};
  return *number;
}
Index IndexEvaluator::constant(const IndexValue& value) { return constant(integer(value)); }

const IndexList& IndexEvaluator::list(const IndexValue& value) const {
  if (const auto* items = value.as<std::shared_ptr<const IndexList>>()) return **items;
  throw Undecided{};
}

IndexEvaluator::TensorPointer IndexEvaluator::tensor(const IndexValue& value) const {
  if (const auto* of = value.as<TensorPointer>()) return *of;
  throw Undecided{};
}

// The type in which reals of this expression are computed: those decided once a call in float.
Type IndexEvaluator::real_type(const Expression& e) const {
  if (e.sort == IndexSort::element) {
    const Type type = type_of(e.of);
    if (!is_real_type(type)) throw Undecided{};
    return type;
  }
  if (of_element_) throw Undecided{};
  return Type::float32;
}

// -- arithmetic

IndexValue IndexEvaluator::arithmetic(const Expression& e) {
  const IndexValue a = evaluate(e.operands[0]), b = evaluate(e.operands[1]);
  const auto* left = a.as<std::shared_ptr<const IndexList>>();
  const auto* right = b.as<std::shared_ptr<const IndexList>>();
  if (!left && !right) return operated(e.is, a, b, e);
  if (left && right && (*left)->size() != (*right)->size()) throw Undecided{};
  IndexList items;
  const std::size_t count = left ? (*left)->size() : (*right)->size();
  for (std::size_t k = 0; k < count; ++k)
    items.push_back(operated(e.is, left ? (**left)[k] : a, right ? (**right)[k] : b, e));
  return IndexValue::list(std::move(items));
}

IndexValue IndexEvaluator::operated(IndexOperation op, const IndexValue& a, const IndexValue& b,
                                    const Expression& e) {
  if (a.as<SymbolicReal>() || b.as<SymbolicReal>()) {
    const auto* x = a.as<SymbolicReal>();
    const auto* y = b.as<SymbolicReal>();
    if (!x || !y) throw Undecided{};
    return {symbols_.real(real_operator(op), real_type(e), {*x, *y})};
  }
  const SymbolicInteger x = integer(a), y = integer(b);
  switch (op) {
    case IndexOperation::add:
      return {symbols_.add(x, y)};
    case IndexOperation::subtract:
      return {symbols_.subtract(x, y)};
    case IndexOperation::multiply:
      return {symbols_.multiply(x, y)};
    case IndexOperation::divide:
      return {symbols_.quotient(x, y)};
    default:
      return {symbols_.subtract(x, symbols_.multiply(symbols_.quotient(x, y), y))};
  }
}

IndexValue IndexEvaluator::negated(const IndexValue& value, const Expression& e) {
  if (const auto* items = value.as<std::shared_ptr<const IndexList>>()) {
    IndexList all;
    for (const IndexValue& one : **items) all.push_back(negated(one, e));
    return IndexValue::list(std::move(all));
  }
  if (const auto* real = value.as<SymbolicReal>())
    return {symbols_.real(RealOperator::negate, real_type(e), {*real})};
  return {symbols_.negative(integer(value))};
}

IndexValue IndexEvaluator::coerced(const IndexValue& value, const Expression& e) {
  if (e.sort == IndexSort::real_) {
    const Type type = real_type(e);
    if (const auto* number = value.as<SymbolicInteger>()) return {symbols_.real_of(*number, type)};
    return value;
  }
  if (e.sort != IndexSort::element) return value;
  return converted(value, type_of(e.of));
}

// A value stored as another type; an integer must fit, or a guard says that it does.
IndexValue IndexEvaluator::converted(const IndexValue& value, Type to) {
  if (to == Type::boolean) return {predicate(value)};
  if (is_real_type(to)) {
    if (const auto* known = value.as<bool>()) return {SymbolicReal(*known ? 1 : 0)};
    if (const auto* number = value.as<SymbolicInteger>()) return {symbols_.real_of(*number, to)};
    if (const auto* real = value.as<SymbolicReal>())
      return {symbols_.real(RealOperator::convert, to, {*real})};
    throw Undecided{};
  }
  const std::optional<Range64> range = range_of(to);
  if (!range) throw Undecided{};
  if (const auto* known = value.as<bool>()) return {SymbolicInteger(*known ? 1 : 0)};
  SymbolicInteger number = 0;
  if (const auto* real = value.as<SymbolicReal>()) {
    IndexFunctions functions(*this);
    number = functions.rounded(RealOperator::truncate, *real);
  } else {
    number = integer(value);
  }
  const bool fits = (range->low == INT64_MIN || !symbols_.less(number, range->low)) &&
                    (range->high == INT64_MAX || !symbols_.less(range->high, number));
  if (!fits) throw Undecided{};
  return {number};
}

// -- conditions

bool IndexEvaluator::compared(IndexOperation op, const IndexValue& a, const IndexValue& b) {
  const bool of_equality = op == IndexOperation::equal || op == IndexOperation::unequal;
  const bool same = op == IndexOperation::equal;
  if (const auto* left = a.as<std::shared_ptr<const IndexList>>()) {
    const IndexList& right = list(b);
    bool all = of_equality && (*left)->size() == right.size();
    for (std::size_t k = 0; all && k < right.size(); ++k)
      all = compared(IndexOperation::equal, (**left)[k], right[k]);
    return all == same;
  }
  const auto equals = [&]<class T>(const T* x) {
    const auto* y = b.as<T>();
    if (!y || !of_equality) throw Undecided{};
    return (*x == *y) == same;
  };
  if (const auto* x = a.as<std::string>()) return equals(x);
  if (const auto* x = a.as<Type>()) return equals(x);
  if (const auto* x = a.as<bool>()) return equals(x);
  const auto decide = [&](const auto& x, const auto& y) {
    switch (op) {
      case IndexOperation::less:
        return symbols_.decide(Relation::less, x, y);
      case IndexOperation::greater:
        return symbols_.decide(Relation::less, y, x);
      case IndexOperation::less_equal:
        return !symbols_.decide(Relation::less, y, x);
      case IndexOperation::greater_equal:
        return !symbols_.decide(Relation::less, x, y);
      default:
        return symbols_.decide(Relation::equal, x, y) == same;
    }
  };
  if (const auto* x = a.as<SymbolicReal>()) {
    const auto* y = b.as<SymbolicReal>();
    // A comparison with a NaN is false both ways, which two relations do not say.
    if (!y || x->hint() != x->hint() || y->hint() != y->hint()) throw Undecided{};
    return decide(*x, *y);
  }
  return decide(integer(a), integer(b));
}

// A part that is open does not matter where the other one decides.
bool IndexEvaluator::logical(const Expression& e) {
  const bool decisive = e.is == IndexOperation::disjunction;
  bool open = false;
  for (const Expression& part : e.operands) {
    try {
      if (predicate(evaluate(part)) == decisive) return decisive;
    } catch (const Undecided&) {
      open = true;
    }
  }
  if (open) throw Undecided{};
  return !decisive;
}

// Both ways are tried before a guard says which one counts: they often agree.
IndexValue IndexEvaluator::conditional(const Expression& e) {
  std::optional<bool> test;
  {
    const SymbolTable::Frozen frozen(symbols_);
    try {
      test = predicate(evaluate(e.operands[0]));
    } catch (const Undecided&) {
      try {
        const IndexValue yes = evaluate(e.operands[1]), no = evaluate(e.operands[2]);
        if (same(yes, no)) return yes;
      } catch (const Undecided&) {
      }
    }
  }
  if (!test) test = predicate(evaluate(e.operands[0]));
  return evaluate(e.operands[*test ? 1 : 2]);
}

bool IndexEvaluator::same(const IndexValue& a, const IndexValue& b) {
  if (const auto* x = a.as<SymbolicInteger>()) {
    const auto* y = b.as<SymbolicInteger>();
    return y && symbols_.normal(*x) == symbols_.normal(*y);
  }
  if (const auto* x = a.as<std::shared_ptr<const IndexList>>()) {
    const auto* y = b.as<std::shared_ptr<const IndexList>>();
    return y && std::equal((*x)->begin(), (*x)->end(), (*y)->begin(), (*y)->end(),
                           [&](const IndexValue& p, const IndexValue& q) { return same(p, q); });
  }
  if (const auto* x = a.as<SymbolicReal>()) {
    const auto* y = b.as<SymbolicReal>();
    return y && *x == *y;
  }
  if (const auto* x = a.as<bool>()) {
    const auto* y = b.as<bool>();
    return y && *x == *y;
  }
  return false;
}

IndexValue IndexEvaluator::matched(const Expression& e) {
  const IndexValue subject = evaluate(e.operands[0]);
  const auto* text = subject.as<std::string>();
  if (!text) throw Undecided{};
  for (std::size_t k = 0; k < e.arms.size(); ++k) {
    if (e.arms[k].data() == nullptr || e.arms[k] == *text) return evaluate(e.operands[k + 1]);
  }
  throw Undecided{};
}

}  // namespace touchstone
