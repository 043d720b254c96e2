// Reads the lines of the spec suite without parsing their values.
#include "fuzz/graph/node_templates.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "core/files.h"

namespace touchstone::fuzz {
namespace {

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(folder))
    throw Error(ErrorKind::file, "'" + folder.string() + "' is no folder of lines");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".cases")
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

NodeTemplates::NodeTemplates(const std::filesystem::path& folder) {
  std::unordered_map<std::string, const Signature*> known;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const std::filesystem::path& file : files_below(folder)) {
    const std::string text = open_trusted(file).read_all(Limits::trusted());
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.empty() || line[0] == '#' || !suites::rule_of_line(line).empty()) continue;
      const std::string name = line.substr(0, line.find('('));
      auto found = known.find(name);
      if (found == known.end()) found = known.emplace(name, suites::find_version(name)).first;
      if (!found->second)
        throw Error(ErrorKind::usage, "the line '" + line + "' names no operator version");
      const Signature& signature = *found->second;
      if (seen.emplace(signature.domain, signature.op).second)
        operators.push_back({signature.domain, signature.op});
      Lines& those = lines[&signature];
      those.all.push_back(line);
      if (line.compare(name.size(), 7, "(float[") == 0) those.floats.push_back(line);
    }
  }
  if (operators.empty())
    throw Error(ErrorKind::file, "'" + folder.string() + "' holds no valid line");
}

std::string with_tame_data(const std::string& line) {
  static const std::vector<std::string> extreme{"logs", "cancel", "giant", "special", "far"};
  std::string tame;
  for (std::size_t at = 0; at < line.size();) {
    tame += line[at++];
    if (tame.back() != '~') continue;
    for (const std::string& word : extreme) {
      if (line.compare(at, word.size(), word) != 0) continue;
      tame += "real";
      at += word.size();
      break;
    }
  }
  return tame;
}

}  // namespace touchstone::fuzz
