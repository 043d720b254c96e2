// Campaigns: the same result for a seed whatever the jobs, shards and interruptions; verdicts for
// targets that crash, hang or hoard; findings on disk.
#include "fuzz/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/scratch.h"
#include "fuzz/page.h"
#include "fuzz/store.h"
#include "fuzz/testing.h"

namespace touchstone::fuzz {
namespace {

namespace fs = std::filesystem;
using testing::Fault;
using ::testing::HasSubstr;

class Campaigns : public ::testing::Test {
 protected:
  CampaignOptions options(const std::string& name) {
    CampaignOptions made;
    made.target = "faulty";
    made.level = "small";
    made.seed = 3;
    made.count = 60;
    made.batch = 8;
    made.folder = scratch_.path() / name;
    made.reduction.reset();
    return made;
  }

  MakeRunner runner(const Fault& fault) {
    return [this, fault] {
      const fs::path folder = scratch_.path() / std::to_string(::getpid());
      fs::create_directories(folder);
      return run_in_process(std::make_unique<testing::FaultyTarget>(fault), folder);
    };
  }

  State run(const CampaignOptions& options, const Fault& fault = {}) {
    State state;
    EXPECT_TRUE(run_campaign(options, testing::SmallSource(), runner(fault), state, {}));
    return state;
  }

  // The state without its times.
  static std::string timeless(State state) {
    for (Campaign& one : state.campaigns) {
      one.seconds = 0;
      one.growth.clear();
    }
    return to_json(state).dump(1);
  }

