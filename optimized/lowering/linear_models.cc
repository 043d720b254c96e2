// Family of classifiers by linear functions and by support vector machines, of float32 rows. Each
// sum keeps the order of the definition; vectors hold several sums side by side.
#include <algorithm>
#include <array>
#include <memory>

#include "core/budget.h"
#include "core/error.h"
#include "optimized/lowering/families.h"
#include "reference/pair_shares.h"
#include "reference/scores.h"

namespace touchstone {
namespace {

constexpr Index lanes = 16;        // sums side by side
constexpr Index rows_at_once = 8;  // that share one pass over the machines' coefficients

// Lists of equal length, transposed in blocks of as many lists as lanes.
class PackedLists {
 public:
  PackedLists() = default;
  PackedLists(const std::vector<float>& flat, Index lists, Index length)
      : lists_(lists), length_(length), packed_(Type::float32, Shape{blocks(), length, lanes}) {
    float* const to = packed_.data<float>();
    std::fill_n(to, packed_.size(), 0.0F);
    for (Index e = 0; e < lists; ++e) {
      for (Index f = 0; f < length; ++f)
        to[(e / lanes * length + f) * lanes + e % lanes] = item(flat, e * length + f);
    }
  }
  Index lists() const { return lists_; }
  Index length() const { return length_; }
  Index blocks() const { return ceil_div(lists_, lanes); }

  // Sums of products with a row, or of squared differences, for the lists of one block.
  template <bool squares>
  void sums(const float* row, Index block, float* made) const {
    const float* from = packed_.data<float>() + block * length_ * lanes;
    float sums[lanes] = {};
    for (Index f = 0; f < length_; ++f, from += lanes) {
      const float x = row[f];
      for (Index k = 0; k < lanes; ++k) {
        const float apart = x - from[k];
        sums[k] += squares ? apart * apart : x * from[k];
      }
    }
    for (Index k = 0; k < lanes; ++k) made[k] = sums[k];
  }

 private:
  Index lists_ = 0, length_ = 0;
  Tensor packed_{Type::float32, Shape{0}};
};

// Part of a run: memory of one thread.
struct Scratch {
  Tensor kernels, sums;
  std::vector<float> scores, votes;
};

class ClassifierStep : public TensorStep {
 public:
  ClassifierStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "linear models";
    kernel_class = KernelClass::matmul;
    const Facts& facts = fact().attributes();
    labels_ = Labels(facts, "classlabels_ints", "classlabels_strings");
    const std::string how = facts.text("post_transform", "NONE");
    transform_ = transform_called(how);
    const std::vector<std::string> names = transform_names();
    fits_ = labels_.integers.empty() != labels_.texts.empty() &&
            std::find(names.begin(), names.end(), how) != names.end();
  }

  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Shape& shape = x.shape();
    if (!fits_ || shape.empty() || shape.size() > 2 || !describe(shape.back()))
      return run_on_reference(state);
    const Index rows = shape.size() == 1 ? 1 : shape[0], width = shape.back();
    const Shape made{rows, columns_};
    if (!has_output(1) && (!scores_ || scores_->shape() != made))
      scores_.emplace(Type::float32, made);
    Tensor& shown = has_output(1) ? output(state, 1, Type::float32, made) : *scores_;
    if (tops_.size() < rows) tops_ = Tensor(Type::int64, Shape{rows});
    const float* const from = x.data<float>();
    float* const to = shown.data<float>();
    std::int64_t* const tops = tops_.data<std::int64_t>();
    const Index blocks = ceil_div(rows, rows_at_once);
    const Index parts = std::min(blocks, parts_for(state.pool.size()));
    const double cost = static_cast<double>(rows) * nanoseconds();
    if (rows > 0) {
      state.each(parts, cost, [&](Index part, Index) {
        Scratch scratch = memory();
        const Index end = std::min(rows, blocks * (part + 1) / parts * rows_at_once);
        Index first = blocks * part / parts * rows_at_once;
        for (; first < end; first += rows_at_once) {
          score(from + first * width, std::min(rows_at_once, end - first), to + first * columns_,
                tops + first, scratch);
        }
      });
    }
    if (has_output(0)) name_rows(output(state, 0, labels_.type(), Shape{rows}));
  }

