// Family `col2im`: columns of blocks in float32 are added to the images that they came from.
#include <algorithm>

#include "core/error.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/transposed_spread.h"

namespace touchstone::optimized {
namespace {

constexpr Index split_floats = Index{1} << 16;
constexpr Index far = Index{1} << 30;

std::optional<Shape> list_of(const Tensor& from) {
  if (from.type() != Type::int64 || from.shape().size() != 1) return std::nullopt;
  const std::int64_t* const first = from.data<std::int64_t>();
  return Shape(first, first + from.size());
}

// The window of a call; no value if a rule could be broken.
std::optional<Sliding> window_of(const Facts& node, const Shape& x, const Tensor& image,
                                 const Tensor& block) {
  const std::optional<Shape> extents = list_of(image), kernel = list_of(block);
  if (!extents || !kernel || x.size() != 3) return std::nullopt;
  const Index r = extents->size();
  if (r < 2 || kernel->size() != r) return std::nullopt;
  const Shape ones(r, 1), pads = node.integers("pads", Shape(2 * r, 0));
  Sliding s{{}, *kernel, node.integers("strides", ones), node.integers("dilations", ones), {},
            {}, *extents};
  if (s.stride.size() != r || s.dilation.size() != r || pads.size() != 2 * r) return std::nullopt;
  s.before = head(pads, r);
  s.after = tail(pads, r);
  for (Index d = 0; d < r; ++d) {
    const auto within = [](Index number, Index least) { return number >= least && number < far; };
    if (!within(s.kernel[d], 1) || !within(s.stride[d], 1) || !within(s.dilation[d], 1) ||
        !within(s.before[d], 0) || !within(s.after[d], 0) || !within(s.out[d], 1))
      return std::nullopt;
    const Index reach = (s.kernel[d] - 1) * s.dilation[d] + 1;
    const Index slack = s.out[d] + s.before[d] + s.after[d] - reach;
    if (slack < 0) return std::nullopt;
    s.image.push_back(slack / s.stride[d] + 1);
  }
  try {
    const Index terms = count(s.kernel);
    if (x[1] % terms != 0 || x[2] != count(s.image)) return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // overflow
  }
  return s;
}

class ColumnsToImages : public TensorStep {
 public:
  ColumnsToImages(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "columns to images";
    kernel_class = KernelClass::transposed_convolution;
  }
  Index scratch() const override { return split_floats; }
  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Shape& shape = x.shape();
    const std::optional<Sliding> s =
        window_of(fact().attributes(), shape, input(state, 1), input(state, 2));
    if (!s || x.size() == 0) return run_on_reference(state);
    const Index terms = count(s->kernel), channels = shape[1] / terms, columns = shape[2];
    Shape made{shape[0], channels};
    append(made, s->out);
    float* const y = output(state, 0, Type::float32, made).data<float>();
    const TransposedSpread spread(*s, split_floats);
    const Index images = shape[0] * channels, points = count(s->out);
    const float* const from = x.data<float>();
    const double work = static_cast<double>(x.size()) * nanoseconds_an_element;
    state.each(images, work, [&](Index k, Index thread) {
      float* const split = state.scratch[static_cast<std::size_t>(thread)];
      float* const to = y + k * points;
      spread.fill(0, to, split);
      for (Index t = 0; t < terms; ++t)
        spread.add(t, from + (k * terms + t) * columns, 0, columns, to, split);
      spread.join(split, to);
    });
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || signature.op != "Col2Im") return false;
  return fact.outputs[0] != no_value && graph.value(fact.inputs[0]).is(Type::float32);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<ColumnsToImages>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily col2im_family{"col2im", KernelClass::transposed_convolution, takes, step};

}  // namespace touchstone::optimized
