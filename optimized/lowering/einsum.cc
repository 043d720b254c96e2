// Einsum of three operands or more as a chain of products of two, the cheapest one first.
#include "optimized/lowering/einsum.h"

#include <algorithm>
#include <cmath>

#include "core/budget.h"
#include "core/checked.h"
#include "core/error.h"
#include "optimized/lowering/contraction.h"
#include "optimized/lowering/kept_memory.h"
#include "optimized/lowering/moves.h"
#include "optimized/lowering/number_products.h"
#include "optimized/registry/isa.h"
#include "reference/lists.h"

namespace touchstone::optimized {

std::optional<EinsumLabels> einsum_labels(std::string_view equation,
                                          const std::vector<const Shape*>& shapes) {
  IndexVector ranks, labels;
  for (const Shape* const shape : shapes) ranks.push_back(shape->size());
  try {
    labels = subscripts(equation, ranks);
  } catch (const Error&) {
    return std::nullopt;  // the reference tells which rule the equation breaks
  }
  EinsumLabels made;
  Index read = 0, known = 0;
  for (const Index rank : ranks) read += rank;
  for (const Index label : labels) known = std::max(known, label + 1);
  made.kept = labels.size() - read;
  if (known < made.kept) return std::nullopt;
  made.extents = IndexVector(known, 1);
  Index at = 0;
  for (const Shape* const shape : shapes) {
    for (const Index extent : *shape) {
      Index& joint = made.extents[labels[at++]];
      joint = joint == 0 || extent == 0 ? 0 : std::max(joint, extent);
    }
  }
  at = 0;
  for (const Shape* const shape : shapes) {
    const IndexVector steps = dense_strides(*shape);
    IndexVector& strides = made.strides.emplace_back(known, 0);
    IndexVector seen(known, -1);
    for (Index d = 0; d < shape->size(); ++d) {
      const Index label = labels[at++], extent = (*shape)[d];
      if (extent != 1 && extent != made.extents[label]) return std::nullopt;
      if (seen[label] >= 0 && seen[label] != extent) return std::nullopt;
      seen[label] = extent;
      if (extent != 1) strides[label] += steps[d];
    }
  }
  return made;
}

namespace {

// An input of the node, or the product of an earlier link.
struct Operand {
  IndexVector strides;  // by label
  Index source = 0;     // below the number of inputs: an input; else a link

  bool has(Index label) const { return strides[label] != 0; }
};

// Product of two operands, dense in the order of its kept labels.
struct Link {
  Index a = 0, b = 0;  // sources
  Contraction product;
};

class Chain {
 public:
  explicit Chain(EinsumLabels of) : shape(head(of.extents, of.kept)), of_(std::move(of)) {
    if (count(of_.extents) == 0) return;  // sums of nothing
    for (std::size_t k = 0; k < of_.strides.size(); ++k)
      operands_.push_back({of_.strides[k], static_cast<Index>(k)});
    while (operands_.size() > 1) join_cheapest();
  }

  Shape shape;  // of the result
  std::vector<Link> links;
  double products = 0;  // multiplications of all links

 private:
  bool is_needed(Index label, std::size_t a, std::size_t b) const {
    if (label < of_.kept) return true;
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      if (k != a && k != b && operands_[k].has(label)) return true;
    }
    return false;
  }
  double cost(std::size_t a, std::size_t b) const {
    double cost = 1;
    for (Index label = 0; label < of_.extents.size(); ++label) {
      if (operands_[a].has(label) || operands_[b].has(label))
        cost *= static_cast<double>(of_.extents[label]);
    }
    return cost;
  }

  void join_cheapest() {
    std::size_t first = 0, second = 1;
    double least = HUGE_VAL;
    for (std::size_t a = 0; a < operands_.size(); ++a) {
      for (std::size_t b = a + 1; b < operands_.size(); ++b) {
        if (const double now = cost(a, b); now < least) least = now, first = a, second = b;
      }
    }
    products += least;
    join(first, second);
  }

