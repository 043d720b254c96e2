// Evaluates the index program of a node over symbols: the sizes of its outputs, and the elements of
// small ones.
#pragma once

#include <utility>

#include "model/graph.h"
#include "reference/shapes/index_program.h"
#include "reference/shapes/index_value.h"
#include "reference/shapes/symbols.h"

namespace touchstone {

// An input of a node as far as it is known.
struct IndexInput {
  bool given = false;
  Type type = Type::undefined;
  const Shape* shape = nullptr;              // its sizes, if they are constants
  const Tensor* tensor = nullptr;            // its elements, if they are constants
  const SymbolicTensor* symbolic = nullptr;  // instead of both
};

// One node's call. All functions throw Undecided where symbols do not decide.
class IndexEvaluator {
 public:
  // Keeps references to all arguments. `output_types` are those of the node's outputs.
  IndexEvaluator(SymbolTable& symbols, const IndexProgram& program, const Node& node,
                 std::span<const IndexInput> inputs, std::span<const Type> output_types);

  // Sizes of the node's output `k`.
  std::vector<SymbolicInteger> sizes(std::size_t k);
  SymbolicElement element(std::size_t k, std::span<const Index> point);
  Index work() const { return work_; }  // number of expressions evaluated so far

 private:
  // Sets a member until the scope ends, also by an exception.
  template <class T>
  class Scoped {
   public:
    Scoped(T& member, T value) : member_(member), before_(std::exchange(member, value)) {}
    ~Scoped() { member_ = before_; }
    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;

   private:
    T& member_;
    const T before_;
  };

  friend class IndexFunctions;
  using Expression = IndexExpression;
  using TensorPointer = std::shared_ptr<const IndexTensor>;

  struct Output {
    std::size_t parameter, within;  // output of the version, and tensor of a variadic one
  };
  Output output(std::size_t k) const;
  TensorPointer tensor_of(const IndexInput& input) const;
  TensorPointer input_tensor(Index parameter);
  Type type_of(const IndexType& of) const;
  Type constraint_type(std::size_t k) const;

  // Statements.
  const IndexStatement* definition(const std::vector<IndexStatement>& block, bool of_output,
                                   Index target);
  IndexValue defined(bool of_output, Index target, Index family, std::span<const Index> point);
  void bind(const IndexStatement& of, std::span<const Index> point);
  TensorPointer whole(Index output);

  // Expressions.
  IndexValue evaluate(const Expression& e);
  IndexValue evaluated(const Expression& e);
  IndexValue let(Index k);
  IndexValue attribute(Index k);
  IndexValue arithmetic(const Expression& e);
  IndexValue operated(IndexOperation op, const IndexValue& a, const IndexValue& b,
                      const Expression& e);
  IndexValue coerced(const IndexValue& value, const Expression& e);
  IndexValue converted(const IndexValue& value, Type to);
  IndexValue negated(const IndexValue& value, const Expression& e);
  bool compared(IndexOperation op, const IndexValue& a, const IndexValue& b);
  bool same(const IndexValue& a, const IndexValue& b);
  IndexValue conditional(const Expression& e);
  bool logical(const Expression& e);
  IndexValue matched(const Expression& e);
  IndexList laid_out(std::span<const Expression> parts);
  IndexValue comprehension(const Expression& e);
  IndexValue reduction(const Expression& e);
  bool each_point(const Expression& e, std::size_t binder, const std::function<bool()>& visit);
  IndexValue reduced(IndexReduction op, const IndexList& terms);
  IndexValue item(const IndexValue& list, const IndexValue& at);
  IndexValue read(const Expression& e, bool or_none, bool* is_left_out);
  IndexValue extreme(bool most, const IndexValue& a, const IndexValue& b);
  IndexValue extreme(bool most, const IndexList& items);  // at least one

  bool predicate(const IndexValue& value);
  SymbolicInteger integer(const IndexValue& value) const;
  Index constant(const IndexValue& value);
  Index constant(const SymbolicInteger& value);
  const IndexList& list(const IndexValue& value) const;
  const IndexList& list(IndexValue&& value) const = delete;  // its items would die with it
  TensorPointer tensor(const IndexValue& value) const;
  const std::vector<SymbolicInteger>& dims(const IndexTensor& of) const;
  Type real_type(const Expression& e) const;

  SymbolTable& symbols_;
  const IndexProgram& program_;
  const Node& node_;
  std::span<const IndexInput> inputs_;
  std::span<const Type> output_types_;
  IndexTensors tensors_;           // by input of the node, on first use
  std::vector<IndexValue> slots_;  // of binders
  std::vector<IndexValue> lets_;
  std::vector<const IndexStatement*> definitions_;  // of outputs (even) and buffers (odd)
  Index work_ = 0;
  Index steps_ = 0;          // left for this question
  int depth_ = 0;            // of expressions
  bool of_element_ = false;  // reals are computed in a type that the program does not say
};

}  // namespace touchstone
