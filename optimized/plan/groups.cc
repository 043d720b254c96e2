// Groups nodes into steps: selects the work of a node by its role and the known facts of its
// values, and fuses the nodes after it.
#include "optimized/plan/groups.h"

#include <algorithm>
#include <set>

#include "core/budget_watch.h"
#include "core/error.h"
#include "model/model.h"
#include "optimized/kernels/blocked_image.h"
#include "optimized/lowering/lowering.h"
#include "optimized/plan/device_call.h"
#include "optimized/plan/image_windows.h"
#include "optimized/problems/float_attribute.h"
#include "optimized/problems/problem.h"
#include "optimized/registry/registry.h"

namespace touchstone::optimized {
namespace {

class Grouping {
 public:
  Grouping(const AnalyzedGraph& graph, bool fuse) : graph_(graph), fuse_(fuse) {
    for (const AnalyzedNode& fact : graph.nodes()) taken_.push_back(fact.folded);
  }

  // Assigns nodes to a device first, so that they join no host group.
  void place_on(const backends::Device& device, bool host) {
    std::set<Index> made;  // values on the device
    for (Index k = 0; k < static_cast<Index>(taken_.size()); ++k) {
      const AnalyzedNode& fact = graph_.node(k);
      if (fact.folded) continue;
      Group group;
      group.nodes = {k};
      const std::string why =
          fact.broken ? "a rule of it does not hold" : why_not_on_device(graph_, k, device.kind());
      if (why.empty()) {
        group.kind = GroupKind::on_device;
      } else if (is_view(fact) && graph_.value(fact.outputs[0]).floats() &&
                 (!host || made.contains(fact.inputs[0]))) {
        group.kind = GroupKind::view_on_device;
      } else if (host) {
        continue;
      } else {
        throw Error(ErrorKind::unsupported,
                    "the device " + device.name() + " does not run the node: " + why)
            .with_place(place_of(*fact.node, ""))
            .with_help("give it a device to fall back on: " + device.name() + ",cpu");
      }
      group.made = fact.outputs[0];
      made.insert(group.made);
      groups_.push_back(take(group));
    }
  }

  std::vector<Group> all() {
    BudgetWatch watch;
    if (fuse_) std::ranges::move(fused_groups(graph_, taken_), std::back_inserter(groups_));
    for (Index k = 0; k < static_cast<Index>(taken_.size()); ++k, watch.step()) {
      if (!taken_[static_cast<std::size_t>(k)]) groups_.push_back(group_of(k));
    }
    std::stable_sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
      return a.nodes.back() < b.nodes.back();
    });
    return std::move(groups_);
  }

 private:
  Group group_of(Index k) {
    if (Group group = gated(k); group.kind == GroupKind::convolution) return group;
    Group group;
    group.nodes = {k};
    const AnalyzedNode& fact = graph_.node(k);
    const Signature* signature = fact.node->signature;
    if (signature == nullptr || fact.broken) return take(group);  // a call of a function has none
    const bool one = fact.outputs.size() == 1 && fact.outputs[0] != no_value &&
                     graph_.value(fact.outputs[0]).floats() &&
                     count(*graph_.value(fact.outputs[0]).shape) > 0;
    const bool view = is_view(fact);
    if (one || view) {
      group.made = fact.outputs[0];
      group.kind = view ? GroupKind::view : kind_of(group, operator_kind(*signature));
      if (group.kind == GroupKind::convolution || group.kind == GroupKind::transposed_convolution ||
          group.kind == GroupKind::matmul)
        extend(group);
      if (group.kind != GroupKind::reference) return take(group);
    }
    if (Region region = grow_from_node(graph_, k, taken_); !region.empty()) {
      group.kind = GroupKind::pointwise;
      if (!fuse_) {
        const PointwiseOp only = region.ops.front();
        region = {};
        region.shape = *graph_.value(only.output).shape;
        region.ops = {only};
        for (const Index input : only.inputs) {
          if (input != no_value && std::find(region.externals.begin(), region.externals.end(),
                                             input) == region.externals.end())
            region.externals.push_back(input);
        }
      }
      group.made = no_value;
      group.nodes = region.nodes();
      group.region = std::move(region);
      return take(group);
    }
    if (group.family = family_of(graph_, k); group.family != nullptr) {
      group.kind = GroupKind::family;
    } else if (find_fast(*signature) && all_floats(fact)) {
      group.kind = GroupKind::kernel;
    } else if (const std::optional<Repeat> repeat = repeats(graph_, k)) {
      group.kind = GroupKind::repeat;
      group.repeat = *repeat;
    } else if (is_data_movement(graph_, k)) {
      group.kind = GroupKind::copy;
    } else if (takes_row_kernel(graph_, k)) {
      group.kind = GroupKind::row_kernel;
    }
    return take(group);
  }

  bool is_view(const AnalyzedNode& fact) const {
    if (!fact.node->signature || operator_kind(*fact.node->signature) != OperatorKind::reshape ||
        fact.outputs.size() != 1 || fact.outputs[0] == no_value || fact.inputs[0] == no_value)
      return false;
    const AnalyzedValue &x = graph_.value(fact.inputs[0]), &made = graph_.value(fact.outputs[0]);
    return x.placeable() && made.placeable() && count(*x.shape) == count(*made.shape);
  }

