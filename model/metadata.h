// Reads and writes the metadata of protobuf messages. Fields that a Model cannot hold are recorded,
// so that saving can report their loss.
#pragma once

#include "model/proto.h"

namespace touchstone {

template <class Proto>
constexpr bool has_properties = requires(const Proto& proto) {
  proto.metadata_props();
};

// Returns null if the message has none. Charges its bytes to the model.
template <class Proto>
SharedMetadata read_metadata(const Proto& proto, Source& source) {
  source.drop(!proto.unknown_fields().empty(), "fields that the standard does not define");
  Index bytes = std::ssize(proto.doc_string());
  if constexpr (has_properties<Proto>) {
    for (const pb::StringStringEntryProto& entry : proto.metadata_props())
      bytes += std::ssize(entry.key()) + std::ssize(entry.value()) + bytes_of_property;
  }
  if (bytes == 0) return nullptr;
  source.keep(bytes + bytes_of_metadata);
  auto metadata = std::make_shared<Metadata>();
  metadata->doc_string = proto.doc_string();
  if constexpr (has_properties<Proto>) {
    for (const pb::StringStringEntryProto& entry : proto.metadata_props())
      metadata->properties.emplace_back(entry.key(), entry.value());
  }
  return metadata;
}

template <class Proto>
void write_metadata(const SharedMetadata& metadata, Proto& proto) {
  if (!metadata) return;
  if (!metadata->doc_string.empty()) proto.set_doc_string(metadata->doc_string);
  if constexpr (has_properties<Proto>) {
    for (const auto& [key, value] : metadata->properties) {
      pb::StringStringEntryProto& entry = *proto.add_metadata_props();
      entry.set_key(key);
      entry.set_value(value);
    }
  }
}

}  // namespace touchstone
