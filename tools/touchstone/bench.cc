// touchstone bench MODEL...: times runtimes and checks the timed outputs. Each runtime has a
// process of its own; they take turns in short blocks, with inputs that change from run to run. One
// run of each block, drawn after it has ended, is compared with the reference. Exit 1 if an output
// is wrong, 5 if a runtime dies.
//
//   touchstone bench resnet50.onnx --against onnxruntime,openvino --threads 1,2 --roof
//   touchstone bench net.onnx --dim batch=8 --seconds 10 --json bench.json
//   touchstone bench net.onnx --threads 2 --profile trace.json
#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/files.h"
#include "core/npy.h"
#include "core/proc.h"
#include "core/scratch.h"
#include "model/model.h"
#include "model/scopes.h"
#include "tools/bench/expected.h"
#include "tools/bench/ours.h"
#include "tools/bench/report.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/feeds.h"
#include "tools/touchstone/limits.h"
#ifdef TOUCHSTONE_WITH_FAST
#include "tools/touchstone/trace.h"
#endif

namespace touchstone::command {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Starts = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct BenchArgs {
  std::vector<std::string> models, against, dims;
  std::string runtime, expected, profile, feeds;
  bool judged = true;
  std::vector<Index> threads{1};
  double timeout = 600;
  bool roof = false;
  bench::BenchPlan plan;
  JsonOutput json;
};

std::string self() { return fs::read_symlink("/proc/self/exe").string(); }

Starts starts_for(const BenchArgs& args) {
  Starts starts{{args.runtime, bench::start_of(args.runtime, self())}};
  for (const std::string& peer : args.against)
    starts.emplace_back(peer, bench::start_of(peer, self()));
  return starts;
}

// Reads {"sets": [{"input": "file.npy", ..}, ..]}, whose sets take turns.
std::vector<FeedArgs> sets_of(const std::string& file) {
  const Json object =
      Json::parse(open_trusted(file).read_all(Limits::trusted()), nullptr, /*exceptions=*/false);
  std::vector<FeedArgs> sets;
  const bool is_list = object.is_object() && object.contains("sets") && object["sets"].is_array();
  for (const Json& set : is_list ? object["sets"] : Json::array()) {
    FeedArgs& wanted = sets.emplace_back();
    for (const auto& [name, path] : set.items()) {
      if (!path.is_string())
        throw Error(ErrorKind::usage, "'" + file + "' names no file for '" + name + "'");
      wanted.inputs.push_back(name + "=" + path.get<std::string>());
    }
  }
  if (sets.empty())
    throw Error(ErrorKind::usage, "'" + file + "' holds no sets of inputs")
        .with_help(R"({"sets": [{"input": "file.npy"}]})");
  return sets;
}

FeedArgs inputs_of_set(const BenchArgs& args, Index set) {
  if (!args.feeds.empty()) return sets_of(args.feeds).at(static_cast<std::size_t>(set));
  FeedArgs wanted;
  wanted.random = true;
  wanted.seed = args.plan.seed + static_cast<std::uint64_t>(set);
  wanted.dims = args.dims;
  return wanted;
}

// Moves every other float up to its neighbor, the others down.
Tensor moved(const Tensor& tensor) {
  if (tensor.type() != Type::float32) return tensor;
  Tensor made(tensor.type(), tensor.shape());
  for (Index k = 0; k < made.size(); ++k)
    made.data<float>()[k] =
        std::nextafter(tensor.data<float>()[k], k % 2 == 0 ? HUGE_VALF : -HUGE_VALF);
  return made;
}

// Returns the feeds of a set. Throws Error (usage) if it lacks an input.
std::map<std::string, Value> feeds_of_set(const BenchArgs& args, const Model& model, Index set) {
  std::map<std::string, Value> feeds =
      feeds_for(model, inputs_of_set(args, set), Limits::trusted());
  for (const ValueInfo* input : wanted_inputs(model.graph)) {
    if (!feeds.contains(input->name))
      throw Error(ErrorKind::usage, "nothing feeds the input '" + input->name + "'");
  }
  return feeds;
}

// Writes the sets of inputs as files, and determines the sizes of the model's symbols.
bench::BenchmarkRun benchmark_for(const BenchArgs& args, const std::string& file,
                                  const fs::path& scratch) {
  bench::BenchmarkRun benchmark;
  benchmark.model = file;
  benchmark.scratch = scratch;
  const Model model = load_valid(file, Limits::trusted());
  benchmark.outputs = model.graph.outputs;
  for_each_node(model.graph.nodes, [&](const Node&) { ++benchmark.nodes; });
  for (Index set = 0; set < args.plan.input_sets; ++set) {
    const fs::path folder = scratch / fmt::format("inputs_{}", set);
    fs::create_directories(folder);
    std::vector<bench::NamedFile>& files = benchmark.input_sets.emplace_back();
    const std::map<std::string, Value> feeds = feeds_of_set(args, model, set);
    for (const ValueInfo* input : wanted_inputs(model.graph)) {
      const Tensor& tensor = feeds.at(input->name).tensor();
      const auto rank = input->shape ? static_cast<Index>(input->shape->size()) : 0;
      for (Index axis = 0; axis < std::min(rank, tensor.shape().size()); ++axis) {
        const Dim& dim = (*input->shape)[static_cast<std::size_t>(axis)];
        if (!dim.size && !dim.symbol.empty()) benchmark.dims[dim.symbol] = tensor.shape()[axis];
      }
      const fs::path at = folder / fmt::format("input_{}.npy", files.size());
      write_atomically(at, serialize_npy(tensor));
      files.push_back({input->name, at.string()});
      if (set > 0 || !args.judged) continue;
      const fs::path beside = folder / fmt::format("moved_{}.npy", benchmark.moved.size());
      write_atomically(beside, serialize_npy(moved(tensor)));
      benchmark.moved.push_back({input->name, beside.string()});
    }
  }
  return benchmark;
}

// Profiles one more session for each number of threads, on the first inputs, in this process. The
// timed runs above are not instrumented.
void profile(const BenchArgs& args) {
#ifdef TOUCHSTONE_WITH_FAST
  Trace trace;
  for (const std::string& file : args.models) {
    const Model model = load_valid(file, Limits::trusted());
    const std::map<std::string, Value> feeds = feeds_of_set(args, model, 0);
    for (const Index threads : args.threads) {
      optimized::Session session(model, {.threads = threads, .timings = true});
      for (int k = 0; k < 3; ++k) session.run(feeds);
      trace.add(fmt::format("{}, threads {}", fs::path(file).stem().string(), threads), session);
    }
  }
  trace.write(args.profile);
#else
  throw Error(ErrorKind::unsupported,
              "this build has no fast executor to write '" + args.profile + "' of");
#endif
}

void say(const std::string& what, const std::string& stage) {
  inform("{}: {}\n", printable(what), stage);
}

// Prepares the comparison with the reference's outputs. `unfair` receives why there is none.
std::optional<bench::OutputChecker> checker_of(const BenchArgs& args,
                                               const bench::BenchmarkRun& benchmark,
                                               std::optional<bench::RuntimeFailure>& unfair) {
  std::optional<bench::OutputChecker> output_checker;
  try {
    std::vector<bench::Outputs> expected =
        bench::expectations(benchmark, args.plan, self(), args.expected);
    const bench::Outputs beside = std::move(expected.back());
    expected.pop_back();
    output_checker.emplace(benchmark.outputs, std::move(expected), beside, benchmark.nodes);
    if (const std::string indistinguishable = output_checker->indistinguishable();
        !indistinguishable.empty())
      unfair = {bench::FailureKind::wrong, indistinguishable};
  } catch (const bench::RuntimeFailure& failure) {
    unfair = {failure.kind, "the reference did not run it: " + failure.why};
  }
  return output_checker;
}

// Benchmarks all numbers of threads on one model.
std::vector<bench::Heat> bench_model(const BenchArgs& args, const std::string& file,
                                     const Starts& starts) {
  const Scratch scratch;
  const std::string name = fs::path(file).stem().string();
  bench::BenchmarkRun benchmark = benchmark_for(args, file, scratch.path());
  std::vector<bench::Heat> heats;
  std::optional<bench::OutputChecker> output_checker;
  std::optional<bench::RuntimeFailure> unfair;
  if (args.judged) {
    say(name, "what the reference gives");
    output_checker = checker_of(args, benchmark, unfair);
  }
  benchmark.output_checker = output_checker ? &*output_checker : nullptr;
  for (const Index threads : args.threads) {
    bench::Heat& heat = heats.emplace_back();
    heat.model = name;
    heat.threads = benchmark.threads = threads;
    heat.unfair = unfair;
    if (args.judged && !output_checker) continue;
    heat.figures = bench::measure(benchmark, starts, args.plan, [&](const std::string& stage) {
      say(fmt::format("{}, threads {}", name, threads), stage);
    });
  }
  return heats;
}

ExitCode code_of(const std::vector<bench::Heat>& heats) {
  const std::optional<bench::FailureKind> fall = bench::worst(heats);
  if (!fall) return ExitCode::fine;
  switch (*fall) {
    case bench::FailureKind::wrong:
      return ExitCode::mismatch;
    case bench::FailureKind::crashed:
    case bench::FailureKind::failed:
      return ExitCode::crashed;
    case bench::FailureKind::late:
      return ExitCode::limit;
    case bench::FailureKind::unsupported:
      return ExitCode::unsupported;
  }
  return ExitCode::bug;
}

std::string load_average() {
  const std::string text = read_proc("/proc/loadavg");
  return text.substr(0, text.find(' '));
}

Json describe(const BenchArgs& args, const std::string& load_before) {
  return {{"schema", "touchstone.bench/1"},
          {"machine", bench::machine()},
          {"load", {load_before, load_average()}},
          {"seconds", args.plan.seconds},
          {"input_sets", args.plan.input_sets},
          {"loads", args.plan.loads},
          {"seed", args.plan.seed}};
}

ExitCode bench(const BenchArgs& args) {
  if (!args.profile.empty() && args.runtime != "fast")
    throw Error(ErrorKind::usage,
                "--profile is of the fast executor's steps, not of '" + args.runtime + "'");
  if (!args.feeds.empty() && args.models.size() > 1)
    throw Error(ErrorKind::usage, "--feeds names the inputs of one model");
  const CommandBudget budget(Limits::trusted());
  const Starts starts = starts_for(args);
  // Detects models that cannot run, before hours of timing.
  for (const std::string& file : args.models) {
    feeds_of_set(args, load_valid(file, Limits::trusted()), 0);
  }
  const std::string load_before = load_average();
  const bool shown = !args.json.takes_stdout();
  if (shown) fmt::print("{}; load {}\n", printable(bench::machine()), load_before);
  std::vector<bench::Roof> roofs;
  if (args.roof) {
    for (const Index threads : args.threads) roofs.push_back(bench::measure_roof(threads));
    if (shown) bench::print(roofs);
  }
  std::vector<bench::Heat> heats;
  for (const std::string& file : args.models) {
    for (bench::Heat& heat : bench_model(args, file, starts)) {
      if (shown) bench::print(heat);
      std::fflush(stdout);
      heats.push_back(std::move(heat));
    }
  }
  const std::vector<bench::Mean> all = bench::means(heats);
  if (shown) {
    bench::print_runtimes(heats);
    bench::print(all);
  }
  const ExitCode code = code_of(heats);
  if (!args.profile.empty()) profile(args);
  if (args.json) {
    Json object = describe(args, load_before);
    for (const char* list : {"roofs", "heats", "means"}) object[list] = Json::array();
    for (const bench::Roof& roof : roofs) object["roofs"].push_back(bench::to_json(roof));
    for (const bench::Heat& heat : heats) object["heats"].push_back(bench::to_json(heat));
    for (const bench::Mean& mean : all) object["means"].push_back(bench::to_json(mean));
    object["exit"] = static_cast<int>(code);
    write_json(args.json, object);
  }
  return code;
}

}  // namespace

