// Steps of support vector machines: the values of a kernel with each vector, for a block of rows,
// then the machines' weighted sums.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/budget.h"
#include "optimized/kernels/support_kernels.h"
#include "optimized/lowering/linear_models.h"
#include "optimized/registry/isa.h"
#include "reference/pair_shares.h"

namespace touchstone::optimized {

const SupportKernels& support_kernels_of(Isa isa) { return BY_ISA(isa, support_kernels); }

namespace {

class MachinesStep : public RowModelStep {
 public:
  MachinesStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : RowModelStep(graph, node, std::move(buffers)) {
    const Facts& facts = fact().attributes();
    coefficients_ = facts.numbers("coefficients");
    rho_ = facts.numbers("rho");
    const std::string kind = facts.text("kernel_type", "LINEAR");
    const std::vector<std::string> kinds{"LINEAR", "POLY", "RBF", "SIGMOID"};
    const auto found = std::find(kinds.begin(), kinds.end(), kind);
    const std::vector<float> params = facts.numbers("kernel_params");
    fits_ = fits_ && found != kinds.end() && (params.empty() || size(params) == 3);
    if (!fits_) return;
    kind_ = static_cast<Kind>(found - kinds.begin());
    std::copy(params.begin(), params.end(), params_.begin());
    if (params_[2] >= 1 && params_[2] <= most_whole_degree && std::floor(params_[2]) == params_[2])
      whole_degree_ = static_cast<int>(params_[2]);
  }

 protected:
  bool describe(Index features) override { return features == lists_.length(); }
  double nanoseconds() const override {
    const auto of = [](Index many) { return static_cast<double>(many); };
    return 50 + 2 * of(lists_.blocks() * lists_.length()) + 10 * of(lists_.lists()) +
           of(size(coefficients_)) / 2;
  }
  Scratch memory() const override {
    if (lines_only_) return {};
    Scratch made;
    made.kernels = Tensor(Type::float32, Shape{lists_.lists(), rows_at_once});
    made.sums = Tensor(Type::float32, Shape{size(rho_), rows_at_once});
    std::fill_n(made.kernels.data<float>(), made.kernels.size(), 0.0F);
    return made;
  }

  // Values of one vector: of one row alone, or of a whole block of rows.
  static Index width_of(Index many) { return many == 1 ? 1 : rows_at_once; }
  // Writes the kernel's values of the rows with each support vector, width_of(many) apart.
  void kernels(const float* x, Index many, Scratch& scratch) const {
    float* const made = scratch.kernels.data<float>();
    const Term term = kind_ == Kind::rbf ? Term::square : Term::product;
    lists_.all_sums(term, x, many, made, 1, width_of(many));
    const Index sums = lists_.lists() * width_of(many);
    switch (kind_) {
      case Kind::linear:
        return;
      case Kind::rbf:
        for (Index k = 0; k < sums; ++k) made[k] = prim::exp(-params_[0] * made[k]);
        return;
      case Kind::sigmoid:
        return support_kernels_of(chosen_isa()).tanh(made, sums, params_[0], params_[1]);
      case Kind::poly:
        if (whole_degree_ != 0)
          return support_kernels_of(chosen_isa())
              .powers(made, sums, params_[0], params_[1], whole_degree_);
        for (Index k = 0; k < sums; ++k)
          made[k] = prim::pow(params_[0] * made[k] + params_[1], params_[2]);
    }
  }
  // Adds the weighted values of a range of vectors to the sums of the rows.
  static void add(const float* kernels, Index many, const float* weights, Index first, Index end,
                  float* sums) {
    if (width_of(many) == 1) {
      for (Index v = first; v < end; ++v) sums[0] += weights[v] * kernels[v];
      return;
    }
    for (Index v = first; v < end; ++v) {
      const float* const from = kernels + v * rows_at_once;
      for (Index n = 0; n < rows_at_once; ++n) sums[n] += weights[v] * from[n];
    }
  }

  std::vector<float> coefficients_, rho_;
  bool lines_only_ = false;   // no vectors: each list is a linear function
  PackedLists<float> lists_;  // support vectors, or lines

 private:
  enum class Kind { linear, poly, rbf, sigmoid };

  std::array<float, 3> params_{};
  int whole_degree_ = 0;  // 0: the degree is no whole number of a few
  Kind kind_ = Kind::linear;
};

class ClassifierStep : public MachinesStep {
 public:
  ClassifierStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : MachinesStep(graph, node, std::move(buffers)) {
    if (!fits_) return;
    const Facts& facts = fact().attributes();
    per_class_ = facts.integers("vectors_per_class");
    prob_a_ = facts.numbers("prob_a"), prob_b_ = facts.numbers("prob_b");
    classes_ = labels_.size();
    lines_only_ = per_class_.empty();
    fits_ = lines_only_ ? read_lines() : read_machines(facts.numbers("support_vectors"));
  }

