// Device steps: kernel launches, and copies between host and device at the boundaries.
#include <algorithm>
#include <limits>

#include "core/error.h"
#include "optimized/plan/builder.h"
#include "optimized/plan/device_call.h"
#include "optimized/plan/form_class.h"

namespace touchstone::optimized {
namespace {

Index bytes_of(const AnalyzedValue& fact) {
  return packed_bytes(Type::float32, count(*fact.shape));
}

// Returns the node that a copy's errors name: the producer of the value, else a user.
Index node_about(const AnalyzedValue& fact) {
  if (fact.producer != no_value) return fact.producer;
  return fact.users.empty() ? no_value : fact.users.front();
}

// Copies to the device, from the plan's memory or from a tensor of its own.
class Upload : public Step {
 public:
  Upload(backends::Device& device, const AnalyzedValue& fact, Index value, Index from, Index to)
      : device_(device), fact_(fact), value_(value), from_(from), to_(to) {
    kernel = "copy to " + device.name();
    kernel_class = KernelClass::copy;
    about = node_about(fact);
  }
  void bind(const Memory& memory) override {
    if (from_ != no_value) data_ = memory.at(from_);
    buffer_ = memory.on_device(to_);
  }
  void run(RunState& state) override {
    const float* data = data_;
    if (from_ == no_value) {
      const Tensor& held = state.values[static_cast<std::size_t>(value_)].tensor();
      if (held.shape() != *fact_.shape) throw ShapeDiffers{fact_.name};
      data = held.data<float>();
    }
    device_.upload(data, *buffer_, bytes_of(fact_));
  }
  Index bytes_moved() const override { return bytes_of(fact_); }

 private:
  backends::Device& device_;
  const AnalyzedValue& fact_;
  const Index value_, from_, to_;
  const float* data_ = nullptr;
  backends::DeviceBuffer* buffer_ = nullptr;
};

class Download : public Step {
 public:
  Download(backends::Device& device, const AnalyzedValue& fact, Index from, Index to)
      : device_(device), fact_(fact), from_(from), to_(to) {
    kernel = "copy from " + device.name();
    kernel_class = KernelClass::copy;
    about = node_about(fact);
  }
  void bind(const Memory& memory) override {
    buffer_ = memory.on_device(from_);
    data_ = memory.at(to_);
  }
  void run(RunState&) override { device_.download(*buffer_, data_, bytes_of(fact_)); }
  Index bytes_moved() const override { return bytes_of(fact_); }

 private:
  backends::Device& device_;
  const AnalyzedValue& fact_;
  const Index from_, to_;
  backends::DeviceBuffer* buffer_ = nullptr;
  float* data_ = nullptr;
};

class OnDevice : public Step {
 public:
  // `buffers`: device buffers of the values that the kernel reads.
  OnDevice(backends::Device& device, const AnalyzedGraph& graph, Index node,
           std::map<Index, Index> buffers, Index output)
      : device_(device), graph_(graph), node_(node), buffers_(std::move(buffers)), output_(output) {
    for (const Index value : inputs_on_device(graph, node).on_host)
      fixed_ = fixed_ && graph.value(value).constant;
    const auto* entry = find_for_devices(*graph.node(node).node->signature);
    kernel = std::string(entry->kernel) + " " + device.name();
    kernel_class = class_of(entry->form);
  }
  void bind(const Memory& memory) override {
    memory_ = &memory;
    if (fixed_) prepare([&](Index value) -> Value { return *graph_.value(value).constant; });
  }
  void run(RunState& state) override {
    if (!fixed_)
      prepare([&](Index value) { return state.values[static_cast<std::size_t>(value)]; });
    if (count(*graph_.value(graph_.node(node_).outputs[0]).shape) > 0)
      device_.launch(call_.kernel, arguments_);
  }

 private:
  void prepare(const std::function<Value(Index)>& on_host) {
    call_ = device_call(graph_, node_, device_.kind(), on_host);
    arguments_.clear();
    for (std::size_t k = 0; k < call_.reads.size(); ++k) {
      const Index value = call_.reads[k];
      // An omitted operand needs some valid buffer: a kernel may load from it, but ignores the
      // value.
      const Index buffer = value != no_value  ? buffers_.at(value)
                           : buffers_.empty() ? output_
                                              : buffers_.begin()->second;
      arguments_.push_back({nullptr, memory_->on_device(buffer), call_.axes[k]});
    }
    for (std::size_t k = 0; k < call_.values.size(); ++k)
      arguments_.push_back({call_.values.at(k), nullptr, {}});
    arguments_.push_back({nullptr, memory_->on_device(output_), call_.axes.back()});
  }

  backends::Device& device_;
  const AnalyzedGraph& graph_;
  const Index node_;
  const std::map<Index, Index> buffers_;
  const Index output_;
  const Memory* memory_ = nullptr;
  bool fixed_ = true;  // no host input is computed in the run
  DeviceCall call_;
  std::vector<backends::DeviceArgument> arguments_;
};

}  // namespace

Index Builder::new_device_buffer(Index bytes) {
  device_spans.push_back({bytes, std::numeric_limits<Index>::max(), -1, 0});
  return static_cast<Index>(device_spans.size()) - 1;
}

// Returns the device buffer of a value. Adds one upload before the first step that needs it;
// constants are uploaded at planning.
Index Builder::on_device(Index value) {
  if (const auto found = there_.find(value); found != there_.end()) {
    touched_there_.push_back(found->second);
    return found->second;
  }
  const AnalyzedValue& fact = graph_.value(value);
  const Index buffer = new_device_buffer(bytes_of(fact));
  if (fact.constant) {
    device_constants[buffer] = fact.constant;
  } else {
    const bool own = !plain_.contains(value) && !is_blocked(value);
    const Index from = own ? no_value : plain(value);
    between([&] {
      if (own) last_use[value] = std::max(last_use[value], static_cast<Index>(steps.size()));
      if (!own) touched_ = {from};
      touched_there_ = {buffer};
      add(std::make_unique<Upload>(*device_, fact, value, from, buffer), {});
    });
  }
  there_[value] = buffer;
  touched_there_.push_back(buffer);
  return buffer;
}

// Adds a copy into the plan's memory before the step that needs it.
void Builder::download(Index value, Index buffer) {
  between([&] {
    touched_ = {buffer};
    touched_there_ = {there_.at(value)};
    add(std::make_unique<Download>(*device_, graph_.value(value), there_.at(value), buffer), {});
  });
}

void Builder::build_on_device(Index node) {
  const AnalyzedNode& fact = graph_.node(node);
  const DeviceInputs inputs = inputs_on_device(graph_, node);
  std::map<Index, Index> buffers;
  for (const Index value : inputs.on_device) buffers[value] = on_device(value);
  tell_tensors(inputs.on_host);  // after the copies, so that host inputs stay alive until this step
  const Index output = new_device_buffer(bytes_of(graph_.value(fact.outputs[0])));
  touched_there_.push_back(output);
  add(std::make_unique<OnDevice>(*device_, graph_, node, std::move(buffers), output), {node});
  there_[fact.outputs[0]] = output;
  made_there_.insert(fact.outputs[0]);
}

// Makes a view: the same device buffer under another shape.
void Builder::view_on_device(Index node) {
  const AnalyzedNode& fact = graph_.node(node);
  there_[fact.outputs[0]] = on_device(fact.inputs[0]);
  touched_there_.clear();
  made_there_.insert(fact.outputs[0]);
}

}  // namespace touchstone::optimized
