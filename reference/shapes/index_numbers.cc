// Functions of numbers that index programs call.
#include <cmath>

#include "reference/shapes/index_functions.h"

namespace touchstone {
namespace {

constexpr Index max_float = Index{1} << 24, max_double = Index{1} << 53;  // exact integers

IndexValue number(SymbolicInteger of) { return {of}; }

}  // namespace

// Applies to each item of the lists among the arguments.
IndexValue IndexFunctions::each(const IndexList& arguments,
                                const std::function<IndexValue(const IndexList&)>& apply) {
  std::optional<std::size_t> count;
  for (const IndexValue& one : arguments) {
    const auto* items = one.as<std::shared_ptr<const IndexList>>();
    if (!items) continue;
    if (count && *count != (*items)->size()) throw Undecided{};
    count = (*items)->size();
  }
  if (!count) return apply(arguments);
  IndexList all;
  for (std::size_t k = 0; k < *count; ++k) {
    IndexList single;
    for (const IndexValue& one : arguments) {
      const auto* items = one.as<std::shared_ptr<const IndexList>>();
      single.push_back(items ? (**items)[k] : one);
    }
    all.push_back(apply(single));
  }
  return IndexValue::list(std::move(all));
}

SymbolicInteger IndexFunctions::clamped(SymbolicInteger x, SymbolicInteger low,
                                        SymbolicInteger high) {
  const std::optional<bool> below = symbols_.proved(Relation::less, x, low);
  if (below == true) return low;
  if (below == false) return symbols_.minimum({x, high});
  if (!symbols_.less(high, low)) return symbols_.maximum({low, symbols_.minimum({x, high})});
  return symbols_.less(x, low) ? low : symbols_.less(high, x) ? high : x;
}

IndexValue IndexFunctions::of_numbers(IndexFunction name, const IndexExpression& e,
                                      const IndexList& arguments) {
  if (arguments[0].as<SymbolicReal>() && name != IndexFunction::min && name != IndexFunction::max &&
      name != IndexFunction::minimum && name != IndexFunction::maximum)
    return of_real(name, e, *arguments[0].as<SymbolicReal>());
  const auto at = [&](std::size_t k) { return of_.integer(arguments[k]); };
  switch (name) {
    case IndexFunction::min:
    case IndexFunction::minimum:
      return of_.extreme(false, arguments);
    case IndexFunction::max:
    case IndexFunction::maximum:
      return of_.extreme(true, arguments);
    case IndexFunction::wrap:
      return number(symbols_.less(at(0), 0) ? symbols_.add(at(0), at(1)) : at(0));
    case IndexFunction::clamp:
      return number(clamped(at(0), at(1), at(2)));
    case IndexFunction::mod:
    case IndexFunction::mod_floor:
      return number(
          symbols_.subtract(at(0), symbols_.multiply(symbols_.floor_div(at(0), at(1)), at(1))));
    case IndexFunction::ceil_div:
      return number(symbols_.ceil_div(at(0), at(1)));
    case IndexFunction::floor_div:
      return number(symbols_.floor_div(at(0), at(1)));
    case IndexFunction::real_:
      return {symbols_.real_of(at(0), of_.real_type({.sort = IndexSort::real_}))};
    case IndexFunction::index_:
      if (arguments.size() == 1) return arguments[0];
      return number(symbols_.less(at(0), 0) ? symbols_.add(at(0), at(1)) : at(0));
    case IndexFunction::up_to:
    case IndexFunction::down_to:
    case IndexFunction::floor:
    case IndexFunction::ceil:
    case IndexFunction::round_even:
      return arguments[0];
    case IndexFunction::abs:
      return number(symbols_.less(at(0), 0) ? symbols_.negative(at(0)) : at(0));
    default:
      throw Undecided{};
  }
}

IndexValue IndexFunctions::of_real(IndexFunction name, const IndexExpression& e, SymbolicReal x) {
  const auto one = [&](RealOperator op) {
    return IndexValue{symbols_.real(op, of_.real_type(e), {x})};
  };
  switch (name) {
    case IndexFunction::floor_index:
      return number(rounded(RealOperator::floor, x));
    case IndexFunction::ceil_index:
      return number(rounded(RealOperator::ceil, x));
    case IndexFunction::real_:
      return {symbols_.real(RealOperator::convert, of_.real_type(e), {x})};
    case IndexFunction::floor:
      return one(RealOperator::floor);
    case IndexFunction::ceil:
      return one(RealOperator::ceil);
    case IndexFunction::round_even:
      return one(RealOperator::round_even);
    case IndexFunction::sqrt:
      return one(RealOperator::sqrt);
    case IndexFunction::reciprocal:
      return one(RealOperator::reciprocal);
    case IndexFunction::abs:
      return one(RealOperator::absolute);
    default:
      throw Undecided{};
  }
}

// The integer that a float computation gives without rounding, if it is one.
std::optional<SymbolicInteger> IndexFunctions::whole(SymbolicReal of) {
  if (const std::optional<double> number = of.constant()) {
    const bool exact = std::abs(*number) < 0x1p22 && *number == std::trunc(*number);
    return exact ? std::optional<SymbolicInteger>(static_cast<Index>(*number)) : std::nullopt;
  }
  const RealOperation& is = *of.operation();
  const Index most = is.type == Type::float32 ? max_float : max_double;
  std::vector<SymbolicInteger> parts;
  for (const SymbolicReal& operand : is.operands) {
    const std::optional<SymbolicInteger> part = whole(operand);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  SymbolicInteger result = 0;
  switch (is.is) {
    case RealOperator::of_integer:
      result = is.integer;
      break;
    case RealOperator::convert:
      result = parts[0];
      break;
    case RealOperator::add:
      result = symbols_.add(parts[0], parts[1]);
      break;
    case RealOperator::subtract:
      result = symbols_.subtract(parts[0], parts[1]);
      break;
    case RealOperator::multiply:
      result = symbols_.multiply(parts[0], parts[1]);
      break;
    default:
      return std::nullopt;
  }
  const bool exact = !symbols_.less(result, -most) && !symbols_.less(most, result);
  return exact ? std::optional(result) : std::nullopt;
}

SymbolicInteger IndexFunctions::rounded(RealOperator rounding, SymbolicReal of) {
  if (!of.constant()) {
    if (const std::optional<SymbolicInteger> exact = whole(of)) return *exact;
  }
  return symbols_.integer_of(rounding, of, of.operation() ? of.operation()->type : Type::float64);
}

}  // namespace touchstone
