// State of campaigns: how far they are, what they covered and found. It is the file from which a
// campaign resumes, and the object that reports are made from.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "fuzz/outcome.h"

namespace touchstone::fuzz {

// One campaign: the cases of one source on one target.
struct Campaign {
  std::string target, version, level, ops;
  std::uint64_t seed = 0;
  Index first = 0;
  std::vector<std::string> shards = {"0/1"};
  Index next = 0;                            // numbers done, of this shard
  double seconds = 0;                        // of all runs of it
  std::map<std::string, Index> counts = {};  // by verdict
  std::map<std::string, Index> marks = {};   // of coverage, with the number of cases of each
  // Samples over time: seconds, cases, marks, findings. At most max_growth.
  std::vector<std::array<double, 4>> growth = {};

  Index cases() const;
  std::map<std::string, Index> marks_by_kind() const;  // "version", "type" ...
  bool is_same_as(
      const Campaign& other) const;  // in target, level, operators, seed and first number
};
constexpr std::size_t max_growth = 200;

struct Finding {
  std::string hash, target, version, level;
  std::uint64_t number = 0;  // the first case that showed it
  Index count = 0;           // cases that showed it
  Outcome outcome = {};      // of that case, without marks
  std::string reduced = {};  // text of the reduced case
};

struct State {
  std::vector<Campaign> campaigns;
  std::map<std::string, Finding> findings;  // by hash
};

nlohmann::ordered_json to_json(const State& state);  // "schema": "touchstone.fuzz/1"

// Reads and writes FOLDER/state.json, and state.previous.json, the version before it. Reading takes
// the second if the first is cut short. Throws Error (file) if no state can be read.
bool has_state(const std::filesystem::path& folder);
State read_state(const std::filesystem::path& folder);
void write_state(const State& state, const std::filesystem::path& folder);

// Adds the cases of `from`. Throws Error (usage) if both contain the same shard.
void merge(State& to, const State& from);

}  // namespace touchstone::fuzz
