// Reads external data from a place that the input names: lines of location, offset, length and
// checksum. Our own walk of the path opens nothing that the kernel refuses, and neither leaves the
// folder.
#include <unistd.h>

#include <filesystem>

#include "core/files.h"
#include "core/scratch.h"
#include "fuzz/bytes/target.h"
#include "model/model.h"
#include "model/proto.h"

namespace touchstone::bytes {
namespace {

namespace fs = std::filesystem;

constexpr Index count = 4;  // bytes of the tensor

// A folder with files, links of every kind that stay inside, and links that leave it.
class Tree {
 public:
  Tree() : root_(scratch_.path() / "model") {
    fs::create_directories(root_ / "data/deep");
    for (const char* name : {"in", "data/in", "data/deep/in"})
      write_atomically(root_ / name, std::string_view("inside: sixteen."));
    write_atomically(scratch_.path() / "out", std::string_view("OUTSIDE: SIXTEEN"));
    fs::create_symlink("in", root_ / "link");
    fs::create_symlink("../out", root_ / "leaves");
    fs::create_symlink(scratch_.path() / "out", root_ / "absolute");
    fs::create_directory_symlink("..", root_ / "up");
    fs::create_directory_symlink("data/deep", root_ / "down");
    fs::create_symlink("loop", root_ / "loop");
    fs::create_hard_link(scratch_.path() / "out", root_ / "hard");
  }
  const fs::path& root() const { return root_; }

 private:
  Scratch scratch_;
  fs::path root_;
};

std::string next_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string line(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

}  // namespace

void external(Bytes input) {
  static const Tree tree;
  std::string_view rest = text_of(input);
  const std::string location = next_line(rest);
  const Limits limits = limits_of_input();
  std::string found, walked;
  const auto read = [&](Beneath how, std::string& into) {
    return accepts(
        [&] { into = open_beneath(tree.root(), location, limits, how).read_all(limits); });
  };
  const bool opened = read(Beneath::kernel_if_it_can, found);
  if (read(Beneath::walk, walked))
    require(opened && walked == found, "the walk opens another file than the kernel");
  require(found.find("OUTSIDE") == std::string::npos, "a path leaves the folder");

  pb::ModelProto proto;
  proto.set_ir_version(8);
  pb::OperatorSetIdProto& opset = *proto.add_opset_import();
  opset.set_version(17);
  pb::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name("x");
  tensor.add_dims(count);
  tensor.set_data_type(pb::TensorProto::UINT8);
  tensor.set_data_location(pb::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    pb::StringStringEntryProto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  for (const char* key : {"offset", "length", "checksum"}) {
    if (const std::string value = next_line(rest); !value.empty()) add(key, value);
  }
  const std::string bytes = proto.SerializeAsString();
  accepts([&] {
    const Model model = parse_model(std::as_bytes(std::span(bytes)), tree.root(), limits);
    const Tensor& made = model.graph.initializers.at("x");
    require(opened && made.size() == count, "data of a file that cannot be opened");
    require(found.find(text_of(made.bytes())) != std::string::npos, "data that no file holds");
  });
}

}  // namespace touchstone::bytes
