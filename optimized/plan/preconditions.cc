// Checks the preconditions of steps, one function per kind of step, against the extents that the
// step iterates over.
#include "optimized/plan/preconditions.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "model/model.h"
#include "model/place.h"
#include "optimized/registry/registry.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

class Preconditions {
 public:
  Preconditions(const AnalyzedGraph& graph, const Group& group)
      : graph_(graph), group_(group), fact_(graph.node(group.main())) {}

  void hold() const {
    switch (group_.kind) {
      case GroupKind::convolution:
        hold_convolution();
        break;
      case GroupKind::transposed_convolution:
        hold_transposed();
        break;
      case GroupKind::pool:
        hold_pool();
        break;
      case GroupKind::matmul:
        require_matmul();
        break;
      case GroupKind::matmul_dynamic_b:
        require_matmul_dynamic_b();
        break;
      case GroupKind::concat:
        hold_join();
        break;
      case GroupKind::repeat:
        hold_repeat();
        break;
      case GroupKind::view:
      case GroupKind::view_on_device:
        require(elements(fact_.inputs[0]) == elements(group_.made), "a view has as many elements");
        break;
      case GroupKind::reference:  // these compare actual with proved shapes at run time
      case GroupKind::kernel:
      case GroupKind::row_kernel:
      case GroupKind::family:
      case GroupKind::fused_family:
      case GroupKind::copy:
      case GroupKind::on_device:
      case GroupKind::pointwise:
        break;
    }
    if (!group_.region.empty()) hold_region();
  }

 private:
  void require(bool holds, std::string_view what) const {
    if (holds) return;
    throw Error(ErrorKind::internal,
                "a step is planned against its precondition: " + std::string(what))
        .with_place(place_of(*fact_.node, ""));
  }
  const Shape& shape(Index value) const {
    require(value != no_value && graph_.value(value).floats(), "its tensors are floats, of shapes");
    return *graph_.value(value).shape;
  }
  Index elements(Index value) const {
    require(value != no_value && graph_.value(value).placeable(), "its tensors have shapes");
    return count(*graph_.value(value).shape);
  }
  Index input(std::size_t k) const { return k < fact_.inputs.size() ? fact_.inputs[k] : no_value; }
  const Tensor& constant(Index value) const {
    require(value != no_value && graph_.value(value).constant != nullptr &&
                graph_.value(value).constant->type() == Type::float32,
            "its weights are constant floats");
    return *graph_.value(value).constant;
  }
  void hold_bias(Index channels) const {
    if (input(2) == no_value) return;
    require(constant(input(2)).size() == channels, "the bias has a number for each channel");
  }

  // Checks that images have one or two spatial dimensions that match the window.
  void hold_window(const Shape& x, const Shape& made) const {
    const Index rank = x.size();
    require((rank == 3 || rank == 4) && made.size() == rank, "images have rank 3 or 4");
    require(count(x) > 0 && count(made) > 0 && x[0] == made[0],
            "images are as many, and not empty");
    const Window& w = group_.window;
    for (const int d : {0, 1}) {
      const bool is_there = rank == 4 || d == 1;
      require(w.in[d] == (is_there ? x[rank - 2 + d] : 1) &&
                  w.out[d] == (is_there ? made[rank - 2 + d] : 1),
              "a window goes from rows and columns of the input to those of the output");
      require(w.kernel[d] > 0 && w.stride[d] > 0 && w.dilation[d] > 0, "a window has an extent");
    }
  }
  void hold_kernel(const Tensor& weights) const {
    const Shape& w = weights.shape();
    const Index rank = w.size();
    const Window& window = group_.window;
    require((rank == 3 || rank == 4) && rank == shape(group_.made).size(),
            "weights have the rank of images");
    for (const int d : {0, 1}) {
      const Index all = d == 1 ? w[rank - 1] : rank == 4 ? w[2] : 1, first = window.first_tap[d];
      const bool cuts = group_.kind == GroupKind::convolution;
      require(cuts ? first >= 0 && first <= all - window.kernel[d]
                   : first == 0 && window.kernel[d] == all,
              "the window has the weights' last extents, or a part of them");
    }
  }

