// Data files are found in an installation, in a build folder, and nowhere else.
#include "conformance/data.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/error.h"

namespace touchstone::conformance {
namespace {

namespace fs = std::filesystem;

class Data : public ::testing::Test {
 protected:
  Data() {
    std::string name = (fs::temp_directory_path() / "data_test-XXXXXX").string();
    root = mkdtemp(name.data());
  }
  ~Data() override { fs::remove_all(root); }
  fs::path with_data(const std::string& folder) {
    fs::create_directories(root / folder / "conformance/suites");
    return root / folder;
  }
  fs::path root;
};

TEST_F(Data, AnInstallationIsAskedFirst) {
  const fs::path share = with_data("usr/share/touchstone");
  fs::create_directories(root / "usr/bin");
  EXPECT_EQ(data_folder_for(root / "usr/bin"), share);
}

TEST_F(Data, ABuildFolderNamesItsSourceTree) {
  const fs::path source = with_data("source");
  fs::create_directories(root / "build/fuzz");
  std::ofstream(root / "build/CMakeCache.txt")
      << "A:STRING=1\nCMAKE_HOME_DIRECTORY:INTERNAL=" << source.string() << "\nB:STRING=2\n";
  EXPECT_EQ(data_folder_for(root / "build/fuzz"), source);
}

TEST_F(Data, NothingFoundIsAnErrorThatNamesTheFolder) {
  fs::create_directories(root / "bin");
  try {
    data_folder_for(root / "bin");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::file);
    EXPECT_THAT(error.message, ::testing::HasSubstr((root / "bin").string()));
  }
}

TEST_F(Data, TheVariablesComeFirst) {
  with_data("usr/share/touchstone");
  ::setenv("TOUCHSTONE_DATA", "/elsewhere", 1);
  EXPECT_EQ(data_folder_for(root / "usr/bin"), "/elsewhere");
  ::unsetenv("TOUCHSTONE_DATA");
  ::setenv("TOUCHSTONE_PYTHON", "/a/python", 1);
  EXPECT_EQ(python_of(".venv"), "/a/python");
  ::unsetenv("TOUCHSTONE_PYTHON");
  EXPECT_EQ(python_of(".venv-missing"), "python3");
}

}  // namespace
}  // namespace touchstone::conformance
