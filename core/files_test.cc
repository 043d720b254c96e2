// Hostile paths, by the kernel's resolution and by the walk; ranges; saving.
#include "core/files.h"

#include <gmock/gmock.h>
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
  EXPECT_THAT(refused(absolute), ::testing::HasSubstr("absolute"));
  EXPECT_THAT(refused("../secret"), ::testing::HasSubstr("'..'"));
  EXPECT_THAT(refused("sub/../weights"), ::testing::HasSubstr("'..'"));
  EXPECT_THAT(refused("sub/.."), ::testing::HasSubstr("'..'"));
  EXPECT_THAT(refused(""), ::testing::HasSubstr("empty"));
  EXPECT_THAT(refused("sub\\more"), ::testing::HasSubstr("backslash"));
  EXPECT_THAT(refused("C:weights"), ::testing::HasSubstr("drive"));
  EXPECT_THAT(refused(std::string_view("weights\0.bin", 12)), ::testing::HasSubstr("NUL"));
  EXPECT_THAT(refused("."), ::testing::HasSubstr("no file"));
  EXPECT_THAT(refused("weights/"), ::testing::HasSubstr("names a folder"));
  EXPECT_THAT(refused("weights/."), ::testing::HasSubstr("names a folder"));
}

TEST_P(Files, RefusesLinksThatLeadOut) {
  fs::create_symlink("../secret", root / "model" / "out");
  fs::create_symlink(root / "secret", root / "model" / "absolute");
  fs::create_directory_symlink("..", root / "model" / "up");
  fs::create_symlink("loop", root / "model" / "loop");
  fs::create_symlink("/proc/self/cwd", root / "model" / "magic");
  for (const char* path : {"out", "absolute", "up/secret", "loop", "magic/x"}) {
    EXPECT_THAT(refused(path), ::testing::HasSubstr("is refused")) << path;
  }
}

TEST_P(Files, LinksInsideAreFollowedByTheKernelsWayOnly) {
  fs::create_symlink("sub/more", root / "model" / "inside");
  EXPECT_EQ(refused("inside").empty(), GetParam() == Beneath::kernel_if_it_can);
}

TEST_P(Files, RefusesHardLinksWhereAskedTo) {
  fs::create_hard_link(root / "secret", root / "model" / "hard");
  EXPECT_EQ(refused("hard", Limits::trusted()), "");
  EXPECT_THAT(refused("hard", Limits::untrusted()), ::testing::HasSubstr("hard link"));
  EXPECT_EQ(refused("weights", Limits::untrusted()), "");
}

TEST_P(Files, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((root / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refused("pipe"), ::testing::HasSubstr("no regular file"));
  EXPECT_THAT(refused("sub"), ::testing::HasSubstr("no regular file"));
  EXPECT_THAT(refused("absent"), ::testing::HasSubstr("cannot open"));
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
      EXPECT_THAT(error.message, ::testing::HasSubstr("do not lie in")) << error.message;
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
      EXPECT_THAT(error.message, ::testing::HasSubstr(which == 0 ? "'bytes'" : "'file_bytes'"));
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
    EXPECT_THAT(error.message, ::testing::HasSubstr("/absent/model.onnx"));
  }
}

}  // namespace
}  // namespace touchstone
