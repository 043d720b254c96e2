// Family of preprocessing of feature rows: Normalizer, Scaler, Binarizer, Imputer,
// FeatureVectorizer and ArrayFeatureExtractor.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "optimized/lowering/families.h"
#include "optimized/lowering/features.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/groups.h"

namespace touchstone::optimized {
namespace {

constexpr double nanoseconds_a_feature = 0.5;
constexpr double nanoseconds_in_order = 2;  // where each sum waits for the one before it

class FeaturesStep : public Moves {
 public:
  FeaturesStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : Moves(graph, node, std::move(buffers)) {
    kernel = "features";
    kernel_class = KernelClass::pointwise;
  }

 protected:
  // Calls work(first, count) for runs of at most `period` elements.
  template <class F>
  static void periods(RunState& state, Index all, Index period, F work) {
    const double cost = nanoseconds_a_feature * static_cast<double>(period);
    in_ranges(state, ceil_div(all, period), cost, [&](Index first, Index end) {
      for (Index k = first * period; k < std::min(all, end * period); k += period)
        work(k, std::min(period, all - k));
    });
  }
  // Repeats a number for each column until a loop over them pays. One number serves all columns.
  template <class N>
  static std::vector<N> repeated(const std::vector<N>& columns) {
    constexpr std::size_t shortest = 256;
    std::vector<N> made = columns;
    while (made.size() < shortest) made.insert(made.end(), columns.begin(), columns.end());
    return made;
  }
  // True if there is one number, or one for each column of a tensor.
  static bool fit(std::size_t numbers, const Shape& shape) {
    return numbers == 1 || (!shape.empty() && static_cast<Index>(numbers) == shape.back());
  }
};

class NormalizerStep : public FeaturesStep {
 public:
  NormalizerStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : FeaturesStep(graph, node, std::move(buffers)),
        norm_(fact().attributes().text("norm", "MAX")) {}

 private:
  bool moved(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Shape& shape = x.shape();
    if (shape.empty() || shape.size() > 2) return false;
    const auto divide = norm_ == "MAX"  ? divided<Norm::max>
                        : norm_ == "L1" ? divided<Norm::l1>
                        : norm_ == "L2" ? divided<Norm::l2>
                                        : nullptr;
    if (divide == nullptr) return false;
    Tensor& y = output(state, 0, Type::float32, shape);
    if (y.size() == 0) return true;
    float* const to = y.data<float>();
    const float* const from = floats_of(x, to);
    const Index width = shape.back();
    in_ranges(state, x.size() / width, nanoseconds_in_order * static_cast<double>(width),
              [&](Index first, Index end) {
                divide(from + first * width, end - first, width, to + first * width);
              });
    return true;
  }

  enum class Norm { max, l1, l2 };

  template <Norm norm>
  static void divided(const float* x, Index rows, Index width, float* y) {
    constexpr int together = 4;  // rows whose sums are independent
    Index n = 0;
    for (; n + together <= rows; n += together)
      some_divided<norm, together>(x + n * width, width, y + n * width);
    for (; n < rows; ++n) some_divided<norm, 1>(x + n * width, width, y + n * width);
  }
  template <Norm norm, std::size_t rows>
  static void some_divided(const float* x, Index width, float* y) {
    std::array<float, rows> whole;
    whole.fill(norm == Norm::max ? -std::numeric_limits<float>::infinity() : 0.0F);
    for (Index f = 0; f < width; ++f) {
      for (std::size_t n = 0; n < rows; ++n) {
        const float e = x[static_cast<Index>(n) * width + f];
        if constexpr (norm == Norm::max)
          whole[n] = whole[n] < e || e != e ? e : whole[n];
        else
          whole[n] += norm == Norm::l1 ? std::fabs(e) : e * e;
      }
    }
    for (std::size_t n = 0; n < rows; ++n, x += width, y += width) {
      const float by = norm == Norm::l2 ? std::sqrt(whole[n]) : whole[n];
      const float divisor = by == 0 ? 1.0F : by;
      for (Index f = 0; f < width; ++f) y[f] = x[f] / divisor;
    }
  }

  const std::string norm_;
};

class ScalerStep : public FeaturesStep {
 public:
  ScalerStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : FeaturesStep(graph, node, std::move(buffers)) {
    const Facts& facts = fact().attributes();
    std::vector<float> offset = facts.numbers("offset"), scale = facts.numbers("scale");
    const bool both = facts.given("offset") && facts.given("scale");
    columns_ = std::max({offset.size(), scale.size(), std::size_t{1}});
    fits_ = (!both || offset.size() == scale.size()) &&
            !(facts.given("offset") && offset.empty()) && !(facts.given("scale") && scale.empty());
    offset.resize(columns_, 0.0F);
    scale.resize(columns_, 1.0F);
    offset_ = repeated(offset);
    scale_ = repeated(scale);
  }

