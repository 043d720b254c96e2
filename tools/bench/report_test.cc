// Tests the figures that a report summarizes, and the most severe failure.
#include "tools/bench/report.h"

#include <gtest/gtest.h>

namespace touchstone::bench {
namespace {

Figure figure(const std::string& runtime, std::vector<std::vector<double>> blocks) {
  Figure made;
  made.runtime = runtime;
  made.blocks = std::move(blocks);
  return made;
}

Heat heat(const std::string& model, Figure ours, Figure peer) {
  Heat made;
  made.model = model;
  made.figures = {std::move(ours), std::move(peer)};
  return made;
}

TEST(Report, ARatioOfTheRounds) {
  const Heat one = heat("m", figure("ours", {{1}, {2}, {4}}), figure("peer", {{2}, {4}, {2}}));
  const std::optional<Ratio> found = ratio(one, one.figures[1]);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->middle, 2);
  EXPECT_EQ(found->low, 1.25);
  EXPECT_EQ(found->high, 2);
  EXPECT_FALSE(ratio(one, one.figures[0]));
}

TEST(Report, MeansNameTheLeast) {
  const std::vector<Heat> heats{heat("a", figure("ours", {{1}}), figure("peer", {{8}})),
                                heat("b", figure("ours", {{4}}), figure("peer", {{2}}))};
  const std::vector<Mean> found = means(heats);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].models, 2);
  EXPECT_EQ(found[0].ratio, 2);
  EXPECT_EQ(found[0].least, 0.5);
  EXPECT_EQ(found[0].least_model, "b");
}

TEST(Report, AFigureThatDoesNotStandIsInNoMean) {
  Heat wrong = heat("a", figure("ours", {{1}}), figure("peer", {{8}}));
  wrong.figures[1].failure = RuntimeFailure{FailureKind::wrong, "output 'y' is missing"};
  Heat indistinguishable = heat("b", figure("ours", {{1}}), figure("peer", {{8}}));
  indistinguishable.unfair = RuntimeFailure{FailureKind::wrong, "nothing could fail"};
  EXPECT_TRUE(means({wrong}).empty());
  EXPECT_TRUE(means({indistinguishable}).empty());
  const nlohmann::ordered_json told = to_json(wrong);
  EXPECT_FALSE(told["runtimes"][1]["valid"].get<bool>());
  EXPECT_FALSE(told["runtimes"][1].contains("seconds"));
  EXPECT_EQ(told["runtimes"][1]["why"], "output 'y' is missing");
  EXPECT_TRUE(told["runtimes"][0].contains("seconds"));
  EXPECT_FALSE(to_json(indistinguishable)["runtimes"][0]["valid"].get<bool>());
}

TEST(Report, AWrongOutputIsWorseThanACrash) {
  Heat both = heat("a", figure("ours", {{1}}), figure("peer", {{1}}));
  EXPECT_FALSE(worst({both}));
  both.figures[0].failure = RuntimeFailure{FailureKind::crashed, "signal 11"};
  EXPECT_EQ(worst({both}), FailureKind::crashed);
  both.figures[1].failure = RuntimeFailure{FailureKind::wrong, ""};
  EXPECT_EQ(worst({both}), FailureKind::wrong);
}

}  // namespace
}  // namespace touchstone::bench
