// Reductions of index programs, and reads of lists and tensors.
#include "reference/lists.h"
#include "reference/shapes/index_evaluator.h"

namespace touchstone {
namespace {

constexpr Index max_terms = 64;

}  // namespace

// Visits the points of the binders from `binder` on; false if `visit` ended it.
bool IndexEvaluator::each_point(const Expression& e, std::size_t binder,
                                const std::function<bool()>& visit) {
  if (binder == e.binders.size()) return visit();
  const Expression::Binder& of = e.binders[binder];
  IndexValue& slot = slots_[static_cast<std::size_t>(of.slot)];
  if (of.is == IndexBinder::range) {
    const Index low = constant(evaluate(of.bounds[0])), high = constant(evaluate(of.bounds[1]));
    for (Index k = low; k < high; ++k) {
      slot = {SymbolicInteger(k)};
      if (!each_point(e, binder + 1, visit)) return false;
    }
    return true;
  }
  if (of.is == IndexBinder::family) {
    for (auto k = static_cast<std::size_t>(of.input); k < inputs_.size(); ++k) {
      slot = {input_tensor(static_cast<Index>(k))};
      if (!each_point(e, binder + 1, visit)) return false;
    }
    return true;
  }
  Shape extents;
  const IndexValue bounds = evaluate(of.bounds[0]);
  for (const IndexValue& extent : list(bounds)) extents.push_back(constant(extent));
  for (const IndexVector& point : Box(extents)) {
    if (--steps_ < 0) throw Undecided{};
    IndexList items;
    for (const Index at : point) items.push_back({SymbolicInteger(at)});
    slot = IndexValue::list(std::move(items));
    if (!each_point(e, binder + 1, visit)) return false;
  }
  return true;
}

IndexValue IndexEvaluator::reduction(const Expression& e) {
  const auto op = static_cast<IndexReduction>(e.number);
  const bool of_predicate = op == IndexReduction::any || op == IndexReduction::all;
  IndexList terms;
  bool found = false;
  each_point(e, 0, [&] {
    if (e.operands[0] && !predicate(evaluate(e.operands[0]))) return true;
    if (of_predicate) {
      found = predicate(evaluate(e.operands[1])) == (op == IndexReduction::any);
      return !found;
    }
    bool is_left_out = false;
    IndexValue term = e.operands[1].is == IndexOperation::element_or_none
                          ? read(e.operands[1], true, &is_left_out)
                          : evaluate(e.operands[1]);
    if (!is_left_out) terms.push_back(std::move(term));
    if (std::ssize(terms) > max_terms) throw Undecided{};
    return true;
  });
  if (of_predicate) return {found == (op == IndexReduction::any)};
  return reduced(op, terms);
}

IndexValue IndexEvaluator::reduced(IndexReduction op, const IndexList& terms) {
  const bool real = std::any_of(terms.begin(), terms.end(), [](const IndexValue& term) {
    return term.as<SymbolicReal>() != nullptr;
  });
  if (op == IndexReduction::count) {
    Index count = 0;
    for (const IndexValue& term : terms) count += predicate(term) ? 1 : 0;
    return {SymbolicInteger(count)};
  }
  if (op == IndexReduction::min || op == IndexReduction::max) {
    if (terms.empty()) throw Undecided{};
    return extreme(op == IndexReduction::max, terms);
  }
  if (real && terms.size() == 1) return terms[0];
  if (real) throw Undecided{};  // the kernel has an order of its own
  SymbolicInteger total = op == IndexReduction::sum ? 0 : 1;
  for (const IndexValue& term : terms) {
    total = op == IndexReduction::sum ? symbols_.add(total, integer(term))
                                      : symbols_.multiply(total, integer(term));
  }
  return {total};
}

IndexValue IndexEvaluator::extreme(bool most, const IndexList& items) {
  IndexValue best = items[0];
  for (std::size_t k = 1; k < items.size(); ++k) best = extreme(most, best, items[k]);
  return best;
}

IndexValue IndexEvaluator::extreme(bool most, const IndexValue& a, const IndexValue& b) {
  if (const auto* x = a.as<SymbolicReal>()) {
    const auto* y = b.as<SymbolicReal>();
    if (!y || x->hint() != x->hint() || y->hint() != y->hint()) throw Undecided{};
    const auto type = [](const SymbolicReal* of) {
      return of->operation() ? of->operation()->type : Type::undefined;
    };
    const Type of = type(x) == Type::undefined ? type(y) : type(x);
    return {symbols_.real(most ? RealOperator::maximum : RealOperator::minimum,
                          of == Type::undefined ? Type::float64 : of, {*x, *y})};
  }
  return {most ? symbols_.maximum({integer(a), integer(b)})
               : symbols_.minimum({integer(a), integer(b)})};
}

// -- reads

IndexValue IndexEvaluator::item(const IndexValue& of, const IndexValue& at) {
  const Index k = constant(at);
  if (const auto* family = of.as<IndexTensors>()) {
    if (k < 0 || k >= std::ssize(*family)) throw Undecided{};
    return {(*family)[static_cast<std::size_t>(k)]};
  }
  const IndexList& items = list(of);
  if (k < 0 || k >= std::ssize(items)) throw Undecided{};
  return items[static_cast<std::size_t>(k)];
}

// `or_none`: a place outside leaves the term out.
IndexValue IndexEvaluator::read(const Expression& e, bool or_none, bool* is_left_out) {
  const Expression& base = e.operands[0];
  const bool has_other = e.is == IndexOperation::element_or;
  const std::span<const Expression> places(e.operands.data() + 1,
                                           e.operands.size() - (has_other ? 2 : 1));
  const bool of_own = base.is == IndexOperation::buffer || base.is == IndexOperation::output;
  const TensorPointer from = of_own ? nullptr : tensor(evaluate(base));
  const IndexList at = laid_out(places);
  if (has_other || or_none) {
    if (of_own) throw Undecided{};
    const std::vector<SymbolicInteger>& extents = dims(*from);
    if (extents.size() != at.size()) throw Undecided{};
    for (std::size_t d = 0; d < at.size(); ++d) {
      const SymbolicInteger place = integer(at[d]);
      if (!symbols_.less(place, 0) && symbols_.less(place, extents[d])) continue;
      if (or_none) {
        *is_left_out = true;
        return {};
      }
      return evaluate(e.operands.back());
    }
  }
  std::vector<Index> point;
  for (const IndexValue& place : at) point.push_back(constant(place));
  if (of_own) return defined(base.is == IndexOperation::output, base.number, 0, point);
  const std::vector<SymbolicInteger>& extents = dims(*from);
  if (extents.size() != point.size()) throw Undecided{};
  for (std::size_t d = 0; d < point.size(); ++d) {
    if (point[d] < 0 || symbols_.less(extents[d], point[d] + 1)) throw Undecided{};
  }
  return from->element(point);
}

}  // namespace touchstone
