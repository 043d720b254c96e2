// touchstone fuzz --target T [--level op|graph|meta|lines] [--time 10m]: generates cases, runs them
// on a target and judges every output. A finding is reduced and kept as a folder. Exit 1 if there
// is one.
//
//   `touchstone fuzz --target fast --ops 'Conv*' --time 2m --dir found`
//   `touchstone fuzz --target onnxruntime --dir found --resume`
//   `touchstone fuzz merge shard0 shard1 --dir all --html all.html`
//   `touchstone fuzz --target fast --ray local --workers 8 --count 1000000 --dir found`
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "core/budget.h"
#include "core/error.h"
#include "core/files.h"
#include "fuzz/campaign.h"
#include "fuzz/page.h"
#include "fuzz/source_of.h"
#include "fuzz/store.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/fuzz_ray.h"
#include "tools/touchstone/fuzz_runners.h"
#include "tools/touchstone/limits.h"

namespace touchstone::command {
namespace {

namespace fs = std::filesystem;
using fuzz::State;

constexpr std::size_t max_printed = 20;  // findings

struct FuzzArgs {
  std::string target, against = "reference", level = "op", ops, time, shard = "0/1",
                      dir = "touchstone-fuzz", html, ray;
  std::vector<std::string> merged;
  std::uint64_t seed = 0;
  Index first = 0, count = 0, jobs = 1, workers = 0;  // count 0: until the time is over
  bool resume = false, keep_whole = false, merges = false;
  JsonOutput json;
};

void read_shard(const std::string& text, Index& index, Index& count) {
  const char* const end = text.data() + text.size();
  const auto [slash, bad_index] = std::from_chars(text.data(), end, index);
  if (bad_index == std::errc() && slash != end && *slash == '/') {
    const auto [stop, bad_count] = std::from_chars(slash + 1, end, count);
    if (bad_count == std::errc() && stop == end && index >= 0 && index < count) return;
  }
  throw Error(ErrorKind::usage, "--shard " + text + " is not I/N")
      .with_help("I is from 0 to N - 1");
}

// "versions 601, types 1204"
std::string coverage_text(const fuzz::Campaign& one) {
  std::string text;
  for (const auto& [kind, count] : one.marks_by_kind())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  return text;
}

std::string counts_text(const fuzz::Campaign& one) {
  std::string text;
  for (const auto& [verdict, count] : one.counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict);
  return text;
}

double rate_of(const fuzz::Campaign& one) {
  return one.seconds > 0 ? static_cast<double>(one.cases()) / one.seconds : 0;
}

// The line of progress: redrawn on a terminal, or one every ten seconds.
class FuzzProgress {
 public:
  void show(const State& state) {
    const auto pause =
        terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000);
    if (Clock::now() - printed_ < pause) return;
    printed_ = Clock::now();
    const fuzz::Campaign& one = state.campaigns.front();
    inform("{}{} on {}: {} cases, {:.0f} a second; {} marks: {}; {} findings; {:.0f} s{}",
           terminal_ ? "\r\x1b[K" : "", one.level, one.target, one.cases(), rate_of(one),
           one.marks.size(), coverage_text(one), state.findings.size(), one.seconds,
           terminal_ ? "" : "\n");
    std::fflush(stderr);
  }
  void end() const {
    if (terminal_) inform("\r\x1b[K");
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  Clock::time_point printed_ = Clock::now();
};

void print_summary(const State& state, const fs::path& folder) {
  for (const fuzz::Campaign& one : state.campaigns) {
    inform("{} on {}{}: {} cases in {:.0f} s, {:.0f} a second\n", one.level, one.target,
           one.version.empty() ? "" : " " + one.version, one.cases(), one.seconds, rate_of(one));
    inform("  verdicts  {}\n", counts_text(one));
    inform("  coverage  {}\n", coverage_text(one));
  }
  inform("{} findings{}\n", state.findings.size(),
         state.findings.size() > max_printed ? ", the first of them:" : "");
  std::size_t printed = 0;
  for (const auto& [hash, one] : state.findings) {
    if (printed++ == max_printed) break;
    inform("{} {} on {}: {}, {} cases\n", styled(Stream::err, Style::red, one.outcome.verdict),
           printable(one.outcome.node), one.target, printable(one.outcome.pattern), one.count);
    const std::string& text = one.reduced.empty() ? one.outcome.text : one.reduced;
    inform("  {}\n  {}\n", printable(text.substr(0, 200)), fuzz::folder_of(folder, one).string());
  }
}

ExitCode end(const State& state, const FuzzArgs& args) {
  print_summary(state, args.dir);
  if (!args.html.empty()) write_atomically(args.html, std::string_view(fuzz::html_page(state)));
  if (args.json) write_json(args.json, to_json(state));
  return state.findings.empty() ? ExitCode::fine : ExitCode::mismatch;
}

// Refuses to go on with a campaign of another kind.
void check_same(const State& state, const fuzz::CampaignOptions& options,
                const std::string& shard) {
  fuzz::Campaign wanted{options.target, options.version, options.level,
                        options.ops,    options.seed,    options.first};
  wanted.shards = {shard};
  if (state.campaigns.size() == 1 && state.campaigns.front().is_same_as(wanted) &&
      state.campaigns.front().shards == wanted.shards)
    return;
  throw Error(ErrorKind::usage, "'" + options.folder.string() + "' holds another campaign")
      .with_help("--resume needs the same target, level, operators, seed and shard");
}

Error holds_a_campaign(const std::string& folder) {
  return Error(ErrorKind::usage, "'" + folder + "' holds a campaign already")
      .with_help("--resume goes on with it; --dir names another folder");
}

State opened(const FuzzArgs& args, const fuzz::CampaignOptions& options) {
  if (!fuzz::has_state(args.dir)) return {};
  if (!args.resume) throw holds_a_campaign(args.dir);
  State state = fuzz::read_state(args.dir);
  check_same(state, options, args.shard);
  return state;
}

Error stopped() {
  return Error(ErrorKind::cancelled, "the campaign was stopped")
      .with_help("--resume goes on where it was");
}

// Joins folders of campaigns into --dir.
ExitCode merge_into(const std::vector<std::string>& folders, const FuzzArgs& args) {
  State all;
  for (const std::string& folder : folders) fuzz::merge(all, fuzz::read_state(folder));
  const fs::path to = args.dir;
  fs::create_directories(to / "findings");
  for (const std::string& from : folders) {
    for (const auto& [hash, finding] : fuzz::read_state(from).findings) {
      const fuzz::Finding& kept = all.findings.at(hash);
      const fs::path source = fuzz::folder_of(from, finding), copy = fuzz::folder_of(to, finding);
      if (finding.number != kept.number || !fs::exists(source) || fs::exists(copy)) continue;
      fs::copy(source, copy, fs::copy_options::recursive);
    }
  }
  fuzz::write_state(all, to);
  return end(all, args);
}

// Returns a shard's command, after the program's name.
std::vector<std::string> words_of(const FuzzArgs& args) {
  std::vector<std::string> words{"fuzz",
                                 "--target",
                                 args.target,
                                 "--level",
                                 args.level,
                                 "--seed",
                                 std::to_string(args.seed),
                                 "--first",
                                 std::to_string(args.first),
                                 "--jobs",
                                 std::to_string(args.jobs)};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--ops", args.ops);
  add("--time", args.time);
  add("--count", args.count > 0 ? std::to_string(args.count) : "");
  if (args.keep_whole) words.emplace_back("--no-reduce");
  return words;
}

// Runs as many shards as there are workers, and joins them.
ExitCode fuzz_on_ray(const FuzzArgs& args) {
  const RayShards shards{args.ray, args.workers, args.jobs, fs::absolute(args.dir), words_of(args)};
  const bool has_shards = !shards.begun().empty();
  if (args.resume ? fuzz::has_state(args.dir) && !has_shards
                  : fuzz::has_state(args.dir) || has_shards)
    throw holds_a_campaign(args.dir);
  const bool ended = run_on_ray(shards);
  if (shards.begun().empty()) throw stopped();
  fs::remove_all(fs::path(args.dir) / "findings");  // joined before, perhaps not yet reduced
  const ExitCode code = merge_into(shards.begun(), args);
  if (!ended) throw stopped();
  return code;
}

ExitCode fuzz_target_now(const FuzzArgs& args) {
  if (args.target.empty())
    throw Error(ErrorKind::usage, "--target is required")
        .with_help("such as fast, reference or onnxruntime; conform --help lists them");
  if (args.against != "reference")
    throw Error(ErrorKind::unsupported,
                "cases are judged against the definitions alone, not '" + args.against + "'")
        .with_help("touchstone compare has two targets run one model");
  const CommandBudget budget(Limits::trusted());
  fuzz::CampaignOptions options;
  read_shard(args.shard, options.shard, options.shards);
  options.target = args.target;
  options.level = args.level;
  options.ops = args.ops;
  options.seed = args.seed;
  options.first = args.first;
  options.folder = args.dir;
  options.jobs = args.jobs;
  if (args.count > 0) options.count = args.count;
  if (!args.time.empty() || args.count == 0)
    options.time =
        std::chrono::milliseconds(milliseconds_of(args.time.empty() ? "10m" : args.time));
  if (args.keep_whole) options.reduction.reset();
  options.stop = is_cancelled;
  const std::unique_ptr<fuzz::Source> source = fuzz::source_of(args.level, args.ops, args.target);
  const Scratch scratch(folder_in_memory());
  const FuzzTarget target = fuzz_target(args.target, scratch);
  if (!args.ray.empty()) return fuzz_on_ray(args);
  options.version = target.version;
  options.limits = target.limits;
  options.batch = target.batch;
  State state = opened(args, options);
  FuzzProgress progress;
  const bool ended =
      run_campaign(options, *source, target.make_runner, state,
                   [&](const State& now, const fuzz::Outcome&) { progress.show(now); });
  progress.end();
  const ExitCode code = end(state, args);
  if (!ended) throw stopped();
  return code;
}

}  // namespace

void add_fuzz(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<FuzzArgs>();
  CLI::App* command =
      app.add_subcommand("fuzz", "Generate cases, run them on a target and judge every output");
  command->add_option("--target", args->target, "A target, as conform takes it")->type_name("T");
  command->add_option("--against", args->against, "The definitions, by which outputs are judged")
      ->capture_default_str();
  command->add_option("--level", args->level, "op (one operator), graph, meta (pairs), lines")
      ->capture_default_str();
  command->add_option("--ops", args->ops, "Only operators that match: Conv*, Clip-13")
      ->type_name("GLOB");
  command->add_option("--seed", args->seed, "Cases of other seeds are other cases")
      ->check(CLI::Range(0, (1 << 24) - 1))
      ->capture_default_str();
  command->add_option("--time", args->time, "500ms, 90s, 10m, 2h (default: 10m without --count)")
      ->type_name("TIME");
  command->add_option("--count", args->count, "So many cases, those of all shards together")
      ->check(CLI::PositiveNumber);
  command->add_option("--first", args->first, "The number of the first case")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI::Option* const shard =
      command->add_option("--shard", args->shard, "I/N: the I-th of N parts, from 0")
          ->capture_default_str();
  CLI::Option* const ray =
      command->add_option("--ray", args->ray, "Shards on a Ray cluster: its address, or local")
          ->type_name("ADDRESS|local")
          ->check([](const std::string& text) { return text.empty() ? "it is empty" : ""; })
          ->excludes(shard);
  CLI::Option* const workers =
      command->add_option("--workers", args->workers, "How many shards, with --ray")
          ->check(CLI::Range(1, 10'000))
          ->needs(ray);
  ray->needs(workers);
  command->add_option("--dir", args->dir, "The folder of state and findings")
      ->capture_default_str();
  command->add_flag("--resume", args->resume, "Go on with the campaign of that folder");
  command->add_option("--jobs", args->jobs, "Processes at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--no-reduce", args->keep_whole, "Keep findings as they were found");
  command->add_option("--html", args->html, "Write a page");
  add_json(*command, args->json);
  command->callback([args, &out] {
    if (!args->merges) out = guarded(args->json, [&] { return fuzz_target_now(*args); });
  });
  CLI::App* merge = command->add_subcommand("merge", "Join folders of campaigns into --dir");
  merge->add_option("dirs", args->merged, "Folders of campaigns")->required()->type_name("DIR");
  merge->parse_complete_callback([args] { args->merges = true; });
  merge->callback(
      [args, &out] { out = guarded(args->json, [&] { return merge_into(args->merged, *args); }); });
}

}  // namespace touchstone::command
