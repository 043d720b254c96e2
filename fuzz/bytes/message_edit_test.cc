// Edits of messages: what was a message stays one, and deep fields are reached.
#include "fuzz/bytes/message_edit.h"

#include <gtest/gtest.h>

#include <set>

#include "fuzz/bytes/target.h"
#include "model/proto.h"

namespace touchstone::bytes {
namespace {

std::string small_model() {
  pb::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  pb::NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type("Relu");
  node.add_input("x");
  node.add_output("y");
  return model.SerializeAsString();
}

std::string unchanged(std::string_view text) { return std::string(text); }

TEST(MessageEdit, AMessageStaysAMessage) {
  const std::string message = small_model();
  std::set<std::string> made;
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    const std::string edited = edited_message(message, seed, unchanged);
    pb::ModelProto read;
    EXPECT_TRUE(read.ParseFromString(edited)) << seed;
    made.insert(edited);
  }
  EXPECT_GT(made.size(), 30U);
}

TEST(MessageEdit, ReachesTheFieldsOfANode) {
  const std::string message = small_model();
  bool renamed = false, without_input = false;
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    pb::ModelProto read;
    const auto change = [](std::string_view) { return std::string("Tanh"); };
    if (!read.ParseFromString(edited_message(message, seed, change))) continue;
    if (read.graph().node_size() != 1) continue;
    renamed = renamed || read.graph().node(0).op_type() == "Tanh";
    without_input = without_input || read.graph().node(0).input_size() == 0;
  }
  EXPECT_TRUE(renamed);
  EXPECT_TRUE(without_input);
}

TEST(MessageEdit, ASeedGivesTheSameEdit) {
  EXPECT_EQ(edited_message(small_model(), 7, unchanged),
            edited_message(small_model(), 7, unchanged));
}

TEST(MessageEdit, OtherBytesAreLeftToTheCaller) {
  EXPECT_EQ(edited_message("\xff", 1, [](std::string_view) { return std::string("new"); }), "new");
  EXPECT_EQ(edited_message("", 1, [](std::string_view) { return std::string("new"); }), "new");
}

}  // namespace
}  // namespace touchstone::bytes