  void join(std::size_t a, std::size_t b) {
    const Operand &x = operands_[a], &y = operands_[b];
    Link link{x.source, y.source, {}};
    IndexVector kept;
    const bool is_last = operands_.size() == 2;
    for (Index label = 0; label < of_.extents.size(); ++label) {
      const bool is_present = x.has(label) || y.has(label);
      const bool is_kept = is_last ? label < of_.kept : is_present && is_needed(label, a, b);
      if (is_kept) kept.push_back(label);
      if (!is_kept && !is_present) continue;
      (is_kept ? link.product.kept : link.product.summed).push_back(of_.extents[label]);
      for (const auto& [operand, to] : {std::pair{&x, &link.product.a}, {&y, &link.product.b}})
        (is_kept ? to->kept : to->summed).push_back(operand->strides[label]);
    }
    Operand made{IndexVector(of_.extents.size(), 0),
                 static_cast<Index>(of_.strides.size() + links.size())};
    const IndexVector dense = dense_strides(link.product.kept);
    for (Index k = 0; k < kept.size(); ++k) {
      if (of_.extents[kept[k]] != 1) made.strides[kept[k]] = dense[k];
    }
    links.push_back(std::move(link));
    operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(b));
    operands_[a] = std::move(made);
  }

  EinsumLabels of_;
  std::vector<Operand> operands_;
};

template <class T>
bool all_finite(const Tensor& tensor) {
  return std::all_of(tensor.data<T>(), tensor.data<T>() + tensor.size(),
                     [](T x) { return std::isfinite(x); });
}
bool is_finite(const Tensor& tensor) {
  if (tensor.type() == Type::float32) return all_finite<float>(tensor);
  return tensor.type() != Type::float64 || all_finite<double>(tensor);
}

class EinsumChain : public TensorStep {
 public:
  EinsumChain(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        type_(element_of(graph, node, 0)),
        equation_(fact().attributes().text("equation")),
        contractors_(fact().inputs.size() - 1),
        between_(fact().inputs.size() - 2) {
    kernel = "contraction chain " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::dynamic_matmul;
  }

  void run(RunState& state) override {
    if (!is_described(state) && !describe(state)) return run_on_reference(state);
    const Chain& chain = *chain_;
    Tensor& made = output(state, 0, type_, chain.shape);
    if (chain.links.empty()) {
      std::fill(made.bytes().begin(), made.bytes().end(), std::byte{});
      return;
    }
    charge_work(static_cast<Index>(std::min(chain.products, 1e18)));
    std::vector<const std::byte*> sources;
    for (std::size_t k = 0; k < shapes_.size(); ++k)
      sources.push_back(input(state, k).bytes().data());
    for (std::size_t k = 0; k < chain.links.size(); ++k) {
      const Link& link = chain.links[k];
      std::byte* const to =
          k + 1 == chain.links.size()
              ? made.bytes().data()
              : between_[k].at<std::byte>(multiply(count(link.product.kept), bytes_of(type_)));
      product(state, k, link.product, sources[static_cast<std::size_t>(link.a)],
              sources[static_cast<std::size_t>(link.b)], to);
      sources.push_back(to);
    }
    // A sum between two products may overflow where none of the definition does, and misses the NaN
    // of zero times infinity.
    if (!is_finite(made)) run_on_reference(state);
  }

 private:
  // True if the inputs have the shapes of the chain.
  bool is_described(const RunState& state) const {
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (input(state, k).shape() != shapes_[k]) return false;
    }
    return chain_.has_value();
  }
  bool describe(const RunState& state) {
    chain_.reset();
    shapes_.clear();
    std::vector<const Shape*> shapes;
    for (std::size_t k = 0; k < fact().inputs.size(); ++k)
      shapes.push_back(&input(state, k).shape());
    std::optional<EinsumLabels> labels = einsum_labels(equation_, shapes);
    if (!labels) return false;
    for (const Shape* const shape : shapes) shapes_.push_back(*shape);
    chain_.emplace(std::move(*labels));
    return true;
  }

  void product(RunState& state, std::size_t k, const Contraction& of, const std::byte* a,
               const std::byte* b, std::byte* to) {
    if (type_ != Type::float32) return number_products(state, type_, of, a, b, to);
    contractors_[k].run(state, of, reinterpret_cast<const float*>(a),
                        reinterpret_cast<const float*>(b), reinterpret_cast<float*>(to));
  }

  const Type type_;
  const std::string equation_;
  std::vector<Shape> shapes_;  // of the inputs that the chain is for
  std::optional<Chain> chain_;
  std::vector<Contractor> contractors_;  // one a product
  std::vector<KeptMemory> between_;      // products that are factors of later ones
};

}  // namespace

std::unique_ptr<Step> einsum_chain_step(const AnalyzedGraph& graph, Index node,
                                        std::vector<Index> buffers) {
  return std::make_unique<EinsumChain>(graph, node, std::move(buffers));
}

}  // namespace touchstone::optimized
