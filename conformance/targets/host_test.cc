// The host against a worker that crashes, hangs, hoards and lies: each gets its verdict and the run
// goes on.
#include "conformance/targets/host.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace touchstone {
namespace {

using Kind = Answer::Kind;

std::vector<Answer> run(std::vector<std::string> hows,
                        std::chrono::milliseconds limit = std::chrono::seconds(20),
                        unsigned runs = 2) {
  std::vector<Job> jobs;
  for (const std::string& how : hows) jobs.push_back({how, {}, runs});
  return Host({BAD_WORKER}, limit).run(jobs);
}

std::vector<Kind> kinds(const std::vector<Answer>& answers) {
  std::vector<Kind> found;
  for (const Answer& answer : answers) found.push_back(answer.kind);
  return found;
}

TEST(Host, OutputsComeBackWithTypeAndBytes) {
  const std::vector<Answer> answers = run({"fine"});
  ASSERT_EQ(kinds(answers), (std::vector<Kind>{Kind::outputs}));
  ASSERT_EQ(answers[0].outputs.size(), 1u);
  EXPECT_EQ(answers[0].outputs[0].name, "y");
  EXPECT_EQ(answers[0].outputs[0].type, "tensor(float)");
  EXPECT_FALSE(answers[0].outputs[0].bytes.empty());
}

TEST(Host, ACrashIsNamedAndTheRunGoesOn) {
  const std::vector<Answer> answers = run({"fine", "crash", "fine"});
  EXPECT_EQ(kinds(answers), (std::vector<Kind>{Kind::outputs, Kind::died, Kind::outputs}));
  EXPECT_NE(answers[1].detail.find("signal 11"), std::string::npos) << answers[1].detail;
}

TEST(Host, WhatADyingWorkerPrintedIsKept) {
  const std::vector<Answer> answers = run({"abort"});
  EXPECT_EQ(answers[0].kind, Kind::died);
  EXPECT_NE(answers[0].detail.find("a wish for an end"), std::string::npos) << answers[0].detail;
}

TEST(Host, LeavingIsDying) {
  const std::vector<Answer> answers = run({"leave"});
  EXPECT_EQ(answers[0].kind, Kind::died);
  EXPECT_EQ(answers[0].detail, "exit status 3");
}

TEST(Host, ADeathThatAnEarlierCaseCausedSaysSo) {
  const std::vector<Answer> answers =
      run({"fine", "poison", "fine", "fine"}, std::chrono::seconds(20), 1);
  EXPECT_EQ(kinds(answers),
            (std::vector<Kind>{Kind::outputs, Kind::outputs, Kind::died, Kind::outputs}));
  EXPECT_NE(answers[2].detail.find("only after 2 other cases"), std::string::npos)
      << answers[2].detail;
}

TEST(Host, ASecondRunFindsWhoBreaksItsOwnProcess) {
  EXPECT_EQ(kinds(run({"fine", "poison", "fine"})),
            (std::vector<Kind>{Kind::outputs, Kind::died, Kind::outputs}));
}

TEST(Host, AHangIsATimeout) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Answer> answers = run({"fine", "hang", "fine"}, std::chrono::milliseconds(700));
  EXPECT_EQ(kinds(answers), (std::vector<Kind>{Kind::outputs, Kind::late, Kind::outputs}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Host, PhasesWithoutAnEndAreATimeout) {
  EXPECT_EQ(kinds(run({"fine", "phases", "fine"}, std::chrono::milliseconds(200))),
            (std::vector<Kind>{Kind::outputs, Kind::late, Kind::outputs}));
}

// Whether any process still has bad_worker as its executable.
int workers_left() {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code gone;
    const auto executable = std::filesystem::read_symlink(entry.path() / "exe", gone);
    if (!gone && executable == std::filesystem::path(BAD_WORKER)) ++found;
  }
  return found;
}

TEST(Host, WhatAWorkerStartedDiesWithIt) {
  const std::vector<Answer> answers = run({"hang-with-child"}, std::chrono::milliseconds(700));
  EXPECT_EQ(answers[0].kind, Kind::late);
  for (int k = 0; k < 100 && workers_left() > 0; ++k) usleep(20000);
  EXPECT_EQ(workers_left(), 0);
}

TEST(Host, HoardingMeetsTheMemoryLimit) {
  const std::vector<Answer> answers = run({"memory", "fine"});
  EXPECT_EQ(kinds(answers), (std::vector<Kind>{Kind::refused, Kind::outputs}));
  EXPECT_EQ(answers[0].error, ErrorKind::out_of_memory);
}

TEST(Host, ALimitIsOfAPhase) {
  const std::vector<Answer> answers = run({"hang", "hang-loading"}, std::chrono::milliseconds(300));
  EXPECT_EQ(kinds(answers), (std::vector<Kind>{Kind::late, Kind::late}));
  EXPECT_EQ(answers[0].detail, "no answer within 0.3 s while it ran");
  EXPECT_EQ(answers[1].detail, "no answer within 0.3 s while it loaded the model");
}

TEST(Host, AnotherAnswerTheSecondTimeIsSeen) {
  const std::vector<Answer> answers = run({"fine", "differ"});
  EXPECT_EQ(kinds(answers), (std::vector<Kind>{Kind::outputs, Kind::differed}));
  EXPECT_EQ(answers[1].detail, "run 2 on the same inputs gave another 'y'");
  EXPECT_EQ(answers[1].outputs.size(), 1u);
}

TEST(Host, AWorkerSaysWhoItIs) {
  const Description said = Host({BAD_WORKER}, std::chrono::seconds(1)).describe();
  EXPECT_EQ(said.name, "bad");
  EXPECT_EQ(said.version, "1");
}

TEST(Host, WhatIsNoTargetDoesNotStart) {
  try {
    Host({"/bin/sh", "-c", "echo 'no such library' >&2; exit 3"}, std::chrono::seconds(1))
        .describe();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.message, "the target does not start: exit status 3: no such library");
  }
}

TEST(Host, NoiseOnTheSocketIsGarbled) {
  EXPECT_EQ(kinds(run({"garbage", "fine"})), (std::vector<Kind>{Kind::garbled, Kind::outputs}));
  EXPECT_EQ(kinds(run({"nonsense", "fine"})), (std::vector<Kind>{Kind::garbled, Kind::outputs}));
}

TEST(Host, ARefusalSaysWhy) {
  const std::vector<Answer> answers = run({"unsupported", "throw"});
  EXPECT_EQ(answers[0].kind, Kind::refused);
  EXPECT_EQ(answers[0].error, ErrorKind::unsupported);
  EXPECT_EQ(answers[0].detail, "Frobnicate-7 has no kernel");
  EXPECT_EQ(answers[1].error, ErrorKind::internal);
  EXPECT_EQ(answers[1].detail, "surprise");
}

TEST(Host, AMissingExecutableIsAnError) {
  const std::vector<Job> jobs{{"fine", {}, 1}};
  try {
    Host({"/nowhere/worker"}, std::chrono::seconds(1)).run(jobs);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::file);
  }
}

}  // namespace
}  // namespace touchstone
