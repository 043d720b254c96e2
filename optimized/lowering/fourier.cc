// Steps of Fourier transforms along an axis, and of frames of signals. Transforms are computed in
// double, some side by side. Those that read an infinity or NaN are summed as the definition
// states, since an infinity would spread over all results.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/budget.h"
#include "core/checked.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/fourier_tables.h"
#include "optimized/plan/large.h"
#include "optimized/registry/isa.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

const FourierKernels& kernels_of(Isa isa) { return BY_ISA(isa, fourier); }

// Returns the only element of an integer tensor, else nullopt.
std::optional<Index> only_number(const Tensor& tensor) {
  if (tensor.size() != 1) return std::nullopt;
  if (tensor.type() == Type::int32) return *tensor.data<std::int32_t>();
  if (tensor.type() == Type::int64) return *tensor.data<std::int64_t>();
  return std::nullopt;
}

// Many transforms of the same kind.
struct Transforms {
  Index length = 0;      // of each
  Index taken = 0;       // elements that are read; further ones are zero
  Index bins = 0;        // results that are kept
  bool inverse = false;  // divides by the length
  bool reads_complex = false, writes_complex = true;
  const float* weights = nullptr;  // one for each element taken, or null
  Index from_stride = 0, to_stride = 0;
  // Transforms are in rows and columns; their first elements are so far apart.
  struct Steps {
    Index row = 0, column = 0;
  };
  Index rows = 1, columns = 1;
  Steps from_steps, to_steps;
  const float* from = nullptr;
  float* to = nullptr;

  Index count() const { return rows * columns; }
  Index offset(Index k, const Steps& steps) const {
    return k / columns * steps.row + k % columns * steps.column;
  }
  float element(const float* series, Index t, Index part) const {
    return series[t * from_stride + part] * (weights ? weights[t] : 1);
  }
  bool is_finite(const float* series, Index t) const {
    return std::isfinite(element(series, t, 0)) &&
           (!reads_complex || std::isfinite(element(series, t, 1)));
  }
};

bool is_unusual(const Transforms& all, const float* from) {
  for (Index t = 0; t < all.taken; ++t) {
    if (!all.is_finite(from, t)) return true;
  }
  return false;
}

// True if a transform by passes may lose what the definition keeps: passes add the largest element
// to each sum and take it off again, where the definition multiplies it by zero.
bool has_wide_range(const Transforms& all) {
  constexpr float widest = 0x1p26F;  // of doubles' 2^53, the 2^24 of floats and some terms
  for (Index k = 0; k < all.count(); ++k) {
    const float* const series = all.from + all.offset(k, all.from_steps);
    float least = std::numeric_limits<float>::infinity(), most = 0;
    for (Index t = 0; t < all.taken; ++t) {
      for (Index part = 0; part < (all.reads_complex ? 2 : 1); ++part) {
        const float size = std::abs(all.element(series, t, part));
        most = std::max(most, size);
        least = size > 0 ? std::min(least, size) : least;
      }
    }
    if (most / least > widest) return true;
  }
  return false;
}

// Indices of the elements of a series that are NaN or infinite, or of all elements.
using Elements = std::vector<Index, ChargedAllocator<Index>>;
Elements elements_of(const Transforms& all, bool unusual, const float* from) {
  Elements found;
  for (Index t = 0; t < all.taken; ++t) {
    if (!unusual || !all.is_finite(from, t)) found.push_back(t);
  }
  return found;
}

// Sums some elements in the definition's order, or the unusual ones among them, which decide.
void sum_in_order(const Transforms& all, const Elements& elements, const float* from, float* to) {
  const auto divisor = all.inverse ? static_cast<double>(all.length) : 1.0;
  for (Index k = 0; k < all.bins; ++k) {
    for (Index p = 0; p < (all.writes_complex ? 2 : 1); ++p) {
      double sum = 0;
      for (const Index t : elements) {
        if (std::isnan(sum)) break;
        charge_work(1);
        const float re = all.element(from, t, 0);
        const float im = all.reads_complex ? all.element(from, t, 1) : 0;
        const Turn turn = turn_of(mod(multiply(k, t), all.length), all.length);
        const double sine = (p == 0) == all.inverse ? -turn.sine : turn.sine;
        const double same = p == 0 ? re : im, other = p == 0 ? im : re;
        sum += same * turn.cosine;
        if (p == 1 || all.reads_complex) sum += other * sine;
      }
      to[k * all.to_stride + p] = static_cast<float>(sum / divisor);
    }
  }
}

// The imaginary parts of a real series' first and middle bins are zero: all sines of their sums
// are.
void clear_unturned(const Transforms& all, float* to) {
  if (all.reads_complex || !all.writes_complex) return;
  to[1] = 0;
  if (all.length % 2 == 0 && all.length / 2 < all.bins) to[all.length / 2 * all.to_stride + 1] = 0;
}

