// Family of linear models: classifiers and regressors by linear functions and by support vectors.
#include "optimized/lowering/linear_models.h"

#include <algorithm>

#include "core/budget.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/features.h"
#include "optimized/lowering/moves.h"

namespace touchstone::optimized {

RowModelStep::RowModelStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
    : TensorStep(graph, node, std::move(buffers)),
      classifies_(fact().attributes().signature().outputs.size() == 2) {
  kernel = "linear models";
  kernel_class = KernelClass::matmul;
  const Facts& facts = fact().attributes();
  const std::string how = facts.text("post_transform", "NONE");
  transform_ = transform_called(how);
  const std::vector<std::string> names = transform_names();
  fits_ = std::find(names.begin(), names.end(), how) != names.end();
  if (!classifies_) return;
  labels_ = Labels(facts, "classlabels_ints", "classlabels_strings");
  fits_ = fits_ && labels_.integers.empty() != labels_.texts.empty();
}

void RowModelStep::run(RunState& state) {
  const Tensor& x = input(state, 0);
  const Shape& shape = x.shape();
  if (!fits_ || shape.empty() || shape.size() > 2 || !describe(shape.back()))
    return run_on_reference(state);
  const Index rows = shape.size() == 1 ? 1 : shape[0], width = shape.back();
  const Shape made{rows, columns_};
  const std::size_t shown_at = classifies_ ? 1 : 0;
  if (!has_output(shown_at) && (!scores_ || scores_->shape() != made))
    scores_.emplace(Type::float32, made);
  Tensor& shown = has_output(shown_at) ? output(state, shown_at, Type::float32, made) : *scores_;
  if (classifies_ && tops_.size() < rows) tops_ = Tensor(Type::int64, Shape{rows});
  if (x.type() != Type::float32 && wide_.size() < x.size())
    wide_ = Tensor(Type::float32, Shape{x.size()});
  const float* const from = floats_of(x, wide_.data<float>());
  float* const to = shown.data<float>();
  std::int64_t* const tops = classifies_ ? tops_.data<std::int64_t>() : nullptr;
  const Index blocks = ceil_div(rows, rows_at_once);
  const Index parts = std::min(blocks, parts_for(state.pool.size()));
  const double transforms = transform_ == Transform::none ? 1 : 10;
  const double cost = nanoseconds() + transforms * static_cast<double>(columns_);
  state.each(parts, cost * static_cast<double>(rows), [&](Index part, Index) {
    Scratch scratch = memory();
    const Index end = std::min(rows, blocks * (part + 1) / parts * rows_at_once);
    Index first = blocks * part / parts * rows_at_once;
    for (; first < end; first += rows_at_once) {
      const Index many = std::min(rows_at_once, end - first);
      float* const scores = to + first * columns_;
      score(from + first * width, many, scores, tops == nullptr ? nullptr : tops + first, scratch);
      if (transform_ == Transform::none) continue;
      for (Index n = 0; n < many; ++n) {
        const auto columns = static_cast<std::size_t>(columns_);
        transform_scores(std::span<float>(scores + n * columns_, columns), transform_);
      }
    }
  });
  if (classifies_ && has_output(0)) name_rows(output(state, 0, labels_.type(), Shape{rows}));
}

void RowModelStep::lines(const PackedLists<float>& lists, const float* rows, Index many,
                         const std::vector<float>& offsets, float* made, Index made_row) {
  lists.all_sums(Term::product, rows, many, made, made_row, 1);
  if (offsets.empty()) return;
  const Index step = size(offsets) == 1 ? 0 : 1;
  for (Index n = 0; n < many; ++n, made += made_row) {
    for (Index e = 0; e < lists.lists(); ++e) made[e] += offsets.data()[e * step];
  }
}

void RowModelStep::name_rows(Tensor& named) const {
  for (Index n = 0; n < named.size(); ++n) {
    const Index best = tops_.data<std::int64_t>()[n];
    if (labels_.integers.empty())
      named.data<std::string>()[n] = item(labels_.texts, best);
    else
      named.data<std::int64_t>()[n] = labels_.integers[best];
  }
  if (labels_.integers.empty()) named.charge_texts();
}

namespace {

class LinearStep : public RowModelStep {
 public:
  LinearStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : RowModelStep(graph, node, std::move(buffers)),
        coefficients_(fact().attributes().numbers("coefficients")),
        intercepts_(fact().attributes().numbers("intercepts")) {
    columns_ = classifies_ ? labels_.size() : fact().attributes().integer("targets", 1);
    const bool none = intercepts_.empty() && fact().attributes().given("intercepts");
    fits_ = fits_ && columns_ > 0 && (classifies_ || !none);
  }

 protected:
  bool describe(Index features) override {
    if (features < 1) return false;
    const bool one_for_two = classifies_ && columns_ == 2 && size(coefficients_) == features;
    const Index lines = one_for_two ? 1 : columns_;
    if (size(coefficients_) % features != 0 || size(coefficients_) / features != lines)
      return false;
    if (!intercepts_.empty() && size(intercepts_) != lines) return false;
    if (lines_.lists() != lines || lines_.length() != features)
      lines_ = PackedLists<float>(coefficients_.data(), lines, features);
    return true;
  }
  double nanoseconds() const override {
    return 20 + 2.0 * static_cast<double>(lines_.blocks() * lines_.length());
  }
  void score(const float* x, Index many, float* shown, std::int64_t* tops,
             Scratch&) const override {
    const Index one = columns_ - lines_.lists();  // 1 if a line serves two classes
    lines(lines_, x, many, intercepts_, shown + one, columns_);
    for (Index n = 0; n < many; ++n) {
      float* const row = shown + n * columns_;
      if (one > 0) row[0] = -row[1];
      if (tops != nullptr) tops[n] = top(row, columns_);
    }
  }

 private:
  const std::vector<float> coefficients_, intercepts_;
  PackedLists<float> lines_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (signature.domain != "ai.onnx.ml") return false;
  static const std::vector<std::string> models{"LinearClassifier", "LinearRegressor",
                                               "SVMClassifier", "SVMRegressor"};
  return std::find(models.begin(), models.end(), signature.op) != models.end() &&
         fact.inputs.size() == 1 && is_feature(element_of(graph, node, 0));
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  if (graph.node(node).node->signature->op.starts_with("Linear"))
    return std::make_unique<LinearStep>(graph, node, std::move(buffers));
  return support_vector_step(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily linear_models_family{"linear models", KernelClass::matmul, takes, step};

}  // namespace touchstone::optimized
