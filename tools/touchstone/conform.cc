// touchstone conform --target T [--suite onnx|onnx@V|spec|DIR]: runs every case of a suite on a
// target. Each is judged twice: by the suite's own tolerance and by our judge. Exit 1 if any
// verdict is a fail.
#include "conformance/conform.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <span>

#include "conformance/explanations.h"
#include "conformance/report/json.h"
#include "conformance/report/page.h"
#include "conformance/suites/maker.h"
#include "conformance/tables.h"
#include "conformance/targets/host.h"
#include "conformance/targets/launch.h"
#include "conformance/waivers.h"
#include "core/files.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/limits.h"
#include "tools/touchstone/progress.h"

namespace touchstone::command {
namespace {

struct ConformArgs {
  std::vector<std::string> targets;
  std::string suite = "onnx", filter, shard, log, html, coverage, waivers, save_as;
  Index first = 0;  // 0: all
  bool resume = false, tables = false;
  JsonOutput json;
  Index jobs = conformance::usable_processors();
  unsigned runs = 2;
  double timeout = 600, memory = 0;  // seconds; GiB, 0: a share of the machine's memory
};

suites::Suite open_suite(const std::string& wanted) {
  if (wanted == "spec") return suites::read_lines(suites::lines_of_spec(), wanted);
  if (std::filesystem::is_regular_file(wanted)) return suites::read_lines(wanted, wanted);
  if (wanted != "onnx" && !wanted.starts_with("onnx@")) return suites::read_suite(wanted, wanted);
  const std::string version = wanted == "onnx" ? suites::pinned_release() : wanted.substr(5);
  const bool old = version == "old";  // the distinct cases that the pinned release lacks
  suites::Suite suite = suites::read_suite(
      suites::suite_of_release(old ? std::string(suites::all_releases) : version),
      "onnx@" + version);
  if (old) suites::drop_release(suite, suites::pinned_release());
  return suite;
}

void keep_shard(suites::Suite& suite, const std::string& shard) {
  Index index = -1, count = 0;
  const char* const end = shard.data() + shard.size();
  const auto [slash, bad_index] = std::from_chars(shard.data(), end, index);
  if (bad_index == std::errc() && slash != end && *slash == '/') {
    const auto [stop, bad_count] = std::from_chars(slash + 1, end, count);
    if (bad_count == std::errc() && stop == end) return suites::keep_shard(suite, index, count);
  }
  throw Error(ErrorKind::usage, "--shard " + shard + " is not I/N")
      .with_help("I is from 0 to N - 1");
}

conformance::ConformOptions options_for(const ConformArgs& args, const std::string& target) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const Index bytes = args.memory > 0 ? static_cast<Index>(args.memory * double(Index{1} << 30))
                                      : targets::share_of_memory(args.jobs);
  const std::string memory = std::to_string(bytes);
  conformance::ConformOptions options;
  targets::Launch started = targets::launch(target, self, bytes);
  options.worker = std::move(started.command);
  options.together = started.together;
  options.runs = args.runs;
  options.judge = {self, "worker", "--judge", "--memory", memory};
  options.jobs = args.jobs;
  options.timeout = std::chrono::milliseconds(static_cast<Index>(args.timeout * 1000));
  return options;
}

// Log of a run. The whole file is rewritten at most every two seconds, so that it always consists
// of complete lines.
class Log {
 public:
  Log(const ConformArgs& args) : file_(args.log) {
    if (file_.empty() || !args.resume || !std::filesystem::exists(file_)) return;
    text_ = open_trusted(file_).read_all(Limits::trusted());
  }
  const std::string& text() const { return text_; }
  void add(const std::string& line) {
    text_ += line;
    if (const auto now = std::chrono::steady_clock::now(); now - written_ > std::chrono::seconds(2))
      write();
  }
  void write() {
    written_ = std::chrono::steady_clock::now();
    if (!file_.empty()) write_atomically(file_, text_);
  }