class FourierStep : public TensorStep {
 public:
  FourierStep(const AnalyzedGraph& graph, Index index, std::vector<Index> buffers)
      : TensorStep(graph, index, std::move(buffers)), kernels_(kernels_of(chosen_isa())) {
    kernel = "fourier " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::fourier;
  }
  void run(RunState& state) override {
    const bool frames = node().op == "STFT";
    const std::optional<Transforms> all = frames ? of_frames(state) : of_axis(state);
    all ? run(state, *all) : run_on_reference(state);
  }

 private:
  // Return nullopt if a rule of the operator does not hold, or a tensor is empty.
  std::optional<Transforms> of_frames(RunState& state) {
    const Tensor& signal = input(state, 0);
    const Shape& x = signal.shape();
    if ((x.size() != 2 && x.size() != 3) || signal.size() == 0) return std::nullopt;
    const Index parts = x.size() == 2 ? 1 : x[2];
    const std::optional<Index> step = only_number(input(state, 1));
    std::optional<Index> length = x[1];
    if (has_input(2) && input(state, 2).shape().size() != 1) return std::nullopt;
    if (has_input(2)) length = input(state, 2).shape()[0];
    if (has_input(3)) length = only_number(input(state, 3));
    if (!step || !length || *step <= 0 || *length <= 0 || *length > x[1] || parts > 2)
      return std::nullopt;
    if (has_input(2) && input(state, 2).shape()[0] != *length) return std::nullopt;
    const bool one_side = fact().attributes().integer("onesided", 1) != 0;
    if (one_side && parts == 2) return std::nullopt;
    const Index frames = add((x[1] - *length) / *step, 1);
    Transforms all;
    all.length = all.taken = *length;
    all.bins = one_side ? *length / 2 + 1 : *length;
    all.reads_complex = parts == 2;
    all.weights = has_input(2) ? input(state, 2).data<float>() : nullptr;
    all.from_stride = parts;
    all.to_stride = 2;
    all.rows = x[0];
    all.columns = frames;
    all.from_steps.row = x[1] * parts;
    all.from_steps.column = frames > 1 ? *step * parts : 0;
    all.from = signal.data<float>();
    Tensor& made = output(state, 0, Type::float32, {x[0], frames, all.bins, 2});
    all.to_steps.row = frames * all.bins * 2;
    all.to_steps.column = all.bins * 2;
    all.to = made.data<float>();
    return all;
  }

  std::optional<Transforms> of_axis(RunState& state) {
    const Tensor& x = input(state, 0);
    const Index rank = x.shape().size();
    if (rank < 2 || x.size() == 0 || x.shape()[rank - 1] > 2) return std::nullopt;
    const Facts node = fact().attributes();
    std::optional<Index> at = node.integer("axis", 1);
    // From version 20 on, the axis is an input.
    if (fact().node->signature->since >= 20) at = has_input(2) ? only_number(input(state, 2)) : -2;
    if (!at) return std::nullopt;
    const Index axis = *at < 0 ? add(*at, rank) : *at, own_parts = x.shape()[rank - 1];
    if (axis < 0 || axis >= rank - 1) return std::nullopt;
    const bool inverse = node.integer("inverse") != 0, one_side = node.integer("onesided") != 0;
    if (one_side && own_parts != (inverse ? 2 : 1)) return std::nullopt;
    const Index own = x.shape()[axis];
    std::optional<Index> length = one_side && inverse ? multiply(2, own - 1) : own;
    if (has_input(1)) length = only_number(input(state, 1));
    if (!length || *length <= 0) return std::nullopt;
    const bool half_read = one_side && inverse;
    Transforms all;
    all.length = *length;
    all.taken = std::min(half_read ? *length / 2 + 1 : *length, own);
    all.bins = one_side && !inverse ? *length / 2 + 1 : *length;
    all.inverse = inverse;
    all.reads_complex = own_parts == 2;
    all.writes_complex = !half_read;
    if (half_read) {
      // The other half of the spectrum mirrors this one.
      weights_ = Tensor(Type::float32, {all.taken});
      for (Index t = 0; t < all.taken; ++t)
        weights_.data<float>()[t] = t == 0 || 2 * t == *length ? 1 : 2;
      all.weights = weights_.data<float>();
    }
    Shape shape = x.shape();
    shape[axis] = all.bins;
    shape[rank - 1] = all.writes_complex ? 2 : 1;
    Index before = 1, after = 1;
    for (Index d = 0; d < axis; ++d) before *= shape[d];
    for (Index d = axis + 1; d < rank - 1; ++d) after *= shape[d];
    const Index parts = shape[rank - 1];
    Tensor& made = output(state, 0, Type::float32, shape);
    all.from_stride = after * own_parts;
    all.to_stride = after * parts;
    all.rows = before;
    all.columns = after;
    all.from_steps.row = own * after * own_parts;
    all.from_steps.column = own_parts;
    all.to_steps.row = all.bins * after * parts;
    all.to_steps.column = parts;
    all.from = x.data<float>();
    all.to = made.data<float>();
    return all;
  }

