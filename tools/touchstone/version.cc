// Instruction sets and devices are those of the machine at hand, not only those of the build.
#include "tools/touchstone/version.h"

#include <string>

#include "core/error.h"
#ifdef TOUCHSTONE_WITH_FAST
#include "backends/device.h"
#include "optimized/registry/isa.h"
#endif
#ifdef TOUCHSTONE_WITH_CONFORMANCE
#include "conformance/suites/maker.h"
#endif

namespace touchstone::command {

extern const char* const source_commit;  // "" for a tree without git

namespace {

using Json = nlohmann::ordered_json;

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

#ifdef TOUCHSTONE_WITH_FAST
Json instruction_sets() {
  Json built = Json::array(), usable = Json::array();
  for (const optimized::Isa isa : optimized::all_isas) {
    built.push_back(name(isa));
    if (processor_has(isa)) usable.push_back(name(isa));
  }
  return {{"built", built}, {"usable", usable}, {"used", name(optimized::chosen_isa())}};
}

Json devices() {
  Json all = Json::array();
  for (const char* device : {"cpu", "opencl"}) {
    Json row{{"name", device}, {"usable", true}, {"detail", ""}};
    try {
      backends::open_device(device);
    } catch (const Error& error) {
      row["usable"] = false;
      row["detail"] = error.message;
    }
    all.push_back(row);
  }
  return all;
}
#else
Json instruction_sets() { return nullptr; }
Json devices() { return Json::array(); }
#endif

}  // namespace

Json version_object() {
  Json object{{"schema", "touchstone.version/1"},
              {"version", TOUCHSTONE_VERSION},
              {"commit", *source_commit ? Json(source_commit) : Json(nullptr)},
              {"compiler", compiler()},
              {"instruction_sets", instruction_sets()},
              {"devices", devices()}};
#ifdef TOUCHSTONE_WITH_CONFORMANCE
  object["onnx"] = suites::pinned_release();
#else
  object["onnx"] = nullptr;
#endif
  return object;
}

}  // namespace touchstone::command
