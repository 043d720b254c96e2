// Convolutions of windows that neither overlap nor read padding, in float32 with constant weights:
// patch embeddings. Patches are gathered as rows of a matmul, whose tiles are stored transposed.
#include <algorithm>
#include <cstring>

#include "core/budget.h"
#include "core/error.h"
#include "optimized/kernels/gemm.h"
#include "optimized/kernels/strided_copy.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/sliding.h"
#include "optimized/plan/large.h"

namespace touchstone::optimized {
namespace {

constexpr Index slab_floats = Index{1} << 18;  // of patches, which all filters read from L2
constexpr Index most_depth = Index{1} << 14, least_rows = 48, most_rows = 128;  // of a tile

// Copies `count` pieces of `width` floats; `fixed` is the width if it is known, else 0.
template <Index fixed>
void gather(const float* from, const std::vector<Index>& offsets, Index width, float* to) {
  const Index floats = fixed == 0 ? width : fixed;
  for (const Index offset : offsets) {
    std::memcpy(to, from + offset, static_cast<std::size_t>(floats) * sizeof(float));
    to += floats;
  }
}
using Gather = void (*)(const float*, const std::vector<Index>&, Index, float*);

Gather gather_of(Index width) {
  switch (width) {
    case 1:
      return gather<1>;
    case 2:
      return gather<2>;
    case 4:
      return gather<4>;
    case 8:
      return gather<8>;
    case 14:
      return gather<14>;
    case 16:
      return gather<16>;
    default:
      return gather<0>;
  }
}

// True if windows neither overlap nor read padding.
bool are_patches(const Sliding& s) {
  for (Index d = 0; d < s.image.size(); ++d) {
    if (s.kernel[d] < 1 || s.out[d] < 1 || s.before[d] != 0) return false;
    if (s.dilation[d] != 1 && s.kernel[d] != 1) return false;
    if (s.stride[d] < s.kernel[d] && s.out[d] > 1) return false;
    if ((s.out[d] - 1) * s.stride[d] + s.kernel[d] > s.image[d]) return false;
  }
  return true;
}

// The window of a node that this family takes.
std::optional<Sliding> patches_of(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const AnalyzedValue &x = graph.value(fact.inputs[0]), &w = graph.value(fact.inputs[1]);
  if (!x.floats() || count(*x.shape) == 0 || !w.constant || !w.is(Type::float32))
    return std::nullopt;
  const Facts facts = fact.attributes();
  const Shape &image = *x.shape, &weights = w.constant->shape();
  if (image.size() < 3 || weights.size() != image.size() || weights[1] != image[1] ||
      weights[0] == 0 || facts.integer("group", 1) != 1)
    return std::nullopt;
  const Shape kernel = tail(weights, 2);
  if (facts.given("kernel_shape") && facts.integers("kernel_shape") != kernel) return std::nullopt;
  if (fact.inputs.size() > 2 && fact.inputs[2] != no_value) {
    const AnalyzedValue& bias = graph.value(fact.inputs[2]);
    if (!bias.constant || !bias.is(Type::float32) || bias.constant->shape() != Shape{weights[0]})
      return std::nullopt;
  }
  std::optional<Sliding> window = sliding_of(facts, tail(image, 2), kernel);
  if (!window || !are_patches(*window)) return std::nullopt;
  // Windows of one element at every point need no gathering.
  const bool is_whole = count(kernel) == 1 && window->out == window->image;
  if (is_whole || count(weights) / weights[0] > most_depth) return std::nullopt;
  return window;
}

class PatchConvolution : public TensorStep {
 public:
  PatchConvolution(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        gemm_(chosen_isa()),
        window_(*patches_of(graph, node)),
        x_(*graph.value(fact().inputs[0]).shape) {
    const Tensor& w = *graph.value(fact().inputs[1]).constant;
    const Tensor* const bias = has_input(2) ? graph.value(fact().inputs[2]).constant : nullptr;
    filters_ = w.shape()[0];
    depth_ = w.size() / filters_;
    points_ = count(window_.out);
    rows_ = x_[0] * points_;
    made_ = Shape{x_[0], filters_};
    append(made_, window_.out);
    slab_ = std::min(rows_, std::max(slab_floats / depth_, least_rows));
    find_pieces();
    // The packed form that a matmul with transposed weights has.
    packed_ = graph.weights().get<LargeMemory>({&w, bias}, {1, depth_, filters_}, [&] {
      LargeMemory packed = large_memory(gemm_.packed_size(depth_, filters_));
      gemm_.pack({w.data<float>(), 1, depth_, depth_, filters_},
                 bias ? bias->data<float>() : nullptr, packed.get(), 0, gemm_.panels(filters_));
      return packed;
    });
    kernel = "matmul of patches " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::convolution;
  }
  Index scratch() const override { return slab_ * depth_ + most_rows * gemm_.panel_columns(); }

  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    if (x.shape() != x_) return run_on_reference(state);
    float* const y = output(state, 0, Type::float32, made_).data<float>();
    float* const patches = state.scratch[0];
    const Index wanted = parts_for(state.pool.size()), panels = gemm_.panels(filters_);
    for (Index first = 0; first < rows_; first += slab_) {
      const Index rows = std::min(slab_, rows_ - first), parts = std::min(rows, wanted);
      const auto floats = static_cast<double>(rows * depth_);
      state.each(parts, floats * nanoseconds_an_element, [&](Index part, Index) {
        const Index begin = rows * part / parts, end = rows * (part + 1) / parts;
        charge_work((end - begin) * depth_);
        for (Index row = begin; row < end; ++row)
          gather_(x.data<float>() + place_of_row(first + row), pieces_, width_,
                  patches + row * depth_);
      });
      const Index some = clamp(ceil_div(rows, wanted), least_rows, most_rows);
      const Index row_parts = ceil_div(rows, some);
      const double work = floats * static_cast<double>(filters_) * nanoseconds_a_multiply_add;
      state.each(row_parts * panels, work, [&](Index part, Index thread) {
        const Index row = part % row_parts * some;
        float* const tile = state.scratch[static_cast<std::size_t>(thread)] + slab_ * depth_;
        multiply_tile(patches + row * depth_, first + row, std::min(some, rows - row),
                      part / row_parts, tile, y);
      });
    }
  }