  void run(RunState& state, const Transforms& all) {
    if (!transform_ || transform_->length() != all.length) transform_.emplace(kernels_, all.length);
    // Blocks that stay in the cache, as wide as vectors are; a long transform is a block of its
    // own.
    constexpr Index widest = 16, block = Index{1} << 15;
    const Index rows = transform_->rows(), threads = state.pool.size();
    const Index width = std::clamp(std::min(block / rows, all.count()), Index{1}, widest);
    const Index blocks = ceil_div(all.count(), width), size = multiply(rows, width);
    // Numbers of double precision take two floats each; four arrays for each thread, or for each
    // block if there are fewer.
    const bool few = blocks < threads;
    const Index floats = multiply(multiply(8, size), few ? blocks : threads);
    if (floats > memory_floats_) {
      memory_.reset();
      memory_floats_ = 0;
      memory_ = large_memory(floats);
      memory_floats_ = floats;
    }
    // Bluestein's algorithm rounds what the definition multiplies by zero. Beside series that are
    // summed in order, all are.
    constexpr Index farthest_in_order = 4096, short_length = 32;
    in_order_ = (!transform_->is_exact() && all.length <= farthest_in_order && has_unusual(all)) ||
                (all.length <= short_length && has_wide_range(all));
    auto* const memory = reinterpret_cast<double*>(memory_.get());
    const double nanoseconds = static_cast<double>(all.count()) * static_cast<double>(rows) *
                               (1 + std::log2(static_cast<double>(rows)));
    state.each(blocks, nanoseconds, [&](Index part, Index thread) {
      const Index first = part * width;
      double* const own = memory + (few ? part : thread) * 4 * size;
      run_block(all, first, std::min(width, all.count() - first), own, size);
    });
  }

  static bool has_unusual(const Transforms& all) {
    for (Index k = 0; k < all.count(); ++k) {
      if (is_unusual(all, all.from + all.offset(k, all.from_steps))) return true;
    }
    return false;
  }

  void run_block(const Transforms& all, Index first, Index width, double* memory,
                 Index size) const {
    const float* from[16];
    float* to[16];
    float unusual[16];
    for (Index v = 0; v < width; ++v) {
      from[v] = all.from + all.offset(first + v, all.from_steps);
      to[v] = all.to + all.offset(first + v, all.to_steps);
    }
    using Data = FourierTransform::Data;
    Data data{memory, memory + size}, spare{memory + 2 * size, memory + 3 * size};
    kernels_.load({from, all.from_stride, all.reads_complex, all.weights, all.taken, width, data.re,
                   data.im, unusual});
    // With its parts exchanged, a transform is the inverse one.
    if (all.inverse) {
      std::swap(data.re, data.im);
      std::swap(spare.re, spare.im);
    }
    Data made = transform_->run(data, spare, width, all.taken) ? spare : data;
    if (all.inverse) std::swap(made.re, made.im);
    kernels_.store({made.re, made.im, all.bins, width, all.to_stride, all.writes_complex,
                    all.inverse ? static_cast<double>(all.length) : 1, to});
    for (Index v = 0; v < width; ++v) {
      const bool decides = unusual[v] != 0;
      clear_unturned(all, to[v]);
      if (decides || in_order_)
        sum_in_order(all, elements_of(all, decides, from[v]), from[v], to[v]);
    }
  }

  const FourierKernels& kernels_;
  std::optional<FourierTransform> transform_;  // of the last run's length
  bool in_order_ = false;                      // all series of this run
  Tensor weights_;
  LargeMemory memory_;
  Index memory_floats_ = 0;
};

bool takes(const AnalyzedGraph& graph, Index index) {
  const AnalyzedNode& fact = graph.node(index);
  if (fact.node->signature == nullptr || !fact.node->domain.empty()) return false;
  const bool frames = fact.node->op == "STFT";
  if (!frames && fact.node->op != "DFT") return false;
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    const bool real = k == 0 || (frames && k == 2);
    if (fact.inputs[k] == no_value) continue;
    const AnalyzedValue& value = graph.value(fact.inputs[k]);
    if (real ? !value.is(Type::float32) : !value.is(Type::int32) && !value.is(Type::int64))
      return false;
  }
  return fact.outputs.size() == 1 && fact.outputs[0] != no_value;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index index, std::vector<Index> buffers) {
  return std::make_unique<FourierStep>(graph, index, std::move(buffers));
}

}  // namespace

const KernelFamily fourier_family{"fourier", KernelClass::fourier, takes, step};

}  // namespace touchstone::optimized