 private:
  std::string file_, text_;
  std::chrono::steady_clock::time_point written_;
};

// Takes results from the log, by key, and runs the remaining cases.
std::vector<conformance::CaseResult> run_rest(const suites::Suite& suite, const std::string& target,
                                              const ConformArgs& args, Log& log) {
  std::map<std::string, conformance::CaseResult> known;
  for (conformance::CaseResult& result : report::read_log(log.text(), target, suite.name))
    known[result.key()] = result;
  std::vector<suites::Case> rest;
  for (const suites::Case& one : suite.cases) {
    if (!known.contains(one.key())) rest.push_back(one);
  }
  Progress progress(target + " on " + suite.name, static_cast<Index>(rest.size()));
  std::vector<conformance::CaseResult> fresh;
  const auto end = [&] {
    progress.end();
    log.write();
  };
  try {
    fresh = conformance::conform(
        rest, options_for(args, target), [&](const conformance::CaseResult& result) {
          log.add(report::log_line(target, suite.name, result));
          progress.step(conformance::name(conformance::standing(result.verdict)));
        });
  } catch (Error& error) {
    end();
    if (error.kind == ErrorKind::cancelled)
      error.help = args.log.empty() ? "with --log FILE, --resume goes on where a run was cancelled"
                                    : "--resume goes on where the log ends";
    throw;
  }
  end();
  for (const conformance::CaseResult& result : fresh) known[result.key()] = result;
  std::vector<conformance::CaseResult> all;
  for (const suites::Case& one : suite.cases) {
    all.push_back(known.at(one.key()));
    all.back().places = one.places;
  }
  return all;
}

// Saves lines as folders that any other runner reads, without expected outputs.
void save_lines(const suites::Suite& suite, const std::filesystem::path& folder) {
  for (const suites::Case& one : suite.cases) {
    if (one.line.empty())
      throw Error(ErrorKind::usage,
                  "--save-as is for cases that are lines, as --suite spec has them");
    suites::write_line(one, folder / one.hash);
  }
}

std::string counted(const std::map<std::string, Index>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  return text;
}

void print_failures(const conformance::TargetRun& run) {
  for (const conformance::CaseResult& result : run.cases) {
    const conformance::Standing how = conformance::standing(result.verdict);
    if (how != conformance::Standing::fail && how != conformance::Standing::harness) continue;
    const std::vector<std::string> notes = conformance::explained_by(run.target, run.suite, result);
    inform("{} {}: {}{}\n", styled(Stream::err, Style::red, result.verdict),
           printable(result.key()), printable(result.detail),
           notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, ", ")));
    inform("  touchstone conform --target {} --suite '{}' --filter '{}'\n", run.target, run.suite,
           printable(result.key()));
  }
}

void print_summary(const conformance::TargetRun& run, bool tables) {
  const conformance::Summary summary = conformance::summarise(run.cases);
  inform("{} on {}: {} cases: {}\n", run.target, run.suite, summary.cases,
         counted(summary.standings));
  inform("  verdicts         {}\n", counted(summary.verdicts));
  inform("  by suite's rule  {}\n", counted(summary.compat));
  const conformance::ToExplain asked = conformance::to_explain(run);
  if (asked.cases > 0) {
    inform("  to explain       {}, of them unexplained {}\n", asked.cases, asked.unexplained);
  }
  if (const auto rate = summary.rate()) inform("  rate             {:.2f} %\n", 100 * *rate);
  if (const std::string line = conformance::sharpness_line(run.cases); !line.empty())
    inform("  bounds           {}\n", line);
  if (const std::string line = conformance::share_line(run.cases); !line.empty())
    inform("  kernels          {}\n", line);
  if (const std::string line = conformance::kernel_line(run.cases); !line.empty())
    inform("  kernel classes   {}\n", line);
  if (tables) {
    inform("\n{}\n{}\n{}", conformance::verdict_table(run.cases),
           conformance::sharpness_table(run.cases), conformance::share_table(run.cases));
  }
}

std::vector<conformance::Waiver> waivers_for(const ConformArgs& args) {
  if (args.waivers.empty()) return {};
  return conformance::read_waivers(open_trusted(args.waivers).read_all(Limits::trusted()),
                                   args.waivers, conformance::today());
}

// Reports waivers that waive nothing and should be removed.
void print_idle(const std::vector<conformance::Waiver>& waivers, const std::vector<Index>& used) {
  for (std::size_t k = 0; k < waivers.size(); ++k) {
    if (used[k] == 0)
      inform("waiver of {} on {} waives nothing\n", waivers[k].pattern, waivers[k].target);
  }
}

// Returns the coverage of the spec for the page; null if none was requested.
nlohmann::ordered_json coverage_in(const std::string& file) {
  if (file.empty()) return nullptr;
  auto read = nlohmann::ordered_json::parse(open_trusted(file).read_all(Limits::trusted()), nullptr,
                                            /*allow_exceptions=*/false);
  if (!read.is_object() || read.value("schema", "") != "touchstone.coverage/1")
    throw Error(ErrorKind::file, file + " is not what make coverage writes");
  return read;
}