void add_bench(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<BenchArgs>();
  args->runtime = bench::our_runtimes().front().name;
  CLI::App* command = app.add_subcommand("bench", "Time models, beside other runtimes");
  command->add_option("models", args->models, ".onnx files")->required()->type_name("MODEL...");
  command->add_option("--runtime", args->runtime, "Ours: what the ratios are to")
      ->capture_default_str();
  command->add_option("--against", args->against, "Peers, or command:WORDS")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->type_name("NAME,...");
  command->add_option("--threads", args->threads, "Numbers of threads, one heat each")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->check(CLI::Range(Index{1}, Index{1024}))
      ->type_name("N,...");
  command->add_option("--seconds", args->plan.seconds, "Of timed runs, for each runtime and heat")
      ->check(CLI::Range(1e-6, 86400.0))
      ->capture_default_str();
  command->add_option("--dim", args->dims, "Size of a symbolic dimension (1 if not given)")
      ->type_name("SYMBOL=N")
      ->expected(1)
      ->take_all();
  command->add_option("--seed", args->plan.seed, "Of the inputs")->capture_default_str();
  command->add_option("--inputs", args->plan.input_sets, "How many inputs take turns")
      ->check(CLI::Range(Index{2}, Index{1000}))
      ->capture_default_str();
  command->add_option("--loads", args->plan.loads, "Fresh processes in which loading is timed")
      ->check(CLI::Range(Index{1}, Index{1000}))
      ->capture_default_str();
  command->add_option("--expected", args->expected, "Keep what the reference gives, for next time")
      ->type_name("DIR");
  command->add_option("--timeout", args->timeout, "Seconds for an answer of a runtime")
      ->check(CLI::Range(1e-6, 86400.0))
      ->capture_default_str();
  command->add_option("--profile", args->profile, "Write what each step takes: a Chrome trace")
      ->type_name("F");
  command->add_flag("--roof", args->roof, "Measure what the machine can do at most");
  command->add_option("--feeds", args->feeds, "Files of one model's inputs, instead of random ones")
      ->type_name("F.json");
  command->add_flag("!--no-judge", args->judged,
                    "Judge no output by the reference, and show how far each is from ours");
  add_json(*command, args->json);
  command->callback([args, &out] {
    out = guarded(args->json, [&] {
      if (!args->feeds.empty())
        args->plan.input_sets = static_cast<Index>(sets_of(args->feeds).size());
      args->plan.limit = std::chrono::milliseconds(static_cast<Index>(args->timeout * 1000));
      return bench(*args);
    });
  });
}

}  // namespace touchstone::command
