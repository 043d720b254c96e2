// Sessions of the C interface: opened, described and released.
#include "api/session.h"

#include "api/status.h"
#include "core/forks.h"
#include "core/json.h"
#include "model/model.h"
#include "reference/feeds.h"
#include "reference/interpreter.h"

namespace touchstone::api {
namespace {

Handles<HeldSession>& sessions() {
  static Handles<HeldSession>& all = *new Handles<HeldSession>("ts_session");
  return all;
}

HeldPort port_of(const ValueInfo& value, bool has_default) {
  HeldPort port;
  port.name = value.name;
  port.type = text(value.type.value_or(ValueType{}));
  port.has_default = has_default;
  port.has_rank = value.shape.has_value();
  if (value.shape) {
    for (const Dim& dim : *value.shape) {
      port.dims.push_back(dim.size.value_or(-1));
      port.symbols.push_back(dim.size ? "" : dim.symbol);
    }
  }
  return port;
}

// Sets the pointers last, when no string moves any more.
std::vector<HeldPort> ports_of(const Graph& graph, const std::vector<ValueInfo>& values,
                               bool inputs) {
  std::vector<HeldPort> ports;
  for (const ValueInfo& value : values) {
    ports.push_back(port_of(value, inputs && (graph.initializers.contains(value.name) ||
                                              graph.sparse_initializers.contains(value.name))));
  }
  for (HeldPort& port : ports) {
    for (const std::string& symbol : port.symbols) port.symbol_pointers.push_back(symbol.c_str());
  }
  return ports;
}

void write_port(const std::vector<HeldPort>& ports, std::size_t index, ts_port* to) {
  require(to, "port");
  if (index >= ports.size())
    throw Error(ErrorKind::usage,
                "port " + std::to_string(index) + " of " + std::to_string(ports.size()));
  const HeldPort& port = ports[index];
  ts_port made{};
  made.name = port.name.c_str();
  made.type = port.type.c_str();
  made.rank = port.has_rank ? static_cast<std::int32_t>(port.dims.size()) : -1;
  made.has_default = port.has_default ? 1 : 0;
  made.dims = port.dims.data();
  made.symbols = port.symbol_pointers.data();
  write_sized(to, made);
}

template <class Load>
ts_session* opened(const ts_options* options, Load&& load) {
  const HeldOptions::Settled settings = settings_of(options);
  const Budget budget(settings.options.limits);
  const CustomScope scope(settings.operators);
  return as_handle<ts_session>(
      sessions().add(std::make_shared<HeldSession>(load(settings.options.limits), settings)));
}

}  // namespace

HeldSession::HeldSession(Model model, const HeldOptions::Settled& settings)
    : inputs(ports_of(model.graph, model.graph.inputs, true)),
      outputs(ports_of(model.graph, model.graph.outputs, false)),
      producer(model.producer),
      graph_name(model.graph.name),
      domain(model.domain),
      version(model.model_version),
      limits_(settings.options.limits),
      operators_(settings.operators),
      account_(current_budget()->account()),
      process_(forks()) {
  if (model.metadata) {
    description = model.metadata->doc_string;
    properties.assign(model.metadata->properties.begin(), model.metadata->properties.end());
  }
  if (settings.fast) {
    held_.emplace<optimized::Session>(std::move(model), settings.options);
  } else {
    held_.emplace<Model>(std::move(model));
  }
}

HeldSession::~HeldSession() {
  if (process_ != forks()) worker_.forget();
}

void HeldSession::require_process() const {
  if (process_ != forks())
    throw Error(ErrorKind::usage, "the session was made before the process forked")
        .with_help("threads do not survive a fork: open the session in the child");
}

Limits HeldSession::limits_for(double deadline) const {
  constexpr double max_seconds = 1e9;
  if (!(deadline >= 0 && deadline <= max_seconds))
    throw Error(ErrorKind::usage, "a deadline is a number of seconds from 0 to 1e9");
  Limits limits = limits_;
  if (deadline > 0) limits.milliseconds = std::max<Index>(1, static_cast<Index>(deadline * 1000));
  return limits;
}

optimized::Session& HeldSession::fast() {
  optimized::Session* session = std::get_if<optimized::Session>(&held_);
  if (!session)
    throw Error(ErrorKind::unsupported, "a session of the reference takes no binding")
        .with_help("set the option runtime to fast");
  return *session;
}

std::vector<Value> HeldSession::run(const Request& request) {
  require_process();
  const Limits limits = limits_for(request.deadline);
  const LimitsScope scope(limits);
  const Budget budget(limits, {request.cancel ? &request.cancel->flag : nullptr}, account_);
  for (const auto& [name, value] : request.feeds) check_value(value, limits);
  optimized::Session* session = std::get_if<optimized::Session>(&held_);
  std::map<std::string, Value> made =
      session ? session->run(request.feeds)
              : touchstone::run(std::get<Model>(held_), request.feeds, RunOptions{limits, {}});
  std::vector<Value> out;
  for (const std::string& name : request.outputs) out.push_back(made[name]);
  return out;
}

const char* HeldSession::placement() {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (const optimized::Session* session = std::get_if<optimized::Session>(&held_)) {
    for (const optimized::Placement& row : session->placement())
      rows.push_back({{"kernel", row.kernel}, {"nodes", row.nodes}});
  }
  const std::lock_guard lock(mutex_);
  placement_ = rows.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return placement_.c_str();
}

void HeldSession::later(std::function<void()> work) {
  require_process();
  worker_.add(std::move(work));
}

std::shared_ptr<HeldSession> session_of(const ts_session* session) {
  return sessions().get(session);
}

ts_status* session_open(const char* path, const ts_options* options, ts_session** session) {
  return guarded([&] {
    require(path, "path"), require(session, "session");
    *session = opened(options, [&](const Limits& limits) { return load_valid(path, limits); });
  });
}

ts_status* session_open_bytes(const void* data, std::size_t size, const ts_options* options,
                              ts_session** session) {
  return guarded([&] {
    require(session, "session");
    if (size > 0) require(data, "data");
    *session = opened(options, [&](const Limits& limits) {
      return parse_valid({static_cast<const std::byte*>(data), size}, limits);
    });
  });
}

ts_status* session_input_count(const ts_session* session, std::size_t* count) {
  return guarded([&] {
    require(count, "count");
    *count = session_of(session)->inputs.size();
  });
}

ts_status* session_input(const ts_session* session, std::size_t index, ts_port* port) {
  return guarded([&] { write_port(session_of(session)->inputs, index, port); });
}

ts_status* session_output_count(const ts_session* session, std::size_t* count) {
  return guarded([&] {
    require(count, "count");
    *count = session_of(session)->outputs.size();
  });
}

ts_status* session_output(const ts_session* session, std::size_t index, ts_port* port) {
  return guarded([&] { write_port(session_of(session)->outputs, index, port); });
}

ts_status* session_info(const ts_session* session, ts_model_info* info) {
  return guarded([&] {
    require(info, "info");
    const std::shared_ptr<HeldSession> held = session_of(session);
    ts_model_info made{};
    made.producer = held->producer.c_str();
    made.graph_name = held->graph_name.c_str();
    made.domain = held->domain.c_str();
    made.description = held->description.c_str();
    made.version = held->version.value_or(-1);
    made.property_count = held->properties.size();
    write_sized(info, made);
  });
}

ts_status* session_property(const ts_session* session, std::size_t index, const char** key,
                            const char** value) {
  return guarded([&] {
    require(key, "key"), require(value, "value");
    const std::shared_ptr<HeldSession> held = session_of(session);
    if (index >= held->properties.size())
      throw Error(ErrorKind::usage, "property " + std::to_string(index) + " of " +
                                        std::to_string(held->properties.size()));
    *key = held->properties[index].first.c_str();
    *value = held->properties[index].second.c_str();
  });
}

ts_status* session_placement(ts_session* session, const char** json) {
  return guarded([&] {
    require(json, "json");
    *json = session_of(session)->placement();
  });
}

void session_release(ts_session* session) { sessions().take(session); }

}  // namespace touchstone::api
