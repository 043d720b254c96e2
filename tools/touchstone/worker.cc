// touchstone worker: internal child process of `conform` and `bench`. It answers messages on its
// standard input: as a target with outputs, as the judge with assessments, or as a benchmark with
// times.
#include "conformance/assess.h"
#include "conformance/targets/serve.h"
#include "core/error.h"
#include "tools/bench/ours.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/own_target.h"

namespace touchstone::command {
namespace {

struct WorkerArgs {
  std::string target, bench;
  bool judge = false;
  Index memory = 0;
};

targets::Message reply_as_judge(const targets::Message& question) {
  conformance::Assignment assignment;
  if (!conformance::read(question, assignment))
    BUG("the host asked something else than to judge a case");
  return conformance::tell(conformance::assess(assignment));
}

ExitCode worker(const WorkerArgs& args) {
  targets::become_worker(args.memory);
  if (args.judge) {
    targets::serve([](const targets::Message& question, const targets::Say& say) {
      say(reply_as_judge(question));
    });
  } else if (!args.bench.empty()) {
    bench::serve_bench(args.bench);
  } else if (const std::unique_ptr<targets::Target> target = own_target(args.target)) {
    targets::serve(*target);
  } else {
    throw Error(ErrorKind::usage, "there is no target '" + args.target + "' in this process");
  }
  return ExitCode::fine;
}

}  // namespace

void add_worker(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<WorkerArgs>();
  CLI::App* command =
      app.add_subcommand("worker", "Answers the host of a conformance run")->group("");
  CLI::Option* judge = command->add_flag("--judge", args->judge, "Judge instead of running");
  command->add_option("--target", args->target, "The target to run")->excludes(judge);
  command->add_option("--bench", args->bench, "The runtime to time");
  command->add_option("--memory", args->memory, "Bytes of data that the process may have");
  command->callback([args, &out] { out = guarded(JsonOutput(), [&] { return worker(*args); }); });
}

}  // namespace touchstone::command
