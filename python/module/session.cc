// Binding of sessions: a model that is ready to run, on the fast executor or on the reference.
#include "optimized/session.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <mutex>
#include <variant>

#include "model/rules.h"
#include "python/module/arrays.h"
#include "python/module/guard.h"
#include "python/module/module.h"
#include "python/module/settings.h"
#include "python/module/text.h"
#include "reference/feeds.h"
#include "reference/interpreter.h"
#include "tools/touchstone/trace.h"

namespace touchstone::python {
namespace {

namespace nb = nanobind;
using Values = std::map<std::string, Value>;

constexpr std::size_t max_trace_events = 1'000'000;

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

// Numbers of the inputs or outputs by their names in Python. Made at the first use, under the
// interpreter's lock.
class Names {
 public:
  // Returns -1 for an object that is no name of these.
  Index find(const std::vector<Port>& ports, nb::handle name) {
    if (!by_name_.is_valid()) {
      nb::dict made;
      for (std::size_t k = 0; k < ports.size(); ++k)
        made[to_str(ports[k].value.name)] = nb::int_(k);
      by_name_ = std::move(made);
    }
    if (!PyUnicode_CheckExact(name.ptr())) return -1;
    PyObject* const found = PyDict_GetItemWithError(by_name_.ptr(), name.ptr());
    if (found == nullptr && PyErr_Occurred()) throw nb::python_error();
    return found == nullptr ? -1 : PyLong_AsLongLong(found);
  }

 private:
  nb::object by_name_;
};

class Runner {
 public:
  // The caller has a budget open, under which the model was loaded.
  Runner(Model model, const Settings& settings)
      : inputs(inputs_of(model.graph)),
        outputs(outputs_of(model.graph)),
        about(model),
        limits_(settings.options.limits),
        operators_(settings.operators.all),
        account_(current_budget()->account()),
        profiled_(settings.options.timings) {
    if (settings.fast) {
      held_.emplace<optimized::Session>(std::move(model), settings.options);
    } else {
      held_.emplace<Model>(std::move(model));
    }
  }

  // True if a large output's memory is the caller's alone, until all references are dropped. A
  // limit on memory does not count what the caller holds.
  bool gave(const Values& outputs, const Value& output) const {
    const optimized::Session* const session = std::get_if<optimized::Session>(&held_);
    if (session == nullptr || limits_.memory != unlimited || !session->keeps(output.tensor()))
      return false;
    return std::ranges::count_if(outputs, [&](const auto& other) {
             return other.second.is_tensor() &&
                    other.second.tensor().identity() == output.tensor().identity();
           }) == 1;
  }

  Values run(const Values& feeds, const Stop* stop) {
    const Budget budget(limits_, cancel_by(stop), account_);
    for (const auto& [name, value] : feeds) check_value(value, limits_);
    optimized::Session* const session = std::get_if<optimized::Session>(&held_);
    if (session == nullptr)
      return touchstone::run(std::get<Model>(held_), feeds, RunOptions{limits_, {}});
    if (!profiled_) return session->run(feeds);
    const std::lock_guard lock(profile_);
    Values outputs = session->run(feeds);
    if (trace_.size() < max_trace_events)
      trace_.add("run " + std::to_string(profiled_runs_++), *session);
    return outputs;
  }

  // Writes the timings of all runs so far, as a Chrome trace, and records no more.
  void end_profile(const std::string& file) {
    const std::lock_guard lock(profile_);
    profiled_ = false;
    trace_.write(file);
  }

  std::vector<optimized::Placement> placement() const {
    const optimized::Session* session = std::get_if<optimized::Session>(&held_);
    return session ? session->placement() : std::vector<optimized::Placement>{};
  }

  // Graph that the session runs.
  const Graph& graph() const {
    const optimized::Session* session = std::get_if<optimized::Session>(&held_);
    return session ? session->model().graph : std::get<Model>(held_).graph;
  }

  const std::vector<Port> inputs, outputs;
  Names input_names, output_names;
  const About about;