 private:
  bool moved(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Shape& shape = x.shape();
    if (!fits_ || !fit(columns_, shape) || (columns_ > 1 && shape.size() > 2)) return false;
    float* const to = output(state, 0, Type::float32, shape).data<float>();
    with_feature(x.type(), [&]<class T>() {
      const T* const from = x.data<T>();
      periods(state, x.size(), size(offset_), [&](Index first, Index many) {
        for (Index k = 0; k < many; ++k) {
          const auto j = static_cast<std::size_t>(k);
          to[first + k] = (static_cast<float>(from[first + k]) - offset_[j]) * scale_[j];
        }
      });
    });
    return true;
  }

  std::size_t columns_ = 1;
  bool fits_ = false;
  std::vector<float> offset_, scale_;
};

class BinarizerStep : public FeaturesStep {
 public:
  BinarizerStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : FeaturesStep(graph, node, std::move(buffers)),
        threshold_(fact().attributes().number("threshold")) {}

 private:
  bool moved(RunState& state) override {
    const Tensor& x = input(state, 0);
    bool fits = true;
    with_feature(x.type(), [&]<class T>() {
      T bar{};
      if constexpr (std::is_floating_point_v<T>) {
        bar = static_cast<T>(threshold_);
      } else {
        // An integer exceeds a number if it exceeds its floor.
        constexpr float past = std::is_same_v<T, std::int64_t> ? 0x1p63F : 0x1p31F;
        fits = threshold_ >= -past && threshold_ < past;
        if (fits) bar = static_cast<T>(std::floor(threshold_));
      }
      if (!fits) return;
      const T* const from = x.data<T>();
      T* const to = output(state, 0, x.type(), x.shape()).template data<T>();
      constexpr Index period = 1024;
      periods(state, x.size(), period, [&](Index first, Index many) {
        for (Index k = first; k < first + many; ++k) to[k] = static_cast<T>(from[k] > bar);
      });
    });
    return fits;
  }

  const float threshold_;
};

class ImputerStep : public FeaturesStep {
 public:
  ImputerStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : FeaturesStep(graph, node, std::move(buffers)) {
    const Facts& facts = fact().attributes();
    const Type type = element_of(graph, node, 0);
    gap_ = facts.number("replaced_value_float");
    whole_gap_ = facts.integer("replaced_value_int64");
    if (touchstone::facts(type).is_float) {
      floats_ = facts.numbers("imputed_value_floats");
      columns_ = floats_.size();
      if (columns_ > 0) floats_ = repeated(floats_);
      return;
    }
    const IndexVector given = facts.integers("imputed_value_int64s");
    integers_.assign(given.begin(), given.end());
    columns_ = integers_.size();
    if (type == Type::int32 && !(all_int32(integers_) && all_int32({whole_gap_}))) columns_ = 0;
    if (columns_ > 0) integers_ = repeated(integers_);
  }

 private:
  bool moved(RunState& state) override {
    const Tensor& x = input(state, 0);
    if (columns_ == 0 || !fit(columns_, x.shape())) return false;
    Tensor& y = output(state, 0, x.type(), x.shape());
    with_feature(x.type(), [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>)
        impute<T>(state, x, y, static_cast<T>(gap_), floats_);
      else
        impute<T>(state, x, y, static_cast<T>(whole_gap_), integers_);
    });
    return true;
  }

  template <class T, class N>
  static void impute(RunState& state, const Tensor& x, Tensor& y, T gap,
                     const std::vector<N>& filled) {
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    const bool any_nan = gap != gap;
    periods(state, x.size(), size(filled), [&](Index first, Index many) {
      for (Index k = 0; k < many; ++k) {
        const T e = from[first + k], other = static_cast<T>(filled[static_cast<std::size_t>(k)]);
        to[first + k] = (e == gap) | (any_nan & (e != e)) ? other : e;
      }
    });
  }
  static bool all_int32(const std::vector<std::int64_t>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t x) {
      return x == static_cast<std::int64_t>(static_cast<std::int32_t>(x));
    });
  }

  float gap_ = 0;
  std::int64_t whole_gap_ = 0;
  std::size_t columns_ = 0;  // 0: left to the reference
  std::vector<float> floats_;
  std::vector<std::int64_t> integers_;
};

class VectorizerStep : public FeaturesStep {
 public:
  VectorizerStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : FeaturesStep(graph, node, std::move(buffers)),
        given_(fact().attributes().given("inputdimensions")),
        widths_(fact().attributes().integers("inputdimensions")) {}

