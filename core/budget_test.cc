// Each limit of a budget just under and just over; nested budgets, other threads, and cancellation.
#include "core/budget.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"

namespace touchstone {
namespace {

Limits with_work(Index steps) {
  Limits limits;
  limits.work = steps;
  return limits;
}

Limits with_memory(Index bytes) {
  Limits limits;
  limits.memory = bytes;
  return limits;
}

// Returns the name of the limit that `work` exceeds, or "".
std::string passed(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Error& error) {
    if (error.kind == ErrorKind::cancelled) return "cancelled";
    EXPECT_EQ(error.kind, ErrorKind::limit) << error.what();
    const std::string text = error.what();
    const std::size_t from = text.find('\'') + 1;
    return text.substr(from, text.find('\'', from) - from);
  }
}

TEST(Budget, AThreadWithoutOneIsFree) {
  EXPECT_EQ(current_budget(), nullptr);
  charge_work(unlimited);
  charge_work(unlimited);
  check_budget();
  EXPECT_EQ(Charge(unlimited).bytes(), 0);
}

TEST(Budget, WorkEndsAtItsLimit) {
  for (const Index steps : {Index{1}, Index{7}, Index{65536}, Index{65537}, Index{300'000}}) {
    const Budget budget(with_work(steps));
    for (Index k = 0; k < steps; ++k) charge_work(1);
    EXPECT_EQ(passed([] { charge_work(1); }), "work") << steps;
    EXPECT_EQ(passed([] { charge_work(1); }), "work") << "it stays passed";
  }
  const Budget budget(with_work(10));
  charge_work(10);
  EXPECT_EQ(passed([] { charge_work(unlimited); }), "work");
  EXPECT_EQ(passed([] { charge_work(unlimited); }), "work");
}

TEST(Budget, WorkOfABudgetInsideCountsForBoth) {
  const Budget outer(with_work(1000));
  charge_work(400);
  {
    const Budget inner("folding_work", 500);
    charge_work(500);
    EXPECT_EQ(passed([] { charge_work(1); }), "folding_work");
  }
  charge_work(99);
  EXPECT_EQ(passed([] { charge_work(1); }), "work");
}

TEST(Budget, ThreadsShareOne) {
  Budget budget(with_work(1'000'000));
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      const BudgetScope scope(&budget);
      refused += passed([] {
                   for (int round = 0; round < 300'000; ++round) charge_work(1);
                 }) == "work";
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(refused, 1);
  EXPECT_GT(budget.work(), 1'000'000);
}

TEST(Budget, ADeadlineThatHasPassedEndsTheRun) {
  Limits limits;
  limits.milliseconds = 1;
  const Budget budget(limits);
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() <= begin + std::chrono::milliseconds(1)) continue;
  EXPECT_EQ(passed([] { check_budget(); }), "deadline");
  EXPECT_EQ(passed([] { charge_work(1 << 20); }), "deadline");
}

TEST(Budget, ADeadlineFarAwayEndsNothing) {
  Limits limits;
  limits.milliseconds = 3'600'000;
  const Budget budget(limits);
  check_budget();
  charge_work(1 << 20);
}

TEST(Budget, AFlagCancels) {
  std::atomic<bool> flag{false};
  const Budget budget({}, Cancel{.flag = &flag});
  check_budget();
  flag = true;
  EXPECT_EQ(passed([] { check_budget(); }), "cancelled");
  EXPECT_EQ(passed([] { charge_work(1 << 20); }), "cancelled");
}

int questions = 0;

TEST(Budget, AQuestionCancelsAndIsAskedOfItsOwnThread) {
  questions = 0;
  Budget budget({}, Cancel{.asked = [] { return ++questions == 1; }});
  std::thread([&] {
    const BudgetScope scope(&budget);
    EXPECT_EQ(passed([] { check_budget(); }), "");
  }).join();
  EXPECT_EQ(passed([] { check_budget(); }), "");
  EXPECT_EQ(questions, 0) << "a short run asks nothing";
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(passed([] { check_budget(); }), "cancelled");
  EXPECT_EQ(questions, 1);
  std::thread([&] {
    const BudgetScope scope(&budget);
    EXPECT_EQ(passed([] { check_budget(); }), "cancelled");
  }).join();
  EXPECT_EQ(questions, 1) << "the answer stands";
}

TEST(Memory, AChargeLivesAsLongAsItsHolder) {
  const Budget budget(with_memory(100));
  {
    const Charge most(100);
    EXPECT_EQ(passed([] { Charge{1}; }), "memory");
    EXPECT_EQ(budget.account()->alive(), 100);
  }
  Charge held(60);
  held.resize(100);
  EXPECT_EQ(passed([&] { held.resize(101); }), "memory");
  EXPECT_EQ(held.bytes(), 100);
  held.resize(40);
  Charge moved = std::move(held);
  EXPECT_EQ(budget.account()->alive(), 40);
  moved = Charge();
  EXPECT_EQ(budget.account()->alive(), 0);
  EXPECT_EQ(passed([] { Charge{unlimited}; }), "memory");
}

TEST(Memory, ScratchIsGivenBackWithItsNode) {
  const Budget budget(with_memory(100));
  {
    const ScratchScope node;
    charge_scratch(60);
    {
      const ScratchScope inner;
      charge_scratch(40);
      EXPECT_EQ(passed([] { charge_scratch(1); }), "memory");
    }
    EXPECT_EQ(budget.account()->alive(), 60);
  }
  EXPECT_EQ(budget.account()->alive(), 0);
  EXPECT_EQ(passed([] { charge_scratch(101); }), "memory");
  EXPECT_EQ(budget.account()->alive(), 0) << "outside of nodes it is only asked for";
}

TEST(Memory, WhatOutlivesABudgetStaysOnItsAccount) {
  Limits limits = with_memory(Index{1} << 20);
  std::shared_ptr<MemoryAccount> account;
  std::shared_ptr<void> held;
  {
    const Budget budget(limits);
    account = budget.account();
    held = std::make_shared<std::vector<int, ChargedAllocator<int>>>(100);
    EXPECT_EQ(account->alive(), 400);
  }
  const Budget again(limits, {}, account);
  EXPECT_EQ(account->alive(), 400);
  held = nullptr;
  EXPECT_EQ(account->alive(), 0);
}

}  // namespace
}  // namespace touchstone
