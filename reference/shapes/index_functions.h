// Functions that index programs call: of tensors' shapes, of lists and of numbers.
#pragma once

#include "reference/shapes/index_evaluator.h"

namespace touchstone {

class IndexFunctions {
 public:
  explicit IndexFunctions(IndexEvaluator& evaluator)
      : of_(evaluator), symbols_(evaluator.symbols_) {}

  IndexValue called(const IndexExpression& e);
  // The items of `list` at `at` (an index or a list of them) replaced by `by`.
  IndexValue replaced(const IndexValue& list, const IndexValue& at, const IndexValue& by);
  // The integer nearest to a real, by `rounding`.
  SymbolicInteger rounded(RealOperator rounding, SymbolicReal of);
  // A point of a tensor of extents `from` in the view of extents `to`.
  std::vector<Index> viewed(std::span<const Index> point, const IndexList& from,
                            const IndexList& to);

 private:
  using TensorPointer = IndexEvaluator::TensorPointer;

  IndexValue of_tensor(IndexFunction name, const IndexExpression& e);
  IndexValue of_list(IndexFunction name, const IndexList& arguments);
  IndexValue of_numbers(IndexFunction name, const IndexExpression& e, const IndexList& arguments);
  IndexValue of_real(IndexFunction name, const IndexExpression& e, SymbolicReal x);
  IndexValue elements(const IndexTensor& of, bool as_reals);
  IndexValue type_of(const IndexValue& of);
  IndexValue steps(const IndexTensor& start, const IndexTensor& limit, const IndexTensor& delta);
  TensorPointer view(const TensorPointer& of, const IndexValue& shape);
  TensorPointer permuted(const TensorPointer& of, const IndexValue& order);
  IndexList fitted(const IndexList& point, std::size_t from, std::span<const SymbolicInteger> dims);
  std::vector<IndexList> shapes(const IndexList& arguments);
  IndexValue broadcast(const IndexList& arguments);
  bool broadcastable(const IndexList& arguments);
  SymbolicInteger met(SymbolicInteger x, SymbolicInteger y);
  IndexValue each(const IndexList& arguments,
                  const std::function<IndexValue(const IndexList&)>& apply);
  SymbolicInteger clamped(SymbolicInteger x, SymbolicInteger low, SymbolicInteger high);
  std::optional<SymbolicInteger> whole(SymbolicReal of);
  IndexValue subscripts(const IndexValue& equation, const IndexList& ranks);
  IndexList sizes_of(const IndexTensor& of);
  Index constant(const IndexValue& value) { return of_.constant(value); }

  IndexEvaluator& of_;
  SymbolTable& symbols_;
};

}  // namespace touchstone
