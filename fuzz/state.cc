// State as JSON, on disk and merged.
#include "fuzz/state.h"

#include <algorithm>

#include "core/error.h"
#include "core/files.h"

namespace touchstone::fuzz {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* file_name = "state.json";
constexpr const char* previous_name = "state.previous.json";
constexpr const char* schema = "touchstone.fuzz/1";

Json to_json(const Campaign& one) {
  return {{"target", one.target},   {"version", one.version}, {"level", one.level},
          {"ops", one.ops},         {"seed", one.seed},       {"first", one.first},
          {"shards", one.shards},   {"next", one.next},       {"cases", one.cases()},
          {"seconds", one.seconds}, {"counts", one.counts},   {"marks", one.marks},
          {"growth", one.growth}};
}

Json to_json(const Finding& one) {
  return {{"hash", one.hash},       {"target", one.target},
          {"version", one.version}, {"level", one.level},
          {"number", one.number},   {"count", one.count},
          {"reduced", one.reduced}, {"outcome", fuzz::to_json(one.outcome)}};
}

Campaign campaign_of(const Json& object) {
  Campaign made;
  object.at("target").get_to(made.target);
  object.at("version").get_to(made.version);
  object.at("level").get_to(made.level);
  object.at("ops").get_to(made.ops);
  object.at("seed").get_to(made.seed);
  object.at("first").get_to(made.first);
  object.at("shards").get_to(made.shards);
  object.at("next").get_to(made.next);
  object.at("seconds").get_to(made.seconds);
  object.at("counts").get_to(made.counts);
  object.at("marks").get_to(made.marks);
  object.at("growth").get_to(made.growth);
  return made;
}

Finding finding_of(const Json& object) {
  Finding made;
  object.at("hash").get_to(made.hash);
  object.at("target").get_to(made.target);
  object.at("version").get_to(made.version);
  object.at("level").get_to(made.level);
  object.at("number").get_to(made.number);
  object.at("count").get_to(made.count);
  object.at("reduced").get_to(made.reduced);
  made.outcome = outcome_of(object.at("outcome"));
  return made;
}

// Returns false for a file that is missing or cut short.
bool read_file(const fs::path& file, State& state) {
  if (!fs::exists(file)) return false;
  try {
    const Json object = Json::parse(open_trusted(file).read_all(Limits::trusted()));
    if (object.at("schema") != schema) return false;
    State read;
    for (const Json& one : object.at("campaigns")) read.campaigns.push_back(campaign_of(one));
    for (const Json& one : object.at("findings")) {
      Finding finding = finding_of(one);
      read.findings.emplace(finding.hash, std::move(finding));
    }
    state = std::move(read);
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace

Index Campaign::cases() const {
  Index all = 0;
  for (const auto& [verdict, count] : counts) {
    if (verdict != no_case) all += count;
  }
  return all;
}

std::map<std::string, Index> Campaign::marks_by_kind() const {
  std::map<std::string, Index> kinds;
  for (const auto& [mark, count] : marks) ++kinds[mark.substr(0, mark.find('/'))];
  return kinds;
}

bool Campaign::is_same_as(const Campaign& other) const {
  return target == other.target && level == other.level && ops == other.ops && seed == other.seed &&
         first == other.first;
}

Json to_json(const State& state) {
  Json object{{"schema", schema}, {"campaigns", Json::array()}, {"findings", Json::array()}};
  for (const Campaign& one : state.campaigns) object["campaigns"].push_back(to_json(one));
  for (const auto& [hash, one] : state.findings) object["findings"].push_back(to_json(one));
  return object;
}

bool has_state(const fs::path& folder) {
  return fs::exists(folder / file_name) || fs::exists(folder / previous_name);
}

State read_state(const fs::path& folder) {
  State state;
  if (read_file(folder / file_name, state) || read_file(folder / previous_name, state))
    return state;
  throw Error(ErrorKind::file, "'" + folder.string() + "' holds no state of a campaign");
}

void write_state(const State& state, const fs::path& folder) {
  State last;
  std::error_code ignored;  // without a previous version, a cut file only costs a new start
  if (read_file(folder / file_name, last))
    fs::rename(folder / file_name, folder / previous_name, ignored);
  const std::string text =
      to_json(state).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  write_atomically(folder / file_name, std::string_view(text));
}

void merge(State& to, const State& from) {
  for (const Campaign& one : from.campaigns) {
    const auto same = std::find_if(to.campaigns.begin(), to.campaigns.end(),
                                   [&](const Campaign& other) { return other.is_same_as(one); });
    if (same == to.campaigns.end()) {
      to.campaigns.push_back(one);
      continue;
    }
    for (const std::string& shard : one.shards) {
      if (std::find(same->shards.begin(), same->shards.end(), shard) != same->shards.end()) {
        throw Error(ErrorKind::usage, "two folders hold shard " + shard + " of " + one.target +
                                          ", level " + one.level)
            .with_help("merge each shard once, or campaigns of other seeds");
      }
      same->shards.push_back(shard);
    }
    std::sort(same->shards.begin(), same->shards.end());
    same->next += one.next;
    same->seconds += one.seconds;
    for (const auto& [verdict, count] : one.counts) same->counts[verdict] += count;
    for (const auto& [mark, count] : one.marks) same->marks[mark] += count;
    if (same->growth.size() < one.growth.size()) same->growth = one.growth;
  }
  for (const auto& [hash, one] : from.findings) {
    const auto [held, is_new] = to.findings.emplace(hash, one);
    if (is_new) continue;
    const Index count = held->second.count + one.count;
    if (one.number < held->second.number) held->second = one;
    held->second.count = count;
  }
}

}  // namespace touchstone::fuzz