 protected:
  double nanoseconds() const override {
    const double shares = 50 * static_cast<double>(classes_ * classes_);
    return MachinesStep::nanoseconds() + (prob_a_.empty() ? 0 : shares);
  }
  void score(const float* x, Index many, float* shown, std::int64_t* tops,
             Scratch& scratch) const override {
    if (lines_only_) {
      lines(lists_, x, many, rho_, shown, columns_);
      for (Index n = 0; n < many; ++n) tops[n] = top(shown + n * columns_, columns_);
      return;
    }
    kernels(x, many, scratch);
    float* const sums = scratch.sums.data<float>();
    machines(scratch.kernels.data<float>(), many, sums);
    for (Index n = 0; n < many; ++n) {
      scratch.scores.clear();
      for (Index pair = 0; pair < pairs(); ++pair)
        scratch.scores.push_back(sums[pair * rows_at_once + n]);
      count_votes(scratch.scores, scratch.votes);
      tops[n] = top(scratch.votes.data(), size(scratch.votes));
      if (!prob_a_.empty())
        scratch.scores = pair_shares(scratch.scores, classes_, prob_a_, prob_b_);
      else if (classes_ == 2)
        scratch.scores.insert(scratch.scores.begin(), -scratch.scores[0]);
      std::copy(scratch.scores.begin(), scratch.scores.end(), shown + n * columns_);
    }
  }

 private:
  Index pairs() const { return classes_ * (classes_ - 1) / 2; }
  bool read_lines() {
    const Index features = size(coefficients_) / classes_;
    if (features < 1 || features * classes_ != size(coefficients_)) return false;
    if ((size(rho_) != classes_ && size(rho_) != 1) || !prob_a_.empty() || !prob_b_.empty())
      return false;
    columns_ = classes_;
    lists_ = PackedLists<float>(coefficients_.data(), classes_, features);
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
    lists_ = PackedLists<float>(support.data(), vectors, size(support) / vectors);
    return true;
  }

  // Writes the values of the machines of a block of rows: pairs (0, 1), (0, 2) ... (1, 2) ...
  void machines(const float* kernels, Index many, float* made) const {
    const Index vectors = lists_.lists();
    Index pair = 0;
    for (Index i = 0; i < classes_; ++i) {
      for (Index j = i + 1; j < classes_; ++j, ++pair) {
        charge_work((per_class_[i] + per_class_[j]) * width_of(many));
        float sums[rows_at_once] = {};
        const auto add_class = [&](Index line, Index of) {
          const Index first = starts_[of];
          add(kernels, many, coefficients_.data() + line * vectors, first, first + per_class_[of],
              sums);
        };
        add_class(j - 1, i);
        add_class(i, j);
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
  std::vector<float> prob_a_, prob_b_;
  Index classes_ = 0;
};

class RegressorStep : public MachinesStep {
 public:
  RegressorStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : MachinesStep(graph, node, std::move(buffers)) {
    const Facts& facts = fact().attributes();
    const std::vector<float> support = facts.numbers("support_vectors");
    const Index vectors = facts.integer("n_supports"), one_class = facts.integer("one_class");
    columns_ = 1;
    by_sign_ = one_class == 1;
    lines_only_ = vectors == 0;
    const Index many = size(coefficients_);
    fits_ =
        fits_ && size(rho_) == 1 && many > 0 && (one_class & ~1) == 0 &&
        (lines_only_ || (vectors == many && size(support) >= many && size(support) % many == 0));
    if (!fits_) return;
    lists_ = lines_only_ ? PackedLists<float>(coefficients_.data(), 1, many)
                         : PackedLists<float>(support.data(), many, size(support) / many);
  }

 protected:
  void score(const float* x, Index many, float* shown, std::int64_t*,
             Scratch& scratch) const override {
    if (lines_only_) {
      lines(lists_, x, many, rho_, shown, 1);
    } else {
      kernels(x, many, scratch);
      charge_work(lists_.lists() * width_of(many));
      float sums[rows_at_once] = {};
      add(scratch.kernels.data<float>(), many, coefficients_.data(), 0, lists_.lists(), sums);
      for (Index n = 0; n < many; ++n) shown[n] = sums[n] + rho_[0];
    }
    for (Index n = 0; by_sign_ && n < many; ++n) shown[n] = 0 < shown[n] ? 1.0F : -1.0F;
  }

 private:
  bool by_sign_ = false;
};

}  // namespace

std::unique_ptr<Step> support_vector_step(const AnalyzedGraph& graph, Index node,
                                          std::vector<Index> buffers) {
  if (graph.node(node).node->signature->outputs.size() == 2)
    return std::make_unique<ClassifierStep>(graph, node, std::move(buffers));
  return std::make_unique<RegressorStep>(graph, node, std::move(buffers));
}

}  // namespace touchstone::optimized
