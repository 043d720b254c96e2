// Nodes of a program's operator: their attributes, and what inference says of their outputs.
#include "api/node.h"

#include "api/operator.h"
#include "api/status.h"
#include "api/value.h"

namespace touchstone::api {
namespace {

Handles<HeldNode>& nodes() {
  static Handles<HeldNode>& all = *new Handles<HeldNode>("ts_node");
  return all;
}

}  // namespace

HeldNode::~HeldNode() {
  for (const auto& [name, value] : tensors_) value_release(value);
}

ts_attribute HeldNode::attribute(const std::string& name) {
  const std::lock_guard lock(mutex_);
  ts_attribute made{};
  const auto found = node_->attributes.find(name);
  if (found == node_->attributes.end()) return made;
  const Attribute::Payload& is = found->second.is;
  const auto say = [&made](ts_attribute_kind kind, std::size_t count) {
    made.kind = kind;
    made.count = count;
  };
  const auto say_strings = [&](const std::string* first, std::size_t count) {
    Strings& kept = strings_.emplace_back();
    for (std::size_t k = 0; k < count; ++k) {
      kept.data.push_back(first[k].c_str());
      kept.lengths.push_back(first[k].size());
    }
    made.strings = kept.data.data();
    made.lengths = kept.lengths.data();
  };
  if (const auto* real = std::get_if<float>(&is)) {
    say(TS_ATTRIBUTE_FLOAT, 1);
    made.floats = real;
  } else if (const auto* number = std::get_if<Index>(&is)) {
    say(TS_ATTRIBUTE_INT, 1);
    made.ints = number;
  } else if (const auto* string = std::get_if<std::string>(&is)) {
    say(TS_ATTRIBUTE_STRING, 1);
    say_strings(string, 1);
  } else if (const auto* tensor = std::get_if<Tensor>(&is)) {
    say(TS_ATTRIBUTE_TENSOR, 1);
    ts_value*& held = tensors_[name];
    if (held == nullptr) held = handle_of(*tensor);
    made.tensor = held;
  } else if (const auto* reals = std::get_if<std::vector<float>>(&is)) {
    say(TS_ATTRIBUTE_FLOATS, reals->size());
    made.floats = reals->data();
  } else if (const auto* numbers = std::get_if<std::vector<Index>>(&is)) {
    say(TS_ATTRIBUTE_INTS, numbers->size());
    made.ints = numbers->data();
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&is)) {
    say(TS_ATTRIBUTE_STRINGS, strings->size());
    say_strings(strings->data(), strings->size());
  } else {
    throw Error(ErrorKind::unsupported,
                "the attribute '" + name + "' is of a kind that ts_attribute cannot hold");
  }
  return made;
}

void HeldNode::set_output(std::size_t index, const char* type, std::int32_t rank,
                          const std::int64_t* dims) {
  const std::lock_guard lock(mutex_);
  if (outputs_ == nullptr)
    throw Error(ErrorKind::usage, "node_set_output is for the function that infers");
  if (index >= outputs_->size())
    throw Error(ErrorKind::usage,
                "output " + std::to_string(index) + " of " + std::to_string(outputs_->size()));
  if (rank < -1) throw Error(ErrorKind::usage, "an output has rank " + std::to_string(rank));
  if (rank > 0) require(dims, "dims");
  CustomFact made;
  if (type != nullptr) made.type = parse_value_type(type);
  if (rank >= 0) {
    made.shape.emplace();
    for (std::int32_t k = 0; k < rank; ++k) {
      if (dims[k] < -1)
        throw Error(ErrorKind::usage, "an output has the size " + std::to_string(dims[k]));
      made.shape->push_back(dims[k]);
    }
  }
  (*outputs_)[index] = std::move(made);
}

NodeHandle::NodeHandle(const Node& node, std::vector<CustomFact>* outputs)
    : handle_(as_handle<ts_node>(nodes().add(std::make_shared<HeldNode>(node, outputs)))) {}
NodeHandle::~NodeHandle() { nodes().take(handle_); }

std::shared_ptr<HeldNode> node_of(const ts_node* node) { return nodes().get(node); }

ts_status* node_name(const ts_node* node, const char** name) {
  return guarded([&] {
    require(name, "name");
    *name = node_of(node)->name();
  });
}

ts_status* node_attribute(const ts_node* node, const char* name, ts_attribute* attribute) {
  return guarded([&] {
    require(name, "name"), require(attribute, "attribute");
    write_sized(attribute, node_of(node)->attribute(name));
  });
}

ts_status* node_set_output(ts_node* node, std::size_t index, const char* type, std::int32_t rank,
                           const std::int64_t* dims) {
  return guarded([&] { node_of(node)->set_output(index, type, rank, dims); });
}

}  // namespace touchstone::api
