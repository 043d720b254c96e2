// The loop of a campaign. Outcomes arrive in any order and wait until all earlier ones are applied.
#include "fuzz/campaign.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>

#include "core/error.h"
#include "fuzz/reduce.h"
#include "fuzz/store.h"

namespace touchstone::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds write_pause{2};
constexpr int pauses_per_write = 20;    // durations of a write between two
constexpr double last_reductions = 60;  // seconds
constexpr unsigned seed_shift = 40;
constexpr Index all_numbers = Index{1} << 39;

double seconds_since(Clock::time_point moment) {
  return std::chrono::duration<double>(Clock::now() - moment).count();
}

class Loop {
 public:
  Loop(const CampaignOptions& options, const Source& source, const MakeRunner& make_runner,
       State& state, const OnProgress& on_progress)
      : options_(options),
        source_(source),
        make_runner_(make_runner),
        state_(state),
        on_progress_(on_progress),
        examiner_(make_runner, options.limits) {
    if (state_.campaigns.empty()) {
      Campaign fresh{options.target, options.version, options.level,
                     options.ops,    options.seed,    options.first};
      fresh.shards = {fmt::format("{}/{}", options.shard, options.shards)};
      state_.campaigns.push_back(std::move(fresh));
    }
    before_ = campaign().seconds;
    for (const auto& [hash, finding] : state_.findings)
      known_.emplace(signature(options.target, finding.outcome), hash);
  }

  bool run() {
    fs::create_directories(options_.folder / "findings");
    BatchOptions batches{.batch = options_.batch,
                         .seconds = options_.limits.seconds,
                         .waiting = options_.limits.waiting,
                         .jobs = options_.jobs,
                         .memory = options_.limits.memory};
    batches.stop = [this] { return is_stopped() || is_over(); };
    const Index first = campaign().next;
    std::unique_ptr<Runner> runner;  // made in each child
    const auto work = [&](Index k, const Enter& enter) { return work_on(k, runner, enter); };
    in_batches(first, std::max<Index>(end() - first, 0), batches, work, [this](const Ended& ended) {
      waiting_.emplace(ended.number, ended);
      apply_in_order();
    });
    write();
    reduce_some(true);
    write();
    return !is_stopped() || is_over() || campaign().next >= end();
  }

 private:
  Campaign& campaign() { return state_.campaigns.front(); }
  bool is_stopped() const { return options_.stop && options_.stop(); }
  bool is_over() const { return options_.time && Clock::now() - began_ >= *options_.time; }

  // Returns the number of this shard's cases.
  Index end() const {
    if (!options_.count) return all_numbers / options_.shards;
    return (*options_.count - options_.shard + options_.shards - 1) / options_.shards;
  }

  Case make(std::uint64_t number) const {
    const LimitsScope scope(limits_of_case());
    return source_.make(number);
  }

