// Functions of the program in the C++20 interface (touchstone.hpp): operators, threads, messages.
//
//   ts::Operator triple{.domain = "my.ops", .name = "Triple", .inputs = {{"x", "tensor(float)"}},
//                       .outputs = {{"y", "tensor(float)"}}};
//   triple.compute = [](const ts::Node&, std::span<const ts::Value> in) {
//     ts::Value y = ts::Value::zeros(TS_TYPE_FLOAT, in[0].dims());
//     std::ranges::transform(in[0].span<float>(), y.mutable_span<float>().begin(),
//                            [](float x) { return 3 * x; });
//     return std::vector{y};
//   };
//   ts::Session session("model.onnx", {{"threads", "2"}}, {triple});
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "touchstone_value.hpp"

namespace ts {

// An input or output of a model, or of a node.
struct Port {
  std::string name, type;
  bool has_default = false;
  std::optional<Dims> dims;          // nullopt: the rank is unknown; -1: the size is
  std::vector<std::string> symbols;  // of symbolic sizes, else ""

  static Port of(const ts_port& port) {
    Port made{port.name, port.type, port.has_default != 0, {}, {}};
    if (port.rank < 0) return made;
    made.dims.emplace(port.dims, port.dims + port.rank);
    if (port.symbols) made.symbols.assign(port.symbols, port.symbols + port.rank);
    return made;
  }
};

// A node, during a call of its operator's functions.
class Node {
 public:
  explicit Node(const ts_node* handle) : handle_(handle) {}
  std::string name() const {
    const char* made = nullptr;
    check(api().node_name(handle_, &made));
    return made;
  }
  // Attributes by name: nullopt if the node does not have it. Throws Error if it is of another
  // kind.
  std::optional<float> real(const std::string& name) const {
    return one(attribute(name, TS_ATTRIBUTE_FLOAT), &ts_attribute::floats);
  }
  std::optional<std::int64_t> integer(const std::string& name) const {
    return one(attribute(name, TS_ATTRIBUTE_INT), &ts_attribute::ints);
  }
  std::optional<std::vector<float>> reals(const std::string& name) const {
    return all(attribute(name, TS_ATTRIBUTE_FLOATS), &ts_attribute::floats);
  }
  std::optional<std::vector<std::int64_t>> integers(const std::string& name) const {
    return all(attribute(name, TS_ATTRIBUTE_INTS), &ts_attribute::ints);
  }
  std::optional<std::string> string(const std::string& name) const {
    const auto found = attribute(name, TS_ATTRIBUTE_STRING);
    if (!found) return std::nullopt;
    return std::string(found->strings[0], found->lengths[0]);
  }
  std::optional<std::vector<std::string>> strings(const std::string& name) const {
    const auto found = attribute(name, TS_ATTRIBUTE_STRINGS);
    if (!found) return std::nullopt;
    std::vector<std::string> made;
    for (std::size_t k = 0; k < found->count; ++k)
      made.emplace_back(found->strings[k], found->lengths[k]);
    return made;
  }
  // Valid during the call.
  std::optional<Value> tensor(const std::string& name) const {
    const auto found = attribute(name, TS_ATTRIBUTE_TENSOR);
    return found ? std::optional(Value::borrowed(found->tensor)) : std::nullopt;
  }

