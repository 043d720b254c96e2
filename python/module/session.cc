// Binding of sessions: a model that is ready to run, on the fast executor or on the reference.
#include "optimized/session.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <variant>

#include "model/model.h"
#include "python/module/guard.h"
#include "python/module/module.h"
#include "python/module/text.h"
#include "reference/feeds.h"
#include "reference/interpreter.h"

namespace touchstone::python {
namespace {

namespace nb = nanobind;
using Values = std::map<std::string, Value>;

constexpr Cancel cancel{.asked = signal_raised};

struct Settings {
  bool fast = true;
  SessionOptions options;
};

struct Port {
  ValueInfo value;
  bool has_default = false;
};

std::vector<Port> inputs_of(const Graph& graph) {
  std::vector<Port> ports;
  for (const ValueInfo& input : graph.inputs) {
    const bool has_default =
        graph.initializers.contains(input.name) || graph.sparse_initializers.contains(input.name);
    ports.push_back({input, has_default});
  }
  return ports;
}

// Description of the model file, which passes do not change.
struct About {
  explicit About(const Model& model)
      : producer(model.producer),
        graph_name(model.graph.name),
        domain(model.domain),
        version(model.model_version),
        metadata(model.metadata),
        graph_metadata(model.graph.metadata),
        charge(model.charge) {}

  std::string producer, graph_name, domain;
  std::optional<Index> version;
  SharedMetadata metadata, graph_metadata;
  std::shared_ptr<const Charge> charge;  // memory of the metadata
};

std::vector<Port> outputs_of(const Graph& graph) {
  std::vector<Port> ports;
  for (const ValueInfo& output : graph.outputs) ports.push_back({output});
  return ports;
}

class Runner {
 public:
  // The caller has a budget open, under which the model was loaded.
  Runner(Model model, const Settings& settings)
      : inputs(inputs_of(model.graph)),
        outputs(outputs_of(model.graph)),
        about(model),
        limits_(settings.options.limits),
        account_(current_budget()->account()) {
    if (settings.fast) {
      held_.emplace<Session>(std::move(model), settings.options);
    } else {
      held_.emplace<Model>(std::move(model));
    }
  }

  Values run(const Values& feeds) {
    const Budget budget(limits_, cancel, account_);
    for (const auto& [name, value] : feeds) check_value(value, limits_);
    if (Session* session = std::get_if<Session>(&held_)) return session->run(feeds);
    return touchstone::run(std::get<Model>(held_), feeds, RunOptions{limits_, {}});
  }

  std::vector<Placement> placement() const {
    const Session* session = std::get_if<Session>(&held_);
    return session ? session->placement() : std::vector<Placement>{};
  }

  const std::vector<Port> inputs, outputs;
  const About about;