 private:
  bool moved(RunState& state) override {
    const Index many = size(fact().inputs);
    if (given_ && widths_.size() != many) return false;
    std::vector<Column> columns;
    Index rows = 0, width = 0;
    for (Index k = 0; k < many; ++k) {
      const Tensor& x = input(state, static_cast<std::size_t>(k));
      const Shape& shape = x.shape();
      if (shape.empty() || shape.size() > 2) return false;
      const Index own = shape.size() == 1 ? 1 : shape[0], wide = given_ ? widths_[k] : shape.back();
      if ((k > 0 && own != rows) || wide < 0) return false;
      rows = own;
      columns.push_back({&x, width, wide, std::min(wide, shape.back()), shape.back()});
      width = add(width, wide);
    }
    Tensor& y = output(state, 0, Type::float32, Shape{rows, width});
    if (y.size() == 0) return true;
    float* const to = y.data<float>();
    in_ranges(state, rows, nanoseconds_in_order * static_cast<double>(width),
              [&](Index first, Index end) {
                for (const Column& column : columns) {
                  with_feature(column.x->type(), [&]<class T>() {
                    for (Index n = first; n < end; ++n) copy<T>(column, n, to + n * width);
                  });
                }
              });
    return true;
  }

  struct Column {
    const Tensor* x;
    Index first, width, copied, held;
  };
  template <class T>
  static void copy(const Column& column, Index n, float* row) {
    const T* const from = column.x->data<T>() + n * column.held;
    float* const to = row + column.first;
    for (Index c = 0; c < column.copied; ++c) to[c] = static_cast<float>(from[c]);
    for (Index c = column.copied; c < column.width; ++c) to[c] = 0;
  }

  const bool given_;
  const IndexVector widths_;
};

class ExtractorStep : public FeaturesStep {
 public:
  ExtractorStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : FeaturesStep(graph, node, std::move(buffers)) {
    kernel_class = KernelClass::copy;
  }

 private:
  bool moved(RunState& state) override {
    const Tensor &x = input(state, 0), &indices = input(state, 1);
    if (x.shape().empty()) return false;
    const Index width = x.shape().back(), many = indices.size();
    const std::int64_t* const at = indices.data<std::int64_t>();
    bool inside = true;
    for (Index k = 0; k < many; ++k) inside &= at[k] >= 0 && at[k] < width;
    if (!inside) return false;
    Shape shape = x.shape().size() == 1 ? Shape{1} : head(x.shape(), x.shape().size() - 1);
    const Index rows = count(shape);
    shape.push_back(many);
    Tensor& y = output(state, 0, x.type(), shape);
    if (y.size() == 0) return true;
    charge_work(many);
    if (x.type() == Type::string) {
      pick(x.data<std::string>(), rows, width, at, many, y.data<std::string>());
      y.charge_texts();
      return true;
    }
    with_sized(x.type(), [&]<class T>() {
      const T* const from = x.data<T>();
      T* const to = y.data<T>();
      const Index shares = rows > 1 ? rows : many;
      const double cost = nanoseconds_a_feature * static_cast<double>(y.size() / shares);
      in_ranges(state, shares, cost, [&](Index first, Index end) {
        if (rows == 1) return pick(from, 1, width, at + first, end - first, to + first);
        pick(from + first * width, end - first, width, at, many, to + first * many);
      });
    });
    return true;
  }

  template <class T>
  static void pick(const T* x, Index rows, Index width, const std::int64_t* at, Index many, T* y) {
    for (Index n = 0; n < rows; ++n, x += width, y += many) {
      for (Index k = 0; k < many; ++k) y[k] = x[at[k]];
    }
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (signature.domain != "ai.onnx.ml" || fact.inputs.empty()) return false;
  const Type type = element_of(graph, node, 0);
  if (signature.op == "ArrayFeatureExtractor") {
    return (is_movable(type) || type == Type::string) &&
           element_of(graph, node, 1) == Type::int64 && !is_data_movement(graph, node);
  }
  static const std::vector<std::string> of_features{"Normalizer", "Scaler", "Binarizer", "Imputer",
                                                    "FeatureVectorizer"};
  if (std::find(of_features.begin(), of_features.end(), signature.op) == of_features.end())
    return false;
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    if (!is_feature(element_of(graph, node, k))) return false;
  }
  return true;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const std::string_view op = graph.node(node).node->signature->op;
  if (op == "Normalizer") return std::make_unique<NormalizerStep>(graph, node, std::move(buffers));
  if (op == "Scaler") return std::make_unique<ScalerStep>(graph, node, std::move(buffers));
  if (op == "Binarizer") return std::make_unique<BinarizerStep>(graph, node, std::move(buffers));
  if (op == "Imputer") return std::make_unique<ImputerStep>(graph, node, std::move(buffers));
  if (op == "FeatureVectorizer")
    return std::make_unique<VectorizerStep>(graph, node, std::move(buffers));
  return std::make_unique<ExtractorStep>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily features_family{"features", KernelClass::pointwise, takes, step};

}  // namespace touchstone::optimized
