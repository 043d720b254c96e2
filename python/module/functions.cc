// Binding of the functions on models: show, check, optimize, convert. Each returns the object that
// the command's --json prints, as text.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "python/module/module.h"
#include "python/module/settings.h"
#include "python/module/text.h"
#include "tools/touchstone/reports.h"

namespace touchstone::python {
namespace {

namespace nb = nanobind;
using Json = nlohmann::ordered_json;

// Runs `work` under limits and without the interpreter's lock, and returns its object as text.
template <class Work>
nb::object reported(const Limits& limits, const Work& work) {
  const std::string text = unlocked([&] {
    const Budget budget(limits, cancel_by(nullptr));
    const Json made = work();
    return made.dump(-1, ' ', false, Json::error_handler_t::replace);
  });
  return to_str(text);
}

std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

nb::object show(const Source& source, const std::string& name, bool shapes,
                const std::string& limits_name) {
  const Limits limits = limits_named(limits_name);
  return reported(limits, [&] {
    const Model model = shapes ? source.load(limits) : source.parse(limits);
    Json all = command::show_report(name, model);
    if (shapes) command::add_shapes(infer_shapes(model, limits), all);
    return all;
  });
}

nb::object check_model(const Source& source, const std::string& name,
                       const std::string& limits_name) {
  const Limits limits = limits_named(limits_name);
  return reported(limits, [&] {
    return command::check_report(
        name, command::breaches_of([&] { return source.parse(limits, false); }, limits));
  });
}

nb::object optimize_model(const Source& source, const std::string& name, const nb::bytes& out,
                          const Settings& settings, bool save_shapes) {
  const std::string file = path_of(out);
  transform::PassOptions passes = settings.options.passes;
  passes.limits = settings.options.limits;
  return reported(passes.limits, [&] {
    Model model = source.load(passes.limits);
    const Json before = command::sizes_of(model);
    transform::Optimized made = transform::optimize(std::move(model), passes);
    std::optional<transform::DeclaredSizes> declared;
    if (save_shapes) declared = transform::declare_shapes(made.model, passes.limits);
    save_model(made.model, file);
    return command::optimize_report({name, file}, std::string(transform::name(passes.level)),
                                    before, made, declared);
  });
}

nb::object convert_model(const Source& source, const std::string& name, const nb::bytes& out,
                         const std::map<std::string, Index>& opsets,
                         const std::string& limits_name) {
  const std::string file = path_of(out);
  const Limits limits = limits_named(limits_name);
  return reported(limits, [&] {
    Model model = source.load(limits);
    const Json before = command::opsets_of(model);
    const transform::Converted made = transform::convert(std::move(model), opsets, limits);
    if (!file.empty()) save_model(made.model, file);
    return command::convert_report({name, file}, before, made);
  });
}

}  // namespace

void bind_functions(nb::module_& module) {
  module.def("show", show, nb::arg("source"), nb::arg("name"), nb::arg("shapes"),
             nb::arg("limits"));
  module.def("check", check_model, nb::arg("source"), nb::arg("name"), nb::arg("limits"));
  module.def("optimize", optimize_model, nb::arg("source"), nb::arg("name"), nb::arg("out"),
             nb::arg("settings"), nb::arg("save_shapes"));
  module.def("convert", convert_model, nb::arg("source"), nb::arg("name"), nb::arg("out"),
             nb::arg("opsets"), nb::arg("limits"));
}

}  // namespace touchstone::python
