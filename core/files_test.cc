// Hostile paths, by the kernel's resolution and by the walk; ranges; saving.
#include "core/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

class Files : public testing::TestWithParam<Beneath> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "touchstone_files_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root = pattern;
    fs::create_directories(root / "model" / "sub");
    write_atomically(root / "secret", "secret");
    write_atomically(root / "model" / "weights", "0123456789");
    write_atomically(root / "model" / "sub" / "more", "abc");
  }
  void TearDown() override { fs::remove_all(root); }

  OpenFile open(std::string_view path, const Limits& limits = {}) {
    return open_beneath(root / "model", path, limits, GetParam());
  }
  // Returns the message that refuses a path; empty if it was opened.
  std::string refused(std::string_view path, const Limits& limits = {}) {
    try {
      open(path, limits);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::file);
      return error.message;
    }
  }

  fs::path root;
};

TEST_P(Files, OpensWhatLiesInTheFolder) {
  EXPECT_EQ(open("weights").read_all({}), "0123456789");
  EXPECT_EQ(open("sub/more").read_all({}), "abc");
  EXPECT_EQ(open("./sub//more").read_all({}), "abc");
  EXPECT_EQ(open("weights").name(), "weights");
}

TEST_P(Files, RefusesPathsThatAreNotPlain) {
  const std::string absolute = (root / "model" / "weights").string();
  EXPECT_NE(refused(absolute).find("absolute"), std::string::npos);
  EXPECT_NE(refused("../secret").find("'..'"), std::string::npos);
  EXPECT_NE(refused("sub/../weights").find("'..'"), std::string::npos);
  EXPECT_NE(refused("sub/..").find("'..'"), std::string::npos);
  EXPECT_NE(refused("").find("empty"), std::string::npos);
  EXPECT_NE(refused("sub\\more").find("backslash"), std::string::npos);
  EXPECT_NE(refused("C:weights").find("drive"), std::string::npos);
  EXPECT_NE(refused(std::string_view("weights\0.bin", 12)).find("NUL"), std::string::npos);
  EXPECT_NE(refused(".").find("no file"), std::string::npos);
}

TEST_P(Files, RefusesLinksThatLeadOut) {
  fs::create_symlink("../secret", root / "model" / "out");
  fs::create_symlink(root / "secret", root / "model" / "absolute");
  fs::create_directory_symlink("..", root / "model" / "up");
  fs::create_symlink("loop", root / "model" / "loop");
  fs::create_symlink("/proc/self/cwd", root / "model" / "magic");
  for (const char* path : {"out", "absolute", "up/secret", "loop", "magic/x"}) {
    EXPECT_NE(refused(path).find("is refused"), std::string::npos) << path;
  }
}

TEST_P(Files, LinksInsideAreFollowedByTheKernelsWayOnly) {
  fs::create_symlink("sub/more", root / "model" / "inside");
  EXPECT_EQ(refused("inside").empty(), GetParam() == Beneath::kernel_if_it_can);
}

TEST_P(Files, RefusesHardLinksWhereAskedTo) {
  fs::create_hard_link(root / "secret", root / "model" / "hard");
  EXPECT_EQ(refused("hard", Limits::trusted()), "");
  EXPECT_NE(refused("hard", Limits::untrusted()).find("hard link"), std::string::npos);
  EXPECT_EQ(refused("weights", Limits::untrusted()), "");
}

TEST_P(Files, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((root / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refused("pipe").find("no regular file"), std::string::npos);
  EXPECT_NE(refused("sub").find("no regular file"), std::string::npos);
  EXPECT_NE(refused("absent").find("cannot open"), std::string::npos);
  EXPECT_NE(refused("weights/x"), "");
}

TEST_P(Files, ReadsRangesThatLieInTheFile) {
  const OpenFile file = open("weights");
  EXPECT_EQ(file.size(), 10);
  EXPECT_EQ(file.read(7, 3, {}),
            (std::vector<std::byte>{std::byte{'7'}, std::byte{'8'}, std::byte{'9'}}));
  EXPECT_TRUE(file.read(10, 0, {}).empty());
  constexpr Index most = std::numeric_limits<Index>::max();
  const std::vector<std::pair<Index, Index>> outside = {{8, 3},    {11, 0},      {-1, 2},  {0, -1},
                                                        {0, most}, {most, most}, {1, most}};
  for (const auto& [offset, length] : outside) {
    try {
      file.read(offset, length, {});
      ADD_FAILURE() << offset << " " << length;
    } catch (const Error& error) {
      EXPECT_NE(error.message.find("do not lie in"), std::string::npos) << error.message;
    }
  }
}

TEST_P(Files, NameTheLimitThatTheyPass) {
  Limits limits;
  limits.bytes = 4, limits.file_bytes = 10;
  const OpenFile file = open("weights");
  EXPECT_EQ(file.read(0, 4, limits).size(), 4U);
  EXPECT_EQ(file.read_all(limits).size(), 10U);
  limits.file_bytes = 9;
  for (int which = 0; which < 2; ++which) {
    try {
      if (which == 0) file.read(0, 5, limits);
      if (which == 1) file.read_all(limits);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::limit);
      EXPECT_NE(error.message.find(which == 0 ? "'bytes'" : "'file_bytes'"), std::string::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Files, testing::Values(Beneath::kernel_if_it_can, Beneath::walk));

using Saving = Files;
TEST_P(Saving, ReplacesTheWholeFileAndLeavesNothingBeside) {
  const fs::path path = root / "model" / "weights";
  write_atomically(path, "new");
  EXPECT_EQ(open_trusted(path).read_all({}), "new");
  fs::create_symlink(root / "secret", root / "model" / "link");
  write_atomically(root / "model" / "link", "mine");  // replaces the link, not its target
  EXPECT_EQ(open_trusted(root / "secret").read_all({}), "secret");
  fs::create_directory(root / "model" / "folder");
  EXPECT_THROW(write_atomically(root / "model" / "folder", "x"), Error);
  EXPECT_THROW(write_atomically(root / "absent" / "x", "x"), Error);
  for (const auto& entry : fs::directory_iterator(root / "model")) {
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
  }
}
INSTANTIATE_TEST_SUITE_P(Once, Saving, testing::Values(Beneath::walk));

TEST(Trusted, SaysWhatItCannotOpen) {
  try {
    open_trusted("/absent/model.onnx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::file);
    EXPECT_NE(error.message.find("/absent/model.onnx"), std::string::npos);
  }
}

}  // namespace
}  // namespace touchstone