 private:
  std::optional<ts_attribute> attribute(const std::string& name, ts_attribute_kind kind) const {
    ts_attribute made{};
    made.struct_size = sizeof made;
    check(api().node_attribute(handle_, name.c_str(), &made));
    if (made.kind == TS_ATTRIBUTE_ABSENT) return std::nullopt;
    if (made.kind != kind)
      throw Error(TS_ERROR_INVALID_MODEL, "the attribute '" + name + "' is of another kind", "{}");
    return made;
  }
  template <class T>
  static std::optional<T> one(const std::optional<ts_attribute>& found,
                              const T* ts_attribute::*of) {
    return found ? std::optional<T>(*((*found).*of)) : std::nullopt;
  }
  template <class T>
  static std::optional<std::vector<T>> all(const std::optional<ts_attribute>& found,
                                           const T* ts_attribute::*of) {
    if (!found) return std::nullopt;
    const T* const first = (*found).*of;
    return std::vector<T>(first, first + found->count);
  }
  const ts_node* handle_;
};

// Type and shape of a node's output, as far as they are known.
struct OutputInfo {
  std::string type = {};          // "": that of the operator
  std::optional<Dims> dims = {};  // -1: an unknown size
};

struct Parameter {
  std::string name;
  std::string types = {};  // "tensor(float), tensor(double)"; "": every tensor type
  std::string same = {};   // parameters with the same word have one type in a node
  bool optional = false, variadic = false;
};

// An operator of the program. Its functions are called by several threads at once; what they throw
// is the error of the run, with the node's place. They must not run the session that calls them.
struct Operator {
  std::string domain, name;
  std::int32_t since_version = 1;
  std::vector<Parameter> inputs, outputs;
  // Inputs and what is exported from them are valid during the call. An input that the node leaves
  // out has no handle; so may an output that it leaves out. An output may be an input.
  std::function<std::vector<Value>(const Node& node, std::span<const Value> inputs)> compute = {};
  // Optional. Infers types and shapes of the outputs from those of the inputs.
  std::function<std::vector<OutputInfo>(const Node& node, std::span<const Port> inputs)> infer = {};
};

// Threads of the program: calls the task for each index below `count`, on any threads, and returns
// when all calls have returned. Called by several threads at once; outlives the session.
using Executor = std::function<void(std::size_t count, const std::function<void(std::size_t)>&)>;

using Options = std::map<std::string, std::string>;  // names are those of touchstone.h

namespace detail {

// Calls a function; returns what it throws as a status.
template <class F>
ts_status* status_of(F&& function) {
  ts_error kind = TS_ERROR_INTERNAL;
  std::string message = "a function of the program threw what is no exception";
  try {
    function();
    return nullptr;
  } catch (const Error& error) {
    kind = error.kind;
    message = error.what();
  } catch (const std::bad_alloc&) {
    kind = TS_ERROR_OUT_OF_MEMORY;
    message = "a function of the program found no memory";
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
  }
  ts_status* made = nullptr;
  ts_status* const failed = api().status_create(kind, message.c_str(), &made);
  return failed ? failed : made;
}

inline ts_status* compute(void* user, const ts_node* node, const ts_value* const* inputs,
                          std::size_t input_count, ts_value** outputs, std::size_t output_count) {
  return status_of([&] {
    std::vector<Value> given;
    for (std::size_t k = 0; k < input_count; ++k) given.push_back(Value::borrowed(inputs[k]));
    std::vector<Value> made = static_cast<const Operator*>(user)->compute(Node(node), given);
    if (made.size() > output_count)
      throw Error(TS_ERROR_USAGE,
                  "the node has " + std::to_string(output_count) + " outputs, and " +
                      std::to_string(made.size()) + " were computed",
                  "{}");
    for (std::size_t k = 0; k < made.size(); ++k) outputs[k] = Value::detach(std::move(made[k]));
  });
}

inline ts_status* infer(void* user, ts_node* node, const ts_port* inputs, std::size_t input_count,
                        std::size_t) {
  return status_of([&] {
    std::vector<Port> given;
    for (std::size_t k = 0; k < input_count; ++k) given.push_back(Port::of(inputs[k]));
    const auto made = static_cast<const Operator*>(user)->infer(Node(node), given);
    for (std::size_t k = 0; k < made.size(); ++k) {
      const OutputInfo& output = made[k];
      const char* const type = output.type.empty() ? nullptr : output.type.c_str();
      check(api().node_set_output(node, k, type,
                                  output.dims ? static_cast<std::int32_t>(output.dims->size()) : -1,
                                  output.dims ? output.dims->data() : nullptr));
    }
  });
}

inline void add(ts_options* to, const Operator& added) {
  if (!added.compute)
    throw Error(TS_ERROR_USAGE, "the operator " + added.name + " has no function", "{}");
  auto kept = std::make_unique<Operator>(added);
  const auto list = [](const std::vector<Parameter>& parameters) {
    std::vector<ts_parameter> made;
    for (const Parameter& each : parameters) {
      made.push_back({sizeof(ts_parameter), each.name.c_str(),
                      each.types.empty() ? nullptr : each.types.c_str(),
                      each.same.empty() ? nullptr : each.same.c_str(), each.optional,
                      each.variadic});
    }
    return made;
  };
  const std::vector<ts_parameter> inputs = list(kept->inputs), outputs = list(kept->outputs);
  ts_operator made{};
  made.struct_size = sizeof made;
  made.domain = kept->domain.c_str();
  made.name = kept->name.c_str();
  made.since_version = kept->since_version;
  made.inputs = inputs.data();
  made.input_count = inputs.size();
  made.outputs = outputs.data();
  made.output_count = outputs.size();
  made.compute = compute;
  made.infer = kept->infer ? infer : nullptr;
  made.user = kept.get();
  made.release = [](void* user) { delete static_cast<Operator*>(user); };
  check(api().options_add_operator(to, &made));
  kept.release();
}

inline void run_tasks(void* user, std::size_t count, void (*task)(void*, std::size_t),
                      void* context) {
  (*static_cast<const Executor*>(user))(count, [&](std::size_t k) { task(context, k); });
}

inline std::unique_ptr<ts_options, void (*)(ts_options*)> options_of(
    const Options& options, const std::vector<Operator>& operators, const Executor* executor) {
  ts_options* made = nullptr;
  check(api().options_create(&made));
  std::unique_ptr<ts_options, void (*)(ts_options*)> owner(made, api().options_release);
  for (const auto& [name, value] : options)
    check(api().options_set(made, name.c_str(), value.c_str()));
  for (const Operator& each : operators) add(made, each);
  if (executor) {
    void* const user = const_cast<Executor*>(executor);
    check(api().options_set_executor(made, run_tasks, user));
  }
  return owner;
}

}  // namespace detail

using Log = std::function<void(ts_severity severity, const std::string& category,
                               const std::string& message)>;

// Sends messages of the process from a severity on to a function, which must not throw and is kept
// until the process ends. An empty one ends them.
inline void log_to(Log log, ts_severity lowest = TS_SEVERITY_WARNING) {
  if (!log) return check(api().log_to(nullptr, nullptr, lowest));
  auto kept = std::make_unique<Log>(std::move(log));
  const ts_log call = [](void* user, ts_severity severity, const char* category,
                         const char* message) {
    (*static_cast<const Log*>(user))(severity, category, message);
  };
  check(api().log_to(call, kept.get(), lowest));
  kept.release();
}

}  // namespace ts
