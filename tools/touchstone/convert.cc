// touchstone convert MODEL --opset N -o OUT: converts a model to another opset, older or newer.
#include <fmt/format.h>

#include <charconv>

#include "core/error.h"
#include "model/model.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/limits.h"
#include "tools/touchstone/reports.h"
#include "transform/convert/convert.h"

namespace touchstone::command {
namespace {

using Json = nlohmann::ordered_json;

struct ConvertArgs {
  LimitArgs limits;
  std::string model, out;
  std::vector<std::string> opsets;
  JsonOutput json;
};

// Parses "13", or "ai.onnx.ml:3".
std::pair<std::string, Index> asked(const std::string& written) {
  const std::size_t colon = written.rfind(':');
  const std::string number = colon == std::string::npos ? written : written.substr(colon + 1);
  std::string domain = colon == std::string::npos ? "" : written.substr(0, colon);
  if (domain == "ai.onnx") domain.clear();
  Index opset = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, bad] = std::from_chars(number.data(), end, opset);
  if (bad != std::errc() || stop != end || number.empty())
    throw Error(ErrorKind::usage, "--opset is a number or DOMAIN:NUMBER, not '" + written + "'");
  return {domain, opset};
}

std::map<std::string, Index> all_asked(const ConvertArgs& args) {
  std::map<std::string, Index> opsets;
  for (const std::string& written : args.opsets) {
    const auto [domain, opset] = asked(written);
    if (!opsets.emplace(domain, opset).second)
      throw Error(ErrorKind::usage, "--opset names " + shown_domain(domain) + " twice");
  }
  if (opsets.empty() || args.model.empty()) {
    throw Error(ErrorKind::usage, "convert takes a MODEL and an --opset")
        .with_help("touchstone convert MODEL --opset N -o OUT");
  }
  return opsets;
}

ExitCode convert_model(const ConvertArgs& args) {
  const std::map<std::string, Index> opsets = all_asked(args);
  const Limits limits = args.limits.limits();
  const CommandBudget budget(limits);
  Model model = load_valid(args.model, limits);
  const Json before = opsets_of(model);
  const transform::Converted made = transform::convert(std::move(model), opsets, limits);
  if (!args.out.empty()) save_model(made.model, args.out);
  if (!args.out.empty()) dropped_fields(made.model.unkept);
  Index rewritten = 0;
  for (const transform::ConvertedNodes& step : made.steps) {
    if (!step.rewritten) continue;
    rewritten += step.nodes;
    if (args.json.takes_stdout()) continue;
    fmt::print("{:>6}  {}{}-{} -> {}\n", step.nodes, step.domain.empty() ? "" : step.domain + ".",
               step.op, step.from, step.to == 0 ? "other operators" : std::to_string(step.to));
  }
  if (!args.json.takes_stdout()) {
    for (const auto& [domain, opset] : opsets)
      fmt::print("{} {} -> {}, IR {} -> {}, {} nodes -> {}, {} rewritten\n", shown_domain(domain),
                 before["opsets"][shown_domain(domain)].get<Index>(), opset,
                 before["ir"].get<Index>(), made.model.ir_version, before["nodes"].get<Index>(),
                 made.model.graph.nodes.size(), rewritten);
  }
  if (args.json) write_json(args.json, convert_report({args.model, args.out}, before, made));
  return ExitCode::fine;
}

}  // namespace

void add_convert(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<ConvertArgs>();
  CLI::App* command = app.add_subcommand("convert", "Save the same model for another opset");
  command->add_option("model", args->model, "An .onnx file")->type_name("MODEL");
  command
      ->add_option("--opset", args->opsets,
                   "The version to import: of ai.onnx, or DOMAIN:N; once for each domain")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("N");
  command->add_option("-o,--out", args->out, "The file to write")->type_name("OUT");
  add_limits(*command, args->limits);
  add_json(*command, args->json);
  command->callback(
      [args, &out] { out = guarded(args->json, [&] { return convert_model(*args); }); });
}

}  // namespace touchstone::command