  Group take(Group& group) {
    for (const Index node : group.nodes) taken_[static_cast<std::size_t>(node)] = true;
    return std::move(group);
  }

  // True if all data is float32. Elementwise kernels take only that; a reduction's further inputs
  // may be axes.
  bool all_floats(const AnalyzedNode& fact) const {
    const bool reduce = find_fast(*fact.node->signature)->form == Form::reduce;
    if (fact.outputs.size() != 1 || fact.outputs[0] == no_value) return false;
    if (!graph_.value(fact.outputs[0]).is(Type::float32)) return false;
    return std::all_of(
        fact.inputs.begin(), reduce ? fact.inputs.begin() + 1 : fact.inputs.end(),
        [&](Index input) { return input == no_value || graph_.value(input).is(Type::float32); });
  }

  const AnalyzedValue* input(Index node, std::size_t k) const {
    const std::vector<Index>& inputs = graph_.node(node).inputs;
    return k < inputs.size() && inputs[k] != no_value ? &graph_.value(inputs[k]) : nullptr;
  }
  static bool is_constant(const AnalyzedValue* fact) {
    return fact && fact->constant && fact->floats();
  }

  GroupKind kind_of(Group& group, OperatorKind op) const {
    const Index k = group.main();
    const AnalyzedValue* x = input(k, 0);
    if (!x || !x->floats() || count(*x->shape) == 0) return GroupKind::reference;
    const Shape& made = *graph_.value(group.made).shape;
    const Facts node = graph_.node(k).attributes();
    const bool image = x->shape->size() == 3 || x->shape->size() == 4;
    switch (op) {
      case OperatorKind::convolution:
      case OperatorKind::transposed_convolution: {
        const AnalyzedValue* w = input(k, 1);
        const bool bias = input(k, 2) == nullptr || is_constant(input(k, 2));
        if (!image || !is_constant(w) || !bias) return GroupKind::reference;
        const bool phases = op == OperatorKind::transposed_convolution;
        const std::optional<Window> window =
            (phases ? window_in_phases : window_in_blocks)(node, *x->shape, *w->constant, made);
        if (!window) return GroupKind::reference;
        group.window = *window;
        return phases ? GroupKind::transposed_convolution : GroupKind::convolution;
      }
      case OperatorKind::max_pool:
      case OperatorKind::average_pool:
      case OperatorKind::global_average:
      case OperatorKind::global_max: {
        if (!image || node.integer("storage_order") != 0) return GroupKind::reference;
        const bool global = op == OperatorKind::global_average || op == OperatorKind::global_max;
        group.window = window_of(node, *x->shape, made, global ? tail(*x->shape, 2) : Shape{});
        return is_near(group.window, *x->shape, made) ? GroupKind::pool : GroupKind::reference;
      }
      case OperatorKind::gemm: {
        const AnalyzedValue* b = input(k, 1);
        const AnalyzedValue* c = input(k, 2);
        if (!is_constant(b) || node.integer("transA") != 0 || x->shape->size() != 2)
          return GroupKind::reference;
        if (node.number("alpha", 1) != 1 || (c && node.number("beta", 1) != 1))
          return GroupKind::reference;
        if (c && (!is_constant(c) || !fits_rows(*c->shape, made))) return GroupKind::reference;
        return GroupKind::matmul;
      }
      case OperatorKind::matmul: {
        const AnalyzedValue* b = input(k, 1);
        if (is_constant(b) && b->shape->size() == 2 && x->shape->size() >= 2)
          return GroupKind::matmul;
        return b->floats() && !is_constant(b) && takes_matmul_dynamic_b(*x->shape, *b->shape)
                   ? GroupKind::matmul_dynamic_b
                   : GroupKind::reference;
      }
      case OperatorKind::concat: {
        const Index axis = node.integer("axis", 1);
        const bool channels = axis == 1 || axis + made.size() == 1;
        for (const Index each : graph_.node(k).inputs) {
          if (each == no_value || !graph_.value(each).floats() ||
              count(*graph_.value(each).shape) == 0)
            return GroupKind::reference;
        }
        return channels && image ? GroupKind::concat : GroupKind::reference;
      }
      default:
        return GroupKind::reference;
    }
  }

