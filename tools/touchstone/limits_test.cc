// Tests times and sizes as written on the command line.
#include "tools/touchstone/limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "core/error.h"

namespace touchstone::command {
namespace {

TEST(LimitArgs, TimesHaveAUnit) {
  EXPECT_EQ(milliseconds_of("10s"), 10'000);
  EXPECT_EQ(milliseconds_of("10"), 10'000);
  EXPECT_EQ(milliseconds_of("500ms"), 500);
  EXPECT_EQ(milliseconds_of("1.5s"), 1500);
  EXPECT_EQ(milliseconds_of("2m"), 120'000);
  EXPECT_EQ(milliseconds_of("1h"), 3'600'000);
}

TEST(LimitArgs, SizesHaveAUnit) {
  EXPECT_EQ(bytes_of("1000"), 1000);
  EXPECT_EQ(bytes_of("64K"), 65536);
  EXPECT_EQ(bytes_of("512M"), Index{512} << 20);
  EXPECT_EQ(bytes_of("2G"), Index{2} << 30);
  EXPECT_EQ(bytes_of("0.5G"), Index{1} << 29);
}

TEST(LimitArgs, WhatIsNoneIsRefused) {
  for (const char* text : {"", "s", "0s", "-1s", "ten", "10 s", "10S", "1e30s", "nan", "inf"}) {
    try {
      milliseconds_of(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::usage);
    }
  }
  for (const char* text : {"", "G", "0", "-2G", "2GB", "2g", "1e30G"}) {
    try {
      bytes_of(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::usage);
    }
  }
}

TEST(LimitArgs, AreOfTheirPreset) {
  LimitArgs args;
  EXPECT_EQ(args.limits().memory, unlimited);
  args.preset = "untrusted";
  EXPECT_EQ(args.limits().memory, Limits::untrusted().memory);
  args.memory = "2G", args.deadline = "3s";
  EXPECT_EQ(args.limits().memory, Index{2} << 30);
  EXPECT_EQ(args.limits().milliseconds, 3000);
  EXPECT_EQ(args.limits().elements, Limits::untrusted().elements);
}

// A terminal may send Ctrl-C twice, and the second one arrive while the command ends.
TEST(CommandBudget, ASecondInterruptKeepsTheExitCode) {
  const auto interrupted_twice = [] {
    {
      const CommandBudget budget(Limits::trusted());
      raise(SIGINT);
      if (!is_cancelled()) _exit(1);
    }
    raise(SIGINT);
    _exit(130);
  };
  EXPECT_EXIT(interrupted_twice(), ::testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace touchstone::command
