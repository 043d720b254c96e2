// touchstone show MODEL: prints a model's inputs, outputs, nodes with the version in force, counts
// by operator, and, with --shapes, the shapes of all values.
#include <fmt/format.h>

#include "core/error.h"
#include "model/model.h"
#include "reference/shapes.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/limits.h"
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

std::string version_of(const Node& node) {
  const std::string domain = node.domain.empty() ? "" : node.domain + ".";
  if (node.signature == nullptr) return fmt::format("{}{} (function)", domain, node.op);
  return fmt::format("{}{}-{}", domain, node.op, node.signature->since);
}

template <class Visit>
void for_each_node(const Graph& graph, const Visit& visit) {
  // A worklist instead of recursion, whose depth the model would determine.
  std::vector<const Graph*> open{&graph};
  while (!open.empty()) {
    const Graph* here = open.back();
    open.pop_back();
    for (const Node& node : here->nodes) {
      visit(node, here == &graph);
      for (const auto& [name, attribute] : node.attributes) {
        if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.is))
          open.push_back(one->get());
        if (const auto* many =
                std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.is)) {
          for (const auto& each : *many) open.push_back(each.get());
        }
      }
    }
  }
}

Json value_json(const ValueInfo& value) {
  Json out{{"name", value.name}, {"type", value.type ? text(*value.type) : ""}, {"shape", nullptr}};
  if (value.shape) {
    out["shape"] = Json::array();
    for (const Dim& dim : *value.shape) {
      if (dim.size) {
        out["shape"].push_back(*dim.size);
      } else {
        out["shape"].push_back(dim.symbol);
      }
    }
  }
  return out;
}

Json properties_of(const SharedMetadata& metadata) {
  Json all = Json::array();
  if (!metadata) return all;
  for (const auto& [key, value] : metadata->properties)
    all.push_back({{"key", key}, {"value", value}});
  return all;
}

std::string doc_string_of(const SharedMetadata& metadata) {
  return metadata ? metadata->doc_string : "";
}

Json summary(const ShowArgs& args, const Model& model) {
  Json out{{"schema", "touchstone.show/1"},
           {"model", args.model},
           {"ir_version", model.ir_version},
           {"producer", model.producer},
           {"producer_version", model.producer_version},
           {"domain", model.domain},
           {"model_version", model.model_version ? Json(*model.model_version) : Json(nullptr)},
           {"doc_string", doc_string_of(model.metadata)},
           {"metadata_props", properties_of(model.metadata)},
           {"graph", model.graph.name},
           {"graph_doc_string", doc_string_of(model.graph.metadata)},
           {"graph_metadata_props", properties_of(model.graph.metadata)},
           {"not_read", model.unkept}};
  for (const auto& [domain, version] : model.opsets)
    out["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
  out["inputs"] = Json::array();
  out["outputs"] = Json::array();
  for (const ValueInfo& input : model.graph.inputs) {
    if (!model.graph.initializers.contains(input.name)) out["inputs"].push_back(value_json(input));
  }
  for (const ValueInfo& output : model.graph.outputs) out["outputs"].push_back(value_json(output));
  Index parameters = 0;
  for (const auto& [name, tensor] : model.graph.initializers) parameters += tensor.size();
  out["initializers"] = model.graph.initializers.size();
  out["parameters"] = parameters;
  out["functions"] = model.functions.size();
  std::map<std::string, Index> counts;
  Index total = 0;
  out["nodes"] = Json::array();
  for_each_node(model.graph, [&](const Node& node, bool main) {
    ++total;
    ++counts[version_of(node)];
    if (main) {
      out["nodes"].push_back({{"index", node.index},
                              {"name", node.name},
                              {"version", version_of(node)},
                              {"inputs", node.inputs},
                              {"outputs", node.outputs}});
    }
  });
  out["node_count"] = total;
  out["operators"] = counts;
  return out;
}

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

void add_shapes(const InferredShapes& found, Json& all) {
  all["shapes"] = Json::array();
  for (const InferredValue& value : found.values) {
    Json row{{"path", value.path},
             {"name", value.name},
             {"node", nullptr},
             {"type", value.type ? text(*value.type) : ""},
             {"shape", nullptr}};
    if (value.node) row["node"] = value.node->index;
    if (value.shape) {
      row["shape"] = Json::array();
      for (const InferredSize& size : *value.shape)
        row["shape"].push_back(size.number ? Json(*size.number) : Json(size.text));
    }
    all["shapes"].push_back(std::move(row));
  }
  all["shape_notes"] = found.notes;
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
  Json all = summary(args, model);
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
