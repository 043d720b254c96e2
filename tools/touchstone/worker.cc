// touchstone worker: internal child process of `conform` and `bench`. It answers messages on its
// standard input: as a target with outputs, as the judge with assessments, or as a benchmark with
// times.
#include <charconv>
#include <cstdlib>

#include "conformance/assess.h"
#include "conformance/targets/launch.h"
#include "conformance/targets/serve.h"
#include "core/error.h"
#ifdef TOUCHSTONE_WITH_FAST
#include "optimized/session.h"
#endif
#include "tools/bench/ours.h"
#include "tools/touchstone/command.h"

namespace touchstone {
namespace {

struct WorkerArgs {
  std::string target, bench;
  bool judge = false;
  Index memory = 0;
};

Message reply_as_judge(const Message& question) {
  Assignment assignment;
  if (!read(question, assignment)) BUG("the host asked something else than to judge a case");
  return tell(assess(assignment));
}

#ifdef TOUCHSTONE_WITH_FAST
// Parses "fast:isa=avx2:threads=2:device=opencl,cpu". The environment selects the instruction set,
// once per process.
SessionOptions fast_options(const std::string& target) {
  SessionOptions options;
  if (const std::string isa = option_of(target, "isa"); !isa.empty()) {
    choose_isa(isa);  // refuses an unavailable instruction set
    ::setenv("TOUCHSTONE_ISA", isa.c_str(), 1);
  }
  if (const std::string threads = option_of(target, "threads"); !threads.empty()) {
    const auto [end, error] =
        std::from_chars(threads.data(), threads.data() + threads.size(), options.threads);
    if (error != std::errc() || end != threads.data() + threads.size() || options.threads < 1)
      throw Error(ErrorKind::usage, "threads=" + threads + " of the target is no number above 0");
  }
  if (const std::string devices = option_of(target, "device"); !devices.empty())
    options.devices = devices;
  return options;
}
#endif

ExitCode worker(const WorkerArgs& args) {
  become_worker(args.memory);
  if (args.judge) {
    serve([](const Message& question, const Say& say) { say(reply_as_judge(question)); });
  } else if (!args.bench.empty()) {
    serve_bench(args.bench);
  } else if (args.target == "reference") {
    serve(*make_reference());
#ifdef TOUCHSTONE_WITH_FAST
  } else if (args.target == "fast" || args.target.starts_with("fast:")) {
    serve(*make_fast(fast_options(args.target)));
#endif
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

}  // namespace touchstone
