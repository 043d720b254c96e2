// Pools of any rank: MaxPool with its indices in float32 and 8-bit integers, AveragePool and LpPool
// in float32. Works on output rows, one term of the window after the
// other.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/budget.h"
#include "optimized/kernels/pool_rows.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/integer_product.h"
#include "optimized/lowering/plane_pool.h"
#include "optimized/lowering/sliding.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {
namespace {

// Terms of the window at output coordinate o that lie in [low, high) of dimension d.
Extent terms_within(const Sliding& s, Index d, Index o, Index low, Index high) {
  const Index start = o * s.stride[d] - s.before[d];
  const Index first = clamp(ceil_div(low - start, s.dilation[d]), 0, s.kernel[d]);
  return {first, clamp(ceil_div(high - start, s.dilation[d]), first, s.kernel[d])};
}
Extent terms_inside(const Sliding& s, Index d, Index o) {
  return terms_within(s, d, o, 0, s.image[d]);
}

// True if each window holds an element of the image. Others are the reference's.
bool every_window_holds(const Sliding& s) {
  for (Index d = 0; d < s.image.size(); ++d) {
    for (Index o = 0; o < s.out[d]; ++o) {
      const Extent terms = terms_inside(s, d, o);
      if (terms.low == terms.high) return false;
    }
  }
  return true;
}

// Least number of a type, of which the largest is that of a window.
template <class T>
constexpr T least_of() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::lowest();
}

