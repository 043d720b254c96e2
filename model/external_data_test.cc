// External data: found beneath the model's folder and nowhere else.
#include "core/files.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

pb::TensorProto outside(const Keys& keys, std::vector<Index> dims = {4}) {
  pb::TensorProto made;
  made.set_name("w");
  made.set_data_type(static_cast<int>(Type::uint8));
  for (const Index dim : dims) made.add_dims(dim);
  made.set_data_location(pb::TensorProto::EXTERNAL);
  for (const auto& [key, value] : keys) {
    made.add_external_data()->set_key(key);
    made.mutable_external_data()->rbegin()->set_value(value);
  }
  return made;
}

class ExternalData : public ::testing::Test {
 protected:
  ExternalData() {
    std::filesystem::create_directory(folder_.path() / "models");
    folder_.write("secret", "secret secret");
    folder_.write("models/data", "0123456789");
  }

  Tensor load(const pb::TensorProto& tensor, const Limits& limits = {}) {
    pb::ModelProto proto = proto_model();
    *proto.mutable_graph()->add_initializer() = tensor;
    folder_.write("models/m.onnx", proto.SerializeAsString());
    return load_model(folder_.path() / "models/m.onnx", limits).graph.initializers.at("w");
  }

  void refused(const std::string& location, const Limits& limits = {}) {
    const Error error = thrown("", [&] { load(outside({{"location", location}}), limits); });
    EXPECT_EQ(error.kind, ErrorKind::file) << location << ": " << error.what();
    EXPECT_EQ(error.place, "initializer 'w', main graph");
  }

  Folder folder_;
};

TEST_F(ExternalData, RangesAreRead) {
  const auto first = [](const Tensor& tensor) {
    return static_cast<char>(tensor.data<std::uint8_t>()[0]);
  };
  EXPECT_EQ(first(load(outside({{"location", "data"}}))), '0');
  EXPECT_EQ(first(load(outside({{"location", "data"}, {"offset", "6"}, {"length", "4"}}))), '6');
  EXPECT_EQ(load(outside({{"location", "data"}}, {0})).size(), 0);
}

TEST_F(ExternalData, PathsStayBeneathTheFolder) {
  for (const char* location :
       {"../secret", "/etc/passwd", "", ".", "models/../../secret", "a\\b", "C:/x", "missing"}) {
    refused(location);
  }
  refused(std::string("data\0", 5));
  refused((folder_.path() / "models/data").string());
}

TEST_F(ExternalData, LinksDoNotLeaveTheFolder) {
  std::filesystem::create_symlink("../secret", folder_.path() / "models/link");
  refused("link");
  std::filesystem::create_hard_link(folder_.path() / "secret", folder_.path() / "models/hard");
  refused("hard", Limits::untrusted());
}

TEST_F(ExternalData, RangesLieInTheFile) {
  const auto broken = [&](const Keys& keys) {
    thrown("model/external-data", [&] { load(outside(keys)); });
  };
  broken({{"location", "data"}, {"offset", "7"}});
  broken({{"location", "data"}, {"offset", "9223372036854775807"}});
  broken({{"location", "data"}, {"offset", "9223372036854775808"}});
  broken({{"location", "data"}, {"offset", "-1"}});
  broken({{"location", "data"}, {"offset", "1x"}});
  broken({{"location", "data"}, {"offset", ""}});
  broken({{"location", "data"}, {"length", "5"}});
  broken({{"location", "data"}, {"length", "3"}});
  broken({{"offset", "0"}});
  broken({{"location", "data"}, {"location", "data"}});
}

TEST_F(ExternalData, AChecksumIsThatOfTheFile) {
  const std::string digest = "87acec17cd9dcd20a716cc2cf67417b71c8a7016";
  for (const std::string& same : {digest, std::string("87ACEC17CD9DCD20A716CC2CF67417B71C8A7016")})
    EXPECT_EQ(load(outside({{"location", "data"}, {"checksum", same}})).size(), 4);
  for (const std::string& other :
       {std::string("?"), std::string(), digest + "0", std::string(40, '0')})
    thrown("model/external-data", [&] {
      load(outside({{"location", "data"}, {"checksum", other}}));
    });
}

TEST_F(ExternalData, NothingIsAllocatedForAFileThatIsTooShort) {
  thrown("model/external-data", [&] { load(outside({{"location", "data"}}, {Index{1} << 33})); });
}

TEST_F(ExternalData, DataStandsInOnePlace) {
  pb::TensorProto both = outside({{"location", "data"}});
  both.set_raw_data("0123");
  thrown("model/tensor-data", [&] { load(both); });
  pb::TensorProto texts = outside({{"location", "data"}});
  texts.set_data_type(static_cast<int>(Type::string));
  thrown("model/tensor-data", [&] { load(texts); });
}

TEST_F(ExternalData, BytesAloneHaveNoFolder) {
  EXPECT_EQ(thrown("", [] { parse(outside({{"location", "data"}})); }).kind, ErrorKind::file);
}

TEST_F(ExternalData, EveryTensorGoesTheSameWay) {
  const pb::TensorProto escape = outside({{"location", "../secret"}});
  std::vector<pb::ModelProto> models(5, proto_model());
  auto& sparse = *models[0].mutable_graph()->add_sparse_initializer();
  sparse.add_dims(9);
  *sparse.mutable_values() = escape;
  const auto put = [&](pb::NodeProto& node) {
    pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name("a");
    attribute.set_type(pb::AttributeProto::TENSOR);
    *attribute.mutable_t() = escape;
  };
  put(*models[1].mutable_graph()->add_node());
  put(*models[2].add_functions()->add_node());
  pb::AttributeProto& body = *models[3].mutable_graph()->add_node()->add_attribute();
  body.set_name("body");
  body.set_type(pb::AttributeProto::GRAPH);
  *body.mutable_g()->add_initializer() = escape;
  pb::AttributeProto& list = *models[4].mutable_graph()->add_node()->add_attribute();
  list.set_name("list");
  list.set_type(pb::AttributeProto::TENSORS);
  *list.add_tensors() = escape;
  for (const pb::ModelProto& proto : models) {
    folder_.write("models/m.onnx", proto.SerializeAsString());
    EXPECT_EQ(thrown("", [&] { load_model(folder_.path() / "models/m.onnx", Limits()); }).kind,
              ErrorKind::file);
  }
}

}  // namespace
}  // namespace touchstone::testing