 protected:
  virtual bool describe(Index features) = 0;  // false: left to the reference
  virtual double nanoseconds() const = 0;     // a row
  virtual Scratch memory() const = 0;
  virtual void score(const float* x, Index many, float* shown, std::int64_t* tops,
                     Scratch& scratch) const = 0;

  static Index top(const std::vector<float>& votes) {
    FirstLargest<float, Index> best;
    for (Index e = 0; e < size(votes); ++e) best.add(item(votes, e), e);
    return best.at;
  }
  void show(const std::vector<float>& scores, float* shown) const {
    if (transform_ == Transform::none) {
      std::copy(scores.begin(), scores.end(), shown);
      return;
    }
    const std::vector<float> made = transformed(scores, transform_);
    std::copy(made.begin(), made.end(), shown);
  }
  // One score a list, plus an offset each if there are any, or one for all.
  static void add_lines(const PackedLists& lines, const std::vector<float>& offsets,
                        const float* row, std::vector<float>& scores) {
    charge_work(lines.lists() * (1 + lines.length()));
    scores.clear();
    for (Index block = 0; block < lines.blocks(); ++block) {
      float sums[lanes];
      lines.sums<false>(row, block, sums);
      const Index first = block * lanes, end = std::min(lines.lists(), first + lanes);
      for (Index e = first; e < end; ++e) {
        const float sum = sums[e - first];
        scores.push_back(offsets.empty() ? sum : sum + item(offsets, size(offsets) == 1 ? 0 : e));
      }
    }
  }

  bool fits_ = false;
  Index columns_ = 0;  // of the scores
  Labels labels_;
  Transform transform_ = Transform::none;

 private:
  void name_rows(Tensor& named) const {
    for (Index n = 0; n < named.size(); ++n) {
      const Index best = tops_.data<std::int64_t>()[n];
      if (labels_.integers.empty())
        named.data<std::string>()[n] = item(labels_.texts, best);
      else
        named.data<std::int64_t>()[n] = labels_.integers[best];
    }
    if (labels_.integers.empty()) named.charge_texts();
  }

  Tensor tops_{Type::int64, Shape{0}};
  std::optional<Tensor> scores_;
};

class LinearStep : public ClassifierStep {
 public:
  LinearStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : ClassifierStep(graph, node, std::move(buffers)),
        coefficients_(fact().attributes().numbers("coefficients")),
        intercepts_(fact().attributes().numbers("intercepts")) {
    columns_ = labels_.size();
  }

 protected:
  bool describe(Index features) override {
    if (features < 1) return false;
    const Index lines = columns_ == 2 && size(coefficients_) == features ? 1 : columns_;
    if (size(coefficients_) % features != 0 || size(coefficients_) / features != lines)
      return false;
    if (!intercepts_.empty() && size(intercepts_) != lines) return false;
    if (lines_.lists() != lines || lines_.length() != features)
      lines_ = PackedLists(coefficients_, lines, features);
    return true;
  }
  double nanoseconds() const override {
    return 100 + 2.0 * static_cast<double>(lines_.blocks() * lines_.length()) +
           (transform_ == Transform::none ? 1.0 : 20.0) * static_cast<double>(columns_);
  }
  Scratch memory() const override { return {}; }
  void score(const float* x, Index many, float* shown, std::int64_t* tops,
             Scratch& scratch) const override {
    for (Index n = 0; n < many; ++n) {
      add_lines(lines_, intercepts_, x + n * lines_.length(), scratch.scores);
      if (lines_.lists() < columns_)
        scratch.scores.insert(scratch.scores.begin(), -scratch.scores[0]);
      tops[n] = top(scratch.scores);
      show(scratch.scores, shown + n * columns_);
    }
  }

