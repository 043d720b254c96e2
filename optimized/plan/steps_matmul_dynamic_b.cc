// Matmul steps with two computed operands: the second matrix is packed in every run, which pays
// from a few rows on.
#include <algorithm>

#include "optimized/kernels/gemm.h"
#include "optimized/plan/steps.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr Index min_rows = 8;  // below, packing costs more than the product

class MatmulDynamicBStep : public Step {
 public:
  MatmulDynamicBStep(Builder& builder, const Group& group) : gemm_(chosen_isa()) {
    const AnalyzedNode& fact = builder.graph().node(group.main());
    const Shape &a = builder.shape(fact.inputs[0]), &b = builder.shape(fact.inputs[1]);
    const Shape& c = builder.shape(group.made);
    rows_ = c[c.size() - 2];
    columns_ = c.back();
    depth_ = a.back();
    const Shape stack = head(c, c.size() - 2);
    const auto place = [&](const Shape& of, const IndexVector& at, Index matrix) {
      Index k = 0;
      for (Index d = 0; d + 2 < of.size(); ++d)
        k = k * of[d] + (of[d] == 1 ? 0 : at[stack.size() - (of.size() - 2) + d]);
      return k * matrix;
    };
    for (Index k = 0; k < count(stack); ++k) {
      const IndexVector at = unravel(k, stack);
      matrices_.push_back({place(a, at, rows_ * depth_), place(b, at, depth_ * columns_)});
    }
    // Many matrices: one per thread. Few: all threads split each one.
    apart_ = static_cast<Index>(matrices_.size()) >= builder.threads();
    size_ = ceil_div(gemm_.packed_size(depth_, columns_), 16) * 16;
    a_ = builder.plain(fact.inputs[0]);
    b_ = builder.plain(fact.inputs[1]);
    c_ = builder.make_plain(group.made);
    packed_ = builder.temporary(size_ * (apart_ ? builder.threads() : 1));
    kernel = "matmul with dynamic B " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::dynamic_matmul;
  }
  void bind(const Memory& memory) override {
    a_memory_ = memory.at(a_);
    b_memory_ = memory.at(b_);
    c_memory_ = memory.at(c_);
    packed_memory_ = memory.at(packed_);
  }
  void run(RunState& state) override {
    const Index panels = gemm_.panels(columns_);
    const auto matrices = static_cast<Index>(matrices_.size());
    const double cost =
        static_cast<double>(depth_) * static_cast<double>(columns_) *
        (static_cast<double>(rows_) * nanoseconds_a_multiply_add + nanoseconds_an_element);
    if (apart_) {
      state.each(matrices, cost * static_cast<double>(matrices), [&](Index k, Index thread) {
        float* const packed = packed_memory_ + thread * size_;
        pack(k, packed, 0, panels);
        gemm_.run(product(k, packed), 0, panels, 0, rows_);
      });
      return;
    }
    for (Index k = 0; k < matrices; ++k) {
      const Index parts = std::min(panels, state.parts(cost));
      state.each(parts, cost, [&](Index part, Index) {
        const Index first = panels * part / parts;
        pack(k, packed_memory_, first, panels * (part + 1) / parts - first);
      });
      run_matmul(state.pool, gemm_, product(k, packed_memory_), rows_);
    }
  }

 private:
  void pack(Index k, float* packed, Index first, Index panels) const {
    const float* b = b_memory_ + matrices_[static_cast<std::size_t>(k)].b;
    gemm_.pack({b, columns_, 1, depth_, columns_}, nullptr, packed, first, panels);
  }
  GemmProblem product(Index k, const float* packed) const {
    return plain_product(a_memory_ + matrices_[static_cast<std::size_t>(k)].a, depth_, packed,
                         c_memory_ + k * rows_ * columns_, depth_, columns_);
  }

  struct Pair {
    Index a, b;  // offsets of the matrices
  };
  const Gemm gemm_;
  Index a_, b_, c_, packed_, rows_, columns_, depth_, size_;
  bool apart_;
  std::vector<Pair> matrices_;
  float *a_memory_ = nullptr, *b_memory_ = nullptr, *c_memory_ = nullptr, *packed_memory_ = nullptr;
};

}  // namespace

bool takes_matmul_dynamic_b(const Shape& a, const Shape& b) {
  if (a.size() < 2 || b.size() < 2 || count(a) == 0 || count(b) == 0) return false;
  constexpr Index few_columns = 4;  // the family of products sums these by rows
  return a[a.size() - 2] >= min_rows && b.back() >= few_columns;
}

void build_matmul_dynamic_b(Builder& builder, const Group& group) {
  auto step = std::make_unique<MatmulDynamicBStep>(builder, group);
  builder.add(std::move(step), group.nodes);
}

}  // namespace touchstone::optimized
