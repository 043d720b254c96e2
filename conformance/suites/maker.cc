// Runs the suite maker in Python: only Python can evaluate the suite's own code.
#include "conformance/suites/maker.h"

#include <algorithm>

#include "conformance/data.h"
#include "conformance/suites/suite.h"
#include "core/error.h"

namespace touchstone::suites {
namespace {

// Validates a version, which becomes a folder's name and a command argument.
void hold_to_release(const std::string& version) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.';
  };
  if (version == all_releases) return;
  if (!version.empty() && version[0] >= '0' && version[0] <= '9' &&
      std::all_of(version.begin(), version.end(), fits)) {
    return;
  }
  throw Error(ErrorKind::usage, "'" + version + "' is no release of onnx")
      .with_help("such as --suite onnx@1.12.0");
}

int run_maker(const std::string& version) {
  return conformance::run_beside_data(
      {conformance::python_of(".venv"), "-m", "conformance.suites.make", version});
}

}  // namespace

std::filesystem::path lines_of_spec() {
  return conformance::data_folder() / "conformance/suites/spec";
}

std::string pinned_release() { return TOUCHSTONE_ONNX; }

std::filesystem::path suite_of_release(const std::string& version) {
  hold_to_release(version);
  const std::filesystem::path folder = cached_suite(version);
  const auto made = [&] { return std::filesystem::is_regular_file(folder / "manifest.json"); };
  if (!made() && run_maker(version) != 0 && !made()) {
    throw Error(ErrorKind::file,
                "the suite of onnx " + version + " is not at '" + folder.string() + "'")
        .with_help("in " + conformance::data_folder().string() + ": " +
                   conformance::python_of(".venv") + " -m conformance.suites.make " + version);
  }
  return folder;
}

}  // namespace touchstone::suites
