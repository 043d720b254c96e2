// Converts a file to a Model: reads bytes within limits, parses one message, then checks versions
// and functions.
#include <google/protobuf/io/coded_stream.h>

#include <set>
#include <tuple>

#include "model/metadata.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"

namespace touchstone {
namespace {

bool parses(std::span<const std::byte> bytes, google::protobuf::MessageLite& message, int depth) {
  google::protobuf::io::CodedInputStream stream(
      static_cast<const std::uint8_t*>(static_cast<const void*>(bytes.data())),
      static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(depth);
  return message.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

// Parses the file without its large data and records the data's ranges in `source`. Returns false,
// with nothing parsed, if the file does not qualify.
bool parse_skeleton(const OpenFile& file, pb::ModelProto& proto, Source& source) {
  if (file.size() > source.limits.file_bytes) return false;
  const std::optional<Skeleton> skeleton = skeleton_of(file);
  if (!skeleton) return false;
  const std::span bytes = std::as_bytes(std::span(skeleton->bytes));
  source.messages = charge_messages(bytes, proto.GetTypeName(), source.limits);
  if (!parses(bytes, proto, source.limits.protobuf_depth)) {
    proto.Clear();
    return false;
  }
  source.file = &file;
  const pb::GraphProto& graph = proto.graph();
  for (const Skeleton::Data& data : skeleton->data) {
    const pb::TensorProto& tensor = data.initializer >= 0
                                        ? graph.initializer(data.initializer)
                                        : graph.node(data.node).attribute(data.attribute).t();
    source.left.emplace(&tensor, data.bytes);
  }
  return true;
}

// Estimated bytes of a node, a value or an attribute in a Model, with its names.
constexpr Index bytes_a_message = 400;

std::map<std::string, Index> read_opsets(
    const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& protos) {
  std::map<std::string, Index> opsets;
  for (const pb::OperatorSetIdProto& proto : protos) {
    const auto [at, fresh] = opsets.emplace(domain_of(proto.domain()), proto.version());
    if (fresh || at->second == proto.version()) continue;
    throw breach("model/opset-twice", "domain '" + proto.domain() + "' is imported in version " +
                                          std::to_string(at->second) + " and in " +
                                          std::to_string(proto.version()));
  }
  return opsets;
}

std::shared_ptr<Function> read_function(const pb::FunctionProto& proto, Source& source) {
  auto function = std::make_shared<Function>();
  function->name = proto.name();
  function->domain = domain_of(proto.domain());
  function->overload = proto.overload();
  const std::string path = operator_name(function->domain, function->name);
  return placed([&] { return "function " + path; },
                [&] {
                  function->inputs.assign(proto.input().begin(), proto.input().end());
                  function->outputs.assign(proto.output().begin(), proto.output().end());
                  function->attributes.assign(proto.attribute().begin(), proto.attribute().end());
                  for (const pb::AttributeProto& attribute : proto.attribute_proto()) {
                    const std::string& name = attribute.name();
                    Attribute held = read_attribute(attribute, source, 1, path + "/" + name);
                    if (!function->default_attributes.emplace(name, std::move(held)).second) {
                      throw breach("model/attribute-twice",
                                   "there are two attributes '" + name + "'");
                    }
                  }
                  function->opsets = read_opsets(proto.opset_import());
                  function->nodes = read_nodes(proto.node(), source, 1, path);
                  function->values = read_values(proto.value_info(), "value", path, source);
                  function->metadata = read_metadata(proto, source);
                  return function;
                });
}

Model read_model(const pb::ModelProto& proto, Source& source) {
  Model model;
  source.keep(source.messages.count * bytes_a_message);
  model.ir_version = proto.ir_version();
  if (model.ir_version <= 0)
    throw breach("model/ir-version", "ir_version is " + std::to_string(model.ir_version));
  if (model.ir_version > pb::IR_VERSION) {
    throw breach("model/ir-unknown", "ir_version is " + std::to_string(model.ir_version) +
                                         ", and " + std::to_string(pb::IR_VERSION) +
                                         " is the newest that is known");
  }
  model.producer = proto.producer_name();
  model.producer_version = proto.producer_version();
  model.domain = proto.domain();
  if (proto.has_model_version()) model.model_version = proto.model_version();
  model.metadata = read_metadata(proto, source);
  source.drop(proto.training_info_size() > 0, "training_info");
  source.drop(proto.configuration_size() > 0, "configuration");
  model.opsets = read_opsets(proto.opset_import());
  // Imports came with IR version 3. Older files use the first opset.
  if (model.ir_version < 3 && model.opsets.empty()) model.opsets[""] = 1;
  model.graph = read_graph(proto.graph(), source, 1, "");
  std::set<std::tuple<std::string, std::string, std::string>> names;
  for (const pb::FunctionProto& function : proto.functions()) {
    model.functions.push_back(read_function(function, source));
    const Function& read = *model.functions.back();
    if (names.emplace(read.domain, read.name, read.overload).second) continue;
    throw breach("model/function-twice",
                 "there are two functions " + operator_name(read.domain, read.name));
  }
  model.unkept = std::move(source.unkept);
  model.charge = std::make_shared<Charge>(std::move(source.model));
  return model;
}

}  // namespace

Messages parse_message(std::span<const std::byte> bytes, google::protobuf::MessageLite& message,
                       std::string_view rule, const Limits& limits) {
  const Index size = static_cast<Index>(bytes.size());
  // protobuf itself counts in int.
  const Index most = std::min<Index>(limits.file_bytes, (Index{1} << 31) - 1);
  if (size > most) throw over_limit("file_bytes", size, most);
  Messages messages = charge_messages(bytes, message.GetTypeName(), limits);
  if (parses(bytes, message, limits.protobuf_depth)) return messages;
  // The parser does not report its reason. If it succeeds at a larger depth, depth was the reason.
  message.Clear();
  const bool too_deep = parses(bytes, message, 2 * limits.protobuf_depth);
  message.Clear();
  if (too_deep)
    throw over_limit("protobuf_depth", limits.protobuf_depth + 1, limits.protobuf_depth);
  throw breach(rule, "the " + std::to_string(size) +
                         " bytes are not one message, or are nested more than " +
                         std::to_string(limits.protobuf_depth) + " deep");
}

Model parse_model(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                  const Limits& limits) {
  const LimitsScope scope(limits);
  const Budget budget(limits);
  pb::ModelProto proto;
  Source source{folder.empty() ? nullptr : &folder, limits};
  source.messages = parse_message(bytes, proto, "model/parse", limits);
  return read_model(proto, source);
}

Model load_model(const std::filesystem::path& file, const Limits& limits) {
  return placed([&] { return "file '" + file.string() + "'"; },
                [&] {
                  const LimitsScope scope(limits);
                  const Budget budget(limits);
                  const OpenFile opened = open_trusted(file);
                  const std::filesystem::path folder =
                      file.parent_path().empty() ? "." : file.parent_path();
                  pb::ModelProto proto;
                  Source source{&folder, limits};
                  if (!parse_skeleton(opened, proto, source)) {
                    // The bytes are freed before tensors are made: one copy less of a large model.
                    const Charge held(opened.size());
                    const std::string bytes = opened.read_all(limits);
                    source.messages = parse_message(std::as_bytes(std::span(bytes)), proto,
                                                    "model/parse", limits);
                  }
                  return read_model(proto, source);
                });
}

}  // namespace touchstone
