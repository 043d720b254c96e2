// Binding of the settings of a session.
#include "python/module/settings.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python/module/module.h"
#include "python/module/text.h"

namespace touchstone::python {

namespace nb = nanobind;

Limits limits_named(const std::string& name) {
  if (name == "trusted") return Limits::trusted();
  if (name == "untrusted") return Limits::untrusted();
  throw Error(ErrorKind::usage,
              "there are no limits '" + name + "'; there are 'trusted' and 'untrusted'");
}

namespace {

Index milliseconds_of(double seconds) {
  if (!(seconds > 0 && seconds < 1e12))
    throw Error(ErrorKind::usage, "a deadline is a number of seconds above 0");
  return std::max<Index>(1, static_cast<Index>(seconds * 1000));
}

Index memory_of(Index bytes) {
  if (bytes <= 0) throw Error(ErrorKind::usage, "a limit on memory is a number of bytes above 0");
  return bytes;
}

transform::Level level_named(const std::string& wanted) {
  if (const std::optional<transform::Level> level = transform::level_by_name(wanted)) return *level;
  std::string list;
  for (const transform::Level level : transform::all_levels)
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

void resize(std::vector<ValueInfo>& values, const Settings& settings) {
  for (ValueInfo& value : values) {
    if (!value.shape) continue;
    for (Dim& dim : *value.shape) {
      if (dim.size) continue;
      if (const auto found = settings.symbols.find(dim.symbol); found != settings.symbols.end())
        dim.size = found->second;
      const auto denoted = settings.denotations.find(dim.denotation);
      if (denoted != settings.denotations.end()) dim.size = denoted->second;
    }
  }
}

void replace(Graph& graph, const std::string& name, const Value& value) {
  const auto found = graph.initializers.find(name);
  if (found == graph.initializers.end())
    throw Error(ErrorKind::usage, "the model has no initializer '" + name + "'");
  if (!value.is_tensor()) throw Error(ErrorKind::usage, "initializer '" + name + "' is a tensor");
  const Tensor& there = found->second;
  if (value.tensor().type() != there.type() || value.tensor().shape() != there.shape()) {
    throw Error(ErrorKind::usage,
                "the value for initializer '" + name + "' has another type or shape");
  }
  found->second = value.tensor();
}

}  // namespace

void adapt(Model& model, const Settings& settings) {
  for (const auto* sizes : {&settings.symbols, &settings.denotations}) {
    for (const auto& [name, size] : *sizes) {
      if (size < 0)
        throw Error(ErrorKind::usage, "'" + name + "' is given the size " + std::to_string(size));
    }
  }
  resize(model.graph.inputs, settings);
  resize(model.graph.outputs, settings);
  resize(model.graph.values, settings);
  for (const auto& [name, value] : settings.initializers) replace(model.graph, name, value);
}

Model Source::parse(const Limits& limits, bool resolved) const {
  Model model =
      is_file ? load_model(std::string(data.c_str(), data.size()), limits)
              : parse_model(std::as_bytes(std::span(data.c_str(), data.size())), folder, limits);
  if (resolved) resolve(model);
  return model;
}

Model Source::load(const Limits& limits) const {
  if (is_file) return load_valid(std::string(data.c_str(), data.size()), limits);
  Model model = parse(limits, false);
  require_valid(model, limits);
  return model;
}

void bind_settings(nb::module_& module) {
  nb::class_<Settings>(module, "Settings")
      .def_prop_rw(
          "profile", [](const Settings& settings) { return settings.options.timings; },
          [](Settings& settings, bool wanted) { settings.options.timings = wanted; })
      .def_prop_rw(
          "concurrent_runs",
          [](const Settings& settings) { return settings.options.concurrent_runs; },
          [](Settings& settings, Index wanted) {
            if (wanted < 0)
              throw Error(ErrorKind::usage, "a session with " + std::to_string(wanted) +
                                                " concurrent runs is asked for")
                  .with_help("0 takes at least four, and one per processor");
            settings.options.concurrent_runs = wanted;
          })
      .def_rw("operators", &Settings::operators)
      .def_rw("symbols", &Settings::symbols)
      .def_rw("denotations", &Settings::denotations)
      .def("replace_initializer",
           [](Settings& settings, nb::str name, const Value& value) {
             settings.initializers.insert_or_assign(from_str(name), value);
           })
      .def("write_optimized", [](Settings& settings, const nb::bytes& file) {
        settings.optimized_file.assign(file.c_str(), file.size());
      });
  module.def("settings", settings_of, nb::arg("runtime"), nb::arg("threads"), nb::arg("level"),
             nb::arg("winograd"), nb::arg("with_passes"), nb::arg("without_passes"),
             nb::arg("limits"), nb::arg("deadline").none(), nb::arg("memory_limit").none());
  nb::class_<Stop>(module, "Stop")
      .def(nb::init<>())
      .def_prop_rw(
          "asked", [](const Stop& stop) { return stop.asked.load(); },
          [](Stop& stop, bool asked) { stop.asked = asked; });
  nb::class_<Source>(module, "Source")
      .def_static("file",
                  [](nb::bytes path) {
                    return Source{std::move(path), true, ""};
                  })
      .def_static("bytes", [](nb::bytes data, const nb::bytes& folder) {
        return Source{std::move(data), false, std::string(folder.c_str(), folder.size())};
      });
}

}  // namespace touchstone::python