 private:
  const Limits limits_;
  const CustomOperators operators_;  // of the model's nodes
  const std::shared_ptr<MemoryAccount> account_;
  std::variant<std::monostate, optimized::Session, Model> held_;
  std::atomic<bool> profiled_;
  std::mutex profile_;  // of trace_ and of the run that it records
  command::Trace trace_;
  std::int64_t profiled_runs_ = 1;
};

Runner* opened(const Source& source, const Settings& settings, const Stop* stop) {
  return unlocked([&] {
    const Budget budget(settings.options.limits, cancel_by(stop));
    const CustomScope scope(settings.operators.all);
    Model model = source.load(settings.options.limits);
    adapt(model, settings);
    if (!settings.optimized_file.empty()) {
      transform::PassOptions passes = settings.options.passes;
      passes.limits = settings.options.limits;
      save_model(transform::optimize(model, passes).model, settings.optimized_file);
    }
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

nb::list run(Runner& runner, const nb::list& feeds, const nb::list& wanted, const Stop* stop) {
  Values given;
  for (nb::handle feed : feeds)
    given.insert_or_assign(from_str(feed[0]), nb::cast<const Value&>(feed[1]));
  const Values outputs = unlocked([&] { return runner.run(given, stop); });
  nb::list out;
  for (nb::handle name : wanted) out.append(nb::cast(outputs.at(from_str(name))));
  return out;
}

// Runs on plain arrays by name and returns arrays. Returns None, and runs nothing, if session.py
// has to convert or refuse a name or a feed.
nb::object run_on_arrays(Runner& runner, nb::handle wanted, const nb::dict& feeds) {
  const std::vector<Port>& ports = runner.outputs;
  std::vector<const std::string*> names;
  if (wanted.is_none()) {
    for (const Port& port : ports) names.push_back(&port.value.name);
  } else {
    if (!PyList_CheckExact(wanted.ptr()) || PyList_GET_SIZE(wanted.ptr()) == 0) return nb::none();
    for (nb::handle name : nb::borrow<nb::list>(wanted)) {
      const Index k = runner.output_names.find(ports, name);
      if (k < 0) return nb::none();
      names.push_back(&ports[static_cast<std::size_t>(k)].value.name);
    }
  }
  PlainArrays arrays;
  std::vector<const std::string*> fed;
  for (const auto& [name, value] : feeds) {
    const Index k = runner.input_names.find(runner.inputs, name);
    if (k < 0) return nb::none();
    const ValueInfo& input = runner.inputs[static_cast<std::size_t>(k)].value;
    const bool tensor = input.type && input.type->kind == ValueType::Kind::tensor;
    if (!tensor || !arrays.add(value)) return nb::none();
    fed.push_back(&input.name);
  }
  const Values made = unlocked([&] {
    Values given;
    for (std::size_t k = 0; k < fed.size(); ++k) {
      placed([&] { return "input '" + *fed[k] + "', main graph"; },
             [&] { given.emplace(*fed[k], arrays.tensor(k)); });
    }
    return runner.run(given, nullptr);
  });
  nb::list out;
  for (const std::string* name : names) {
    const Value& value = made.at(*name);
    nb::object array;
    if (value.is_tensor()) {
      const bool is_own = std::ranges::count(names, name) == 1 && runner.gave(made, value);
      array = array_of(value.tensor(), is_own);
    } else {
      array = plain_maps(value);
    }
    if (!array.is_valid())
      array = nb::module_::import_("touchstone.values").attr("taken")(nb::cast(value));
    out.append(std::move(array));
  }
  return out;
}

nb::list placement(const Runner& runner) {
  nb::list out;
  for (const optimized::Placement& row : unlocked([&] { return runner.placement(); })) {
    nb::list nodes;
    for (const std::string& node : row.nodes) nodes.append(to_str(node));
    out.append(nb::make_tuple(to_str(row.kernel), nodes));
  }
  return out;
}

nb::list nodes(const Runner& runner) {
  nb::list out;
  for (const Node& node : runner.graph().nodes)
    out.append(nb::make_tuple(to_str(node.name), to_str(node.domain), to_str(node.op)));
  return out;
}

}  // namespace

void bind_session(nb::module_& module) {
  nb::class_<Port>(module, "Port")
      .def_prop_ro("name", [](const Port& port) { return to_str(port.value.name); })
      .def_prop_ro("type", [](const Port& port) { return port.value.type.value_or(ValueType{}); })
      .def_prop_ro("shape", shape_of)
      .def_ro("has_default", &Port::has_default);
  nb::class_<Runner>(module, "Runner")
      .def_ro("inputs", &Runner::inputs)
      .def_ro("outputs", &Runner::outputs)
      .def_prop_ro("metadata", metadata_of)
      .def_prop_ro("nodes", nodes)
      .def("run", run, nb::arg("feeds"), nb::arg("wanted"), nb::arg("stop") = nb::none())
      .def("run_on_arrays", run_on_arrays, nb::arg("wanted").none(), nb::arg("feeds"))
      .def(
          "end_profile",
          [](Runner& runner, const nb::bytes& file) {
            const std::string name(file.c_str(), file.size());
            unlocked([&] { runner.end_profile(name); });
          },
          nb::arg("file"))
      .def("placement", placement);
  module.def("open", opened, nb::arg("source"), nb::arg("settings"), nb::arg("stop") = nb::none(),
             nb::rv_policy::take_ownership);
}

}  // namespace touchstone::python
