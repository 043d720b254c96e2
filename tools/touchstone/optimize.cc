// touchstone optimize MODEL -o OUT: optimizes a graph without changing its meaning, and saves it as
// plain ONNX.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "model/model.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/limits.h"
#include "tools/touchstone/reports.h"
#include "transform/optimize/declare_shapes.h"
#include "transform/optimize/passes.h"
#include "transform/optimize/pattern.h"

namespace touchstone::command {
namespace {

using Json = nlohmann::ordered_json;

struct OptimizeArgs {
  LimitArgs limits;
  std::string model, out, level = "basic";
  std::vector<std::string> with, without;
  bool list = false, save_shapes = false;
  JsonOutput json;
};

Json patterns_of(const transform::Pass& pass) {
  Json list = Json::array();
  for (const transform::Pattern& pattern : transform::all_patterns()) {
    if (pattern.pass == pass.name)
      list.push_back({{"name", pattern.name},
                      {"level", name(pattern.level)},
                      {"exact", pattern.exact},
                      {"doc", pattern.doc},
                      {"source", pattern.source}});
  }
  return list;
}

ExitCode list_passes(const OptimizeArgs& args) {
  Json all{{"schema", "touchstone.passes/1"}, {"passes", Json::array()}};
  for (const transform::Pass& pass : transform::all_passes()) {
    const Json patterns = patterns_of(pass);
    all["passes"].push_back({{"name", pass.name},
                             {"level", name(pass.level)},
                             {"exact", pass.exact},
                             {"doc", pass.doc},
                             {"patterns", patterns}});
    if (args.json.takes_stdout()) continue;
    fmt::print("{}  {}  {}\n", styled(Stream::out, Style::bold, pass.name), name(pass.level),
               pass.doc);
    for (const Json& pattern : patterns)
      fmt::print("  {}  {}\n", pattern["name"].get<std::string>(),
                 pattern["doc"].get<std::string>());
  }
  if (args.json) write_json(args.json, all);
  return ExitCode::fine;
}

transform::PassOptions options_for(const OptimizeArgs& args) {
  transform::PassOptions options;
  const std::optional<transform::Level> level = transform::level_by_name(args.level);
  if (!level)
    throw Error(ErrorKind::usage,
                "the level is none, basic, extended or all, not '" + args.level + "'");
  options.level = *level;
  options.with = args.with;
  options.without = args.without;
  options.limits = args.limits.limits();
  return options;
}

ExitCode optimize_model(const OptimizeArgs& args) {
  if (args.list) return list_passes(args);
  if (args.model.empty() || args.out.empty()) {
    throw Error(ErrorKind::usage, "optimize takes a MODEL and, by -o, the file to write")
        .with_help("touchstone optimize MODEL -o OUT, or touchstone optimize --list");
  }
  const transform::PassOptions options = options_for(args);
  const CommandBudget budget(options.limits);
  Model model = load_valid(args.model, options.limits);
  const Json before = sizes_of(model);
  transform::Optimized made = transform::optimize(std::move(model), options);
  std::optional<transform::DeclaredSizes> declared;
  if (args.save_shapes) declared = transform::declare_shapes(made.model, options.limits);
  save_model(made.model, args.out);
  dropped_fields(made.model.unkept);
  if (!args.json.takes_stdout()) {
    for (const transform::PassCount& count : made.counts)
      fmt::print("{:>6}  {}{}\n", count.changes, count.pass,
                 count.pattern.empty() ? "" : "  " + count.pattern);
  }
  if (!args.json.takes_stdout())
    fmt::print("{} nodes before, {} after\n", before["nodes"].get<Index>(),
               made.model.graph.nodes.size());
  if (declared && !args.json.takes_stdout())
    fmt::print("{} values declared with {} numbers, {} expressions and {} unknown sizes\n",
               declared->values, declared->numbers, declared->expressions, declared->unknown);
  if (args.json) {
    write_json(args.json,
               optimize_report({args.model, args.out}, args.level, before, made, declared));
  }
  return ExitCode::fine;
}

}  // namespace

void add_optimize(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<OptimizeArgs>();
  CLI::App* command = app.add_subcommand("optimize", "Save a better graph that means the same");
  command->add_option("model", args->model, "An .onnx file")->type_name("MODEL");
  command->add_option("-o,--out", args->out, "The file to write")->type_name("OUT");
  command->add_option("--level", args->level, "none, basic (the default), extended or all")
      ->type_name("L");
  command->add_option("--pass", args->with, "Run this pass or pattern whatever the level says")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME");
  command->add_option("--no-pass", args->without, "Do not run this pass or pattern")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME");
  command->add_flag("--save-shapes", args->save_shapes,
                    "Declare the inferred shapes of all values in the file, too");
  command->add_flag("--list", args->list, "Say which passes and patterns there are");
  add_limits(*command, args->limits);
  add_json(*command, args->json);
  command->callback(
      [args, &out] { out = guarded(args->json, [&] { return optimize_model(*args); }); });
}

}  // namespace touchstone::command
