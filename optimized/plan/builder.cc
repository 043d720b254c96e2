// Decides which values are in channel blocks and where they are stored, then builds the steps in
// the order of the groups.
#include "optimized/plan/builder.h"

#include <algorithm>
#include <limits>

#include "core/budget_watch.h"
#include "model/scopes.h"
#include "optimized/lowering/lowering.h"
#include "optimized/plan/preconditions.h"
#include "optimized/plan/steps.h"
#include "optimized/problems/transposed.h"
#include "optimized/registry/registry.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

Index bytes_of(const AnalyzedValue& fact) {
  return packed_bytes(fact.type->element, count(*fact.shape));
}

}  // namespace

Builder::Builder(const AnalyzedGraph& graph, Index threads, const PlanOptions& options)
    : graph_(graph),
      threads_(threads),
      lanes_(lanes_of(chosen_isa())),
      device_(options.device),
      groups_(group_nodes(graph, options.fuse, options.device.get(), options.host)) {}

Index Builder::new_buffer(Index bytes) {
  constexpr Index alignment = sizeof(float);
  spans.push_back(
      {ceil_div(bytes, alignment) * alignment, std::numeric_limits<Index>::max(), -1, 0});
  return static_cast<Index>(spans.size()) - 1;
}

Index Builder::temporary(Index floats) {
  touched_.push_back(new_buffer(packed_bytes(Type::float32, floats)));
  return touched_.back();
}

void Builder::add(std::unique_ptr<Step> step, std::vector<Index> nodes) {
  const auto now = static_cast<Index>(steps.size());
  note_use();
  const auto live_now = [&](std::vector<Index>& buffers, std::vector<Span>& of) {
    for (const Index buffer : buffers) {
      Span& span = of[static_cast<std::size_t>(buffer)];
      span.first = std::min(span.first, now);
      span.last = std::max(span.last, now);
    }
    buffers.clear();
  };
  live_now(touched_, spans);
  live_now(touched_there_, device_spans);
  step->nodes = std::move(nodes);
  steps.push_back(std::move(step));
}

// Records a step's writes: the blocks that it makes, and buffers that no earlier step has touched.
void Builder::note_use() {
  BufferUse use{{touched_.begin(), touched_.end()}, std::exchange(written_, {})};
  for (const Index buffer : use.buffers) {
    const bool is_new = spans[static_cast<std::size_t>(buffer)].last < 0;
    const bool is_noted =
        std::any_of(use.writes.begin(), use.writes.end(),
                    [&](const BufferUse::Write& write) { return write.buffer == buffer; });
    if (is_new && !is_noted && !constants.contains(buffer)) use.writes.push_back({buffer, {}});
  }
  uses.push_back(std::move(use));
}

// Adds steps that must precede the one under construction.
void Builder::between(const std::function<void()>& change) {
  std::vector<BufferUse::Write> outer_written = std::exchange(written_, {});
  std::vector<Index> outer = std::exchange(touched_, {});
  std::vector<Index> outer_there = std::exchange(touched_there_, {});
  change();
  touched_ = std::move(outer);
  touched_there_ = std::move(outer_there);
  written_ = std::move(outer_written);
}

Index Builder::plain(Index value) {
  const auto found = plain_.find(value);
  if (found == plain_.end()) {
    const AnalyzedValue& fact = graph_.value(value);
    const Index buffer = new_buffer(fact.constant ? 0 : bytes_of(fact));
    plain_[value] = buffer;
    if (fact.constant) {
      constants[buffer] = fact.constant;
    } else if (is_blocked(value)) {
      between([&] {
        const Blocked& from = blocked_.at(value);
        touched_ = {from.buffer, buffer};
        add(to_plain(from, buffer), {});
      });
    } else if (made_there_.contains(value)) {
      download(value, buffer);
    } else {
      between([&] {
        touched_ = {buffer};
        last_use[value] = static_cast<Index>(steps.size());
        add(load(fact, value, buffer), {});
      });
    }
  }
  touched_.push_back(plain_.at(value));
  return plain_.at(value);
}

const Blocked& Builder::blocked(Index value) {
  if (!is_blocked(value)) {
    const Index from = plain(value);
    between([&] {
      const Blocked& to = make_blocked(value);
      touched_ = {from, to.buffer};
      add(to_blocks(from, to), {});
    });
  }
  touched_.push_back(blocked_.at(value).buffer);
  return blocked_.at(value);
}

Index Builder::make_plain(Index value) {
  const Index buffer = new_buffer(bytes_of(graph_.value(value)));
  plain_[value] = buffer;
  touched_.push_back(buffer);
  return buffer;
}

const Blocked& Builder::make_blocked(Index value) {
  const Blocked& made = place_blocked(value);
  written_.push_back({made.buffer, made.blocks});
  return made;
}

bool Builder::has_dense_rows(Index value) const {
  for (auto home = homes_.find(value); home != homes_.end(); home = homes_.find(value))
    value = home->second.joined;
  const auto halo = halos_.find(value);
  return halo == halos_.end() || halo->second.left + halo->second.right == 0;
}

