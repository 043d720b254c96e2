// Lowers a region to kernel calls. Kernels record how they would read placeholder tensors; those
// strides are then translated to the operands' real layouts.
#include "optimized/plan/pointwise.h"

#include <algorithm>
#include <map>

#include "core/placement.h"
#include "optimized/plan/parts.h"
#include "reference/calls.h"

namespace touchstone::optimized {
namespace {

constexpr Index min_lanes = 16;  // a piece of the innermost dimension is a multiple of it

// Tensors without memory, at distinct addresses, on which kernels record their reads. A scalar has
// memory, because a kernel may read it as a number.
class PlaceholderTensors {
 public:
  const Tensor& of(Index value, const Shape& shape) {
    const auto found = tensors_.find(value);
    if (found != tensors_.end()) return found->second;
    if (shape.empty()) return tensors_.emplace(value, one()).first->second;
    next_ += 64 * ((count(shape) * 4 + 127) / 64);
    auto* const memory = reinterpret_cast<void*>(next_);
    next_ += 64 * ((count(shape) * 4 + 127) / 64);
    return tensors_.emplace(value, tensor_at(memory, Type::float32, shape)).first->second;
  }
  Index value_at(const float* data) const {
    for (const auto& [value, tensor] : tensors_) {
      if (tensor.data<float>() == data) return value;
    }
    return no_value;
  }

 private:
  static Tensor one() {
    Tensor made(Type::float32, Shape{});
    made.data<float>()[0] = 1;
    return made;
  }