  // Fuses a product with one factor per channel into the 1x1 convolution that is its only user, by
  // scaling the weights. Only if there are fewer weights than elements.
  Group gated(Index k) {
    const AnalyzedNode& fact = graph_.node(k);
    if (!fuse_ || fact.node->signature == nullptr ||
        operator_kind(*fact.node->signature) != OperatorKind::mul)
      return {};
    const AnalyzedValue& made = graph_.value(fact.outputs[0]);
    if (made.output || made.users.size() != 1 || !made.floats() || made.shape->size() != 4)
      return {};
    const Index user = made.users.front();
    const Shape& shape = *made.shape;
    for (const std::size_t by : {std::size_t{0}, std::size_t{1}}) {
      const Index factors = fact.inputs[by], input = fact.inputs[1 - by];
      if (graph_.value(factors).constant || !graph_.value(factors).floats()) continue;
      if (!graph_.value(input).floats() || *graph_.value(input).shape != shape) continue;
      if (*graph_.value(factors).shape != Shape{shape[0], shape[1], 1, 1}) continue;
      if (!weighs_channels(user, fact.outputs[0])) continue;
      taken_[static_cast<std::size_t>(k)] = true;
      Group group = group_of(user);
      group.input = input;
      group.factors = factors;
      group.nodes.insert(group.nodes.begin() + 1, k);
      return group;
    }
    return {};
  }
  bool weighs_channels(Index user, Index read) const {
    const AnalyzedNode& fact = graph_.node(user);
    if (taken_[static_cast<std::size_t>(user)] || fact.node->signature == nullptr) return false;
    Group group;
    group.nodes = {user};
    group.made = fact.outputs[0];
    if (fact.inputs[0] != read || !graph_.value(group.made).floats()) return false;
    if (kind_of(group, operator_kind(*fact.node->signature)) != GroupKind::convolution)
      return false;
    const Shape &w = *input(user, 1)->shape, &x = *graph_.value(read).shape;
    const Window& window = group.window;
    const bool pointwise =
        window.kernel[0] * window.kernel[1] == 1 && w[1] == x[1] && x[1] >= lanes_of(chosen_isa());
    return pointwise &&
           std::max({window.pad_begin[0], window.pad_begin[1], window.past_end(0),
                     window.past_end(1)}) <= 0 &&
           count(w) < x[1] * x[2] * x[3];
  }

  // True if the bias is one row, or one number, for all rows of the product.
  static bool fits_rows(const Shape& c, const Shape& made) {
    const Index n = c.empty() ? 1 : c.back();
    return count(c) == n && (n == 1 || n == made.back());
  }

  // Fuses the following nodes: a sum with a value of the same shape, a clamp, pointwise nodes.
  void extend(Group& group) {
    if (!fuse_) return;
    bool clamped = false;
    while (!clamped) {
      const AnalyzedValue& made = graph_.value(group.made);
      if (made.output || made.users.size() != 1) break;
      const Index user = made.users.front();
      const AnalyzedNode& fact = graph_.node(user);
      if (taken_[static_cast<std::size_t>(user)] || fact.node->signature == nullptr) break;
      if (fact.outputs.size() != 1 || fact.outputs[0] == no_value) break;
      const AnalyzedValue& next = graph_.value(fact.outputs[0]);
      if (!next.floats() || *next.shape != *made.shape) break;
      const OperatorKind op = operator_kind(*fact.node->signature);
      if (op == OperatorKind::add && group.residual == no_value &&
          group.kind == GroupKind::convolution) {
        const Index other = fact.inputs[0] == group.made ? fact.inputs[1] : fact.inputs[0];
        if (other == no_value || other == group.made || graph_.value(other).constant) break;
        if (!graph_.value(other).floats() || *graph_.value(other).shape != *made.shape) break;
        group.residual = other;
      } else if (op == OperatorKind::relu) {
        group.min = 0;
        clamped = true;
      } else if (op == OperatorKind::clip) {
        if (!bounds(group, user)) break;
        clamped = true;
      } else {
        break;
      }
      group.made = fact.outputs[0];
      group.nodes.push_back(user);
    }
    group.region = grow_from_value(graph_, group.made, taken_);
    for (const Index node : group.region.nodes()) group.nodes.push_back(node);
  }

  bool bounds(Group& group, Index user) const {
    const Facts node = graph_.node(user).attributes();
    auto min = static_cast<float>(float_attribute(node, "min", group.min));
    auto max = static_cast<float>(float_attribute(node, "max", group.max));
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      const AnalyzedValue* bound = input(user, k);
      if (!bound) continue;
      if (!is_constant(bound) || bound->constant->size() != 1) return false;
      (k == 1 ? min : max) = *bound->constant->data<float>();
    }
    if (min != min || max != max) return false;
    group.min = min;
    group.max = max;
    return true;
  }

  const AnalyzedGraph& graph_;
  const bool fuse_;
  std::vector<bool> taken_;
  std::vector<Group> groups_;
};

}  // namespace

std::pair<Group, std::optional<Group>> apart(const Group& group) {
  Group own = group;
  own.region = {};
  own.nodes.resize(group.nodes.size() - group.region.nodes().size());
  if (group.region.empty()) return {own, std::nullopt};
  Group rest;
  rest.kind = GroupKind::pointwise;
  rest.region = group.region;
  rest.region.externals.push_back(group.region.start);
  rest.region.start = no_value;
  rest.nodes = rest.region.nodes();
  return {own, rest};
}

std::vector<Group> group_nodes(const AnalyzedGraph& graph, bool fuse,
                               const backends::Device* device, bool host) {
  Grouping grouping(graph, fuse);
  if (device) grouping.place_on(*device, host);
  return grouping.all();
}

}  // namespace touchstone::optimized
