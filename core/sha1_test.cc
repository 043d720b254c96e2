// Digests of files that nearly fill their last block, and of long ones, compared with Python's
// hashlib.
#include "core/sha1.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>

namespace touchstone {
namespace {

TEST(Sha1, OfWholeFiles) {
  std::string folder = (std::filesystem::temp_directory_path() / "sha1_test-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::filesystem::path file = std::filesystem::path(folder) / "file";
  const std::map<std::size_t, std::string> digests{
      {0, "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
      {3, "b60d121b438a380c343d5ec3c2037564b82ffef3"},
      {55, "cef734ba81a024479e09eb5a75b6ddae62e6abf1"},
      {56, "901305367c259952f4e7af8323f480d59f81335b"},
      {64, "bb2fa3ee7afb9f54c6dfb5d021f14b1ffe40c163"},
      {1 << 20, "e37f4d5be56713044d62525e406d250a722647d6"},
      {(1 << 20) + 56, "b21cfc082921527caf4cedc30472bc107a80bd97"}};
  for (const auto& [size, digest] : digests) {
    write_atomically(file, std::string(size, 'x'));
    EXPECT_EQ(sha1(open_trusted(file)), digest) << size;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace touchstone