  Scratch scratch_;
};

TEST_F(Campaigns, ASeedGivesTheSameResultForAnyJobsAndBatches) {
  const State one = run(options("one"), {"Abs", Fault::wrong_last});
  CampaignOptions other = options("two");
  other.jobs = 3;
  other.batch = 5;
  EXPECT_EQ(timeless(run(other, {"Abs", Fault::wrong_last})), timeless(one));
  EXPECT_EQ(one.campaigns.front().counts.at("no-case"), 8);
  EXPECT_EQ(one.campaigns.front().cases(), 52);
  EXPECT_EQ(one.findings.size(), 1);
  other = options("three");
  other.seed = 4;
  EXPECT_NE(timeless(run(other, {"Abs", Fault::wrong_last})), timeless(one));
}

TEST_F(Campaigns, ShardsTogetherAreTheWhole) {
  const Fault fault{"Abs", Fault::wrong_last};
  State whole = run(options("whole"), fault), all;
  for (const Index k : {2, 0, 1}) {
    CampaignOptions part = options("part" + std::to_string(k));
    part.shard = k;
    part.shards = 3;
    merge(all, run(part, fault));
  }
  EXPECT_EQ(all.campaigns.front().shards, (std::vector<std::string>{"0/3", "1/3", "2/3"}));
  all.campaigns.front().shards = whole.campaigns.front().shards;
  EXPECT_EQ(timeless(all), timeless(whole));
  EXPECT_THROW(merge(whole, run(options("again"), fault)), Error);
}

TEST_F(Campaigns, AnInterruptedCampaignResumesToTheSameResult) {
  const Fault fault{"Tanh", Fault::wrong_last};
  const State whole = run(options("whole"), fault);
  CampaignOptions broken = options("broken");
  Index seen = 0;
  broken.stop = [&] { return seen >= 23; };
  State state;
  EXPECT_FALSE(run_campaign(broken, testing::SmallSource(), runner(fault), state,
                            [&](const State&, const Outcome&) { ++seen; }));
  const State kept = read_state(broken.folder);
  EXPECT_EQ(kept.campaigns.front().next, 23);
  State resumed = kept;
  broken.stop = {};
  EXPECT_TRUE(run_campaign(broken, testing::SmallSource(), runner(fault), resumed, {}));
  EXPECT_EQ(timeless(resumed), timeless(whole));
}

TEST_F(Campaigns, AStateCutInHalfIsReplacedByTheOneBefore) {
  const CampaignOptions made = options("cut");
  const State state = run(made);
  write_state(state, made.folder);
  const fs::path file = made.folder / "state.json";
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_EQ(timeless(read_state(made.folder)), timeless(state));
  fs::resize_file(made.folder / "state.previous.json", 5);
  EXPECT_THROW(read_state(made.folder), Error);
}

TEST_F(Campaigns, CrashesHangsAndHoardsAreVerdictsAndTheCampaignGoesOn) {
  const std::pair<Fault::Kind, std::string> kinds[] = {{Fault::crash, "crash"},
                                                       {Fault::hang, "timeout"},
                                                       {Fault::hoard, "out-of-memory"},
                                                       {Fault::refuse, "rejected-valid"}};
  for (const auto& [kind, verdict] : kinds) {
    CampaignOptions made = options(verdict);
    made.count = 12;
    made.limits.waiting = kind == Fault::hang ? 1 : 60;
    made.limits.memory = Index{1} << 30;
    const State state = run(made, {"Exp", kind});
    const Campaign& all = state.campaigns.front();
    EXPECT_EQ(all.next, 12) << verdict;
    EXPECT_EQ(all.counts.at(verdict), 2) << verdict;
    ASSERT_EQ(state.findings.size(), 1) << verdict;
    const Finding& finding = state.findings.begin()->second;
    EXPECT_EQ(finding.outcome.node, "Exp-13");
    EXPECT_EQ(finding.count, 2);
    EXPECT_THAT(finding.outcome.text, HasSubstr("Exp-13(float["));
  }
}

TEST_F(Campaigns, AFindingIsAFolderThatStandsAlone) {
  const CampaignOptions made = options("kept");
  const State state = run(made, {"Abs", Fault::wrong_last});
  const Finding& finding = state.findings.begin()->second;
  const fs::path folder = folder_of(made.folder, finding);
  for (const char* const file : {"model.onnx", "case.json", "replay.py", "issue.md",
                                 "test_data_set_0/input_0.pb", "test_data_set_0/output_0.pb"})
    EXPECT_TRUE(fs::exists(folder / file)) << file;
  const StoredCase stored = read_case(folder.string());
  EXPECT_EQ(stored.is.text, finding.outcome.text);
  EXPECT_EQ(stored.finding->hash, finding.hash);
  EXPECT_EQ(stored.is.feeds.size(), 1);
  const std::string issue = open_trusted(folder / "issue.md").read_all(Limits::trusted());
  EXPECT_THAT(issue, HasSubstr("spec/ops/ai.onnx/Abs.yaml:"));
  EXPECT_THAT(html_page(state), HasSubstr(finding.hash));
}

TEST_F(Campaigns, AFullDiskIsAnErrorThatNamesTheFile) {
  CampaignOptions made = options("full");
  fs::create_directories(made.folder / "findings");
  fs::create_directory(made.folder / "state.json");  // no file can replace it
  State state;
  try {
    run_campaign(made, testing::SmallSource(), runner({}), state, {});
    FAIL() << "the state was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::file);
    EXPECT_THAT(error.message, HasSubstr("state.json"));
  }
}

TEST_F(Campaigns, MergedFindingsOfOneSignatureAreOne) {
  const Fault fault{"Abs", Fault::wrong_last};
  CampaignOptions other = options("other");
  other.seed = 9;
  State all = run(options("one"), fault);
  const Index before = all.findings.begin()->second.count;
  merge(all, run(other, fault));
  EXPECT_EQ(all.campaigns.size(), 2);
  ASSERT_EQ(all.findings.size(), 1);
  EXPECT_EQ(all.findings.begin()->second.count, 2 * before);
  EXPECT_EQ(all.findings.begin()->second.number >> 40U, 3);
}

}  // namespace
}  // namespace touchstone::fuzz