 private:
  const Limits limits_;
  const std::shared_ptr<MemoryAccount> account_;
  std::variant<std::monostate, Session, Model> held_;
};

Limits limits_named(const std::string& name) {
  if (name == "trusted") return Limits::trusted();
  if (name == "untrusted") return Limits::untrusted();
  throw Error(ErrorKind::usage,
              "there are no limits '" + name + "'; there are 'trusted' and 'untrusted'");
}

Index milliseconds_of(double seconds) {
  if (!(seconds > 0 && seconds < 1e12))
    throw Error(ErrorKind::usage, "a deadline is a number of seconds above 0");
  return std::max<Index>(1, static_cast<Index>(seconds * 1000));
}

Index memory_of(Index bytes) {
  if (bytes <= 0) throw Error(ErrorKind::usage, "a limit on memory is a number of bytes above 0");
  return bytes;
}

Level level_named(const std::string& wanted) {
  if (const std::optional<Level> level = level_by_name(wanted)) return *level;
  std::string list;
  for (const Level level : all_levels)
    list += (list.empty() ? "'" : ", '") + std::string(name(level)) + "'";
  throw Error(ErrorKind::usage, "there is no level '" + wanted + "'; there are " + list);
}

Settings settings_of(const std::string& runtime, Index threads, const std::string& level,
                     bool winograd, const std::vector<std::string>& with,
                     const std::vector<std::string>& without, const std::string& limits,
                     std::optional<double> seconds, std::optional<Index> memory) {
  if (runtime != "fast" && runtime != "reference") {
    throw Error(ErrorKind::usage,
                "there is no runtime '" + runtime + "'; there are 'fast' and 'reference'");
  }
  if (threads < 0) {
    throw Error(ErrorKind::usage,
                "a session with " + std::to_string(threads) + " threads is asked for")
        .with_help("0 takes as many as the process may use");
  }
  Settings settings;
  settings.fast = runtime == "fast";
  settings.options.threads = threads;
  settings.options.winograd = winograd;
  settings.options.limits = limits_named(limits);
  if (seconds) settings.options.limits.milliseconds = milliseconds_of(*seconds);
  if (memory) settings.options.limits.memory = memory_of(*memory);
  settings.options.passes.level = level_named(level);
  settings.options.passes.with = with;
  settings.options.passes.without = without;
  return settings;
}

Runner* opened(const nb::bytes& path, const Settings& settings) {
  const std::string name(path.c_str(), path.size());
  return unlocked([&] {
    const Budget budget(settings.options.limits, cancel);
    return new Runner(load_valid(name, settings.options.limits), settings);
  });
}

Runner* parsed(const nb::bytes& bytes, const Settings& settings) {
  const std::span<const char> held(bytes.c_str(), bytes.size());
  return unlocked([&] {
    const Budget budget(settings.options.limits, cancel);
    Model model = parse_model(std::as_bytes(held), {}, settings.options.limits);
    require_valid(model, settings.options.limits);
    return new Runner(std::move(model), settings);
  });
}

nb::object shape_of(const Port& port) {
  if (!port.value.shape) return nb::none();
  nb::list out;
  for (const Dim& dim : *port.value.shape) {
    if (dim.size) {
      out.append(*dim.size);
    } else if (dim.symbol.empty()) {
      out.append(nb::none());
    } else {
      out.append(to_str(dim.symbol));
    }
  }
  return out;
}

nb::dict metadata_of(const Runner& runner) {
  const About& about = runner.about;
  const auto doc_string = [](const SharedMetadata& metadata) {
    return to_str(metadata ? metadata->doc_string : "");
  };
  nb::list properties;
  if (about.metadata) {
    for (const auto& [key, value] : about.metadata->properties)
      properties.append(nb::make_tuple(to_str(key), to_str(value)));
  }
  nb::dict out;
  out["producer_name"] = to_str(about.producer);
  out["graph_name"] = to_str(about.graph_name);
  out["domain"] = to_str(about.domain);
  out["description"] = doc_string(about.metadata);
  out["graph_description"] = doc_string(about.graph_metadata);
  out["version"] = nb::cast(about.version);
  out["properties"] = properties;
  return out;
}

nb::list run(Runner& runner, const nb::list& feeds, const nb::list& wanted) {
  Values given;
  for (nb::handle feed : feeds)
    given.insert_or_assign(from_str(feed[0]), nb::cast<const Value&>(feed[1]));
  const Values outputs = unlocked([&] { return runner.run(given); });
  nb::list out;
  for (nb::handle name : wanted) out.append(nb::cast(outputs.at(from_str(name))));
  return out;
}

nb::list placement(const Runner& runner) {
  nb::list out;
  for (const Placement& row : unlocked([&] { return runner.placement(); })) {
    nb::list nodes;
    for (const std::string& node : row.nodes) nodes.append(to_str(node));
    out.append(nb::make_tuple(to_str(row.kernel), nodes));
  }
  return out;
}

}  // namespace

void bind_session(nb::module_& module) {
  nb::class_<Settings>(module, "Settings");
  module.def("settings", settings_of, nb::arg("runtime"), nb::arg("threads"), nb::arg("level"),
             nb::arg("winograd"), nb::arg("with_passes"), nb::arg("without_passes"),
             nb::arg("limits"), nb::arg("deadline").none(), nb::arg("memory_limit").none());
  nb::class_<Port>(module, "Port")
      .def_prop_ro("name", [](const Port& port) { return to_str(port.value.name); })
      .def_prop_ro("type", [](const Port& port) { return port.value.type.value_or(ValueType{}); })
      .def_prop_ro("shape", shape_of)
      .def_ro("has_default", &Port::has_default);
  nb::class_<Runner>(module, "Runner")
      .def_ro("inputs", &Runner::inputs)
      .def_ro("outputs", &Runner::outputs)
      .def_prop_ro("metadata", metadata_of)
      .def("run", run, nb::arg("feeds"), nb::arg("wanted"))
      .def("placement", placement);
  module.def("open", opened, nb::arg("path"), nb::arg("settings"), nb::rv_policy::take_ownership);
  module.def("parse", parsed, nb::arg("bytes"), nb::arg("settings"), nb::rv_policy::take_ownership);
}

}  // namespace touchstone::python
