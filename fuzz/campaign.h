// A campaign: cases by number, in forked processes, with their outcomes applied in the order of the
// numbers. The result depends on seed and shard alone, not on jobs, speed or interruptions.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "fuzz/case.h"
#include "fuzz/examiner.h"
#include "fuzz/state.h"

namespace touchstone::fuzz {

struct CampaignOptions {
  std::string target, version, level, ops;
  std::uint64_t seed = 0;
  Index first = 0;             // number of the first case of all shards together
  std::optional<Index> count;  // of their cases; none: until time is over
  std::optional<std::chrono::milliseconds> time;
  Index shard = 0, shards = 1;
  std::filesystem::path folder;
  Index jobs = 1, batch = 200;
  ExaminerOptions limits;
  std::optional<std::chrono::milliseconds> reduction = std::chrono::seconds(5);  // of a finding
  std::function<bool()> stop = {};  // asked ten times a second
};

// Returns the number of case `k` of a shard: seeds do not overlap.
std::uint64_t number_of(const CampaignOptions& options, Index k);

// Called as outcomes are applied.
using OnProgress = std::function<void(const State& state, const Outcome& last)>;

// Goes on from `state`, which holds at most one campaign, and writes it and the findings to the
// folder. Returns false if it was stopped before count and time were over. Throws Error (file).
// `make_runner` is called in each process.
bool run_campaign(const CampaignOptions& options, const Source& source,
                  const MakeRunner& make_runner, State& state, const OnProgress& on_progress);

}  // namespace touchstone::fuzz
