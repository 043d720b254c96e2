// Runs, bindings and cancelling of the C interface.
#include <algorithm>
#include <cstring>
#include <set>

#include "api/session.h"
#include "api/status.h"
#include "api/value.h"

namespace touchstone::api {
namespace {

Handles<HeldCancel>& cancels() {
  static Handles<HeldCancel>& all = *new Handles<HeldCancel>("ts_cancel");
  return all;
}

Handles<HeldBinding>& bindings() {
  static Handles<HeldBinding>& all = *new Handles<HeldBinding>("ts_binding");
  return all;
}

// Returns the names of an array of strings, each of them once.
std::vector<std::string> names_of(const char* const* names, std::size_t count, const char* what) {
  if (count > 0) require(names, what);
  std::vector<std::string> out;
  std::set<std::string_view> seen;
  for (std::size_t k = 0; k < count; ++k) {
    require(names[k], what);
    if (!seen.insert(names[k]).second)
      throw Error(ErrorKind::usage,
                  std::string("the name '") + names[k] + "' occurs twice in '" + what + "'");
    out.emplace_back(names[k]);
  }
  return out;
}

std::map<std::string, Value> feeds_of(const char* const* names, const ts_value* const* values,
                                      std::size_t count) {
  const std::vector<std::string> all = names_of(names, count, "input_names");
  if (count > 0) require(values, "inputs");
  std::map<std::string, Value> feeds;
  for (std::size_t k = 0; k < count; ++k) feeds.emplace(all[k], value_of(values[k])->value);
  return feeds;
}

void require_outputs(const HeldSession& session, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto known = [&](const HeldPort& port) { return port.name == name; };
    if (std::none_of(session.outputs.begin(), session.outputs.end(), known))
      throw Error(ErrorKind::usage, "there is no output '" + name + "'");
  }
}

Request request_of(const HeldSession& session, const ts_run* given) {
  require(given, "run");
  const ts_run run = read_sized(given);
  Request request;
  request.feeds = feeds_of(run.input_names, run.inputs, run.input_count);
  if (run.output_names) {
    request.outputs = names_of(run.output_names, run.output_count, "output_names");
    require_outputs(session, request.outputs);
  } else {
    if (run.output_count != session.outputs.size())
      throw Error(ErrorKind::usage, "the array takes " + std::to_string(run.output_count) +
                                        " outputs, but the model has " +
                                        std::to_string(session.outputs.size()));
    for (const HeldPort& port : session.outputs) request.outputs.push_back(port.name);
  }
  request.cancel = cancel_of(run.cancel);
  request.deadline = run.deadline;
  session.limits_for(run.deadline);  // refuses a bad one at once
  return request;
}

// Makes handles of all values, or of none.
std::vector<ts_value*> handles_of(std::vector<Value> values) {
  std::vector<ts_value*> handles;
  handles.reserve(values.size());
  try {
    for (Value& value : values) handles.push_back(handle_of(std::move(value)));
  } catch (...) {
    release_values(handles.data(), handles.size());
    throw;
  }
  return handles;
}

}  // namespace

ts_status* cancel_create(ts_cancel** cancel) {
  return guarded([&] {
    require(cancel, "cancel");
    *cancel = as_handle<ts_cancel>(cancels().add(std::make_shared<HeldCancel>()));
  });
}

ts_status* cancel_request(ts_cancel* cancel) {
  return guarded([&] { cancels().get(cancel)->flag = true; });
}

ts_status* cancel_reset(ts_cancel* cancel) {
  return guarded([&] { cancels().get(cancel)->flag = false; });
}

void cancel_release(ts_cancel* cancel) { cancels().take(cancel); }

std::shared_ptr<HeldCancel> cancel_of(const ts_cancel* cancel) {
  return cancel ? cancels().get(cancel) : nullptr;
}

ts_status* session_run(ts_session* session, const ts_run* run, ts_value** outputs) {
  return guarded([&] {
    const std::shared_ptr<HeldSession> held = session_of(session);
    const Request request = request_of(*held, run);
    if (!request.outputs.empty()) require(outputs, "outputs");
    const std::vector<ts_value*> made = handles_of(held->run(request));
    std::copy(made.begin(), made.end(), outputs);
  });
}

ts_status* session_run_async(ts_session* session, const ts_run* run, ts_done done, void* user) {
  return guarded([&] {
    if (!done) throw Error(ErrorKind::usage, "the argument 'done' is null");
    const std::shared_ptr<HeldSession> held = session_of(session);
    held->later([held, request = request_of(*held, run), done, user] {
      std::vector<ts_value*> made;
      ts_status* const status = guarded([&] { made = handles_of(held->run(request)); });
      done(user, status, made.data(), made.size());
    });
  });
}

ts_status* binding_create(ts_session* session, const char* const* input_names,
                          const ts_value* const* inputs, std::size_t input_count,
                          const char* const* output_names, ts_value* const* outputs,
                          std::size_t output_count, ts_binding** binding) {
  return guarded([&] {
    require(binding, "binding");
    auto made = std::make_shared<HeldBinding>();
    made->session = session_of(session);
    made->session->require_process();
    const std::vector<std::string> names = names_of(output_names, output_count, "output_names");
    if (output_count > 0) require(outputs, "outputs");
    std::map<std::string, Tensor> to;
    for (std::size_t k = 0; k < output_count; ++k) {
      const std::shared_ptr<HeldValue> value = value_of(outputs[k]);
      if (!value->value.is_tensor())
        throw Error(ErrorKind::usage, "the output '" + names[k] + "' is bound to no tensor");
      to.emplace(names[k], value->value.tensor());
    }
    made->bound.emplace(
        made->session->fast().bind(feeds_of(input_names, inputs, input_count), std::move(to)));
    *binding = as_handle<ts_binding>(bindings().add(std::move(made)));
  });
}

ts_status* binding_run(ts_binding* binding, const ts_cancel* cancel, double deadline) {
  return guarded([&] {
    const std::shared_ptr<HeldBinding> held = bindings().get(binding);
    HeldSession& session = *held->session;
    session.require_process();
    const std::shared_ptr<HeldCancel> flag = cancel_of(cancel);
    const Budget budget(session.limits_for(deadline), {flag ? &flag->flag : nullptr},
                        session.account());
    held->bound->run();
  });
}

void binding_release(ts_binding* binding) { bindings().take(binding); }

}  // namespace touchstone::api
