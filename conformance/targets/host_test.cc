// Runs the host with a worker that crashes, hangs, exhausts memory and lies: each gets its verdict
// and the run continues.
#include "conformance/targets/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>

#include "conformance/targets/launch.h"
#include "core/files.h"
#include "core/scratch.h"

namespace touchstone::targets {
namespace {

using Kind = Answer::Kind;

// Short limits are only for workers that never end; others have a limit longer than any busy
// machine needs.
constexpr std::chrono::milliseconds no_limit = std::chrono::hours(1);

std::vector<Answer> run(std::vector<std::string> hows, std::chrono::milliseconds limit = no_limit,
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
  EXPECT_THAT(answers[1].detail, ::testing::HasSubstr("signal 11")) << answers[1].detail;
}

TEST(Host, WhatADyingWorkerPrintedIsKept) {
  const std::vector<Answer> answers = run({"abort"});
  EXPECT_EQ(answers[0].kind, Kind::died);
  EXPECT_THAT(answers[0].detail, ::testing::HasSubstr("a wish for an end")) << answers[0].detail;
}

TEST(Host, LeavingIsDying) {
  const std::vector<Answer> answers = run({"leave"});
  EXPECT_EQ(answers[0].kind, Kind::died);
  EXPECT_EQ(answers[0].detail, "exit status 3");
}

TEST(Host, ADeathThatAnEarlierCaseCausedSaysSo) {
  const std::vector<Answer> answers = run({"fine", "poison", "fine", "fine"}, no_limit, 1);
  EXPECT_EQ(kinds(answers),
            (std::vector<Kind>{Kind::outputs, Kind::outputs, Kind::died, Kind::outputs}));
  EXPECT_THAT(answers[2].detail, ::testing::HasSubstr("only after 2 other cases"))
      << answers[2].detail;
}

TEST(Host, ASecondRunFindsWhoBreaksItsOwnProcess) {
  EXPECT_EQ(kinds(run({"fine", "poison", "fine"})),
            (std::vector<Kind>{Kind::outputs, Kind::died, Kind::outputs}));
}

TEST(Host, AHangIsATimeoutAndTheRunGoesOn) {
  EXPECT_EQ(kinds(run({"hang", "hang"}, std::chrono::milliseconds(300))),
            (std::vector<Kind>{Kind::late, Kind::late}));
}

TEST(Host, PhasesWithoutAnEndAreATimeout) {
  EXPECT_EQ(kinds(run({"phases", "phases"}, std::chrono::milliseconds(100))),
            (std::vector<Kind>{Kind::late, Kind::late}));
}

// A pipe whose writing end is inherited by all processes started from here: it closes when the last
// of them has died.
TEST(Host, WhatAWorkerStartedDiesWithIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
  setenv("BAD_WORKER_PIPE", std::to_string(ends[1]).c_str(), 1);
  const std::vector<Answer> answers = run({"hang-with-child"}, std::chrono::seconds(2));
  unsetenv("BAD_WORKER_PIPE");
  close(ends[1]);
  EXPECT_EQ(answers[0].kind, Kind::late);
  char said[2];
  EXPECT_EQ(::read(ends[0], said, 2), 1) << "the worker's child did not start";
  pollfd end{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, /*milliseconds=*/600'000), 1) << "the worker's child goes on";
  close(ends[0]);
}

TEST(Host, HoardingMeetsTheMemoryLimit) {
  const std::vector<Answer> answers = run({"memory", "fine"});
  EXPECT_EQ(kinds(answers), (std::vector<Kind>{Kind::refused, Kind::outputs}));
  EXPECT_EQ(answers[0].error, ErrorKind::out_of_memory);
}

TEST(Host, ALimitIsOfAPhase) {
  const std::vector<Answer> answers = run({"hang", "hang-loading"}, std::chrono::seconds(2));
  EXPECT_EQ(kinds(answers), (std::vector<Kind>{Kind::late, Kind::late}));
  EXPECT_EQ(answers[0].detail, "no answer within 2.0 s while it ran");
  EXPECT_EQ(answers[1].detail, "no answer within 2.0 s while it loaded the model");
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

TEST(Host, AStarterThatHasEndedIsReplacedByTheCommand) {
  const auto ended = std::make_shared<const Starter>(std::vector<std::string>{"/bin/true"});
  EXPECT_EQ(Host({BAD_WORKER}, no_limit, ended).describe().name, "bad");
}

// A model of only a name, which tells bad_target.py how to misbehave.
Job deed(const std::filesystem::path& folder, const std::string& name) {
  const std::string graph = std::string("\x12") + static_cast<char>(name.size()) + name;
  const std::string model = std::string("\x3a") + static_cast<char>(graph.size()) + graph;
  write_atomically(folder / name, std::string_view(model));
  return {folder / name, {}, 1};
}

TEST(Host, WorkersOfAStarterEndAsOthersDo) {
  const Scratch scratch;
  const Launch made = launch("python:conformance.targets.bad_target:BadTarget", "", Index{1} << 30);
  const auto starter = std::make_shared<const Starter>(made.starter);
  Host host({"/nowhere/worker"}, no_limit, starter);
  const auto run = [&](Host& on, const std::string& name) {
    return on.run_here(deed(scratch.path(), name));
  };
  EXPECT_EQ(run(host, "refuse").detail, "no kernel for it");
  const Answer crash = run(host, "crash");
  EXPECT_EQ(crash.kind, Kind::died);
  EXPECT_EQ(crash.detail, "signal 11 (Segmentation fault)");
  EXPECT_EQ(run(host, "leave").detail, "KeyError: 'a'");
  {
    Host impatient({"/nowhere/worker"}, std::chrono::milliseconds(300), starter);
    EXPECT_EQ(run(impatient, "hang-loading").kind, Kind::late);
    EXPECT_EQ(run(impatient, "hang-loading").kind, Kind::late);
  }
  EXPECT_EQ(run(host, "refuse").detail, "no kernel for it");
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
}  // namespace touchstone::targets
