// NonZero and Compress: what holds is found first, which gives the output's size.
#include <algorithm>
#include <cstring>

#include "optimized/lowering/families.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

// Calls take(bits of an element, mask of those that make it differ from zero) for types that are
// compared by bits; returns false for others.
template <class F>
bool by_bits(const Tensor& x, F take) {
  const TypeFacts& kind = facts(x.type());
  const bool minus_zero = kind.is_float;
  const auto as = [&]<class U>() {
    take(x.data<U>(), static_cast<U>(minus_zero ? static_cast<U>(~U{0}) >> 1 : ~U{0}));
    return true;
  };
  if (kind.is_float && kind.bits < 16) return false;
  if (!kind.is_float && !kind.is_integer && x.type() != Type::boolean) return false;
  if (kind.bits == 8 || x.type() == Type::boolean) return as.template operator()<std::uint8_t>();
  if (kind.bits == 16) return as.template operator()<std::uint16_t>();
  if (kind.bits == 32) return as.template operator()<std::uint32_t>();
  return kind.bits == 64 && as.template operator()<std::uint64_t>();
}

class NonZero : public TensorStep {
 public:
  NonZero(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "non-zero";
    kernel_class = KernelClass::copy;
  }
  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Index rank = x.shape().size();
    if (rank == 0 || x.size() == 0) return run_on_reference(state);
    const bool known = by_bits(x, [&](const auto* from, auto mask) {
      Index found = 0;
      for (Index k = 0; k < x.size(); ++k) found += (from[k] & mask) != 0 ? 1 : 0;
      auto* const to =
          output(state, 0, Type::int64, Shape{rank, found}).template data<std::int64_t>();
      const Index columns = x.shape().back(), last = rank - 1;
      Index n = 0;
      for (Index row = 0; row < x.size() / columns; ++row) {
        const Index first = n;
        for (Index k = 0; k < columns; ++k) {
          if ((from[row * columns + k] & mask) != 0) to[last * found + n++] = k;
        }
        Index rest = row;
        for (Index d = last - 1; d >= 0 && n > first; rest /= x.shape()[d], --d)
          std::fill_n(to + d * found + first, n - first, rest % x.shape()[d]);
      }
    });
    if (!known) run_on_reference(state);
  }
};

class Compress : public TensorStep {
 public:
  Compress(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "compress";
    kernel_class = KernelClass::copy;
  }
  void run(RunState& state) override {
    const Tensor &x = input(state, 0), &condition = input(state, 1);
    const Facts given = fact().attributes();
    const Index rank = x.shape().size(), said = given.integer("axis");
    const bool flat = !given.given("axis");
    const int bits = x.type() == Type::string ? 0 : facts(x.type()).bits;
    if (bits < 8 || rank == 0 ||
        (!flat && (said < (given.signature().since < 11 ? 0 : -rank) || said >= rank)) ||
        condition.type() != Type::boolean || condition.shape().size() != 1)
      return run_on_reference(state);
    const Index axis = said < 0 ? said + rank : said, n = flat ? x.size() : x.shape()[axis];
    if (condition.size() > n) return run_on_reference(state);
    const auto* const holds = condition.data<std::uint8_t>();  // any byte but 0 is true
    const Index found = condition.size() - std::count(holds, holds + condition.size(), 0);
    const Shape shape = flat ? Shape{found} : Shape(replaced(x.shape(), axis, found));
    Tensor& y = output(state, 0, x.type(), shape);
    if (y.size() == 0) return;
    const Index outer = flat ? 1 : count(head(x.shape(), axis));
    const Index length = (flat ? 1 : count(tail(x.shape(), axis + 1))) * (bits / 8);
    std::byte* to = y.bytes().data();
    for (Index k = 0; k < outer; ++k) {
      const std::byte* const from = x.bytes().data() + k * n * length;
      for (Index i = 0; i < condition.size(); ++i) {
        if (holds[i] == 0) continue;
        std::memcpy(to, from + i * length, static_cast<std::size_t>(length));
        to += length;
      }
    }
  }
};

bool is(const AnalyzedGraph& graph, Index node, std::string_view op) {
  const Signature& signature = *graph.node(node).node->signature;
  return signature.domain.empty() && signature.op == op;
}

bool takes(const AnalyzedGraph& graph, Index node) {
  return is(graph, node, "NonZero") || is(graph, node, "Compress");
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  if (is(graph, node, "NonZero")) return std::make_unique<NonZero>(graph, node, std::move(buffers));
  return std::make_unique<Compress>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily nonzero_family{"non-zero", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
