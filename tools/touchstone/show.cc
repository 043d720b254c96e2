// touchstone show MODEL: prints a model's inputs, outputs, nodes with the version in force, and
// counts by operator. --shapes adds the shapes of all values, --kernels the fast executor's
// kernels.
#include <fmt/format.h>

#include "core/error.h"
#include "model/model.h"
#ifdef TOUCHSTONE_WITH_FAST
#include "optimized/session.h"
#include "tools/touchstone/kernels.h"
#endif
#include "reference/shapes/shapes.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/feeds.h"
#include "tools/touchstone/limits.h"
#include "tools/touchstone/reports.h"
#include "tools/touchstone/values.h"

namespace touchstone::command {
namespace {

using Json = nlohmann::ordered_json;

struct ShowArgs {
  LimitArgs limits{.preset = "untrusted", .memory = "4G"};
  std::string model;
  bool nodes = false, shapes = false, kernels = false;
  FeedArgs feeds;  // files and sizes, for --kernels
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

// Plans the model if all sizes are known. Otherwise lists the inputs whose sizes are open: the
// kernels depend on them.
Json kernels_of(const ShowArgs& args, const Limits& limits) {
#ifdef TOUCHSTONE_WITH_FAST
  Model model = load_valid(args.model, limits);
  const std::map<std::string, Shape> shapes = known_shapes(model, args.feeds, limits);
  Json open = Json::array();
  for (const ValueInfo* input : wanted_inputs(model.graph)) {
    const bool is_tensor = !input->type || input->type->kind == ValueType::Kind::tensor;
    if (is_tensor && !shapes.contains(input->name))
      open.push_back(input->name + " " + dims_text(*input));
  }
  if (!open.empty()) return {{"open", open}};
  optimized::SessionOptions options;
  options.limits = limits;
  optimized::Session session(std::move(model), options);
  Json report = kernels_report(session.kernels_for(shapes));
  report["open"] = std::move(open);
  return report;
#else
  (void)args, (void)limits;
  throw Error(ErrorKind::unsupported, "this build has no fast executor")
      .with_help("take the release build");
#endif
}

void print_planned(const Json& report) {
  if (!report["open"].empty()) {
    fmt::print(
        "{}\n  they depend on sizes that are open: {}\n  --dims SYMBOL=N,... or --input gives "
        "them\n",
        styled(Stream::out, Style::bold, "kernels"), names(report["open"]));
    return;
  }
#ifdef TOUCHSTONE_WITH_FAST
  print_kernels(report);
#endif
}

ExitCode show_model(const ShowArgs& args) {
  if (!args.kernels && !(args.feeds.dims.empty() && args.feeds.inputs.empty())) {
    throw Error(ErrorKind::usage, "--dims and --input give sizes to --kernels")
        .with_help("add --kernels");
  }
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
  if (args.kernels) all["kernels"] = kernels_of(args, limits);
  if (!args.json.takes_stdout()) {
    print_summary(args, model, all);
    if (args.shapes) print_shapes(found);
    if (args.kernels) print_planned(all["kernels"]);
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
  command->add_flag("--kernels", args->kernels,
                    "List the fast executor's kernel of each node, too, and why it is slow");
  command->add_option("--dims,--dim", args->feeds.dims, "Sizes of symbolic dimensions")
      ->delimiter(',')
      ->type_name("SYMBOL=N,...")
      ->expected(1)
      ->take_all();
  command->add_option("--input", args->feeds.inputs, "A file whose shape an input has")
      ->type_name("NAME=FILE.npy|.pb")
      ->expected(1)
      ->take_all();
  add_limits(*command, args->limits);
  add_json(*command, args->json);
  command->callback([args, &out] { out = guarded(args->json, [&] { return show_model(*args); }); });
}

}  // namespace touchstone::command
