// Targets that are wrong after a transformation are found, named by it and reduced.
#include "fuzz/meta/examine_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/scratch.h"
#include "fuzz/campaign.h"
#include "fuzz/examiner.h"
#include "fuzz/line_text.h"
#include "fuzz/meta/meta_source.h"
#include "fuzz/meta/transformation.h"
#include "fuzz/reduce.h"
#include "fuzz/store.h"
#include "fuzz/testing.h"

namespace touchstone::fuzz {
namespace {

namespace fs = std::filesystem;
using testing::Fault;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Gives the last element of an output one step off, from the second model that it loads.
class DriftingTarget : public targets::Target {
 public:
  std::string name() const override { return "drifting"; }
  std::unique_ptr<targets::LoadedModel> load(const fs::path& model) override {
    return std::make_unique<Drifting>(load_valid(model, Limits::trusted()), loads_++ > 0);
  }

 private:
  class Drifting : public targets::LoadedModel {
   public:
    Drifting(Model model, bool drifts) : model_(std::move(model)), drifts_(drifts) {}
    std::vector<targets::Port> inputs() const override { return targets::ports_of(model_); }
    std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) override {
      std::map<std::string, Value> outputs = touchstone::run(model_, feeds, {});
      const Tensor right = outputs.begin()->second.tensor();
      if (!drifts_ || right.size() == 0) return outputs;
      Tensor other(right.type(), right.shape());
      for (Index k = 0; k < right.size(); ++k) set_code(other, k, code_at(right, k));
      set_code(other, right.size() - 1, code_at(right, right.size() - 1) + 1);
      outputs.begin()->second = other;
      return outputs;
    }

   private:
    Model model_;
    bool drifts_;
  };
  int loads_ = 0;
};

class Pairs : public ::testing::Test {
 protected:
  MakeRunner faulty(const Fault& fault, const Fault& with_options = {}) {
    return [this, fault, with_options] {
      const fs::path folder = scratch_.path() / std::to_string(::getpid());
      fs::create_directories(folder);
      auto made = run_in_process(std::make_unique<testing::FaultyTarget>(fault), folder);
      made->make_other = [with_options, folder](const std::string&) {
        return run_in_process(std::make_unique<testing::FaultyTarget>(with_options), folder);
      };
      return made;
    };
  }

  Outcome examined(const std::string& line, const std::string& recipe, const MakeRunner& make) {
    Case one = case_of_line(line);
    one.transformation = recipe;
    return Examiner(make, {})(one);
  }

