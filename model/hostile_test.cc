// Truncated files and randomly changed bytes: the only valid outcomes are a model or an Error. A
// sanitizer report is a defect too.
#include <random>

#include "core/files.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> found;
  const std::filesystem::path wheel = std::filesystem::path(ONNX_WHEEL) / "backend/test/data";
  for (const char* name : {"light/light_squeezenet.onnx", "simple/test_sequence_model1/model.onnx",
                           "simple/test_gradient_of_add/model.onnx",
                           "pytorch-operator/test_operator_pad/model.onnx"}) {
    found.push_back(open_trusted(wheel / name).read_all(Limits()));
  }
  const std::filesystem::path here = std::filesystem::path(TOUCHSTONE_SOURCE) / "model/testdata";
  found.push_back(open_trusted(here / "every_type.onnx").read_all(Limits()));
  // Functions, references and nested graphs, which the files above lack.
  Model nested = chain({node("F", {"X"}, {"Y"}, {{"a", attribute(Index{1})}})});
  nested.graph.nodes[0].domain = "local";
  const Graph branch = graph({node("Relu", {"x"}, {"b"})}, {}, {floats("b")});
  auto body = function(
      "F", {"x"}, {"y"},
      {node("Concat", {"x"}, {"c"}, {{"axis", reference(Index{}, "a")}}),
       node("If", {"c"}, {"y"},
            {{"then_branch", graph_attribute(branch)}, {"else_branch", graph_attribute(branch)}})});
  body->attributes = {"a"};
  nested.functions.push_back(body);
  nested.opsets["local"] = 1;
  const Folder folder;
  save_model(nested, folder.path() / "m");
  found.push_back(open_trusted(folder.path() / "m").read_all(Limits()));
  return found;
}

// True if the bytes are still a model; an Error is acceptable too.
bool survives(const std::string& bytes) {
  const Limits limits = Limits::fuzz();
  try {
    Model model = parse_model(bytes_of(bytes), {}, limits);
    resolve(model);
    for (const Error& error : check(model, limits)) {
      EXPECT_NE(error.kind, ErrorKind::internal) << error.what();
    }
    return true;
  } catch (const Error& error) {
    EXPECT_NE(error.kind, ErrorKind::internal) << error.what();
    return false;
  }
}

TEST(Hostile, SeedsAreModels) {
  for (const std::string& seed : seeds()) EXPECT_TRUE(survives(seed));
}

TEST(Hostile, CutShort) {
  for (const std::string& seed : seeds()) {
    const std::size_t step = std::max<std::size_t>(1, seed.size() / 400);
    for (std::size_t length = 0; length < seed.size(); length += step)
      survives(seed.substr(0, length));
  }
}

TEST(Hostile, BytesChanged) {
  std::mt19937 random(20240917);
  for (const std::string& seed : seeds()) {
    for (int round = 0; round < 1500; ++round) {
      std::string bytes = seed;
      for (unsigned k = 0; k < 1 + random() % 4; ++k)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      survives(bytes);
    }
  }
}

TEST(Hostile, PiecesMoved) {
  std::mt19937 random(7);
  for (const std::string& seed : seeds()) {
    for (int round = 0; round < 300; ++round) {
      const std::size_t from = random() % seed.size(), to = random() % seed.size();
      const std::size_t length = 1 + random() % 64;
      std::string bytes = seed;
      if (round % 2 == 0) bytes.erase(from, length);
      bytes.insert(std::min(to, bytes.size()), seed.substr(from, length));
      survives(bytes);
    }
  }
}

TEST(Hostile, ValuesCutAndChanged) {
  const ValueType type = parse_value_type("seq(map(string,tensor(float)))");
  Sequence sequence{*type.inner, {}};
  for (int k = 0; k < 3; ++k) {
    Map map;
    map.key = Type::string;
    map.value = tensor_type(Type::float32);
    map.by_string.emplace("a", tensor({1, 2}));
    map.by_string.emplace("b", tensor({}));
    sequence.items.push_back(map);
  }
  const std::string seed = serialize_value(sequence);
  std::mt19937 random(11);
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = round < static_cast<int>(seed.size()) ? seed.substr(0, round) : seed;
    if (bytes.size() == seed.size()) bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      parse_value(bytes_of(bytes), type, Limits::fuzz());
    } catch (const Error& error) {
      EXPECT_NE(error.kind, ErrorKind::internal) << error.what();
    }
  }
}

}  // namespace
}  // namespace touchstone::testing