 private:
  const std::vector<float> coefficients_, intercepts_;
  PackedLists lines_;
};

class MachinesStep : public ClassifierStep {
 public:
  MachinesStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : ClassifierStep(graph, node, std::move(buffers)) {
    const Facts& facts = fact().attributes();
    per_class_ = facts.integers("vectors_per_class");
    coefficients_ = facts.numbers("coefficients");
    prob_a_ = facts.numbers("prob_a"), prob_b_ = facts.numbers("prob_b");
    rho_ = facts.numbers("rho");
    const std::string kind = facts.text("kernel_type", "LINEAR");
    const std::vector<std::string> kinds{"LINEAR", "POLY", "RBF", "SIGMOID"};
    const auto found = std::find(kinds.begin(), kinds.end(), kind);
    const std::vector<float> params = facts.numbers("kernel_params");
    fits_ = fits_ && found != kinds.end() && (params.empty() || size(params) == 3);
    if (!fits_) return;
    kind_ = static_cast<Kind>(found - kinds.begin());
    std::copy(params.begin(), params.end(), params_.begin());
    classes_ = labels_.size();
    fits_ = per_class_.empty() ? read_lines() : read_machines(facts.numbers("support_vectors"));
  }

 protected:
  bool describe(Index features) override { return features == lists_.length(); }
  double nanoseconds() const override {
    const auto of = [](Index many) { return static_cast<double>(many); };
    return 100 + 2 * of(lists_.blocks() * lists_.length()) + 10 * of(lists_.lists()) +
           of(size(coefficients_)) / 2 + 20 * of(columns_) +
           (prob_a_.empty() ? 0.0 : 50 * of(classes_) * of(classes_));
  }
  Scratch memory() const override {
    if (per_class_.empty()) return {};
    Scratch made;
    made.kernels = Tensor(Type::float32, Shape{lists_.blocks() * lanes, rows_at_once});
    made.sums = Tensor(Type::float32, Shape{pairs(), rows_at_once});
    std::fill_n(made.kernels.data<float>(), made.kernels.size(), 0.0F);
    return made;
  }
  void score(const float* x, Index many, float* shown, std::int64_t* tops,
             Scratch& scratch) const override {
    if (per_class_.empty()) {
      for (Index n = 0; n < many; ++n) {
        add_lines(lists_, rho_, x + n * lists_.length(), scratch.scores);
        tops[n] = top(scratch.scores);
        show(scratch.scores, shown + n * columns_);
      }
      return;
    }
    for (Index n = 0; n < many; ++n)
      kernels(x + n * lists_.length(), scratch.kernels.data<float>() + n);
    float* const sums = scratch.sums.data<float>();
    machines(scratch.kernels.data<float>(), sums);
    for (Index n = 0; n < many; ++n) {
      scratch.scores.clear();
      for (Index pair = 0; pair < pairs(); ++pair)
        scratch.scores.push_back(sums[pair * rows_at_once + n]);
      count_votes(scratch.scores, scratch.votes);
      tops[n] = top(scratch.votes);
      if (!prob_a_.empty())
        scratch.scores = pair_shares(scratch.scores, classes_, prob_a_, prob_b_);
      else if (classes_ == 2)
        scratch.scores.insert(scratch.scores.begin(), -scratch.scores[0]);
      show(scratch.scores, shown + n * columns_);
    }
  }

 private:
  enum class Kind { linear, poly, rbf, sigmoid };