  Scratch scratch_;
};

TEST_F(Pairs, ARightTargetAgrees) {
  for (const std::string recipe :
       {"identity=inputs", "identity=values", "dead=copies", "session", "repeat", "save",
        "opset-up=21", "split=0:1:all", "function=nodes", "function=whole", "threads=2"}) {
    const Outcome found = examined("Tanh-13(float[3,2]~real)", recipe, faulty({}));
    EXPECT_EQ(found.verdict, "exact") << recipe << ": " << found.detail;
    EXPECT_THAT(found.covered, ::testing::Contains("meta/" + label_of(recipe)));
    EXPECT_EQ(found.text, "Tanh-13(float[3,2]~real) | " + recipe);
  }
}

TEST_F(Pairs, AFaultAfterATransformationIsFoundAndReduced) {
  Examiner examine(faulty({"Identity", Fault::wrong_last}), {});
  Case one = case_of_line("Softmax-13(float[7,33]~real) axis=1");
  one.transformation = "identity=values";
  const Outcome found = examine(one);
  EXPECT_EQ(found.verdict, "wrong-value");
  EXPECT_THAT(found.pattern, StartsWith("identity=values: output 0: number for "));
  const Reduced smaller = reduce(
      one, found, [&](const Case& each) { return examine(each); }, std::chrono::seconds(60));
  EXPECT_EQ(smaller.is.transformation, "identity=values");
  EXPECT_TRUE(smaller.outcome.is_finding());
  const LineText line = split_line(smaller.is.text);
  PortText port;
  ASSERT_TRUE(split_port(line.ports.at(0), port)) << smaller.is.text;
  for (const std::string& dim : port.dims) EXPECT_LE(size_of_dim(dim), 4) << smaller.is.text;
  EXPECT_TRUE(line.attributes.empty()) << smaller.is.text;
}

TEST_F(Pairs, AFaultBeforeATransformationIsOneThatItMends) {
  const Outcome mended =
      examined("Neg-13(float[4]~real)", "threads=2", faulty({"Neg", Fault::wrong_last}, {}));
  EXPECT_EQ(mended.verdict, "wrong-value");
  EXPECT_THAT(mended.pattern, StartsWith("threads=2 mends: output 0"));
}

TEST_F(Pairs, AFaultOnBothSidesIsLeftToOtherLevels) {
  const Fault fault{"Neg", Fault::wrong_last};
  const std::string line = "Neg-13(float[4]~real)";
  EXPECT_EQ(examined(line, "threads=2", faulty(fault, fault)).verdict, "exact");
  const Outcome found = examined(line, "threads=2", faulty(fault, {"Neg", Fault::refuse}));
  EXPECT_EQ(found.verdict, "open") << found.detail;
}

TEST_F(Pairs, ACrashAfterATransformationNamesIt) {
  const Outcome found =
      examined("Neg-13(float[4]~real)", "threads=2", faulty({}, {"Neg", Fault::crash}));
  EXPECT_EQ(found.verdict, "crash");
  EXPECT_THAT(found.pattern, StartsWith("run threads=2: "));
  EXPECT_EQ(found.node, "Neg-13");
  const Outcome refused =
      examined("Neg-13(float[4]~real)", "threads=2", faulty({}, {"Neg", Fault::refuse}));
  EXPECT_EQ(refused.verdict, "rejected-valid");
  EXPECT_THAT(refused.pattern, StartsWith("threads=2: not this"));
}

TEST_F(Pairs, OtherBitsArePromisedNotToBe) {
  const MakeRunner drifting = [this] {
    return run_in_process(std::make_unique<DriftingTarget>(), scratch_.path());
  };
  const Outcome found = examined("Tanh-13(float[3]~real)", "session", drifting);
  EXPECT_EQ(found.verdict, "nondeterministic") << found.detail;
  EXPECT_EQ(found.pattern, "session: other bits");
  EXPECT_EQ(found.node, "Tanh-13");
  const Outcome rounded = examined("Tanh-13(float[3]~real)", "opset-up=21", drifting);
  EXPECT_EQ(rounded.verdict, "within") << rounded.detail;
}

TEST_F(Pairs, AConversionMayMoveWhatANeighbourOfWeightZeroReaches) {
  const auto said = [&](const std::string& line, const char* change) {
    return examined(line, change, faulty({}, {"Neg", Fault::crash})).verdict;
  };
  const std::string linear = R"(Upsample-7(float[2]{1,nan}) mode="linear" scales=[2])";
  EXPECT_EQ(said(linear, "opset-up=21"), "no-case");
  EXPECT_NE(said(linear, "opset-up=10"), "no-case");
  EXPECT_NE(said(R"(Upsample-7(float[2]{1,3}) mode="linear" scales=[2])", "opset-up=21"),
            "no-case");
}

TEST_F(Pairs, ACampaignKeepsBothModels) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<testing::SmallSource>());
  const MetaSource source(std::move(sources), false);
  CampaignOptions options;
  options.target = "faulty";
  options.level = "meta";
  options.count = 120;
  options.batch = 16;
  options.folder = scratch_.path() / "found";
  State state, again;
  run_campaign(options, source, faulty({"Identity", Fault::wrong_last}), state, {});
  ASSERT_FALSE(state.findings.empty());
  Index marks = 0;
  for (const auto& [mark, count] : state.campaigns.front().marks)
    marks += mark.starts_with("meta/");
  EXPECT_GE(marks, 8);
  for (const auto& [hash, finding] : state.findings) {
    EXPECT_THAT(finding.outcome.pattern, HasSubstr("identity=values: "));
    const fs::path folder = folder_of(options.folder, finding);
    for (const char* const file :
         {"model.onnx", "transformed.onnx", "test_data_set_0/output_0.pb",
          "transformed_data_set_0/output_0.pb", "reduced/transformed.onnx"})
      EXPECT_TRUE(fs::exists(folder / file)) << file;
    const StoredCase stored = read_case(folder.string());
    EXPECT_EQ(text_of(stored.is), finding.outcome.text);
    EXPECT_THAT(finding.reduced, ::testing::EndsWith(" | identity=values"));
    const std::string issue = open_trusted(folder / "issue.md").read_all(Limits::trusted());
    EXPECT_THAT(issue, HasSubstr("- Transformation: identity=values. "));
    EXPECT_EQ(text_of(read_case(finding.reduced).is), finding.reduced);
  }
  options.jobs = 2;
  options.folder = scratch_.path() / "again";
  run_campaign(options, source, faulty({"Identity", Fault::wrong_last}), again, {});
  EXPECT_EQ(again.campaigns.front().counts, state.campaigns.front().counts);
  EXPECT_EQ(again.campaigns.front().marks, state.campaigns.front().marks);
}

}  // namespace
}  // namespace touchstone::fuzz