const Blocked& Builder::place_blocked(Index value) {
  if (const auto home = homes_.find(value); home != homes_.end()) {
    const Index joined = home->second.joined;
    if (!is_blocked(joined)) place_blocked(joined);
    const Blocked& all = blocked_.at(joined);
    touched_.push_back(all.buffer);
    return blocked_[value] = {all.buffer,
                              all.blocks.part(shape(value)[1], home->second.first_block)};
  }
  if (is_blocked(value)) return blocked_.at(value);  // some of its parts are stored in it already
  const Blocks blocks = Blocks::of(shape(value), lanes_, halos_[value]);
  const Index buffer = new_buffer(packed_bytes(Type::float32, blocks.floats()));
  touched_.push_back(buffer);
  return blocked_[value] = {buffer, blocks};
}

namespace {

Halo halo_of(const Group& group) {
  const Window& w = group.window;
  if (group.kind == GroupKind::convolution) {
    const auto begin = [&](int d) { return w.skips[d] ? 0 : std::max<Index>(w.pad_begin[d], 0); };
    const auto end = [&](int d) { return w.skips[d] ? 0 : w.past_end(d); };
    return {begin(0), end(0), begin(1), end(1)};
  }
  Index pad_begin[2]{0, 0}, past_end[2]{0, 0};
  for (const int d : {0, 1}) {
    for (const OutputPhase& phase :
         phases_of(w.kernel[d], w.stride[d], w.dilation[d], w.pad_begin[d], w.out[d])) {
      pad_begin[d] = std::max(pad_begin[d], phase.past_begin());
      past_end[d] = std::max(past_end[d], phase.past_end(w.in[d]));
    }
  }
  return {pad_begin[0], past_end[0], pad_begin[1], past_end[1]};
}

}  // namespace

// Computes the halo that all windows reading a value need, so that the value's producer reserves
// it.
void Builder::foresee() {
  for (const Group& group : groups_) {
    if (group.kind == GroupKind::convolution || group.kind == GroupKind::transposed_convolution)
      cover(halos_[graph_.node(group.main()).inputs[0]], halo_of(group));
  }
  std::set<Index> in_blocks;
  for (Group& group : groups_) {
    group.blocks = is_in_blocks(group, in_blocks);
    if (group.blocks) in_blocks.insert(group.output());
  }
  give_homes();
}

bool Builder::is_in_blocks(const Group& group, const std::set<Index>& in_blocks) const {
  switch (group.kind) {
    case GroupKind::pool:
      return true;
    case GroupKind::transposed_convolution:
      if (is_spread(group.window, shape(group.made)[1], lanes_)) return false;
      [[fallthrough]];
    case GroupKind::convolution:
      return group.region.empty() || BlockedRegion::takes(graph_, group.region, lanes_);
    case GroupKind::pointwise:
      return std::any_of(group.region.externals.begin(), group.region.externals.end(),
                         [&](Index external) {
                           return in_blocks.contains(external) &&
                                  shape(external) == group.region.shape;
                         }) &&
             BlockedRegion::takes(graph_, group.region, lanes_);
    case GroupKind::concat: {
      const std::vector<Index>& inputs = graph_.node(group.main()).inputs;
      return std::all_of(inputs.begin(), inputs.end(),
                         [&](Index input) { return in_blocks.contains(input); });
    }
    case GroupKind::repeat:
      return in_blocks.contains(graph_.node(group.main()).inputs[0]);
    default:
      return false;
  }
}

// Assigns inputs of a join a place inside the joined value if they start at a block boundary. If
// one join is a prefix of another, the shorter is stored at the front of the longer.
void Builder::give_homes() {
  std::map<Index, const Group*> joins;
  for (const Group& group : groups_) {
    if (group.kind != GroupKind::concat || !group.blocks) continue;
    const std::vector<Index>& inputs = graph_.node(group.main()).inputs;
    Index channel = 0;
    std::size_t k = 0;
    for (const auto& [joined, shorter] : joins) {
      const std::vector<Index>& front = graph_.node(shorter->main()).inputs;
      if (homes_.contains(joined) || front.size() <= k || front.size() > inputs.size()) continue;
      if (!std::equal(front.begin(), front.end(), inputs.begin())) continue;
      if (shape(joined)[1] % lanes_ != 0 && front.size() != inputs.size()) continue;
      homes_[joined] = {group.made, 0};
      cover(halos_[group.made], halos_[joined]);
      channel = shape(joined)[1];
      k = front.size();
      break;
    }
    for (; k < inputs.size(); ++k) {
      const bool again = std::count(inputs.begin(), inputs.end(), inputs[k]) > 1;
      if (!homes_.contains(inputs[k]) && !again && channel % lanes_ == 0) {
        homes_[inputs[k]] = {group.made, channel / lanes_};
        cover(halos_[group.made], halos_[inputs[k]]);
      }
      channel += shape(inputs[k])[1];
    }
    joins[group.made] = &group;
  }
}