  void hold_convolution() const {
    const Shape& x = shape(group_.factors == no_value ? fact_.inputs[0] : group_.input);
    const Shape& made = shape(group_.made);
    const Tensor& weights = constant(input(1));
    const Index groups = fact_.attributes().integer("group", 1);
    hold_window(x, made);
    hold_kernel(weights);
    const Shape& w = weights.shape();
    require(groups > 0 && w[0] % groups == 0 && x[1] == w[1] * groups && made[1] == w[0],
            "channels of input, weights and output agree");
    hold_bias(w[0]);
    if (group_.residual != no_value)
      require(shape(group_.residual) == made, "what is added has the output's shape");
    if (group_.factors != no_value)
      require(shape(group_.factors) == Shape({x[0], x[1], 1, 1}), "a factor for each channel");
  }

  void hold_transposed() const {
    const Shape &x = shape(fact_.inputs[0]), &made = shape(group_.made);
    const Tensor& weights = constant(input(1));
    hold_window(x, made);
    hold_kernel(weights);
    const Shape& w = weights.shape();
    require(x[1] == w[0] && made[1] == w[1], "channels of input, weights and output agree");
    hold_bias(w[1]);
  }

  void hold_pool() const {
    const Shape &x = shape(fact_.inputs[0]), &made = shape(group_.made);
    hold_window(x, made);
    require(x[1] == made[1], "a pool keeps the channels");
  }

  void require_matmul() const {
    const Shape &a = shape(fact_.inputs[0]), &made = shape(group_.made);
    const Shape& b = constant(input(1)).shape();
    const bool across = fact_.attributes().integer("transB") != 0;
    require(a.size() > 0 && b.size() == 2 && count(a) > 0, "a matrix is multiplied by another");
    const Index depth = b[across ? 1 : 0], columns = b[across ? 0 : 1];
    require(a.back() == depth, "rows of the one are as long as columns of the other");
    require(made.size() > 0 && made.back() == columns && count(made) == count(a) / depth * columns,
            "the output has a row for each row, and a column for each column");
    if (input(2) == no_value) return;
    const Index bias = constant(input(2)).size();
    require(bias == 1 || bias == columns, "the bias has a number for each column, or for all");
  }

  void require_matmul_dynamic_b() const {
    const Shape &a = shape(fact_.inputs[0]), &b = shape(fact_.inputs[1]);
    const Shape& c = shape(group_.made);
    const Index rank = c.size();
    require(a.size() >= 2 && b.size() >= 2 && rank == std::max(a.size(), b.size()),
            "stacks of matrices are multiplied");
    require(a.back() == b[b.size() - 2] && c[rank - 2] == a[a.size() - 2] && c.back() == b.back(),
            "rows of the one are as long as columns of the other");
    for (const Shape* of : {&a, &b}) {
      const Index lead = rank - of->size();
      for (Index d = 0; d + 2 < of->size(); ++d)
        require((*of)[d] == 1 || (*of)[d] == c[lead + d], "the stacks broadcast to the output's");
    }
  }

  void hold_join() const {
    const Shape& made = shape(group_.made);
    Index channels = 0;
    for (const Index each : fact_.inputs) {
      const Shape& x = shape(each);
      require(x.size() == made.size() && x.size() >= 2 && x[0] == made[0] &&
                  tail(x, 2) == tail(made, 2),
              "what is joined differs in its channels alone");
      channels += x[1];
    }
    require(channels == made[1], "the output has the channels of all");
  }

  void hold_repeat() const {
    const Shape &x = shape(fact_.inputs[0]), &made = shape(group_.made);
    const Index rank = x.size();
    require((rank == 3 || rank == 4) && made.size() == rank && head(x, 2) == head(made, 2) &&
                made.back() == x.back() * group_.repeat.columns &&
                (rank == 3 || made[2] == x[2] * group_.repeat.rows),
            "rows and columns are repeated");
  }

  void hold_region() const {
    const Region& region = group_.region;
    for (const Index external : region.externals) {
      const Shape& from = shape(external);
      require(broadcastable(from, region.shape) && broadcast(from, region.shape) == region.shape,
              "what a region reads broadcasts to what it makes");
    }
    for (const PointwiseOp& op : region.ops)
      require(shape(op.output) == region.shape, "all of a region has one shape");
    if (region.start != no_value)
      require(shape(region.start) == region.shape, "a region has the shape of what it follows");
  }

  const AnalyzedGraph& graph_;
  const Group& group_;
  const AnalyzedNode& fact_;
};

}  // namespace

void hold_preconditions(const AnalyzedGraph& graph, const Group& group) {
  Preconditions(graph, group).hold();
}

}  // namespace touchstone::optimized