 private:
  // Lists the contiguous pieces of a patch, by their offsets from its first element.
  void find_pieces() {
    const Index inner = window_.image.size() - 1, plane = count(window_.image);
    width_ = window_.kernel[inner];
    gather_ = gather_of(width_);
    const Index lines = count(window_.kernel) / width_;
    for (Index k = 0; k < x_[1] * lines; ++k) {
      Index offset = k / lines * plane, rest = k % lines, step = window_.image[inner];
      for (Index d = inner; d-- > 0; rest /= window_.kernel[d]) {
        offset += rest % window_.kernel[d] * step;
        step *= window_.image[d];
      }
      pieces_.push_back(offset);
    }
  }
  // Offset of the patch of a row in the images.
  Index place_of_row(Index row) const {
    Index rest = row % points_, step = 1, place = 0;
    for (Index d = window_.image.size(); d-- > 0; rest /= window_.out[d]) {
      place += rest % window_.out[d] * window_.stride[d] * step;
      step *= window_.image[d];
    }
    return row / points_ * x_[1] * step + place;
  }

  // Multiplies rows of patches by one panel of filters. `first`: the first of all rows.
  void multiply_tile(const float* patches, Index first, Index rows, Index panel, float* tile,
                     float* y) const {
    const Index columns = gemm_.panel_columns(), filter = panel * columns;
    GemmProblem product;
    product.a = patches;
    product.a_row = product.depth = depth_;
    product.packed = packed_->get() + panel * (depth_ + 1) * columns;
    product.c = tile;
    product.c_row = columns;
    product.columns = std::min(columns, filters_ - filter);
    gemm_.run(product, 0, 1, 0, rows);
    for (Index row = 0; row < rows;) {
      const Index image = (first + row) / points_, point = (first + row) % points_;
      const Index some = std::min(rows - row, points_ - point);
      StridedCopy turned;
      turned.extents = {some, product.columns, 1, 1, 1};
      turned.source_strides = {columns, 1, 0, 0, 0};
      turned.target_strides = {1, points_, 0, 0, 0};
      run_strided_copy(chosen_isa(), turned, sizeof(float), tile + row * columns,
                       y + (image * filters_ + filter) * points_ + point);
      row += some;
    }
  }

  const Gemm gemm_;
  const Sliding window_;
  const Shape x_;
  Shape made_;
  Index filters_, depth_, points_, rows_;  // of the matmul, and points of an image
  Index slab_;                             // rows that are gathered at once
  Index width_ = 1;                        // floats of a piece
  std::vector<Index> pieces_;
  Gather gather_ = nullptr;
  std::shared_ptr<const LargeMemory> packed_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  return signature.domain.empty() && signature.op == "Conv" && fact.outputs[0] != no_value &&
         patches_of(graph, node).has_value();
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<PatchConvolution>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily patch_convolution_family{"patch convolution", KernelClass::convolution, takes,
                                            step};

}  // namespace touchstone::optimized