void Builder::build() {
  foresee();
  BudgetWatch watch;
  for (const Group& group : groups_) {
    watch.step();
    build(group);
  }
  for (std::size_t k = 0; k < graph_.values().size(); ++k) {
    const auto value = static_cast<Index>(k);
    if (!graph_.value(value).output) continue;
    if (!plain_.contains(value) && !is_blocked(value) && !made_there_.contains(value)) {
      last_use[value] = std::numeric_limits<Index>::max();
      continue;
    }
    outputs[value] = plain(value);
    touched_.clear();
  }
  // Outputs are copied, and shared buffers may be read, after the last step.
  const auto end = static_cast<Index>(steps.size());
  const auto keep = [&](Index buffer) { spans[static_cast<std::size_t>(buffer)].last = end; };
  for (const auto& [value, buffer] : outputs) keep(buffer);
  for (const Index buffer : shared_) keep(buffer);
  for (std::vector<Span>* all : {&spans, &device_spans}) {
    for (Span& span : *all) {
      if (span.last < span.first) span = {0, 0, 0, 0};  // unused
    }
  }
}

void Builder::build(const Group& group) {
  hold_preconditions(graph_, group);
  switch (group.kind) {
    case GroupKind::reference:
      return on_reference(group.main());
    case GroupKind::kernel:
      needs<Component::elements>();
      return on_kernel(group.main());
    case GroupKind::row_kernel:
      needs<Component::row_kernels>();
      return on_row_kernel(group.main());
    case GroupKind::family:
      return on_family(group.main(), *group.family);
    case GroupKind::fused_family:
      return on_fused_family(group);
    case GroupKind::pointwise:
      needs<Component::elements>();
      return build_pointwise(*this, group);
    case GroupKind::convolution:
      return build_convolution(*this, group);
    case GroupKind::transposed_convolution:
      needs<Component::transposed>();
      return build_transposed(*this, group);
    case GroupKind::pool:
      needs<Component::pool>();
      return build_pool(*this, group);
    case GroupKind::matmul:
      return build_matmul(*this, group);
    case GroupKind::matmul_dynamic_b:
      needs<Component::matmul>();
      return build_matmul_dynamic_b(*this, group);
    case GroupKind::concat:
      needs<Component::join>();
      return build_join(*this, group);
    case GroupKind::copy:
      needs<Component::copy>();
      return build_copy(*this, group);
    case GroupKind::repeat:
      needs<Component::repeat>();
      return build_repeat(*this, group);
    case GroupKind::on_device:
      return build_on_device(group.main());
    case GroupKind::view_on_device:
      return view_on_device(group.main());
    case GroupKind::view:
      return build_view(group);
  }
}

// Registers the tensors that a step reads: its inputs, and values captured by its subgraphs.
void Builder::tell_tensors(Index node) {
  std::vector<Index> values;
  for (const std::string& name : names_used(*graph_.node(node).node))
    values.push_back(graph_.find(name));
  tell_tensors(values);
}

void Builder::tell_tensors(const std::vector<Index>& values) {
  for (const Index value : values) {
    if (graph_.value(value).constant) continue;
    if (plain_.contains(value) || is_blocked(value) || made_there_.contains(value))
      tensors[value] = plain(value);
  }
  const auto now = static_cast<Index>(steps.size());
  for (const Index value : values) {
    if (!tensors.contains(value)) last_use[value] = std::max(last_use[value], now);
  }
}

// Places the outputs in the plan's memory that `places` accepts. Others become tensors of their
// own, without a buffer.
std::vector<Index> Builder::place_outputs(Index node, bool (AnalyzedValue::*places)() const) {
  std::vector<Index> buffers;
  for (const Index value : graph_.node(node).outputs) {
    const bool placed = value != no_value && (graph_.value(value).*places)();
    buffers.push_back(placed ? make_plain(value) : no_value);
    if (value != no_value && !placed) last_use[value] = static_cast<Index>(steps.size());
  }
  return buffers;
}

// Lets the output share the input's memory.
void Builder::build_view(const Group& group) {
  const Index node = group.main(), of = graph_.node(node).inputs[0];
  if (graph_.value(of).floats() || plain_.contains(of)) {
    plain_[group.made] = plain(of);
    touched_.clear();
    return;
  }
  tell_tensors(std::vector<Index>{of});
  last_use[group.made] = static_cast<Index>(steps.size());
  add(view_step(graph_, group.made, of), {node});
}

void Builder::on_kernel(Index node) {
  if (build_reduction(*this, node)) return;
  tell_tensors(node);
  const std::vector<Index> buffers = place_outputs(node, &AnalyzedValue::floats);
  add(kernel_step(graph_, node, buffers[0]), {node});
}

void Builder::on_row_kernel(Index node) {
  tell_tensors(node);
  add(row_kernel_step(graph_, node, place_outputs(node, &AnalyzedValue::floats)), {node});
}

}  // namespace touchstone::optimized
