// Plans data movement that a node's role describes: inputs stay contiguous, dimensions are
// permuted, or each dimension is read separately. The reference kernel then runs per dimension, on
// as many elements as the dimension is long, instead of on all elements.
#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "optimized/plan/copies.h"
#include "optimized/problems/collapse.h"
#include "optimized/registry/registry.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

CopiedOutput output_of(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  CopiedOutput output;
  output.shape = *graph.value(fact.outputs[0]).shape;
  return output;
}

std::optional<CopiedOutput> joined(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  CopiedOutput output = output_of(graph, fact);
  const Index rank = output.shape.size();
  Index axis = fact.attributes().integer("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  const Index outer = count(head(output.shape, axis)), row = count(tail(output.shape, axis));
  Index source = 0, to = 0;
  for (const Index input : fact.inputs) {
    if (input == no_value) return std::nullopt;
    const Shape& from = *graph.value(input).shape;
    if (from.size() != rank || head(from, axis) != head(output.shape, axis)) return std::nullopt;
    const Index own = count(tail(from, axis));
    if (own > 0)
      output.parts.push_back({*copy_of_strides({outer, own}, {own, 1}, {row, 1}), source, 0, to});
    ++source;
    to += own;
  }
  return to == row ? std::optional(std::move(output)) : std::nullopt;
}

// Runs the node on an input of this shape. Returns nullopt if no input element appears in the
// output, or on an error.
std::optional<Tensor> answer(const AnalyzedGraph& graph, const AnalyzedNode& fact,
                             const Shape& shape) {
  try {
    Tensor names = run_on_names(graph, fact, 0, &shape)[0].tensor();
    const auto all = static_cast<double>(count(shape));
    const double* const data = names.data<double>();
    const bool any = std::any_of(data, data + names.size(),
                                 [&](double name) { return name > 0 && name <= all; });
    return any && names.shape().size() == shape.size() ? std::optional(std::move(names))
                                                       : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<CopiedOutput> permuted(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  CopiedOutput output = output_of(graph, fact);
  const Shape& from = *graph.value(fact.inputs[0]).shape;
  const Index rank = from.size();
  const IndexVector strides = dense_strides(from);
  IndexVector by(rank, 0);
  std::vector<bool> found(static_cast<std::size_t>(rank), false);
  for (Index d = 0; d < rank; ++d) {
    Shape two(rank, 1);
    two[d] = 2;
    const std::optional<Tensor> names = answer(graph, fact, two);
    if (!names || names->size() != 2) return std::nullopt;
    const Shape& made = names->shape();
    const Index at = std::find(made.begin(), made.end(), 2) - made.begin();
    if (at == rank || found[static_cast<std::size_t>(at)] || output.shape[at] != from[d])
      return std::nullopt;
    found[static_cast<std::size_t>(at)] = true;
    by[at] = strides[d];
  }
  const std::optional<StridedCopy> move =
      copy_of_strides(output.shape, by, dense_strides(output.shape));
  if (!move) return std::nullopt;
  output.parts = {{*move, 0, 0, 0}};
  return output;
}

// Maps an output index along a dimension to the input's; -1 if the output is filled there.
using Table = std::vector<Index>;

class Dimensions {
 public:
  Dimensions(const AnalyzedGraph& graph, const AnalyzedNode& fact)
      : graph_(graph),
        fact_(fact),
        from_(*graph.value(fact.inputs[0]).shape),
        output_(output_of(graph, fact)) {}

  std::optional<CopiedOutput> go() {
    if (from_.size() != output_.shape.size() || !find_small()) return std::nullopt;
    for (Index d = 0; d < from_.size(); ++d) {
      if (!tell(d)) return std::nullopt;
    }
    if (!by_probed_strides()) by_names();
    return std::move(output_);
  }

 private:
  // Finds a small input shape for which some input element appears in the output.
  bool find_small() {
    small_ = Shape(from_.size(), 1);
    if ((told_small_ = answer(graph_, fact_, small_))) return true;
    Index low = 1, high = 2;
    for (; !answer(graph_, fact_, grown(high)); high *= 2) {
      if (grown(high) == grown(2 * high)) return false;
      low = high;
    }
    while (high - low > 1) {
      const Index middle = low + (high - low) / 2;
      (answer(graph_, fact_, grown(middle)) ? high : low) = middle;
    }
    small_ = grown(high);
    told_small_ = answer(graph_, fact_, small_);
    return true;
  }
  Shape grown(Index size) const {
    Shape shape(from_.size(), 1);
    for (Index d = 0; d < shape.size(); ++d) {
      if (from_[d] != output_.shape[d]) shape[d] = std::min(size, from_[d]);
    }
    return shape;
  }

  bool tell(Index d) {
    constexpr Index some = 3;
    const Index size = from_[d];
    std::optional<Table> table;
    if (size == output_.shape[d] && size > some && table_of(d, some) == in_order(some)) {
      table = in_order(size);
    } else {
      table = table_of(d, size);
    }
    if (!table || static_cast<Index>(table->size()) != output_.shape[d]) return false;
    tables_.push_back(*std::move(table));
    return true;
  }
  static Table in_order(Index size) {
    Table table(static_cast<std::size_t>(size));
    std::iota(table.begin(), table.end(), Index{0});
    return table;
  }

  // Reads the table of dimension d, with `size` there, along a line of the output that holds an
  // input element.
  std::optional<Table> table_of(Index d, Index size) {
    Shape asked = small_;
    asked[d] = size;
    const std::optional<Tensor> names =
        asked == small_ ? told_small_ : answer(graph_, fact_, asked);
    if (!names) return std::nullopt;
    const Index all = count(asked), step = dense_strides(names->shape())[d];
    const Index stride = dense_strides(asked)[d], length = names->shape()[d];
    const double* const data = names->data<double>();
    Index first = 0;
    while (!(data[first] > 0 && data[first] <= static_cast<double>(all))) ++first;
    const Index line = first - first / step % length * step;
    const auto at = [&](Index name) { return (name - 1) / stride % size; };
    const auto beside = [&](Index name) { return name - 1 - at(name) * stride; };
    const Index base = beside(static_cast<Index>(data[first]));
    Table table;
    for (Index k = 0; k < length; ++k) {
      const auto name = static_cast<Index>(data[line + k * step]);
      const bool inside = name > 0 && name <= all;
      if (inside ? beside(name) != base : !fills(name == 0 ? zero_fill : name - all))
        return std::nullopt;
      table.push_back(inside ? at(name) : -1);
    }
    return table;
  }
  bool fills(Index source) {
    if (source != zero_fill && source != 1) return false;
    if (output_.filled && output_.fill != source) return false;
    output_.filled = true;
    output_.fill = source;
    return true;
  }

  // Describes the output as one strided copy, if all that is not filled is a box read with constant
  // strides.
  bool by_probed_strides() {
    const IndexVector strides = dense_strides(from_), places = dense_strides(output_.shape);
    CopiedPart part;
    part.source = 0;
    Shape extents;
    IndexVector by, to;
    for (Index d = 0; d < from_.size(); ++d) {
      const Table& table = tables_[static_cast<std::size_t>(d)];
      const auto inside = [](Index k) { return k >= 0; };
      const auto first = std::find_if(table.begin(), table.end(), inside);
      const auto end = std::find_if(table.rbegin(), table.rend(), inside).base();
      const Index step = end - first > 1 ? first[1] - first[0] : 0;
      for (auto at = first; at + 1 < end; ++at) {
        if (at[1] < 0 || at[1] - at[0] != step) return false;
      }
      part.from += *first * strides[d];
      part.to += (first - table.begin()) * places[d];
      extents.push_back(end - first);
      by.push_back(step * strides[d]);
      to.push_back(places[d]);
    }
    const std::optional<StridedCopy> move = copy_of_strides(extents, by, to);
    if (!move) return false;
    part.move = *move;
    output_.parts = {part};
    return true;
  }

  void by_names() {
    const ElementNames known(graph_, fact_);
    const Index fill = output_.fill == zero_fill ? 0 : known.first[1];
    const IndexVector strides = dense_strides(from_);
    std::vector<std::int64_t> names{1};  // element names over the dimensions so far
    for (Index d = 0; d < from_.size(); ++d) {
      std::vector<std::int64_t> more;
      more.reserve(names.size() * static_cast<std::size_t>(output_.shape[d]));
      for (const std::int64_t name : names) {
        for (const Index k : tables_[static_cast<std::size_t>(d)])
          more.push_back(name == 0 || k < 0 ? 0 : name + k * strides[d]);
      }
      names = std::move(more);
    }
    std::replace(names.begin(), names.end(), std::int64_t{0}, static_cast<std::int64_t>(fill));
    output_.filled = false;
    describe(output_, names.data(), known);
  }

  const AnalyzedGraph& graph_;
  const AnalyzedNode& fact_;
  const Shape from_;
  CopiedOutput output_;
  Shape small_;
  std::optional<Tensor> told_small_;
  std::vector<Table> tables_;
};

}  // namespace

std::optional<CopiedOutput> inferred_copy(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  if (fact.outputs.size() != 1) return std::nullopt;
  switch (operator_kind(*fact.node->signature)) {
    case OperatorKind::concat:
      return joined(graph, fact);
    case OperatorKind::transpose:
      return permuted(graph, fact);
    case OperatorKind::per_dimension:
      return Dimensions(graph, fact).go();
    default:
      return std::nullopt;
  }
}

}  // namespace touchstone::optimized
