// Pools of whole images in float32; GlobalLpPool of the norms 1 and 2.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/budget.h"
#include "optimized/kernels/pool_rows.h"
#include "optimized/lowering/families.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {

PoolRowKernel pool_rows_of(Isa isa) { return BY_ISA(isa, pool_rows); }

namespace {

float norm_of(const AnalyzedNode& fact) {
  const Facts facts = fact.attributes();
  return fact.node->signature->since < 2 ? facts.number("p", 2)
                                         : static_cast<float>(facts.integer("p", 2));
}

class WholePoolStep : public TensorStep {
 public:
  WholePoolStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        op_(fact().node->signature->op),
        row_(op_ == "GlobalMaxPool"       ? PoolRow::largest
             : op_ == "GlobalAveragePool" ? PoolRow::sum
             : norm_of(fact()) == 1       ? PoolRow::sum_of_magnitudes
                                          : PoolRow::sum_of_squares) {
    kernel = "pool of images " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::pool;
  }
  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    if (x.shape().size() < 3 || x.size() == 0) return run_on_reference(state);
    Shape made(x.shape().size(), 1);
    for (const Index d : {0, 1}) made[d] = x.shape()[d];
    float* const y = output(state, 0, Type::float32, made).data<float>();
    const Index channels = count(made), plane = x.size() / channels;
    const Index parts = std::min(channels, parts_for(state.pool.size()));
    const double work = static_cast<double>(x.size()) * nanoseconds_an_element;
    state.each(parts, work, [&](Index part, Index) {
      for (Index k = channels * part / parts; k < channels * (part + 1) / parts; ++k)
        y[k] = combined(x.data<float>() + k * plane, plane);
    });
  }

 private:
  void combine(PoolRow row, const float* from, float* to, Index count) const {
    const PoolTerm term{0, 0, count};
    kernel_(row, {&from, 1, count, &term, 1, 1}, to);
  }

  float combined(const float* from, Index count) const {
    constexpr Index width = 128;
    std::array<float, width> held;
    held.fill(row_ == PoolRow::largest ? -std::numeric_limits<float>::infinity() : 0);
    charge_work(count);
    for (Index at = 0; at < count; at += width)
      combine(row_, from + at, held.data(), std::min(width, count - at));
    // Powers are in the sums already.
    const PoolRow joins = row_ == PoolRow::largest ? row_ : PoolRow::sum;
    for (Index some = width / 2; some > 0; some /= 2)
      combine(joins, held.data() + some, held.data(), some);
    if (op_ == "GlobalAveragePool") return held[0] / static_cast<float>(count);
    return row_ == PoolRow::sum_of_squares ? std::sqrt(held[0]) : held[0];
  }

  const std::string_view op_;
  const PoolRowKernel kernel_ = pool_rows_of(chosen_isa());
  const PoolRow row_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs[0] == no_value) return false;
  const std::string_view op = signature.op;
  const bool has_norm = op == "GlobalLpPool" && (norm_of(fact) == 1 || norm_of(fact) == 2);
  if (op != "GlobalAveragePool" && op != "GlobalMaxPool" && !has_norm) return false;
  const AnalyzedValue& x = graph.value(fact.inputs[0]);
  return x.floats() && x.shape->size() >= 3 && count(*x.shape) > 0;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<WholePoolStep>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily whole_pool_family{"whole pool", KernelClass::pool, takes, step};

}  // namespace touchstone::optimized
