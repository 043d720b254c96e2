// Test helpers: an operator of the program, and a session whose model has a node of it.
#pragma once

#include <atomic>
#include <functional>

#include "api/testing.h"

namespace touchstone::api {

// Functions of a test's operator; `calls` counts the nodes that it computed.
struct Functions {
  std::function<ts_status*(const ts_node*, const ts_value* const*, std::size_t, ts_value**)>
      compute;
  std::function<ts_status*(ts_node*, const ts_port*)> infer;
  std::atomic<int> calls{0}, released{0};
};

inline ts_status* compute(void* user, const ts_node* node, const ts_value* const* inputs,
                          std::size_t count, ts_value** outputs, std::size_t) {
  auto& functions = *static_cast<Functions*>(user);
  ++functions.calls;
  return functions.compute(node, inputs, count, outputs);
}

inline ts_status* infer(void* user, ts_node* node, const ts_port* inputs, std::size_t,
                        std::size_t) {
  return static_cast<Functions*>(user)->infer(node, inputs);
}

inline ts_status* refused(ts_error kind, const char* message) {
  ts_status* status = nullptr;
  ts::check(ts::api().status_create(kind, message, &status));
  return status;
}

inline ts_parameter parameter(const char* types, const char* same = nullptr) {
  return {sizeof(ts_parameter), "p", types, same, 0, 0};
}

// Options with one operator, my.ops Scale, of one input and one output.
class Given {
 public:
  explicit Given(Functions& functions, const char* types = "tensor(float)",
                 const std::map<std::string, std::string>& settings = {}) {
    ts::check(ts::api().options_create(&options_));
    for (const auto& [name, value] : settings)
      ts::check(ts::api().options_set(options_, name.c_str(), value.c_str()));
    const ts_parameter one = parameter(types, "T");
    const ts_operator added{
        sizeof added, "my.ops",
        "Scale",      1,
        &one,         1,
        &one,         1,
        compute,      nullptr,
        &functions,   [](void* user) {
                              ++static_cast<Functions*>(user)->released; }};
    ts_operator wanted = added;
    if (functions.infer) wanted.infer = infer;
    ts::check(ts::api().options_add_operator(options_, &wanted));
  }
  ~Given() { ts::api().options_release(options_); }
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  ts_options* get() const { return options_; }

 private:
  ts_options* options_ = nullptr;
};

class Opened {
 public:
  Opened(const Model& model, const Given& given) {
    const std::string bytes = bytes_of_model(model);
    status = ts::api().session_open_bytes(bytes.data(), bytes.size(), given.get(), &handle);
  }
  ~Opened() {
    ts::api().status_release(status);
    ts::api().session_release(handle);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  // Runs with x and returns y; keeps the status.
  std::vector<float> run(const ts::Value& x, double deadline = 0) {
    const char* const in = "x";
    const ts_value* const value = x.handle();
    const ts_run run{sizeof run, &in, &value, 1, nullptr, 1, nullptr, deadline};
    ts_value* out = nullptr;
    ts::api().status_release(status);
    status = ts::api().session_run(handle, &run, &out);
    if (status != nullptr) return {};
    const ts::Value y(out);
    return {y.span<float>().begin(), y.span<float>().end()};
  }
  std::string message() const { return ts::api().status_message(status); }
  ts_error kind() const { return ts::api().status_kind(status); }

  ts_status* status = nullptr;
  ts_session* handle = nullptr;
};

// Returns a tensor of the input's shape, with its elements times three.
inline ts_status* tripled(const ts_node*, const ts_value* const* inputs, std::size_t,
                          ts_value** outputs) {
  ts_tensor in{}, out{};
  in.struct_size = out.struct_size = sizeof in;
  ts::check(ts::api().tensor_view(inputs[0], &in));
  ts::check(ts::api().tensor_create(in.type, in.dims, static_cast<std::size_t>(in.rank), outputs));
  ts::check(ts::api().tensor_view(outputs[0], &out));
  for (std::size_t k = 0; k < in.count; ++k)
    static_cast<float*>(out.data)[k] = 3 * static_cast<const float*>(in.data)[k];
  return nullptr;
}

inline ts::Value four() { return ts::Value::copy<float>({2, 2}, {1, 2, 3, -4}); }

}  // namespace touchstone::api
