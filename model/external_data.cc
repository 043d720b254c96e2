// Finds a tensor's external data. Its keys are untrusted; the file is opened only beneath the
// model's folder.
#include <charconv>
#include <filesystem>
#include <map>

#include "core/sha1.h"
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

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Checks the SHA1 checksum, which by the standard is of the whole file.
void hold_checksum(const std::string& checksum, const OpenFile& file, const std::string& location,
                   const Source& source) {
  constexpr std::size_t digits = 40;
  if (checksum.size() != digits ||
      checksum.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    throw breach("model/external-data", "checksum is '" + checksum + "', which is no SHA1 digest");
  std::string& digest = source.digests[std::filesystem::path(location).lexically_normal().string()];
  if (digest.empty()) digest = sha1(file);
  if (digest != lower(checksum))
    throw breach("model/external-data", "the checksum of '" + location + "' is " + checksum +
                                            ", but its SHA1 digest is " + digest);
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
  if (const auto checksum = keys.find("checksum"); checksum != keys.end())
    hold_checksum(checksum->second, file, location->second, source);
  return {std::move(file), offset};
}

}  // namespace touchstone
