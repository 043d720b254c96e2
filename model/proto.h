// Conversion between protobuf messages and model types: the internal half of loading and saving.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/files.h"
#include "core/limits.h"
#include "model/graph.h"
#include "model/messages.h"
#include "model/skeleton.h"
#include "touchstone_onnx.pb.h"
#include "touchstone_onnx_data.pb.h"

namespace touchstone {

namespace pb = touchstone_onnx;

// State of one load. External data is read from beneath `folder`; null: external data is refused.
struct Source {
  const std::filesystem::path* folder;
  const Limits& limits;
  Index nodes = 0;  // read so far, in graphs and functions
  // The model's own file, and the raw_data that was left in it.
  const OpenFile* file = nullptr;
  std::unordered_map<const pb::TensorProto*, LeftInFile> left = {};
  // Digests of external data files by normalized path: many tensors use one file.
  mutable std::map<std::string, std::string> digests = {};
  Messages messages = {};  // the parsed messages
  Charge model = {};       // memory of the model, for as long as it lives
  std::set<std::string> unkept = {};

  void keep(Index bytes) { model.resize(model.bytes() + bytes); }
  // Records a field that a Model cannot hold.
  void drop(bool there, const char* field) {
    if (there) unkept.insert(field);
  }
};

// Estimated bytes of a property without its text, and of a Metadata object.
constexpr Index bytes_of_property = 2 * sizeof(std::string),
                bytes_of_metadata = sizeof(Metadata) + 32;

// Parses bytes within the limits on size, depth and messages. Errors cite `rule`: model/parse or
// model/value-parse.
[[nodiscard]] Messages parse_message(std::span<const std::byte> bytes,
                                     google::protobuf::MessageLite& message, std::string_view rule,
                                     const Limits& limits);

Tensor read_tensor(const pb::TensorProto& proto, const Source& source);
SparseTensor read_sparse(const pb::SparseTensorProto& proto, const Source& source);
Shape read_dims(const google::protobuf::RepeatedField<std::int64_t>& dims, const Limits& limits);
Type read_element_type(int code);
void write_tensor(const Tensor& tensor, pb::TensorProto& proto);
void write_sparse(const SparseTensor& sparse, pb::SparseTensorProto& proto);

// External location of a tensor's `bytes` bytes. The file is known to hold all of them.
struct ExternalData {
  OpenFile file;
  Index offset;
};
ExternalData find_external(const pb::TensorProto& proto, const Source& source, Index bytes);

// Returns nothing if the file leaves the type open. A tensor's shape is written to `shape` if the
// file gives it.
std::optional<ValueType> read_type(const pb::TypeProto& proto,
                                   std::optional<std::vector<Dim>>* shape = nullptr);
ValueInfo read_value_info(const pb::ValueInfoProto& proto, Source& source);
// `role` names the values in errors: "input", "value".
std::vector<ValueInfo> read_values(
    const google::protobuf::RepeatedPtrField<pb::ValueInfoProto>& protos, const char* role,
    const std::string& path, Source& source);
void write_type(const ValueType& type, const std::optional<std::vector<Dim>>& shape,
                pb::TypeProto& proto);

// `depth` counts the enclosing graphs; `path` names them in errors. An attribute's path is that of
// the graph it holds.
Graph read_graph(const pb::GraphProto& proto, Source& source, int depth, const std::string& path);
std::vector<Node> read_nodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& protos,
                             Source& source, int depth, const std::string& path);
Attribute read_attribute(const pb::AttributeProto& proto, Source& source, int depth,
                         const std::string& path);

inline std::string domain_of(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

}  // namespace touchstone