  std::string work_on(Index k, std::unique_ptr<Runner>& runner, const Enter& enter) const {
    enter(stage_make);
    Outcome found;
    try {
      const Case made = make(number_of(options_, k));
      if (!runner) runner = make_runner_();
      found = examine(made, *runner, enter);
    } catch (const Error& error) {
      found.verdict = no_case;
      found.detail = error.message;
    }
    return to_json(found).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

  void apply_in_order() {
    for (auto one = waiting_.begin();
         one != waiting_.end() && one->first == campaign().next && !is_stopped();) {
      apply(one->second);
      one = waiting_.erase(one);
    }
    if (Clock::now() > next_write_) {
      reduce_some(false);
      write();
    }
  }

  void apply(const Ended& ended) {
    const std::uint64_t number = number_of(options_, ended.number);
    Outcome found = ended.died.empty()
                        ? outcome_of(nlohmann::ordered_json::parse(ended.text, nullptr, false))
                        : outcome_of_death(ended);
    if (found.is_finding()) add_finding(number, ended, found);
    Campaign& all = campaign();
    ++all.counts[found.verdict];
    for (const std::string& mark : found.covered) ++all.marks[mark];
    ++all.next;
    all.seconds = before_ + seconds_since(began_);
    sample();
    if (on_progress_) on_progress_(state_, found);
  }

  // Adds a finding, or counts it if its signature is known. A new one runs again, alone.
  void add_finding(std::uint64_t number, const Ended& ended, Outcome& found) {
    const bool is_made = ended.died.empty() || ended.stage != stage_make;
    Case made;
    if (is_made) {
      made = make(number);
      found.text = text_of(made);
      if (!ended.died.empty()) describe_only_node(made, found);
    }
    const std::string first = signature(options_.target, found);
    if (const auto known = known_.find(first); known != known_.end()) {
      ++state_.findings.at(known->second).count;
      return;
    }
    if (is_made) {
      Outcome alone = examiner_(made);
      if (same_fault(alone, found)) {
        alone.covered = std::move(found.covered);
        found = std::move(alone);
      } else {
        found.detail += "; only after other cases in one process";
        found.pattern += " (only after other cases)";
      }
    }
    Finding finding{hash_of_signature(signature(options_.target, found)),
                    options_.target,
                    options_.version,
                    options_.level,
                    number,
                    0};
    finding.outcome = found;
    finding.outcome.covered.clear();
    known_.emplace(first, finding.hash);
    known_.emplace(signature(options_.target, found), finding.hash);
    const auto [held, is_new] = state_.findings.emplace(finding.hash, finding);
    ++held->second.count;
    if (is_new && is_made) keep(held->second, made);
  }

  // Writes a finding as it was found. It is reduced later.
  void keep(const Finding& finding, const Case& made) {
    const std::uint64_t position = finding.number & ((std::uint64_t{1} << seed_shift) - 1);
    store(finding, made,
          fmt::format(
              "touchstone fuzz --target '{}' --level {} --ops '{}' --seed {} --first {} --count 1",
              options_.target, options_.level, options_.ops, options_.seed, position),
          folder_of(options_.folder, finding));
  }

  // Reduces findings while that takes at most a third of the time; at the end, for a minute more.
  // A campaign that resumes goes on with the others.
  void reduce_some(bool at_end) {
    if (!options_.reduction) return;
    const Clock::time_point now = Clock::now();
    for (auto& [hash, finding] : state_.findings) {
      const bool is_spent =
          at_end ? seconds_since(now) > last_reductions : reducing_ * 3 > seconds_since(began_);
      if (is_stopped() || is_spent) return;
      const fs::path folder = folder_of(options_.folder, finding);
      if (!finding.reduced.empty() || !fs::exists(folder)) continue;
      const Clock::time_point began = Clock::now();
      reduce_one(finding, folder);
      reducing_ += seconds_since(began);
    }
  }

  void reduce_one(Finding& finding, const fs::path& folder) {
    const Case made = make(finding.number);
    const auto examined = [this](const Case& one) {
      return is_stopped() ? Outcome{} : examiner_(one);
    };
    const Reduced smaller = reduce(made, finding.outcome, examined, *options_.reduction);
    if (is_stopped()) return;
    finding.reduced = text_of(smaller.is);
    if (smaller.is.text == made.text) return;
    Finding reduced = finding;
    reduced.outcome = smaller.outcome;
    store(reduced, smaller.is,
          fmt::format("touchstone reduce '{}' --target '{}'", (folder / "reduced").string(),
                      options_.target),
          folder / "reduced");
  }

  void store(const Finding& finding, const Case& one, const std::string& replay,
             const fs::path& to) {
    const std::string failure = examiner_.apart([&]() -> std::string {
      try {
        write_finding(finding, one, replay, to);
      } catch (const std::exception& error) {
        return error.what();
      }
      return "";
    });
    if (!failure.empty()) throw Error(ErrorKind::file, "'" + to.string() + "': " + failure);
  }

  // Keeps a sample of the campaign's growth; of too many, every second one.
  void sample() {
    Campaign& all = campaign();
    const double last = all.growth.empty() ? -1 : all.growth.back()[0];
    if (all.seconds - last < pause_) return;
    all.growth.push_back({all.seconds, static_cast<double>(all.cases()),
                          static_cast<double>(all.marks.size()),
                          static_cast<double>(state_.findings.size())});
    if (all.growth.size() < max_growth) return;
    pause_ *= 2;
    std::size_t k = 0;
    std::erase_if(all.growth, [&](const auto&) { return k++ % 2 == 1; });
  }

  // A busy disk takes seconds for a write, which is then the rarer.
  void write() {
    const Clock::time_point began = Clock::now();
    write_state(state_, options_.folder);
    const Clock::time_point ended = Clock::now();
    next_write_ =
        ended + std::max<Clock::duration>(write_pause, (ended - began) * pauses_per_write);
  }

  const CampaignOptions& options_;
  const Source& source_;
  const MakeRunner& make_runner_;
  State& state_;
  const OnProgress& on_progress_;
  Examiner examiner_;
  std::map<Index, Ended> waiting_;            // outcomes of later numbers
  std::map<std::string, std::string> known_;  // signature -> hash
  Clock::time_point began_ = Clock::now(), next_write_ = began_ + write_pause;
  double before_ = 0, pause_ = 1, reducing_ = 0;  // seconds
};

}  // namespace

std::uint64_t number_of(const CampaignOptions& options, Index k) {
  const auto position =
      static_cast<std::uint64_t>(options.first + options.shard + k * options.shards);
  return (options.seed << seed_shift) + position;
}

bool run_campaign(const CampaignOptions& options, const Source& source,
                  const MakeRunner& make_runner, State& state, const OnProgress& on_progress) {
  return Loop(options, source, make_runner, state, on_progress).run();
}

}  // namespace touchstone::fuzz
