// Functions of tensors that index programs call.
#include "reference/shapes/index_functions.h"

#include "reference/facts.h"

namespace touchstone {
namespace {

constexpr Index max_elements = 64;

IndexValue number(SymbolicInteger of) { return {of}; }

}  // namespace

IndexValue IndexFunctions::called(const IndexExpression& e) {
  if (e.is != IndexOperation::call) throw Undecided{};
  const auto name = static_cast<IndexFunction>(e.number);
  switch (name) {
    case IndexFunction::shape:
    case IndexFunction::rank:
    case IndexFunction::dim:
    case IndexFunction::value:
    case IndexFunction::reals:
    case IndexFunction::positions:
    case IndexFunction::steps:
    case IndexFunction::type_:
    case IndexFunction::view:
    case IndexFunction::permuted:
    case IndexFunction::size:
    case IndexFunction::fit:
    case IndexFunction::fit_from:
    case IndexFunction::ends:
    case IndexFunction::lower:
      return of_tensor(name, e);
    default:
      break;
  }
  IndexList arguments;
  for (const IndexExpression& operand : e.operands) arguments.push_back(of_.evaluate(operand));
  switch (name) {
    case IndexFunction::wrap:
    case IndexFunction::min:
    case IndexFunction::max:
    case IndexFunction::clamp:
    case IndexFunction::mod:
    case IndexFunction::reflect:
    case IndexFunction::ceil_div:
    case IndexFunction::floor_div:
      return each(arguments, [&](const IndexList& one) { return of_numbers(name, e, one); });
    case IndexFunction::real_:
    case IndexFunction::floor_index:
    case IndexFunction::ceil_index:
    case IndexFunction::index_:
    case IndexFunction::up_to:
    case IndexFunction::down_to:
    case IndexFunction::abs:
    case IndexFunction::floor:
    case IndexFunction::ceil:
    case IndexFunction::round_even:
    case IndexFunction::sqrt:
    case IndexFunction::reciprocal:
    case IndexFunction::mod_floor:
    case IndexFunction::maximum:
    case IndexFunction::minimum:
      return of_numbers(name, e, arguments);
    default:
      return of_list(name, arguments);
  }
}

// -- tensors

IndexList IndexFunctions::sizes_of(const IndexTensor& of) {
  IndexList sizes;
  for (const SymbolicInteger& size : of_.dims(of)) sizes.push_back(number(size));
  return sizes;
}

IndexValue IndexFunctions::of_tensor(IndexFunction name, const IndexExpression& e) {
  const IndexExpression& first = e.operands[0];
  // A list of the values of an input that is left out is empty.
  if ((name == IndexFunction::value || name == IndexFunction::reals) &&
      first.is == IndexOperation::input) {
    const auto k = static_cast<std::size_t>(first.number);
    if (k >= of_.inputs_.size() || !of_.inputs_[k].given) return IndexValue::list({});
  }
  if (name == IndexFunction::size && first.is == IndexOperation::output)
    return number(std::ssize(of_.node_.outputs) - first.number);
  const IndexValue of = of_.evaluate(first);
  const auto second = [&] { return of_.evaluate(e.operands[1]); };
  switch (name) {
    case IndexFunction::shape:
      return IndexValue::list(sizes_of(*of_.tensor(of)));
    case IndexFunction::rank:
      return number(std::ssize(of_.dims(*of_.tensor(of))));
    case IndexFunction::dim: {
      const IndexList sizes = sizes_of(*of_.tensor(of));
      const Index k = constant(second());
      return of_.item(IndexValue::list(sizes), number(k < 0 ? k + std::ssize(sizes) : k));
    }
    case IndexFunction::value:
      return elements(*of_.tensor(of), e.sort == IndexSort::reals);
    case IndexFunction::reals:
      return elements(*of_.tensor(of), true);
    case IndexFunction::positions: {
      const IndexValue values = elements(*of_.tensor(of), false);
      IndexList found;
      for (Index k = 0; const IndexValue& value : of_.list(values)) {
        if (of_.predicate(value)) found.push_back(number(k));
        ++k;
      }
      return IndexValue::list(std::move(found));
    }
    case IndexFunction::steps:
      return steps(*of_.tensor(of), *of_.tensor(second()),
                   *of_.tensor(of_.evaluate(e.operands[2])));
    case IndexFunction::type_:
      return type_of(of);
    case IndexFunction::view:
      return {view(of_.tensor(of), second())};
    case IndexFunction::permuted:
      return {permuted(of_.tensor(of), second())};
    case IndexFunction::size:
      if (const auto* family = of.as<IndexTensors>()) return number(std::ssize(*family));
      return number(std::ssize(of_.list(of)));
    case IndexFunction::fit: {
      const IndexList& point = of_.list(of);
      const TensorPointer tensor = of_.tensor(second());
      std::span<const SymbolicInteger> dims(of_.dims(*tensor));
      const Index kept = e.operands.size() > 2 ? constant(of_.evaluate(e.operands[2])) : 0;
      const Index rank = std::max<Index>(std::ssize(dims) - kept, 0);
      if (rank > std::ssize(point)) throw Undecided{};
      return IndexValue::list(fitted(point, point.size() - static_cast<std::size_t>(rank),
                                     dims.first(static_cast<std::size_t>(rank))));
    }
    case IndexFunction::fit_from: {
      const TensorPointer tensor = of_.tensor(second());
      const Index from = constant(of_.evaluate(e.operands[2]));
      return IndexValue::list(
          fitted(of_.list(of), static_cast<std::size_t>(from), of_.dims(*tensor)));
    }
    case IndexFunction::ends: {
      const auto* family = of.as<IndexTensors>();
      if (!family) throw Undecided{};
      IndexList all;
      SymbolicInteger end = 0;
      for (const TensorPointer& tensor : *family) {
        const Index axis = constant(second()), rank = std::ssize(of_.dims(*tensor));
        const Index k = axis < 0 ? axis + rank : axis;
        if (k < 0 || k >= rank) throw Undecided{};
        end = symbols_.add(end, tensor->sizes[static_cast<std::size_t>(k)]);
        all.push_back(number(end));
      }
      return IndexValue::list(std::move(all));
    }
    case IndexFunction::lower:
      if (const auto* text = of.as<std::string>()) return {lower(*text)};
      throw Undecided{};
    default:
      throw Undecided{};
  }
}

IndexValue IndexFunctions::elements(const IndexTensor& of, bool as_reals) {
  Shape extents;
  Index count = 1;
  for (const SymbolicInteger& size : of_.dims(of)) {
    extents.push_back(constant(number(size)));
    if (__builtin_mul_overflow(count, extents.back(), &count) || count > max_elements)
      throw Undecided{};
  }
  IndexList all;
  for (const IndexVector& point : Box(extents)) {
    IndexValue one = of.element(std::span(point.begin(), point.end()));
    if (as_reals) {
      const auto* real = one.as<SymbolicReal>();
      if (!real) throw Undecided{};
      one = {symbols_.real(RealOperator::convert, Type::float32, {*real})};
    } else if (const auto* known = one.as<bool>()) {
      one = number(*known ? 1 : 0);
    } else if (const auto* real = one.as<SymbolicReal>()) {
      one = number(rounded(RealOperator::truncate, *real));
    }
    all.push_back(std::move(one));
  }
  return IndexValue::list(std::move(all));
}

IndexValue IndexFunctions::type_of(const IndexValue& of) {
  if (const auto* tensor = of.as<TensorPointer>()) return {(*tensor)->type};
  try {
    if (const auto* text = of.as<std::string>()) return {type_called(*text)};
    return {type_called(constant(of))};
  } catch (const Error&) {
    throw Undecided{};
  }
}

// Number of elements of a range.
IndexValue IndexFunctions::steps(const IndexTensor& start, const IndexTensor& limit,
                                 const IndexTensor& delta) {
  const auto the_number = [&](const IndexTensor& of) {
    return of.element(std::vector<Index>(of_.dims(of).size(), 0));
  };
  const IndexValue from = the_number(start), to = the_number(limit), by = the_number(delta);
  if (from.as<SymbolicReal>()) {
    const auto *a = from.as<SymbolicReal>(), *b = to.as<SymbolicReal>(), *c = by.as<SymbolicReal>();
    if (!b || !c) throw Undecided{};
    const SymbolicReal turns =
        symbols_.real(RealOperator::divide, Type::float64,
                      {symbols_.real(RealOperator::subtract, Type::float64, {*b, *a}), *c});
    return number(symbols_.maximum({0, rounded(RealOperator::ceil, turns)}));
  }
  const SymbolicInteger gap = symbols_.subtract(of_.integer(to), of_.integer(from));
  const SymbolicInteger step = of_.integer(by);
  if (symbols_.equal(step, 0)) throw Undecided{};
  return number(symbols_.maximum({0, symbols_.ceil_div(gap, step)}));
}

std::vector<Index> IndexFunctions::viewed(std::span<const Index> point, const IndexList& from,
                                          const IndexList& to) {
  Index at = 0;
  if (from.size() != point.size()) throw Undecided{};
  for (std::size_t d = 0; d < point.size(); ++d) at = at * constant(from[d]) + point[d];
  std::vector<Index> seen(to.size());
  for (std::size_t d = to.size(); d-- > 0;) {
    const Index size = constant(to[d]);
    if (size <= 0) throw Undecided{};
    seen[d] = at % size;
    at /= size;
  }
  return seen;
}

IndexFunctions::TensorPointer IndexFunctions::view(const TensorPointer& of,
                                                   const IndexValue& shape) {
  const IndexList& sizes = of_.list(shape);
  auto made = std::make_shared<IndexTensor>();
  made->type = of->type;
  made->has_rank = true;
  for (const IndexValue& size : sizes) made->sizes.push_back(of_.integer(size));
  made->element = [&evaluator = of_, of, sizes](std::span<const Index> point) {
    IndexFunctions functions(evaluator);
    return of->element(functions.viewed(point, sizes, functions.sizes_of(*of)));
  };
  return made;
}

IndexFunctions::TensorPointer IndexFunctions::permuted(const TensorPointer& of,
                                                       const IndexValue& order) {
  auto made = std::make_shared<IndexTensor>();
  made->type = of->type;
  made->has_rank = true;
  const std::vector<SymbolicInteger>& dims = of_.dims(*of);
  std::vector<std::size_t> from;
  for (const IndexValue& axis : of_.list(order)) {
    const Index k = constant(axis);
    if (k < 0 || k >= std::ssize(dims)) throw Undecided{};
    from.push_back(static_cast<std::size_t>(k));
    made->sizes.push_back(dims[from.back()]);
  }
  if (from.size() != dims.size()) throw Undecided{};
  made->element = [of, from](std::span<const Index> point) {
    std::vector<Index> source(point.size());
    for (std::size_t d = 0; d < point.size(); ++d) source[from[d]] = point[d];
    return of->element(source);
  };
  return made;
}

// -- points that broadcast

IndexList IndexFunctions::fitted(const IndexList& point, std::size_t from,
                                 std::span<const SymbolicInteger> dims) {
  IndexList all;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (from + d >= point.size()) throw Undecided{};
    const SymbolicInteger at = of_.integer(point[from + d]);
    const bool first = at == SymbolicInteger(0) || symbols_.equal(dims[d], 1);
    all.push_back(number(first ? SymbolicInteger(0) : at));
  }
  return all;
}

}  // namespace touchstone
