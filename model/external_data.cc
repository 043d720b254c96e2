// External data: the keys of a tensor are hostile text; the file is opened beneath the model's
// folder and nowhere else.
#include <charconv>
#include <map>

#include "model/proto.h"
#include "model/rules.h"

namespace touchstone {
namespace {

std::map<std::string, std::string> keys_of(const pb::TensorProto& proto) {
  std::map<std::string, std::string> keys;
  for (const auto& entry : proto.external_data()) {
    if (!keys.emplace(entry.key(), entry.value()).second) {
      throw breach("model/external-data", "the key '" + entry.key() + "' stands there twice");
    }
  }
  return keys;
}

Index number(const std::map<std::string, std::string>& keys, const std::string& key,
             Index otherwise) {
  const auto found = keys.find(key);
  if (found == keys.end()) return otherwise;
  const std::string& text = found->second;
  Index value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || value < 0) {
    throw breach("model/external-data", key + " is '" + text + "', which is no number of bytes");
  }
  return value;
}

}  // namespace

ExternalData find_external(const pb::TensorProto& proto, const Source& source, Index bytes) {
  const std::map<std::string, std::string> keys = keys_of(proto);
  const auto location = keys.find("location");
  if (location == keys.end()) throw breach("model/external-data", "there is no location");
  const Index offset = number(keys, "offset", 0);
  const Index length = number(keys, "length", bytes);
  if (length != bytes) {
    throw breach("model/external-data", "length is " + std::to_string(length) +
                                            ", but the tensor needs " + std::to_string(bytes) +
                                            " bytes");
  }
  if (source.folder == nullptr) {
    throw Error(ErrorKind::file,
                "the data lies in '" + location->second + "', but there is no folder to look in")
        .with_help("load from a file, or store the data inside");
  }
  OpenFile file = open_beneath(*source.folder, location->second, source.limits);
  if (file.size() < bytes || offset > file.size() - bytes) {
    throw breach("model/external-data",
                 "bytes " + std::to_string(offset) + " to " + std::to_string(offset) + "+" +
                     std::to_string(bytes) + " of '" + location->second +
                     "' are asked for, but it ends at " + std::to_string(file.size()));
  }
  return {std::move(file), offset};
}

}  // namespace touchstone
