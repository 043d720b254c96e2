// Batches attribute crashes, hangs and hoarding to their numbers, and stop when told to.
#include "fuzz/batches.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "core/error.h"

namespace touchstone::fuzz {
namespace {

// The result of each number: its text, or how its process died.
std::map<Index, std::string> ends_of(const BatchOptions& options, const Work& work) {
  std::map<Index, std::string> ends;
  in_batches(10, 8, options, work, [&](const Ended& ended) {
    EXPECT_TRUE(ends.emplace(ended.number, ended.text + ended.died).second) << ended.number;
  });
  EXPECT_EQ(ends.size(), 8);
  return ends;
}

TEST(Batches, WhatKillsAProcessIsFoundAndTheRestGoesOn) {
  for (const Index batch : {1, 3, 100}) {
    const auto ends = ends_of({batch, 60}, [](Index number, const Enter&) -> std::string {
      if (number == 12) std::abort();
      if (number == 15) {
        std::fputs("a.cc:1:2: runtime error: too far\n", stderr);
        std::fputs(std::string(5000, '.').c_str(), stderr);
        std::fputs("last words", stderr);
        ::_exit(7);
      }
      return "fine " + std::to_string(number);
    });
    EXPECT_TRUE(ends.at(12).starts_with("killed by Aborted\n"));
    EXPECT_TRUE(ends.at(15).starts_with("ended with 7\na.cc:1:2: runtime error: too far\n...."));
    EXPECT_TRUE(ends.at(15).ends_with("last words"));
    for (const Index number : {10, 11, 13, 14, 16, 17})
      EXPECT_EQ(ends.at(number), "fine " + std::to_string(number));
  }
}

TEST(Batches, WhatTakesTooLongIsNamed) {
  const auto ends = ends_of({4, 1}, [](Index number, const Enter&) -> std::string {
    volatile Index k = 0;
    while (number == 11 && k == 0) {
    }
    return "fine";
  });
  EXPECT_EQ(ends.at(11), "past the deadline\n");
  EXPECT_EQ(ends.at(12), "fine");
}

TEST(Batches, AWaitingProcessIsLate) {
  BatchOptions options{.batch = 4, .seconds = 60, .waiting = 1, .jobs = 2};
  const auto ends = ends_of(options, [](Index number, const Enter&) -> std::string {
    if (number == 13) ::pause();
    return "fine";
  });
  EXPECT_EQ(ends.at(13), "past the deadline\n");
  EXPECT_EQ(ends.at(17), "fine");
}

TEST(Batches, AStageIsPartOfADeath) {
  std::string stage;
  in_batches(
      0, 1, {},
      [](Index, const Enter& enter) -> std::string {
        enter("make");
        enter("run");
        std::abort();
      },
      [&](const Ended& ended) { stage = ended.stage; });
  EXPECT_EQ(stage, "run");
}

TEST(Batches, AStoppedBatchReportsNoFurtherNumber) {
  Index seen = 0;
  BatchOptions options{.batch = 1};
  options.stop = [&] { return seen >= 3; };
  EXPECT_FALSE(in_batches(
      0, 100, options, [](Index, const Enter&) -> std::string { return ""; },
      [&](const Ended&) { ++seen; }));
  EXPECT_EQ(seen, 3);
}

}  // namespace
}  // namespace touchstone::fuzz
