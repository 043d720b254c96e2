// Reads the spec suite from files of lines. A case's own files are written when it runs, and
// deleted afterwards.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/suites/line.h"
#include "conformance/suites/suite.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "model/model.h"

namespace touchstone::suites {
namespace {

namespace fs = std::filesystem;

// Returns sixteen hexadecimal digits. The order of cases depends on their lines only.
std::string hash_text(const std::string& line) {
  std::uint64_t hash = hash_of_line(line);
  hash = (hash ^ hash >> 30U) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27U) * 0x94d049bb133111eb;
  return fmt::format("{:016x}", hash ^ hash >> 31U);
}

void read_file(Suite& suite, const fs::path& file) {
  const std::string text = open_trusted(file).read_all(Limits::trusted());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line[0] == '#') continue;
    Case one{.name = line, .kind = "", .source = "", .model = {}, .data = {}};
    one.hash = hash_text(line);
    one.line = std::move(line);
    suite.cases.push_back(std::move(one));
  }
}

}  // namespace

Suite read_lines(const fs::path& root, std::string name) {
  Suite suite{std::move(name), root, {}};
  if (fs::is_regular_file(root)) {
    read_file(suite, root);
  } else if (fs::is_directory(root)) {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_regular_file() && entry.path().extension() == ".cases")
        read_file(suite, entry.path());
    }
  }
  if (suite.cases.empty())
    throw Error(ErrorKind::file, "'" + root.string() + "' holds no line of a case");
  std::sort(suite.cases.begin(), suite.cases.end(),
            [](const Case& a, const Case& b) { return a.name < b.name; });
  return suite;
}

Case write_line(const Case& one, const fs::path& folder) {
  const Line line = parse_line(one.line);
  const LineModel made = model_of(line);
  const fs::path data = folder / "test_data_set_0";
  fs::create_directories(data);
  Case written = one;
  written.model = folder / "model.onnx";
  save_model(made.model, written.model);
  DataSet set{data, {}, {}};
  for (std::size_t k = 0; k < made.feeds.size(); ++k) {
    set.inputs.push_back(data / ("input_" + std::to_string(k) + ".pb"));
    write_atomically(set.inputs.back(), std::string_view(serialize_value(made.feeds[k])));
  }
  written.data = {set};
  nlohmann::ordered_json facts{{"line", one.line}};
  if (!line.refused.empty()) facts["rule"] = line.refused;
  write_atomically(folder / "case.json", std::string_view(facts.dump() + "\n"));
  return written;
}

}  // namespace touchstone::suites
