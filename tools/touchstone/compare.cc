// touchstone compare MODEL --left T --right T: finds the node at which two targets diverge. Both
// run the model. Each node of a side is judged on the inputs that this side itself computed, and
// the first past its bound is guilty. Exit 1 if there is one, 4 if a fault shows only without taps
// and cannot be judged there.
//
//   touchstone compare net.onnx --left onnxruntime --right reference --random --seed 1
//   touchstone compare net.onnx --left onnxruntime --right reference --taps conv5 --save guilty
#include "conformance/compare/compare.h"

#include <fmt/format.h>

#include "conformance/compare/replay.h"
#include "conformance/compare/report.h"
#include "conformance/results.h"
#include "conformance/targets/launch.h"
#include "core/error.h"
#include "core/scratch.h"
#include "model/model.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/compared.h"
#include "tools/touchstone/feeds.h"
#include "tools/touchstone/limits.h"
#include "tools/touchstone/progress.h"

namespace touchstone::command {
namespace {

namespace fs = std::filesystem;

struct CompareArgs {
  std::string model, left, right, cls = "fast", save;
  std::vector<std::string> taps;
  FeedArgs feeds;
  JsonOutput json;
  double timeout = 600, memory = 0;  // seconds; GiB, 0: a share of the machine's memory
};

compare::CompareOptions options_for(const CompareArgs& args, const fs::path& scratch) {
  compare::CompareOptions options;
  options.judge.then_fast = args.cls == "fast";
  options.timeout = std::chrono::milliseconds(static_cast<Index>(args.timeout * 1000));
  options.scratch = scratch;
  if (args.taps.empty()) return options;
  const bool all = args.taps.front() == "all", none = args.taps.front() == "none";
  options.taps = all ? compare::Taps::all : none ? compare::Taps::none : compare::Taps::some;
  options.nodes = args.taps;
  if ((all || none) && args.taps.size() > 1) {
    throw Error(ErrorKind::usage, fmt::format("--taps {} stands alone", args.taps.front()))
        .with_help("a node of that name is called by an output of it, or by its position: #3");
  }
  return options;
}

std::array<compare::CompareSide, 2> sides_for(const CompareArgs& args) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const Index memory = args.memory > 0 ? static_cast<Index>(args.memory * double(Index{1} << 30))
                                       : targets::share_of_memory(2);
  const auto side = [&](const std::string& target) {
    return compare::CompareSide{target, targets::launch(target, self, memory).command};
  };
  return {side(args.left), side(args.right)};
}

// Quotes a word for a shell.
std::string quoted(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-./:=,@+%") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_line(const CompareArgs& args, const std::string& taps) {
  std::string line = fmt::format("touchstone compare {} --left {} --right {}", quoted(args.model),
                                 quoted(args.left), quoted(args.right));
  for (const std::string& input : args.feeds.inputs) line += " --input " + quoted(input);
  if (!args.feeds.test_data.empty()) line += " --test-data " + quoted(args.feeds.test_data);
  if (args.feeds.random) line += fmt::format(" --random --seed {}", args.feeds.seed);
  for (const std::string& dim : args.feeds.dims) line += " --dim " + quoted(dim);
  if (args.cls != "fast") line += " --class " + args.cls;
  return line + taps + " --save DIR";
}

// Returns the values of a side: its feeds and the observed values.
std::map<std::string, Value> had(const compare::ComparedSide& side,
                                 const std::map<std::string, Value>& feeds) {
  std::map<std::string, Value> values = feeds;
  values.insert(side.judged().values.begin(), side.judged().values.end());
  return values;
}

// Writes these nodes as a case; returns the commands that show the fault on it.
std::vector<std::string> save(const Model& model, const std::set<Index>& nodes,
                              const std::map<std::string, Value>& values, const std::string& target,
                              const fs::path& folder) {
  const compare::Replay saved = compare::write_replay(model, nodes, values, folder);
  const std::string file = quoted(saved.model.string()), seen = quoted(saved.seen.string());
  if (nodes.size() > 1) {
    return {fmt::format("touchstone compare {} --left {} --right reference --test-data {}", file,
                        quoted(target), seen)};
  }
  std::vector<std::string> lines{fmt::format("touchstone judge {} --test-data {}", file, seen)};
  if (saved.expects) {
    lines.push_back(fmt::format("touchstone conform --target {} --suite {}", quoted(target),
                                quoted(folder.string())));
  }
  return lines;
}

ReplayLines replays_of(const CompareArgs& args, const Model& model,
                       const std::map<std::string, Value>& feeds, const compare::Compared& found) {
  ReplayLines lines;
  for (std::size_t k = 0; k < 2; ++k) {
    const compare::ComparedSide& side = found.sides[k];
    if (!side.blame.guilty && !side.vanished) continue;
    const Index index = side.blame.guilty ? static_cast<Index>(*side.blame.guilty) : -1;
    const fs::path folder = fs::path(args.save) / side_names[k];
    if (args.save.empty()) {
      lines[k] = {command_line(args, index >= 0 ? fmt::format(" --taps '#{}'", index) : "")};
    } else if (index >= 0) {
      lines[k] = save(model, {index}, had(side, feeds), side.target, folder);
    } else {
      lines[k] = save(model, side.vanished->nodes, side.vanished->values, side.target, folder);
    }
  }
  return lines;
}

ExitCode code_of(const compare::Observed& run) {
  if (run.verdict.empty()) return ExitCode::fine;
  switch (conformance::verdict_named(run.verdict)) {
    case judge::Verdict::unsupported:
      return ExitCode::unsupported;
    case judge::Verdict::crash:
      return ExitCode::crashed;
    case judge::Verdict::timeout:
    case judge::Verdict::out_of_memory:
      return ExitCode::limit;
    case judge::Verdict::harness:
      return ExitCode::bug;
    default:
      return ExitCode::mismatch;
  }
}

ExitCode code_of(const compare::Compared& found) {
  if (found.guilty()) return ExitCode::mismatch;
  ExitCode code = ExitCode::fine;
  const auto worsen = [&](ExitCode other) { code = code == ExitCode::fine ? other : code; };
  for (const compare::ComparedSide& side : found.sides) {
    if (side.vanished && judge::is_fail(side.vanished->judgement.verdict))
      return ExitCode::mismatch;
    worsen(code_of(side.plain));
    worsen(code_of(side.tapped));
    if (side.blame.verdict == judge::Verdict::harness) worsen(ExitCode::bug);
  }
  for (const compare::ComparedSide& side : found.sides) {
    if (side.vanished && !judge::is_pass(side.vanished->judgement.verdict))
      worsen(ExitCode::unsupported);
  }
  return code;
}

ExitCode compare_model(const CompareArgs& args) {
  const Limits limits = Limits::trusted();
  const CommandBudget budget(limits);
  const std::array<compare::CompareSide, 2> sides = sides_for(args);
  const Model model = load_valid(args.model, limits);
  const std::map<std::string, Value> feeds = feeds_for(model, args.feeds, limits);
  const Scratch scratch;

  std::optional<Progress> progress;
  std::string stage;
  const auto on_step = [&](const std::string& now, Index total, std::string_view came_to) {
    if (now != stage) {
      if (progress) progress->end();
      progress.emplace(stage = now, total);
    }
    progress->step(came_to);
  };
  const compare::Compared found =
      compare::compare(model, args.model, feeds, sides, options_for(args, scratch.path()), on_step);
  if (progress) progress->end();
  const ReplayLines replays = replays_of(args, model, feeds, found);
  if (!args.json.takes_stdout()) print(model, found, replays);
  if (args.json) {
    nlohmann::ordered_json object = compare::to_json(model, found);
    object["model"] = args.model;
    object["replay"] = replays;
    write_json(args.json, object);
  }
  return code_of(found);
}

}  // namespace

void add_compare(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<CompareArgs>();
  CLI::App* command = app.add_subcommand("compare", "Find the node that makes two targets part");
  command->add_option("model", args->model, "An .onnx file")->required()->type_name("MODEL");
  command->add_option("--left", args->left, "A target, as conform takes it")
      ->required()
      ->type_name("T");
  command->add_option("--right", args->right, "Another, or the same with other options")
      ->required()
      ->type_name("T");
  command
      ->add_option("--taps", args->taps,
                   "none, all, or the nodes to look at (default: none, then all, then a search if "
                   "taps make a fault go)")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->type_name("none|all|NODE,...");
  add_feeds(*command, args->feeds);
  command->add_option("--class", args->cls, "strict, or fast: what strict refuses is judged again")
      ->check(CLI::IsMember({"strict", "fast"}))
      ->capture_default_str();
  command->add_option("--save", args->save, "Write the guilty node as a case of its own")
      ->type_name("DIR");
  command->add_option("--timeout", args->timeout, "Seconds for each loading, reading and running")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--memory", args->memory, "GiB a target (default: three eighths of all)");
  add_json(*command, args->json);
  command->callback(
      [args, &out] { out = guarded(args->json, [&] { return compare_model(*args); }); });
}

}  // namespace touchstone::command
