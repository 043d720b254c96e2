// Finds the cases in a suite's folders. Reads only case.json and data.json, which are tiny and
// trusted, but no values.
#include "conformance/suites/suite.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/error.h"
#include "core/files.h"

namespace touchstone::suites {
namespace {

namespace fs = std::filesystem;

// Returns the number in input_12.pb, or -1: a data set may hold other files.
Index position_of(const std::string& file, std::string_view prefix) {
  if (!file.starts_with(prefix) || !file.ends_with(".pb")) return -1;
  const std::string digits = file.substr(prefix.size(), file.size() - prefix.size() - 3);
  if (digits.empty() || digits.size() > 6) return -1;
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return -1;
  return std::stoll(digits);
}

std::vector<fs::path> in_order(std::vector<std::pair<Index, fs::path>> found,
                               const fs::path& folder) {
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  for (auto& [position, path] : found) {
    if (position != static_cast<Index>(paths.size())) {
      throw Error(ErrorKind::file, "'" + folder.string() + "' holds " + path.filename().string() +
                                       " but not number " + std::to_string(paths.size()));
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

// Reads {"1.6.0": ["node/test_abs"], ...}.
void read_places(Case& found, const nlohmann::json& releases) {
  for (const auto& [version, names] : releases.items()) {
    for (const auto& name : names) {
      if (name.is_string())
        found.places.push_back(
            {"onnx@" + version, fs::path(name.get<std::string>()).filename().string()});
    }
  }
}

void read_facts(Case& found, const fs::path& file) {
  if (!fs::is_regular_file(file)) return;
  const auto facts = nlohmann::json::parse(open_trusted(file).read_all(Limits::trusted()), nullptr,
                                           /*allow_exceptions=*/false);
  if (!facts.is_object())
    throw Error(ErrorKind::file, "'" + file.string() + "' is not a JSON object");
  const auto number = [&](const char* key, double fallback) {
    const auto at = facts.find(key);
    return at != facts.end() && at->is_number() ? at->get<double>() : fallback;
  };
  const auto source = facts.find("source");
  found.rtol = number("rtol", found.rtol);
  found.atol = number("atol", found.atol);
  if (source != facts.end() && source->is_string()) found.source = source->get<std::string>();
  if (const auto hash = facts.find("hash"); hash != facts.end() && hash->is_string())
    found.hash = hash->get<std::string>();
  if (const auto releases = facts.find("releases"); releases != facts.end())
    read_places(found, *releases);
}

Case read_case(const fs::path& folder, const fs::path& root) {
  Case found;
  const fs::path below = fs::relative(folder, root);
  found.name = below == "." ? fs::canonical(folder).filename().string() : below.filename().string();
  found.kind = below == "." ? "" : below.parent_path().generic_string();
  found.model = folder / "model.onnx";
  read_facts(found, folder / "data.json");
  read_facts(found, folder / "case.json");
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_")) {
      sets.push_back(entry.path());
    }
  }
  std::sort(sets.begin(), sets.end(), [](const fs::path& a, const fs::path& b) {
    const std::string left = a.filename().string(), right = b.filename().string();
    return std::pair(left.size(), left) <
           std::pair(right.size(), right);  // set 10 comes after set 9
  });
  for (const auto& set : sets) found.data.push_back(read_data_set(set));
  return found;
}

}  // namespace

DataSet read_data_set(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw Error(ErrorKind::file, "there is no folder '" + folder.string() + "'");
  DataSet set{folder, {}, {}};
  std::vector<std::pair<Index, fs::path>> inputs, outputs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    const Index input = position_of(file, "input_"), output = position_of(file, "output_");
    if (input >= 0) inputs.emplace_back(input, entry.path());
    if (output >= 0) outputs.emplace_back(output, entry.path());
  }
  set.inputs = in_order(std::move(inputs), folder);
  set.outputs = in_order(std::move(outputs), folder);
  return set;
}

Suite read_suite(const fs::path& root, std::string name) {
  if (!fs::is_directory(root))
    throw Error(ErrorKind::file, "there is no suite at '" + root.string() + "'");
  Suite suite{std::move(name), root, {}};
  if (fs::is_regular_file(root / "model.onnx")) suite.cases.push_back(read_case(root, root));
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_directory() && fs::is_regular_file(entry.path() / "model.onnx")) {
      suite.cases.push_back(read_case(entry.path(), root));
    }
  }
  if (suite.cases.empty()) {
    throw Error(ErrorKind::file, "'" + root.string() + "' holds no case")
        .with_help(
            "a case is a folder with model.onnx and test_data_set_0/{input_0.pb,output_0.pb,...}");
  }
  std::sort(suite.cases.begin(), suite.cases.end(), [](const Case& a, const Case& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
  return suite;
}

fs::path cached_suite(std::string_view version) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base =
      cache && *cache ? fs::path(cache) : fs::path(home ? home : "/root") / ".cache";
  return base / "touchstone" / "suites" / version;
}

void keep_matching(Suite& suite, const std::string& pattern) {
  std::erase_if(suite.cases, [&](const Case& one) {
    return one.name != pattern && fnmatch(pattern.c_str(), one.name.c_str(), 0) != 0 &&
           fnmatch(pattern.c_str(), one.key().c_str(), 0) != 0;
  });
}

void keep_first(Suite& suite, Index count) {
  const auto without = [](const Case& one) { return one.hash.empty(); };
  if (std::any_of(suite.cases.begin(), suite.cases.end(), without)) {
    throw Error(ErrorKind::usage, "the cases of " + suite.name + " have no hashes to be first by")
        .with_help("spec, onnx@all and onnx@old have");
  }
  if (count >= static_cast<Index>(suite.cases.size())) return;
  std::vector<std::string> hashes;
  for (const Case& one : suite.cases) hashes.push_back(one.hash);
  std::nth_element(hashes.begin(), hashes.begin() + count, hashes.end());
  const std::string limit = hashes[static_cast<std::size_t>(count)];
  std::erase_if(suite.cases, [&](const Case& one) { return one.hash >= limit; });
}

void drop_release(Suite& suite, std::string_view version) {
  const std::string release = "onnx@" + std::string(version);
  std::erase_if(suite.cases, [&](const Case& one) {
    return std::any_of(one.places.begin(), one.places.end(),
                       [&](const Place& place) { return place.suite == release; });
  });
}

void keep_shard(Suite& suite, Index index, Index count) {
  if (count < 1 || index < 0 || index >= count) {
    throw Error(ErrorKind::usage,
                "there is no shard " + std::to_string(index) + " of " + std::to_string(count))
        .with_help("shards are I/N with I from 0 to N - 1");
  }
  Index position = 0;
  std::erase_if(suite.cases, [&](const Case&) { return position++ % count != index; });
}

}  // namespace touchstone::suites