ExitCode conform_all(const ConformArgs& args) {
  if (args.resume && args.log.empty())
    throw Error(ErrorKind::usage, "--resume needs the --log to go on with");
  const CommandBudget budget(Limits::trusted());
  const std::vector<conformance::Waiver> waivers = waivers_for(args);
  const nlohmann::ordered_json coverage = coverage_in(args.coverage);
  suites::Suite suite = open_suite(args.suite);
  if (!args.filter.empty()) suites::keep_matching(suite, args.filter);
  if (suite.cases.empty())
    throw Error(ErrorKind::usage, "no case of " + suite.name + " matches '" + args.filter + "'")
        .with_help("a filter is a name or kind/name of cases, * stands for any part of it");
  if (args.first > 0) suites::keep_first(suite, args.first);
  if (!args.shard.empty()) keep_shard(suite, args.shard);
  if (!args.save_as.empty()) save_lines(suite, args.save_as);
  std::map<std::string, std::string> versions;
  for (const std::string& target :
       args.targets) {  // a target that does not start is refused before the first run
    const std::vector<std::string> worker = options_for(args, target).worker;
    if (!worker.empty()) {
      say_more("{}: {}\n", target, fmt::join(worker, " "));
      versions[target] = targets::Host(worker, std::chrono::seconds(1)).describe().version;
    }
  }

  Log log(args);
  std::vector<conformance::TargetRun> runs;
  std::vector<Index> used(waivers.size(), 0);
  for (const std::string& target : args.targets) {
    runs.push_back({target, suite.name, run_rest(suite, target, args, log), versions[target]});
    const std::vector<Index> here = conformance::waive(waivers, runs.back());
    std::transform(here.begin(), here.end(), used.begin(), used.begin(), std::plus<>());
    print_failures(runs.back());
    print_summary(runs.back(), args.tables);
  }
  print_idle(waivers, used);
  nlohmann::ordered_json object = report::conform_object(runs);
  if (args.json) write_json(args.json, object);
  if (!coverage.is_null()) object["coverage"] = coverage;
  if (!args.html.empty()) write_atomically(args.html, report::html_page(object));

  ExitCode code = ExitCode::fine;
  for (const conformance::TargetRun& run : runs) {
    const conformance::Summary summary = conformance::summarise(run.cases);
    if (summary.of(conformance::Standing::fail) > 0) return ExitCode::mismatch;
    if (summary.of(conformance::Standing::harness) > 0)
      code = ExitCode::bug;  // a fault of the judge must not look like a clean run
  }
  return code;
}

}  // namespace

void add_conform(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<ConformArgs>();
  CLI::App* command = app.add_subcommand("conform", "Run a suite on a target and judge every case");
  command
      ->add_option("--target", args->targets,
                   "reference, fast[:isa=ISA][:threads=N][:level=LEVEL][:without=PASS]"
                   "[:device=LIST], expectation (what the "
                   "cases expect, no runtime), onnxruntime, openvino, tvm, tract, onnx-reference, "
                   "backend:MODULE, python:MODULE:CLASS, command:WORDS")
      ->required();
  command
      ->add_option(
          "--suite", args->suite,
          "onnx, onnx@VERSION, onnx@all (distinct cases of all releases), onnx@old (those the "
          "pinned release has not), spec (our own, from the entries), a file of such cases, one a "
          "line, or a folder of cases")
      ->capture_default_str();
  command
      ->add_option(
          "--first", args->first,
          "Only so many of the cases that the filter leaves, those whose hashes come first (spec, "
          "onnx@all, onnx@old)")
      ->check(CLI::PositiveNumber);
  command->add_option("--save-as", args->save_as,
                      "Also write the cases of the spec suite as folders into this one");
  command->add_option("--filter", args->filter,
                      "Only cases whose name or kind/name matches this pattern");
  command->add_option("--shard", args->shard, "I/N: the I-th of N parts, from 0");
  add_json(*command, args->json);
  command->add_option("--waivers", args->waivers,
                      "A file of known fails: each with a link, a reason and the day it expires");
  command->add_flag("--tables", args->tables,
                    "Also print verdicts by kind and form, and how sharp the bounds were");
  command->add_option("--html", args->html, "Write the report as one page");
  command->add_option("--coverage", args->coverage,
                      "What make coverage wrote of the spec, for that page");
  command->add_option("--log", args->log, "One JSON line a case, written as it runs");
  command->add_flag("--resume", args->resume, "Go on where the log ends");
  command->add_option("--jobs", args->jobs, "Workers at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--timeout", args->timeout,
                   "Seconds for each of a case's loading, inputs and runs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--runs", args->runs, "Runs of each case; answers that differ are a verdict")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--memory", args->memory,
                      "GiB a worker (default: its share of three quarters)");
  command->callback(
      [args, &out] { out = guarded(args->json, [&] { return conform_all(*args); }); });
}

}  // namespace touchstone::command