  std::map<Index, Tensor> tensors_;
  Index next_ = Index{1} << 40;
};

struct Read {
  Index value;
  IndexVector strides;  // of the placeholder; only whether they are 0 counts
};

}  // namespace

std::optional<Pointwise> Pointwise::make(const AnalyzedGraph& graph, const Region& region,
                                         const Shape& extents,
                                         const std::vector<StridedTensor>& externals,
                                         const StridedTensor& output, Index movable, Isa isa) {
  PlaceholderTensors placeholders;
  const auto external_of = [&](Index value) {
    const auto at = std::find(region.externals.begin(), region.externals.end(), value);
    return at == region.externals.end() ? no_value
                                        : static_cast<Index>(at - region.externals.begin());
  };

  // Records the reads of each kernel.
  Pointwise made;
  const std::vector<Part> parts = parts_of(graph, region);
  std::vector<std::vector<Read>> reads;
  for (const Part& op : parts) {
    std::vector<Value> inputs;
    std::vector<Index> asked;
    for (const Index input : op.inputs) {
      if (input == no_value) {
        inputs.emplace_back();
        continue;
      }
      const AnalyzedValue& fact = graph.value(input);
      const Index external = external_of(input);
      if (fact.constant && fact.constant->size() == 1 && external != no_value) {
        inputs.emplace_back(*fact.constant);  // it may be read as a number
        continue;
      }
      const Shape& shape =
          external != no_value ? externals[static_cast<std::size_t>(external)].shape : extents;
      inputs.emplace_back(placeholders.of(input, shape));
      if (external != no_value || shape.empty()) asked.push_back(input);
      // A scalar that is read twice could be an operand and a number.
      if (shape.empty() && std::count(op.inputs.begin(), op.inputs.end(), input) > 1)
        return std::nullopt;
    }
    Call call = call_of(op.node, std::move(inputs));
    RecordedCall record;
    if (!record_fast(*find_fast(*op.node.signature), call, record, isa)) return std::nullopt;
    use_rounding_kernel(op, isa, record);
    std::vector<Read>& read = reads.emplace_back();
    for (const Operand& operand : record.inputs) {
      Index value = placeholders.value_at(operand.data);
      for (std::size_t k = 0; value == no_value && k < op.inputs.size(); ++k) {
        if (op.inputs[k] == no_value) continue;
        const Tensor* constant = graph.value(op.inputs[k]).constant;
        if (constant && constant->data<float>() == operand.data) value = op.inputs[k];
      }
      if (value == no_value) return std::nullopt;
      read.push_back({value, operand.strides});
    }
    // An input that is read as a number is no operand; its value is not known here.
    for (const Index value : asked) {
      if (std::none_of(read.begin(), read.end(), [&](const Read& r) { return r.value == value; }))
        return std::nullopt;
    }
    made.steps_.push_back({record.kernel, std::move(record.values), {}, 0});
  }

  // Strides in real memory: one row per external of each read, the output's last.
  std::vector<IndexVector> walks;
  const auto strides_in = [&](const StridedTensor& tensor, const IndexVector* asked) {
    IndexVector strides(extents.size(), 0);
    const Index lead = extents.size() - tensor.shape.size();
    for (Index d = 0; d < tensor.shape.size(); ++d) {
      const bool steps = asked ? (*asked)[lead + d] != 0 : extents[lead + d] != 1;
      if (steps && tensor.shape[d] != 1) strides[lead + d] = tensor.strides[d];
    }
    return strides;
  };
  for (const std::vector<Read>& read : reads) {
    for (const Read& r : read) {
      const Index external = external_of(r.value);
      if (external != no_value)
        walks.push_back(strides_in(externals[static_cast<std::size_t>(external)], &r.strides));
    }
  }
  walks.push_back(strides_in(output, nullptr));

  // Merges dimensions that all operands traverse with compatible strides.
  Shape merged;
  std::vector<Index> from;  // the innermost dimension of each merged one
  for (Index d = 0; d < extents.size(); ++d) {
    const bool even =
        d > movable && !merged.empty() &&
        std::all_of(walks.begin(), walks.end(), [&](const IndexVector& walk) {
          return extents[d] == 1 || merged.back() == 1 || walk[from.back()] == walk[d] * extents[d];
        });
    if (even) {
      if (extents[d] != 1) from.back() = d;
      merged[merged.size() - 1] *= extents[d];
    } else {
      merged.push_back(extents[d]);
      from.push_back(d);
    }
  }
  if (merged.size() > 4) return std::nullopt;
  const auto lead = static_cast<std::size_t>(4 - merged.size());
  made.lead_ = lead;
  const auto placed = [&](const IndexVector& walk) {
    std::array<Index, 4> strides{};
    for (std::size_t k = 0; k < from.size(); ++k) strides[lead + k] = walk[from[k]];
    return strides;
  };
  for (Index k = 0; k < merged.size(); ++k)
    made.extents_[lead + static_cast<std::size_t>(k)] = merged[k];
  made.output_ = const_cast<float*>(output.data);
  made.output_strides_ = placed(walks.back());
  if (made.extents_[3] == 1) made.output_strides_[3] = 1;  // kernels require contiguous rows
  for (const StridedTensor& external : externals) made.data_.push_back(external.data);

  // Assigns intermediate values to the output's memory while it is free, else to scratch.
  std::map<Index, Index> slot_of;
  Index in_output = region.start;
  if (region.start != no_value) slot_of[region.start] = 0;
  std::vector<bool> slot_used;
  const auto read_after = [&](Index value, std::size_t step) {
    for (std::size_t k = step + 1; k < reads.size(); ++k) {
      for (const Read& r : reads[k]) {
        if (r.value == value) return true;
      }
    }
    return false;
  };
  std::size_t walk = 0;
  for (std::size_t k = 0; k < reads.size(); ++k) {
    Step& step = made.steps_[k];
    for (const Read& r : reads[k]) {
      Source source;
      source.external = external_of(r.value);
      if (source.external != no_value) {
        source.strides = placed(walks[walk++]);
      } else {
        source.slot = slot_of.at(r.value);
      }
      step.inputs.push_back(source);
    }
    const bool last = k + 1 == reads.size();
    const bool output_free = in_output == no_value || !read_after(in_output, k);
    if (last && !output_free) BUG("the output's place is not free");
    if (output_free) {
      step.slot = 0;
      in_output = parts[k].output;
    } else {
      const auto free = std::find(slot_used.begin(), slot_used.end(), false);
      step.slot = 1 + static_cast<Index>(free - slot_used.begin());
      if (free == slot_used.end()) slot_used.push_back(true);
      slot_used[static_cast<std::size_t>(step.slot - 1)] = true;
    }
    std::erase_if(slot_of, [&](const auto& held) { return held.second == step.slot; });
    slot_of[parts[k].output] = step.slot;
    for (const auto& [value, slot] : slot_of) {
      if (slot > 0 && !read_after(value, k) && value != parts[k].output)
        slot_used[static_cast<std::size_t>(slot - 1)] = false;
    }
  }
  made.slots_ = static_cast<Index>(slot_used.size());
  return made;
}

std::vector<Pointwise::Box> Pointwise::slices(Index elements) const {
  // Finds the dimension to split: all dimensions inside it fit whole.
  std::size_t cut = 3;
  Index inside = 1;
  while (cut > 0 && inside * extents_[cut] <= elements) inside *= extents_[cut--];
  Index piece = std::max<Index>(elements / inside, 1);
  if (cut == 3) piece = std::max(piece / min_lanes * min_lanes, min_lanes);
  std::vector<Box> boxes;
  Box box;
  box.count = extents_;
  for (std::size_t k = 0; k < cut; ++k) box.count[k] = 1;
  for (;;) {
    for (Index at = 0; at < extents_[cut]; at += piece) {
      box.first[cut] = at;
      box.count[cut] = std::min(piece, extents_[cut] - at);
      boxes.push_back(box);
    }
    std::size_t k = cut;
    for (;;) {
      if (k == 0) return boxes;
      --k;
      if (++box.first[k] < extents_[k]) break;
      box.first[k] = 0;
    }
  }
}

Pointwise::Box Pointwise::rows_of(Index first_block, Index blocks, Index first_row,
                                  Index rows) const {
  Box box;
  box.count = extents_;
  box.first[lead_] = first_block;
  box.count[lead_] = blocks;
  box.first[lead_ + 1] = first_row;
  box.count[lead_ + 1] = rows;
  return box;
}

Index Pointwise::scratch(const Box& box) const {
  const Index row = (box.count[3] + 15) / 16 * 16;
  return slots_ * box.count[0] * box.count[1] * box.count[2] * row;
}

void Pointwise::run(const Box& box, float* scratch, std::span<const Index> shift) const {
  const Index row = (box.count[3] + 15) / 16 * 16;
  const std::array<Index, 4> dense{box.count[1] * box.count[2] * row, box.count[2] * row, row, 1};
  const Index volume = box.count[0] * dense[0];
  const auto offset = [&](const std::array<Index, 4>& strides) {
    Index at = 0;
    for (std::size_t d = 0; d < 4; ++d) at += box.first[d] * strides[d];
    return at;
  };
  const auto reduce_inner = [](const std::array<Index, 4>& a) {
    return std::array<Index, 4>{a[3], a[2], a[1], a[0]};
  };
  float* const output = output_ + offset(output_strides_) + shift.back();
  const auto place = [&](Index slot) { return slot == 0 ? output : scratch + (slot - 1) * volume; };
  for (const Step& step : steps_) {
    std::array<Placed<4>, 8> inputs;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      const Source& source = step.inputs[k];
      const bool external = source.external != no_value;
      const std::array<Index, 4>& strides = external           ? source.strides
                                            : source.slot == 0 ? output_strides_
                                                               : dense;
      inputs[k].strides = reduce_inner(strides);
      const auto e = static_cast<std::size_t>(source.external);
      inputs[k].data = external ? data_[e] + offset(strides) + shift[e] : place(source.slot);
    }
    call_kernel(step.kernel, reduce_inner(box.count), {inputs.data(), step.inputs.size()},
                step.values, place(step.slot),
                reduce_inner(step.slot == 0 ? output_strides_ : dense));
  }
}

}  // namespace touchstone::optimized
