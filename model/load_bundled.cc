// Loads models that the library holds, in place of those of files: a bundle has no reader of files.
#include "model/bundled.h"
#include "model/compact.h"
#include "model/model.h"

namespace touchstone {

Model load_valid(const std::filesystem::path& file, const Limits&) {
  std::string names;
  for (const BundledModel& bundled : bundled_models()) {
    if (bundled.name == file.native()) {
      Model model = from_compact(bundled.bytes);
      resolve(model);
      return model;
    }
    names += (names.empty() ? "" : ", ") + std::string(bundled.name);
  }
  throw Error(ErrorKind::usage, "this library holds no model '" + file.string() + "'")
      .with_help("it was made by touchstone bundle for " + names);
}

Model parse_valid(std::span<const std::byte>, const Limits&) {
  throw Error(ErrorKind::unsupported, "this library reads no ONNX files")
      .with_help("it was made by touchstone bundle; open its models by their names");
}

}  // namespace touchstone
