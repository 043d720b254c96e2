// SortedMap beside std::map: the same entries, answers and order.
#include "core/sorted_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

namespace touchstone {
namespace {

using testing::ElementsAre;
using testing::Pair;
using Sorted = SortedMap<int, std::string>;

TEST(SortedMap, FillRefusesAKeyThatOccursTwice) {
  Sorted map;
  EXPECT_TRUE(map.fill({{3, "c"}, {-1, "a"}}));
  EXPECT_FALSE(map.fill({{5, "e"}, {2, "b"}, {5, "f"}}));
  EXPECT_THAT(Sorted::Entries(map.begin(), map.end()), ElementsAre(Pair(-1, "a"), Pair(3, "c")));
}

TEST(SortedMap, AtThrowsForAKeyThatIsNotThere) {
  Sorted map;
  EXPECT_THROW(map.at(1), std::out_of_range);
  map.emplace(2, "b");
  EXPECT_EQ(map.at(2), "b");
  EXPECT_THROW(map.at(1), std::out_of_range);
  EXPECT_THROW(map.at(3), std::out_of_range);
}

RC_GTEST_PROP(SortedMap, KeepsWhatAMapKeeps,
              (const std::vector<std::pair<int, std::string>>& calls)) {
  Sorted ours;
  std::map<int, std::string> theirs;
  for (const auto& [number, text] : calls) {
    const int key = number % 8;
    if (text.size() % 3 == 0) {
      RC_ASSERT(ours.emplace(key, text).second == theirs.emplace(key, text).second);
    } else if (text.size() % 3 == 1) {
      RC_ASSERT(ours.insert_or_assign(key, text).second ==
                theirs.insert_or_assign(key, text).second);
    } else if (!ours.empty()) {
      ours.erase(ours.begin());
      theirs.erase(theirs.begin());
    }
    ours[key + 1] += text;
    theirs[key + 1] += text;
  }
  RC_ASSERT(ours.size() == theirs.size());
  RC_ASSERT(std::equal(ours.begin(), ours.end(), theirs.begin(), [](const auto& a, const auto& b) {
    return a.first == b.first && a.second == b.second;
  }));
}

}  // namespace
}  // namespace touchstone
