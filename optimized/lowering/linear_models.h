// Steps of linear functions and support vector machines on rows of features.
#pragma once

#include <memory>

#include "optimized/lowering/lowering.h"
#include "optimized/lowering/packed_lists.h"
#include "reference/scores.h"

namespace touchstone::optimized {

// A classifier if the node has labels, else a regressor.
class RowModelStep : public TensorStep {
 public:
  static constexpr Index rows_at_once = 8;

  RowModelStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers);
  void run(RunState& state) override;

 protected:
  // Memory of one part of a run.
  struct Scratch {
    Tensor kernels, sums;
    std::vector<float> scores, votes;
  };

  virtual bool describe(Index features) = 0;  // false: left to the reference
  virtual double nanoseconds() const = 0;     // a row
  virtual Scratch memory() const { return {}; }
  // Writes the scores of at most rows_at_once rows before the transform, and their best classes.
  virtual void score(const float* x, Index many, float* shown, std::int64_t* tops,
                     Scratch& scratch) const = 0;

  // Writes a score for each row and list, plus an offset for each list, or one for all, or none.
  static void lines(const PackedLists<float>& lists, const float* rows, Index many,
                    const std::vector<float>& offsets, float* made, Index made_row);
  // The first of the largest; NaN wins. Scores are as good as random, so it takes no branch.
  static Index top(const float* votes, Index many) {
    Index best = 0;
    for (Index e = 1; e < many; ++e) {
      const float vote = votes[e], most = votes[best];
      const bool beats = (most < vote) | ((vote != vote) & (most == most));
      best += static_cast<Index>(beats) * (e - best);
    }
    return best;
  }

  bool fits_ = false;
  bool classifies_ = false;
  Index columns_ = 0;  // of the scores
  Labels labels_;
  Transform transform_ = Transform::none;

 private:
  void name_rows(Tensor& named) const;

  Tensor tops_{Type::int64, Shape{0}}, wide_{Type::float32, Shape{0}};
  std::optional<Tensor> scores_;
};

std::unique_ptr<Step> support_vector_step(const AnalyzedGraph& graph, Index node,
                                          std::vector<Index> buffers);

}  // namespace touchstone::optimized