  Index pairs() const { return classes_ * (classes_ - 1) / 2; }
  bool read_lines() {
    const Index features = size(coefficients_) / classes_;
    if (features < 1 || features * classes_ != size(coefficients_)) return false;
    if ((size(rho_) != classes_ && size(rho_) != 1) || !prob_a_.empty() || !prob_b_.empty())
      return false;
    columns_ = classes_;
    lists_ = PackedLists(coefficients_, classes_, features);
    return true;
  }
  bool read_machines(const std::vector<float>& support) {
    if (classes_ < 2 || per_class_.size() != classes_ || size(rho_) != pairs()) return false;
    Index vectors = 0;
    for (const Index many : per_class_) {
      if (many < 0 || many > size(support)) return false;
      starts_.push_back(vectors);
      vectors += many;
    }
    if (vectors < 1 || size(support) < vectors || size(support) % vectors != 0) return false;
    if (size(coefficients_) % vectors != 0 || size(coefficients_) / vectors != classes_ - 1)
      return false;
    if (size(prob_a_) != size(prob_b_) || (!prob_a_.empty() && size(prob_a_) != pairs()))
      return false;
    columns_ = !prob_a_.empty() || classes_ == 2 ? classes_ : pairs();
    lists_ = PackedLists(support, vectors, size(support) / vectors);
    return true;
  }

  // Writes the kernel's value of the row with each support vector, a block of rows apart.
  void kernels(const float* row, float* made) const {
    const Index vectors = lists_.lists();
    charge_work(vectors * (1 + lists_.length()));
    for (Index block = 0; block < lists_.blocks(); ++block) {
      float sums[lanes];
      if (kind_ == Kind::rbf)
        lists_.sums<true>(row, block, sums);
      else
        lists_.sums<false>(row, block, sums);
      const Index first = block * lanes, end = std::min(vectors, first + lanes);
      for (Index v = first; v < end; ++v) made[v * rows_at_once] = value(sums[v - first]);
    }
  }
  float value(float sum) const {
    switch (kind_) {
      case Kind::rbf:
        return prim::exp(-params_[0] * sum);
      case Kind::poly:
        return prim::pow(params_[0] * sum + params_[1], params_[2]);
      case Kind::sigmoid:
        return prim::tanh(params_[0] * sum + params_[1]);
      case Kind::linear:
        break;
    }
    return sum;
  }

  // Writes the values of the machines of a block of rows: pairs (0, 1), (0, 2) ... (1, 2) ...
  void machines(const float* kernels, float* made) const {
    const Index vectors = lists_.lists();
    Index pair = 0;
    for (Index i = 0; i < classes_; ++i) {
      for (Index j = i + 1; j < classes_; ++j, ++pair) {
        charge_work((per_class_[i] + per_class_[j]) * rows_at_once);
        float sums[rows_at_once] = {};
        const auto add = [&](Index line, Index of) {
          const float* const weights = coefficients_.data() + line * vectors;
          for (Index v = starts_[of]; v < starts_[of] + per_class_[of]; ++v) {
            const float* const from = kernels + v * rows_at_once;
            for (Index n = 0; n < rows_at_once; ++n) sums[n] += weights[v] * from[n];
          }
        };
        add(j - 1, i);
        add(i, j);
        for (Index n = 0; n < rows_at_once; ++n)
          made[pair * rows_at_once + n] = sums[n] + item(rho_, pair);
      }
    }
  }
  void count_votes(const std::vector<float>& scores, std::vector<float>& votes) const {
    votes.assign(static_cast<std::size_t>(classes_), 0.0F);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < votes.size(); ++i) {
      for (std::size_t j = i + 1; j < votes.size(); ++j, ++pair)
        votes[0 < scores[pair] ? i : j] += 1;
    }
  }

  IndexVector per_class_, starts_;
  std::vector<float> coefficients_, prob_a_, prob_b_, rho_;
  std::array<float, 3> params_{};
  Kind kind_ = Kind::linear;
  Index classes_ = 0;
  PackedLists lists_;  // support vectors, or lines
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (signature.domain != "ai.onnx.ml") return false;
  if (signature.op != "LinearClassifier" && signature.op != "SVMClassifier") return false;
  return fact.inputs.size() == 1 && fact.inputs[0] != no_value &&
         graph.value(fact.inputs[0]).is(Type::float32);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  if (graph.node(node).node->signature->op == "LinearClassifier")
    return std::make_unique<LinearStep>(graph, node, std::move(buffers));
  return std::make_unique<MachinesStep>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily linear_models_family{"linear models", KernelClass::matmul, takes, step};

}  // namespace touchstone
