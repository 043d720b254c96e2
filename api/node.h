// Nodes as the functions of a program's operator see them, while they are called.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "api/handle.h"
#include "include/touchstone/touchstone.h"
#include "model/custom.h"

namespace touchstone::api {

class HeldNode {
 public:
  // `outputs`: null but for inference.
  HeldNode(const Node& node, std::vector<CustomFact>* outputs) : node_(&node), outputs_(outputs) {}
  ~HeldNode();
  HeldNode(const HeldNode&) = delete;
  HeldNode& operator=(const HeldNode&) = delete;

  const char* name() const { return node_->name.c_str(); }
  ts_attribute attribute(const std::string& name);
  // Throws Error (usage).
  void set_output(std::size_t index, const char* type, std::int32_t rank, const std::int64_t* dims);

 private:
  struct Strings {
    std::vector<const char*> data;
    std::vector<std::size_t> lengths;
  };
  const Node* const node_;
  std::vector<CustomFact>* const outputs_;
  std::mutex mutex_;  // guards the members below, which keep what attributes point to
  std::deque<Strings> strings_;
  std::map<std::string, ts_value*> tensors_;
};

// A handle of a node while it lives.
class NodeHandle {
 public:
  explicit NodeHandle(const Node& node, std::vector<CustomFact>* outputs = nullptr);
  ~NodeHandle();
  NodeHandle(const NodeHandle&) = delete;
  NodeHandle& operator=(const NodeHandle&) = delete;
  ts_node* get() const { return handle_; }

 private:
  ts_node* handle_;
};

std::shared_ptr<HeldNode> node_of(const ts_node* node);  // throws Error (usage)

}  // namespace touchstone::api
