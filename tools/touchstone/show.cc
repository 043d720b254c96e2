// touchstone show MODEL: prints a model's inputs, outputs, nodes with the version in force, counts
// by operator, and, with --shapes, the shapes of all values.
#include <fmt/format.h>

#include "core/error.h"
#include "model/model.h"
#include "reference/shapes.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/limits.h"
#include "tools/touchstone/reports.h"
#include "tools/touchstone/values.h"

namespace touchstone {
namespace {

using Json = nlohmann::ordered_json;

struct ShowArgs {
  LimitArgs limits{.preset = "untrusted", .memory = "4G"};
  std::string model;
  bool nodes = false, shapes = false;
  JsonOutput json;
};

std::string names(const Json& list) {
  std::string out;
  for (const Json& name : list)
    out += (out.empty() ? "" : ", ") +
           (name.get<std::string>().empty() ? "-" : name.get<std::string>());
  return printable(out);
}

// Prints the file's fields outside the graph; long texts are cut.
void print_metadata(const Json& all) {
  constexpr std::size_t max_shown = 200;
  std::vector<std::pair<std::string, std::string>> rows;
  for (const char* field : {"domain", "doc_string", "graph_doc_string"}) {
    if (const auto text = all[field].get<std::string>(); !text.empty())
      rows.emplace_back(field, text);
  }
  if (!all["model_version"].is_null())
    rows.emplace_back("model_version", all["model_version"].dump());
  for (const char* field : {"metadata_props", "graph_metadata_props"}) {
    for (const Json& row : all[field])
      rows.emplace_back(row["key"].get<std::string>(), row["value"].get<std::string>());
  }
  if (rows.empty()) return;
  fmt::print("{}\n", styled(Stream::out, Style::bold, "metadata"));
  for (const auto& [name, text] : rows) {
    const bool cut = text.size() > max_shown;
    fmt::print("  {}: {}{}\n", printable(name), printable(text.substr(0, max_shown)),
               cut ? fmt::format(" .. {} bytes", text.size()) : "");
  }
}

void print_summary(const ShowArgs& args, const Model& model, const Json& all) {
  const auto title = [](const char* text) {
    fmt::print("{}\n", styled(Stream::out, Style::bold, text));
  };
  const std::string producer =
      model.producer + (model.producer_version.empty() ? "" : " " + model.producer_version);
  fmt::print("{}: IR {}{}\n", printable(args.model), model.ir_version,
             producer.empty() ? "" : ", by " + printable(producer));
  print_metadata(all);
  title("opsets");
  for (const auto& [domain, version] : model.opsets)
    fmt::print("  {} {}\n", domain.empty() ? "ai.onnx" : printable(domain), version);
  const auto values = [&](const char* name, const std::vector<ValueInfo>& list) {
    title(name);
    for (const ValueInfo& value : list) {
      if (model.graph.initializers.contains(value.name)) continue;
      fmt::print("  {}  {} {}\n", printable(value.name), value.type ? text(*value.type) : "?",
                 printable(dims_text(value)));
    }
  };
  values("inputs", model.graph.inputs);
  values("outputs", model.graph.outputs);
  title("operators");
  for (const auto& [version, count] : all["operators"].items())
    fmt::print("  {:>6}  {}\n", count.get<Index>(), printable(version));
  fmt::print("{} nodes with those of subgraphs, {} initializers with {} elements, {} functions\n",
             all["node_count"].get<Index>(), model.graph.initializers.size(),
             all["parameters"].get<Index>(), model.functions.size());
  if (!args.nodes) return;
  title("nodes");
  for (const Json& node : all["nodes"]) {
    fmt::print("  {:>5}  {}  {} -> {}\n", node["index"].get<Index>(),
               printable(node["version"].get<std::string>()), names(node["inputs"]),
               names(node["outputs"]));
  }
}

std::string shape_text(const InferredValue& value) {
  if (!value.shape) return "?";
  std::string out;
  for (const InferredSize& size : *value.shape) out += (out.empty() ? "" : ",") + size.text;
  return "[" + out + "]";
}

// Prints shapes of the main graph first, then of each subgraph and function call under its path.
void print_shapes(const InferredShapes& found) {
  std::vector<std::string> paths{""};
  std::map<std::string, std::vector<const InferredValue*>> by_path;
  for (const InferredValue& value : found.values) {
    std::vector<const InferredValue*>& list = by_path[value.path];
    if (list.empty() && !value.path.empty()) paths.push_back(value.path);
    list.push_back(&value);
  }
  for (const std::string& path : paths) {
    const std::string title = path.empty() ? "shapes" : "shapes in " + printable(path);
    fmt::print("{}\n", styled(Stream::out, Style::bold, title));
    for (const InferredValue* value : by_path[path]) {
      const std::string at = value->node ? std::to_string(value->node->index) : "";
      fmt::print("  {:>5}  {}  {} {}\n", at, printable(value->name),
                 value->type ? text(*value->type) : "?", printable(shape_text(*value)));
    }
  }
  if (found.notes.empty()) return;
  fmt::print("{}\n", styled(Stream::out, Style::bold, "of these shapes"));
  for (const std::string& note : found.notes) fmt::print("  {}\n", printable(note));
}

// Infers shapes of a valid model; throws the first violation of any other.
InferredShapes shapes_of(const Model& model, const Limits& limits) {
  std::vector<Error> breaches = check(model, limits);
  if (!breaches.empty()) throw std::move(breaches.front());
  return infer_shapes(model, limits);
}

ExitCode show_model(const ShowArgs& args) {
  const Limits limits = args.limits.limits();
  const CommandBudget budget(limits);
  Model model = load_model(args.model, limits);
  resolve(model);
  Json all = show_report(args.model, model);
  InferredShapes found;
  if (args.shapes) {
    found = shapes_of(model, limits);
    add_shapes(found, all);
  }
  if (!args.json.takes_stdout()) {
    print_summary(args, model, all);
    if (args.shapes) print_shapes(found);
    for (const Error& breach : found.breaches) print_error(breach);
  }
  if (args.json) write_json(args.json, all);
  return ExitCode::fine;
}

}  // namespace

void add_show(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<ShowArgs>();
  CLI::App* command = app.add_subcommand("show", "Say what is in a model");
  command->add_option("model", args->model, "An .onnx file")->required()->type_name("MODEL");
  command->add_flag("--nodes", args->nodes, "List the main graph's nodes, too");
  command->add_flag("--shapes", args->shapes, "Infer the shapes of all values, and list them, too");
  add_limits(*command, args->limits);
  add_json(*command, args->json);
  command->callback([args, &out] { out = guarded(args->json, [&] { return show_model(*args); }); });
}

}  // namespace touchstone
