// C++20 interface of Touchstone: owners and exceptions over the C table (touchstone.h). Header
// only.
//
//   ts::Session session("model.onnx", {{"threads", "2"}});
//   auto outputs = session.run({{"x", ts::Value::copy<float>({1, 3}, data)}});
//   std::span<const float> y = outputs.at("y").span<float>();
//
// Errors are thrown as ts::Error. Sessions may be moved, not copied, and may be used from any
// thread.
#pragma once

#include <cstddef>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "touchstone_operator.hpp"

namespace ts {

// Ends the runs that were given it.
class Cancel {
 public:
  Cancel() { check(api().cancel_create(&handle_)); }
  ~Cancel() { api().cancel_release(handle_); }
  Cancel(const Cancel&) = delete;
  Cancel& operator=(const Cancel&) = delete;
  void request() { check(api().cancel_request(handle_)); }
  void reset() { check(api().cancel_reset(handle_)); }
  const ts_cancel* handle() const { return handle_; }

 private:
  ts_cancel* handle_ = nullptr;
};

struct RunOptions {
  const Cancel* cancel = nullptr;
  double deadline = 0;  // seconds; 0: that of the session
};

// A model that is ready to run. Option names are those of touchstone.h.
class Session {
 public:
  // `executor`: null for threads of the session's own.
  explicit Session(const std::string& path, const Options& options = {},
                   const std::vector<Operator>& operators = {},
                   const Executor* executor = nullptr) {
    const auto given = detail::options_of(options, operators, executor);
    check(api().session_open(path.c_str(), given.get(), &handle_));
  }
  explicit Session(std::span<const std::byte> model, const Options& options = {},
                   const std::vector<Operator>& operators = {},
                   const Executor* executor = nullptr) {
    const auto given = detail::options_of(options, operators, executor);
    check(api().session_open_bytes(model.data(), model.size(), given.get(), &handle_));
  }
  ~Session() {
    if (handle_) api().session_release(handle_);
  }
  Session(Session&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Session& operator=(Session&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  std::vector<Port> inputs() const { return ports(api().session_input_count, api().session_input); }
  std::vector<Port> outputs() const {
    return ports(api().session_output_count, api().session_output);
  }

  // Returns the named outputs; all of them if no name is given.
  Values run(const Values& inputs, std::vector<std::string> wanted = {},
             const RunOptions& options = {}) const {
    if (wanted.empty()) {
      for (const Port& port : outputs()) wanted.push_back(port.name);
    }
    const Arguments arguments(inputs, wanted, options);
    std::vector<ts_value*> made(wanted.size());
    check(api().session_run(handle_, &arguments.run, made.data()));
    return named(wanted, made.data());
  }

  // Runs on a thread of the library.
  std::future<Values> run_async(const Values& inputs, std::vector<std::string> wanted = {},
                                const RunOptions& options = {}) const {
    if (wanted.empty()) {
      for (const Port& port : outputs()) wanted.push_back(port.name);
    }
    struct Promise {
      std::promise<Values> result;
      std::vector<std::string> wanted;
    };
    auto promise = std::make_unique<Promise>(Promise{{}, wanted});
    std::future<Values> future = promise->result.get_future();
    const Arguments arguments(inputs, wanted, options);
    const ts_done done = [](void* user, ts_status* status, ts_value** outputs, std::size_t) {
      const std::unique_ptr<Promise> owner(static_cast<Promise*>(user));
      try {
        check(status);
        owner->result.set_value(named(owner->wanted, outputs));
      } catch (...) {
        owner->result.set_exception(std::current_exception());
      }
    };
    check(api().session_run_async(handle_, &arguments.run, done, promise.get()));
    promise.release();
    return future;
  }

  std::map<std::string, std::string> metadata() const {
    ts_model_info info{};
    info.struct_size = sizeof info;
    check(api().session_info(handle_, &info));
    std::map<std::string, std::string> out;
    for (std::size_t k = 0; k < info.property_count; ++k) {
      const char *key, *value;
      check(api().session_property(handle_, k, &key, &value));
      out.emplace(key, value);
    }
    return out;
  }
  std::string placement() const {  // JSON
    const char* out;
    check(api().session_placement(handle_, &out));
    return out;
  }
  ts_session* handle() const { return handle_; }

 private:
  struct Arguments {
    Arguments(const Values& inputs, const std::vector<std::string>& wanted,
              const RunOptions& options) {
      for (const auto& [name, value] : inputs)
        names.push_back(name.c_str()), values.push_back(value.handle());
      for (const std::string& name : wanted) output_names.push_back(name.c_str());
      run.struct_size = sizeof run;
      run.input_names = names.data();
      run.inputs = values.data();
      run.input_count = names.size();
      run.output_names = output_names.data();
      run.output_count = output_names.size();
      run.cancel = options.cancel ? options.cancel->handle() : nullptr;
      run.deadline = options.deadline;
    }
    std::vector<const char*> names, output_names;
    std::vector<const ts_value*> values;
    ts_run run{};
  };

  template <class Count, class Get>
  std::vector<Port> ports(Count count_of, Get get) const {
    std::size_t count;
    check(count_of(handle_, &count));
    std::vector<Port> out;
    for (std::size_t k = 0; k < count; ++k) {
      ts_port port{};
      port.struct_size = sizeof port;
      check(get(handle_, k, &port));
      out.push_back(Port::of(port));
    }
    return out;
  }

  static Values named(const std::vector<std::string>& names, ts_value* const* handles) {
    Values out;
    for (std::size_t k = 0; k < names.size(); ++k) out.emplace(names[k], Value(handles[k]));
    return out;
  }

  ts_session* handle_ = nullptr;
};

// Runs of a session on memory of the caller, which is read and written in place.
class Binding {
 public:
  Binding(const Session& session, const Values& inputs, const Values& outputs) {
    std::vector<const char*> input_names, output_names;
    std::vector<const ts_value*> from;
    std::vector<ts_value*> to;
    for (const auto& [name, value] : inputs)
      input_names.push_back(name.c_str()), from.push_back(value.handle());
    for (const auto& [name, value] : outputs)
      output_names.push_back(name.c_str()), to.push_back(value.handle());
    check(api().binding_create(session.handle(), input_names.data(), from.data(), from.size(),
                               output_names.data(), to.data(), to.size(), &handle_));
  }
  ~Binding() { api().binding_release(handle_); }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;
  void run(const RunOptions& options = {}) {
    check(api().binding_run(handle_, options.cancel ? options.cancel->handle() : nullptr,
                            options.deadline));
  }

 private:
  ts_binding* handle_ = nullptr;
};

}  // namespace ts
