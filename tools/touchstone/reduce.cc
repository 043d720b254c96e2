// touchstone reduce CASE --target T: reduces a case to a smaller one with the same fault. CASE is
// the folder of a finding, any folder with model.onnx and test_data_set_0, or a line of the spec
// suite. Exit 1 if the fault shows, 0 if the target is right.
#include "fuzz/reduce.h"

#include <fmt/format.h>

#include "core/budget.h"
#include "core/error.h"
#include "fuzz/store.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/fuzz_runners.h"
#include "tools/touchstone/limits.h"

namespace touchstone::command {
namespace {

struct ReduceArgs {
  std::string one, target, time = "60s", out;
  JsonOutput json;
};

ExitCode reduce_case(const ReduceArgs& args) {
  const CommandBudget budget(Limits::trusted());
  const std::chrono::milliseconds time(milliseconds_of(args.time));
  fuzz::StoredCase stored = fuzz::read_case(args.one);
  if (stored.is.text.empty()) stored.is.text = args.one;
  const Scratch scratch(folder_in_memory());
  const FuzzTarget target = fuzz_target(args.target, scratch);
  fuzz::Examiner examiner(target.make_runner, target.limits);
  const fuzz::Outcome found = examiner(stored.is);
  nlohmann::ordered_json object{{"schema", "touchstone.reduce/1"},
                                {"case", args.one},
                                {"target", args.target},
                                {"outcome", to_json(found)}};
  if (!found.is_finding()) {
    inform("{}: {}{}{}\n", args.target, found.verdict, found.detail.empty() ? "" : ": ",
           printable(found.detail));
    if (args.json) write_json(args.json, object);
    return ExitCode::fine;
  }
  const auto examined = [&](const fuzz::Case& one) {
    check_budget();  // Ctrl-C
    return examiner(one);
  };
  const fuzz::Reduced smaller = fuzz::reduce(stored.is, found, examined, time);
  fuzz::Finding finding = stored.finding.value_or(fuzz::Finding{});
  finding.target = args.target;
  finding.version = target.version;
  finding.outcome = smaller.outcome;
  finding.hash = fuzz::hash_of_signature(signature(args.target, smaller.outcome));
  object["reduced"] = {{"text", text_of(smaller.is)},
                       {"outcome", to_json(smaller.outcome)},
                       {"trials", smaller.trials},
                       {"in_time", smaller.in_time}};
  if (!args.out.empty()) {
    fuzz::write_finding(finding, smaller.is,
                        fmt::format("touchstone reduce '{}' --target '{}'", args.out, args.target),
                        args.out);
  }
  if (!args.json.takes_stdout()) {
    fmt::print("{}\n", printable(text_of(smaller.is)));
    inform("{} {}: {}; {} trials{}\n", styled(Stream::err, Style::red, smaller.outcome.verdict),
           printable(smaller.outcome.node), printable(smaller.outcome.detail), smaller.trials,
           smaller.in_time ? "" : ", the time ended first");
  }
  if (args.json) write_json(args.json, object);
  return ExitCode::mismatch;
}

}  // namespace

void add_reduce(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<ReduceArgs>();
  CLI::App* command = app.add_subcommand("reduce", "Make a case smaller that a target gets wrong");
  command->add_option("case", args->one, "A folder of a case, or a line of the spec suite")
      ->required()
      ->type_name("CASE");
  command->add_option("--target", args->target, "A target, as conform takes it")
      ->required()
      ->type_name("T");
  command->add_option("--time", args->time, "The time that it may take")
      ->capture_default_str()
      ->type_name("TIME");
  command->add_option("--out", args->out, "Write the reduced case into this folder")
      ->type_name("DIR");
  add_json(*command, args->json);
  command->callback(
      [args, &out] { out = guarded(args->json, [&] { return reduce_case(*args); }); });
}

}  // namespace touchstone::command
