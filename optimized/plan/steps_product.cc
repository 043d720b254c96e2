// Products with a constant matrix, which is packed when the plan is made.
#include <algorithm>

#include "optimized/kernels/gemm.h"
#include "optimized/plan/large.h"
#include "optimized/plan/steps.h"
#include "optimized/registry/registry.h"
#include "reference/lists.h"

namespace touchstone {
namespace {

class OnProduct : public Step {
 public:
  OnProduct(Builder& builder, const Group& group) : gemm_(chosen_isa()) {
    const Outline& outline = builder.outline();
    const NodeFact& fact = outline.node(group.main());
    const Tensor& b = *outline.value(fact.inputs[1]).constant;
    const Shape& a = builder.shape(fact.inputs[0]);
    const bool turned = fact.attributes().integer("transB") != 0;
    depth_ = a.back();
    rows_ = count(a) / depth_;
    columns_ = b.shape()[turned ? 0 : 1];
    in_ = builder.plain(fact.inputs[0]);
    out_ = builder.make_plain(group.made);
    packed_ = large_memory(gemm_.packed_size(depth_, columns_));
    std::vector<float> bias;
    if (fact.inputs.size() > 2 && fact.inputs[2] != nobody) {
      const Tensor& c = *outline.value(fact.inputs[2]).constant;
      for (Index n = 0; n < columns_; ++n) bias.push_back(c.data<float>()[c.size() == 1 ? 0 : n]);
    }
    gemm_.pack({b.data<float>(), turned ? 1 : columns_, turned ? depth_ : 1, depth_, columns_},
               bias.empty() ? nullptr : bias.data(), packed_.get(), 0, gemm_.panels(columns_));
    product_.a_row = depth_;
    product_.packed = packed_.get();
    product_.c_row = columns_;
    product_.depth = depth_;
    product_.columns = columns_;
    product_.least = group.least;
    product_.most = group.most;
    kernel = "product " + std::string(name(chosen_isa()));
  }
  void bind(const Memory& memory) override {
    product_.a = memory.at(in_);
    product_.c = memory.at(out_);
  }
  void run(RunState& state) override {
    run_product(state.pool, gemm_, product_, rows_);
  }

 private:
  const Gemm gemm_;
  Index in_, out_, rows_, columns_, depth_;
  LargeMemory packed_;
  Product product_;
};

}  // namespace

void run_product(ThreadPool& pool, const Gemm& gemm, const Product& product, Index rows) {
  const Index panels = gemm.panels(product.columns), wanted = parts_for(pool.size());
  const Index row_step = std::max<Index>(ceil_div(rows, wanted), 48);
  const Index row_parts = ceil_div(rows, row_step);
  const Index panel_parts = std::min(panels, ceil_div(wanted, row_parts));
  const Index panel_step = ceil_div(panels, panel_parts);
  pool.each(row_parts * ceil_div(panels, panel_step), [&](Index part, Index) {
    const Index first = part / row_parts * panel_step, row = part % row_parts * row_step;
    gemm.run(product, first, std::min(panel_step, panels - first), row,
             std::min(row_step, rows - row));
  });
}

void build_product(Builder& builder, const Group& group) {
  const auto& [own, rest] = apart(group);
  auto step = std::make_unique<OnProduct>(builder, own);
  builder.add(std::move(step), own.nodes);
  if (rest) build_pointwise(builder, *rest);
}

}  // namespace touchstone