// T: float, std::uint8_t or std::int8_t, which only MaxPool takes.
template <class T>
class PoolStep : public TensorStep {
 public:
  PoolStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), op_(fact().node->signature->op) {
    const Facts facts = fact().attributes();
    padding_counts_ = op_ == "AveragePool" && facts.integer("count_include_pad") != 0;
    by_columns_ = op_ == "MaxPool" && facts.integer("storage_order") != 0;
    row_ = op_ == "MaxPool" ? PoolRow::largest : PoolRow::sum;
    if (op_ == "LpPool") {
      p_ = fact().node->signature->since < 2 ? facts.number("p", 2)
                                             : static_cast<float>(facts.integer("p", 2));
      row_ = p_ == 1 ? PoolRow::sum_of_magnitudes : PoolRow::sum_of_squares;
    }
    kernel = (op_ == "MaxPool"  ? "max"
              : op_ == "LpPool" ? "norm"
                                : "mean") +
             std::string(" pool of rows ") + std::string(name(chosen_isa()));
    kernel_class = KernelClass::pool;
  }
  Index scratch() const override { return std::is_same_v<T, float> ? 0 : most_in_plane / 2; }
  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    if (!window_ || x.shape() != x_) resolve(x.shape());
    if (!window_) return run_on_reference(state);
    const Sliding& s = *window_;
    Shape made{x_[0], x_[1]};
    append(made, s.out);
    T* const y = has_output(0) ? output(state, 0, x.type(), made).template data<T>() : nullptr;
    std::int64_t* const places =
        has_output(1) ? output(state, 1, Type::int64, made).template data<std::int64_t>() : nullptr;
    const Index all = count(made), width = s.out.back();
    if (all == 0) return;
    const Index rows = all / width, lines = rows / (x_[0] * x_[1]), plane = count(s.image);
    double work = static_cast<double>(all) * nanoseconds_an_element;
    for (const Index terms : s.kernel) work *= static_cast<double>(terms);
    if (planes_ && places == nullptr) return run_planes(state, x, work, y);
    const Index parts = std::min(rows, parts_for(state.pool.size()));
    state.each(parts, work, [&](Index part, Index) {
      for (Index row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
        const Index channel = row / lines;
        const T* const image = x.data<T>() + channel * plane;
        T* const to = y == nullptr ? nullptr : y + row * width;
        if (places != nullptr) {
          find(image, row % lines, channel * plane, to, places + row * width);
        } else if (to != nullptr) {
          combine(image, row % lines, to);
        }
      }
    });
  }

 private:
  void resolve(const Shape& x) {
    x_ = x;
    window_.reset();
    planes_.reset();
    const Facts facts = fact().attributes();
    if (x.size() < 3 || !facts.given("kernel_shape")) return;
    window_ = sliding_of(facts, tail(x, 2), facts.integers("kernel_shape"));
    if (!window_) return;
    const auto positive = [](Index k) { return k > 0; };
    const auto padded = [](Index k) { return k >= 0; };
    const Sliding& s = *window_;
    if (!std::all_of(s.kernel.begin(), s.kernel.end(), positive) ||
        !std::all_of(s.before.begin(), s.before.end(), padded) ||
        !std::all_of(s.after.begin(), s.after.end(), padded)) {
      window_.reset();
      return;
    }
    const auto empty = [](Index size) { return size == 0; };
    if (std::any_of(x.begin(), x.begin() + 2, empty) ||
        std::any_of(s.out.begin(), s.out.end(), empty))
      return;  // nothing is computed
    if (!every_window_holds(s)) {
      window_.reset();
      return;
    }
    const Index inner = s.image.size() - 1;
    terms_ = {terms_inside(s, inner, s.out[inner] - 1).low, terms_inside(s, inner, 0).high};
    outer_terms_.assign(static_cast<std::size_t>(inner), {});
    for (Index d = 0; d < inner; ++d) {
      for (Index o = 0; o < s.out[d]; ++o)
        outer_terms_[static_cast<std::size_t>(d)].push_back(terms_inside(s, d, o));
    }
    row_terms_.clear();
    terms_of_a_row_ = 0;
    for (Index t = terms_.low; t < terms_.high; ++t) {
      const Extent in = inside(s, inner, t);
      if (in.low >= in.high) continue;
      row_terms_.push_back({in.low * s.stride[inner] + t * s.dilation[inner] - s.before[inner],
                            in.low, in.high - in.low});
      terms_of_a_row_ += in.high - in.low;
    }
    if constexpr (!std::is_same_v<T, float>) planes_ = PlanePool::of(s, most_in_plane);
    if (op_ != "AveragePool") return;
    counts_ = Tensor(Type::float32, {s.out[inner]});
    for (Index o = 0; o < s.out[inner]; ++o)
      counts_.data<float>()[o] = static_cast<float>(counted(inner, o));
  }

  // Pools planes of 8-bit integers, each as a whole.
  void run_planes(RunState& state, const Tensor& x, double work, T* y) const {
    const Index channels = x_[0] * x_[1], parts = std::min(channels, parts_for(state.pool.size()));
    const Index plane = x.size() / channels, made = count(window_->out);
    state.each(parts, work, [&](Index part, Index thread) {
      for (Index k = channels * part / parts; k < channels * (part + 1) / parts; ++k)
        planes_->run(x.data<T>() + k * plane, std::is_signed_v<T>,
                     state.scratch[static_cast<std::size_t>(thread)], y + k * made);
    });
  }

  Index counted(Index d, Index o) const {
    const Sliding& s = *window_;
    const Extent terms = padding_counts_
                             ? terms_within(s, d, o, -s.before[d], s.image[d] + s.after[d])
                             : terms_inside(s, d, o);
    return terms.high - terms.low;
  }

  // Calls work(offset of an input row in the image) for the input rows that an output row reads, in
  // the order of the window's terms.
  template <class F>
  void each_line(Index line, F&& work) const {
    const Sliding& s = *window_;
    const Index inner = s.image.size() - 1;
    visit(line, inner, 0, s.image[inner], 0, work);
  }
  // `d`: dimensions outside d are still to be visited; the outermost must vary slowest.
  template <class F>
  void visit(Index line, Index inner, Index d, Index width, Index at, F&& work) const {
    const Sliding& s = *window_;
    if (d == inner) return work(at * width);
    Index below = 1;
    for (Index k = d + 1; k < inner; ++k) below *= s.out[k];
    const Index o = line / below % s.out[d];
    const Extent terms = outer_terms_[static_cast<std::size_t>(d)][static_cast<std::size_t>(o)];
    for (Index t = terms.low; t < terms.high; ++t)
      visit(line, inner, d + 1, width,
            at * s.image[d] + o * s.stride[d] + t * s.dilation[d] - s.before[d], work);
  }

  void combine(const T* image, Index line, T* to) const {
    const Sliding& s = *window_;
    const Index inner = s.image.size() - 1, width = s.out[inner];
    if constexpr (std::is_same_v<T, float>) {
      std::fill_n(to, width, row_ == PoolRow::largest ? least_of<T>() : T{0});
      if (op_ == "LpPool" && p_ != 1 && p_ != 2) {
        add_powers(image, line, to);
      } else {
        combine_lines(image, line, to);
      }
      finish(line, to);
    } else {
      if (s.image[inner] <= most_in_row) return largest_by_rows(image, line, to);
      std::fill_n(to, width, least_of<T>());
      each_line(line, [&](Index at) {
        for (const PoolTerm& term : row_terms_) {
          charge_work(term.count);
          integer_rows().largest(reinterpret_cast<const std::uint8_t*>(image + at + term.from),
                                 s.stride[inner], term.count, std::is_signed_v<T>,
                                 reinterpret_cast<std::uint8_t*>(to + term.to));
        }
      });
    }
  }

  void combine_lines(const float* image, Index line, float* to) const {
    std::array<const float*, 32> lines;
    std::size_t held = 0;
    const auto flush = [&] {
      charge_work(static_cast<Index>(held) * terms_of_a_row_);
      kernel_(row_,
              {lines.data(), static_cast<Index>(held), window_->image.back(), row_terms_.data(),
               static_cast<Index>(row_terms_.size()), window_->stride.back()},
              to);
      held = 0;
    };
    each_line(line, [&](Index at) {
      lines[held++] = image + at;
      if (held == lines.size()) flush();
    });
    if (held > 0) flush();
  }

  void add_powers(const float* image, Index line, float* to) const {
    const Index stride = window_->stride.back();
    each_line(line, [&](Index at) {
      charge_work(terms_of_a_row_);
      for (const PoolTerm& term : row_terms_) {
        const float* const from = image + at + term.from;
        for (Index k = 0; k < term.count; ++k)
          to[term.to + k] += std::pow(std::abs(from[k * stride]), p_);
      }
    });
  }

  // First the largest numbers of each column of the window's rows, then those of its terms.
  void largest_by_rows(const T* image, Index line, T* to) const {
    const Sliding& s = *window_;
    const Index inner = s.image.size() - 1, width = s.image[inner];
    std::uint8_t row[most_in_row];
    const auto bytes = [](const T* at) { return reinterpret_cast<const std::uint8_t*>(at); };
    std::fill_n(row, width, static_cast<std::uint8_t>(least_of<T>()));
    std::fill_n(to, s.out[inner], least_of<T>());
    each_line(line, [&](Index at) {
      charge_work(width);
      integer_rows().largest(bytes(image + at), 1, width, std::is_signed_v<T>, row);
    });
    for (const PoolTerm& term : row_terms_) {
      charge_work(term.count);
      integer_rows().largest(row + term.from, s.stride[inner], term.count, std::is_signed_v<T>,
                             reinterpret_cast<std::uint8_t*>(to + term.to));
    }
  }

  // Divides the sums of a row by their terms, or takes their roots.
  void finish(Index line, float* to) const {
    const Sliding& s = *window_;
    const Index inner = s.image.size() - 1, width = s.out[inner];
    if (op_ == "AveragePool") {
      Index rest = line, outside = 1;
      for (Index d = inner; d-- > 0; rest /= s.out[d]) outside *= counted(d, rest % s.out[d]);
      const auto lines = static_cast<float>(outside);
      for (Index k = 0; k < width; ++k) to[k] /= lines * counts_.data<float>()[k];
    } else if (op_ == "LpPool" && p_ == 2) {
      for (Index k = 0; k < width; ++k) to[k] = std::sqrt(to[k]);
    } else if (op_ == "LpPool" && p_ != 1) {
      for (Index k = 0; k < width; ++k) to[k] = std::pow(to[k], 1 / p_);
    }
  }

  // Finds the largest elements of one output row and where they are. `to` may be null.
  void find(const T* image, Index line, Index before, T* to, std::int64_t* places) const {
    const Sliding& s = *window_;
    const Index inner = s.image.size() - 1, width = s.out[inner];
    std::fill_n(places, width, Index{-1});
    each_line(line, [&](Index at) {
      for (Index t = terms_.low; t < terms_.high; ++t) {
        const Extent in = inside(s, inner, t);
        charge_work(1 + in.high - in.low);
        const Index shift = at + t * s.dilation[inner] - s.before[inner];
        for (Index k = in.low; k < in.high; ++k) {
          const Index place = shift + k * s.stride[inner];
          const T next = image[place];
          if (places[k] >= 0) {
            const T held = image[places[k]];
            if (held != held || !(next > held || next != next)) continue;
          }
          places[k] = place;
        }
      }
    });
    for (Index k = 0; k < width; ++k) {
      if (to != nullptr) to[k] = image[places[k]];
      places[k] = before + (by_columns_ ? turned(places[k]) : places[k]);
    }
  }

  // The index in column-major order of an element of the image.
  Index turned(Index place) const {
    Index made = 0;
    const Shape& image = window_->image;
    for (Index d = image.size(); d-- > 0; place /= image[d])
      made = made * image[d] + place % image[d];
    return made;
  }

  static constexpr Index most_in_row = 4096;              // bytes of a row of the image
  static constexpr Index most_in_plane = Index{1} << 16;  // bytes of a padded plane

  const std::string_view op_;
  const PoolRowKernel kernel_ = pool_rows_of(chosen_isa());
  bool padding_counts_ = false, by_columns_ = false;
  PoolRow row_;
  float p_ = 2;
  Shape x_;  // that the window is of
  std::optional<Sliding> window_;
  std::optional<PlanePool> planes_;               // of 8-bit integers, if they fit
  std::vector<std::vector<Extent>> outer_terms_;  // by outer dimension and output coordinate
  std::vector<PoolTerm> row_terms_;               // the terms of a row that meet the image
  Index terms_of_a_row_ = 0;                      // their elements
  Extent terms_{0, 0};  // along the innermost dimension: those that meet the image
  Tensor counts_;       // terms that a mean counts along the innermost dimension
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty()) return false;
  if (signature.op != "MaxPool" && signature.op != "AveragePool" && signature.op != "LpPool")
    return false;
  const AnalyzedValue& x = graph.value(fact.inputs[0]);
  return x.is(Type::float32) ||
         (signature.op == "MaxPool" && (x.is(Type::uint8) || x.is(Type::int8)));
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const AnalyzedValue& x = graph.value(graph.node(node).inputs[0]);
  if (x.is(Type::uint8))
    return std::make_unique<PoolStep<std::uint8_t>>(graph, node, std::move(buffers));
  if (x.is(Type::int8))
    return std::make_unique<PoolStep<std::int8_t>>(graph, node, std::move(buffers));
  return std::make_unique<PoolStep<float>>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily pool_family{"pool", KernelClass::pool, takes, step};

}  // namespace touchstone::optimized
