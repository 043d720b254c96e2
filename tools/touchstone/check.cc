// touchstone check MODEL: lists every rule of the format and of the operators that the model
// violates, worst first.
#include <fmt/format.h>

#include "core/error.h"
#include "model/model.h"
#include "reference/shapes.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/limits.h"

namespace touchstone {
namespace {

struct CheckArgs {
  std::string model;
  // A graph of a million nodes takes 2 GiB.
  LimitArgs limits{.preset = "untrusted", .memory = "4G"};
  JsonOutput json;
};

std::vector<Error> breaches_of(const std::string& file, const Limits& limits) {
  const CommandBudget budget(limits);
  try {
    Model model = load_model(file, limits);
    resolve(model);
    std::vector<Error> breaches = check(model, limits);
    return breaches.empty() ? infer_shapes(model, limits).breaches : breaches;
  } catch (const Error& error) {
    if (error.kind != ErrorKind::invalid_model) throw;
    return {error};  // a model that cannot be loaded has this single violation
  }
}

ExitCode check_model(const CheckArgs& args) {
  const std::vector<Error> breaches = breaches_of(args.model, args.limits.limits());
  if (args.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Error& breach : breaches) {
      list.push_back({{"rule", breach.rule},
                      {"message", breach.message},
                      {"place", breach.place},
                      {"rule_text", breach.rule_text},
                      {"spec", breach.spec_line},
                      {"help", breach.help}});
    }
    write_json(args.json, {{"schema", "touchstone.check/1"},
                           {"model", args.model},
                           {"valid", breaches.empty()},
                           {"breaches", list}});
  }
  for (const Error& breach : breaches) print_error(breach);
  if (breaches.empty()) {
    if (!args.json.takes_stdout())
      fmt::print("{}: {}\n", printable(args.model), styled(Stream::out, Style::green, "valid"));
    return ExitCode::fine;
  }
  fmt::print(stderr, "{} {}\n", breaches.size(), breaches.size() == 1 ? "breach" : "breaches");
  return exit_code(breaches.front().kind);
}

}  // namespace

void add_check(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<CheckArgs>();
  CLI::App* command = app.add_subcommand("check", "Hold a model against the rules");
  command->add_option("model", args->model, "An .onnx file, trusted with nothing")
      ->required()
      ->type_name("MODEL");
  add_limits(*command, args->limits);
  add_json(*command, args->json);
  command->callback(
      [args, &out] { out = guarded(args->json, [&] { return check_model(*args); }); });
}

}  // namespace touchstone
