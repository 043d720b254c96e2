// touchstone run MODEL: feeds a model, runs it and shows the outputs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#ifdef TOUCHSTONE_WITH_CONFORMANCE
#include "conformance/assess.h"
#include "conformance/results.h"
#endif
#include "core/error.h"
#include "model/model.h"
#ifdef TOUCHSTONE_WITH_FAST
#include "optimized/session.h"
#include "tools/touchstone/kernels.h"
#include "tools/touchstone/trace.h"
#endif
#include "reference/interpreter.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/feeds.h"
#include "tools/touchstone/limits.h"
#include "tools/touchstone/values.h"

namespace touchstone::command {
namespace {

using Json = nlohmann::ordered_json;

struct RunArgs {
  std::string model;
  FeedArgs feeds;
  LimitArgs limits;
  std::string output_dir, tap, profile, runtime = "reference", device = "cpu";
  Index threads = 0;
  bool placement = false, warn_slow = false;
  JsonOutput json;
};

// Verdict on the outputs by the output_K.pb of --test-data.
struct Judged {
  std::string verdict, compat, detail;
  ExitCode code;
};

#ifdef TOUCHSTONE_WITH_CONFORMANCE
Judged judged_by(const conformance::Assignment& assignment) {
  const conformance::Assessment found = conformance::assess(assignment);
  const conformance::Standing stands = conformance::standing(found.verdict);
  const bool wrong = stands == conformance::Standing::fail ||
                     (stands == conformance::Standing::open && found.compat != "pass");
  const ExitCode code = stands == conformance::Standing::harness ? ExitCode::bug
                        : wrong                                  ? ExitCode::mismatch
                                                                 : ExitCode::fine;
  return {found.verdict, found.compat, found.detail, code};
}
#endif

// Judges the outputs by the test data; none if the folder has no outputs.
std::optional<Judged> held_against_test_data(const RunArgs& args, const Model& model,
                                             const std::map<std::string, Value>& outputs) {
  if (args.feeds.test_data.empty()) return std::nullopt;
  const std::vector<std::filesystem::path> expected =
      numbered_files(args.feeds.test_data, "output");
  if (expected.empty()) return std::nullopt;
#ifdef TOUCHSTONE_WITH_CONFORMANCE
  conformance::Assignment assignment;
  assignment.model = args.model;
  assignment.inputs = numbered_files(args.feeds.test_data, "input");
  assignment.expected = expected;
  assignment.answer.kind = targets::Answer::Kind::outputs;
  for (const ValueInfo& output : model.graph.outputs) {
    const Value& value = outputs.at(output.name);
    assignment.answer.outputs.push_back({output.name, text(value.type()), serialize_value(value)});
  }
  return judged_by(assignment);
#else
  (void)model, (void)outputs;
  throw Error(ErrorKind::unsupported,
              "this build has no judge to hold the outputs against output_0.pb")
      .with_help("take the release build, or a folder without outputs");
#endif
}

void print_placement(const Json& placed) {
  for (const Json& row : placed["steps"])
    fmt::print("{:<40} {}\n", row["kernel"].get<std::string>(),
               printable(fmt::format(
                   "{}", fmt::join(row["nodes"].get<std::vector<std::string>>(), ", "))));
  fmt::print("arena {} bytes\n", placed["arena_bytes"].get<Index>());
  if (const auto bytes = placed["device_bytes"].get<Index>(); bytes > 0)
    fmt::print("{} {} bytes\n", placed["device"].get<std::string>(), bytes);
#ifdef TOUCHSTONE_WITH_FAST
  print_kernels(placed["kernels"]);
#endif
}

// Facts of a session's run, for the options that request them.
struct Observed {
  Json placed, slow;
};

void report(const RunArgs& args, const Model& model, const std::map<std::string, Value>& outputs,
            const Observed& observed, const std::optional<Judged>& judged) {
  const Json& placed = observed.placed;
  if (!placed.is_null() && !args.json.takes_stdout()) print_placement(placed);
  Json object{{"schema", "touchstone.run/1"}, {"model", args.model}, {"outputs", Json::array()}};
  for (const ValueInfo& output : model.graph.outputs) {
    const Value& value = outputs.at(output.name);
    Json row{{"name", output.name}};
    row.update(to_json(value));
    object["outputs"].push_back(std::move(row));
    if (!args.json.takes_stdout()) {
      fmt::print("{}  {}  {}\n", styled(Stream::out, Style::bold, printable(output.name)),
                 type_text(value), first_values(value));
    }
  }
  if (judged) {
    object["judged"] = {
        {"verdict", judged->verdict}, {"compat", judged->compat}, {"detail", judged->detail}};
    if (!args.json.takes_stdout())
      fmt::print("{}  {}\n", judged->verdict, printable(judged->detail));
  }
  if (!placed.is_null()) object["placement"] = placed;
  if (!observed.slow.is_null()) object["slow"] = observed.slow;
  if (args.json) write_json(args.json, object);
}

std::map<std::string, Value> run_session(const RunArgs& args, const Model& model,
                                         const std::map<std::string, Value>& feeds,
                                         Observed& observed) {
#ifdef TOUCHSTONE_WITH_FAST
  if (!args.tap.empty()) {
    throw Error(ErrorKind::usage, "--tap sees every node's values; the fast executor merges nodes")
        .with_help("take --runtime reference");
  }
  optimized::SessionOptions options;
  options.threads = args.threads;
  options.timings = !args.profile.empty() || args.warn_slow;
  options.devices = args.device;
  options.limits = args.limits.limits();
  optimized::Session session(model, options);
  std::map<std::string, Value> outputs = session.run(feeds);
  if (args.warn_slow) {
    observed.slow = slow_nodes(session.kernels(), session.timings());
    warn_slow(observed.slow);
  }
  if (!args.profile.empty()) {
    session.run(feeds);  // the first run includes page faults of fresh memory
    Trace trace;
    trace.add(std::filesystem::path(args.model).stem().string(), session);
    trace.write(args.profile);
  }
  if (args.placement) {
    observed.placed = {{"steps", Json::array()},
                       {"arena_bytes", session.arena_bytes()},
                       {"device", args.device.substr(0, args.device.find(','))},
                       {"device_bytes", session.device_bytes()},
                       {"kernels", kernels_report(session.kernels(), session.timings())}};
    for (const optimized::Placement& row : session.placement())
      observed.placed["steps"].push_back({{"kernel", row.kernel}, {"nodes", row.nodes}});
  }
  return outputs;
#else
  (void)args, (void)model, (void)feeds, (void)observed;
  throw Error(ErrorKind::unsupported, "this build has no fast executor")
      .with_help("take the release build, or --runtime reference");
#endif
}

// Says how long each stage took, for --verbose.
class Stopwatch {
 public:
  void lap(const std::string& stage) {
    const auto now = Clock::now();
    say_more("{}: {:.1f} ms\n", stage,
             std::chrono::duration<double, std::milli>(now - began_).count());
    began_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
};

ExitCode run_model(const RunArgs& args) {
  if (!args.profile.empty() && args.runtime != "fast") {
    throw Error(ErrorKind::usage, "--profile is of the fast executor's steps")
        .with_help("take --runtime fast");
  }
  if (args.placement && args.runtime != "fast") {
    throw Error(ErrorKind::usage, "--placement is of the fast executor's kernels")
        .with_help("take --runtime fast");
  }
  if (args.warn_slow && args.runtime != "fast") {
    throw Error(ErrorKind::usage, "--warn-slow is of the fast executor's kernels")
        .with_help("take --runtime fast");
  }
  if (args.device != "cpu" && args.runtime != "fast") {
    throw Error(ErrorKind::usage, "--device is of the fast executor")
        .with_help("take --runtime fast");
  }
  const Limits limits = args.limits.limits();
  const CommandBudget budget(limits);
  Stopwatch watch;
  const Model model = load_valid(args.model, limits);
  watch.lap("loaded and checked");
  const std::map<std::string, Value> feeds = feeds_for(model, args.feeds, limits);
  watch.lap("inputs read or made");
  RunOptions options{limits, {}};
  std::optional<TapWriter> taps;
  if (!args.tap.empty()) {
    taps.emplace(args.tap);
    for (const auto& [name, value] : feeds) taps->feed(name, value);
    options.tap = [&](const Call& call, const std::string& path) { (*taps)(call, path); };
  }
  Observed observed;
  const std::map<std::string, Value> outputs = args.runtime == "fast"
                                                   ? run_session(args, model, feeds, observed)
                                                   : run(model, feeds, options);
  watch.lap("run on " + args.runtime);
  if (taps) taps->finish();
  if (!args.output_dir.empty()) write_outputs(model, outputs, args.output_dir);
  const std::optional<Judged> judged = held_against_test_data(args, model, outputs);
  report(args, model, outputs, observed, judged);
  return judged ? judged->code : ExitCode::fine;
}

}  // namespace

void add_run(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* command = app.add_subcommand("run", "Run a model, on the reference or fast");
  command->add_option("model", args->model, "An .onnx file")->required()->type_name("MODEL");
  add_feeds(*command, args->feeds);
  add_limits(*command, args->limits);
  command->add_option("--output-dir", args->output_dir, "Write output_0.pb, output_0.npy ...")
      ->type_name("DIR");
  command
      ->add_option("--runtime", args->runtime,
                   "reference: slow, one thread, from the definitions; fast: to be embedded")
      ->check(CLI::IsMember({"reference", "fast"}))
      ->capture_default_str();
  command
      ->add_option("--device", args->device,
                   "What the fast executor runs on, in order: opencl,cpu. Without cpu, a node that "
                   "the device "
                   "does not run is refused")
      ->type_name("LIST")
      ->capture_default_str();
  command->add_option("--threads", args->threads, "Of the fast executor (all)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--placement", args->placement, "Show which kernel ran which nodes, and why");
  command->add_flag("--warn-slow", args->warn_slow,
                    "Warn of nodes that ran on reference kernels, with their share of the time");
  command->add_option("--profile", args->profile, "Write what each step took: a Chrome trace")
      ->type_name("F");
  command->add_option("--tap", args->tap, "Write every node's inputs and outputs")
      ->type_name("DIR");
  add_json(*command, args->json);
  command->callback([args, &out] { out = guarded(args->json, [&] { return run_model(*args); }); });
}

}  // namespace touchstone::command
