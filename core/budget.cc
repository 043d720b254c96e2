// Budgets of threads. Work is counted in batches, so a charge costs one subtraction.
#include "core/budget.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace touchstone {

constinit thread_local Meter meter;

namespace {

constexpr Index max_batch = Index{1} << 16;  // Operations: under a millisecond of most work
constexpr std::chrono::milliseconds between_questions(50);

constexpr Index max_counted = Index{1} << 61;  // the sum of two fits an Index

// Adds the operations that this thread counted to its budget.
void flush() noexcept {
  Index steps = 0;
  if (__builtin_sub_overflow(meter.batch, meter.left, &steps)) steps = unlimited;
  if (meter.budget) meter.budget->add(steps);
  meter.left = meter.batch = 0;
}

Error no_memory(Index bytes, Index alive, Index most) {
  return passes_limit(std::to_string(bytes) + " bytes beside " + std::to_string(alive) + " in use",
                      "memory", most);
}

}  // namespace

void MemoryAccount::take(Index bytes) {
  ask(bytes);
  const Index before = alive_.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes <= most_ - std::min(before, most_)) return;
  give(bytes);
  throw no_memory(bytes, before, most_);
}

void MemoryAccount::ask(Index bytes) const {
  const Index now = alive();
  if (bytes > most_ - std::min(now, most_)) throw no_memory(bytes, now, most_);
}

Budget::Budget(Budget* outer, const char* limit, Index work, Index milliseconds, Cancel cancel,
               std::shared_ptr<MemoryAccount> account)
    : outer_(outer),
      limit_(limit),
      most_(work),
      milliseconds_(milliseconds),
      deadline_(milliseconds > 0 ? Clock::now() + std::chrono::milliseconds(milliseconds)
                                 : Clock::time_point::max()),
      cancel_(cancel),
      timed_(milliseconds > 0 || cancel.asked != nullptr || (outer && outer->timed_)),
      account_(std::move(account)),
      thread_(std::this_thread::get_id()),
      // A short run asks nothing.
      next_question_(cancel.asked ? Clock::now() + between_questions : Clock::time_point()),
      scope_(this) {}

Budget::Budget(const Limits& limits, Cancel cancel, std::shared_ptr<MemoryAccount> account)
    : Budget(meter.budget, "work", limits.work, limits.milliseconds, cancel,
             account        ? std::move(account)
             : meter.budget ? meter.budget->account_
                            : std::make_shared<MemoryAccount>(limits.memory)) {}

Budget::Budget(const char* limit, Index work)
    : Budget(meter.budget, limit, work, 0, {}, meter.budget ? meter.budget->account_ : nullptr) {}

Index Budget::work() const {
  return done() + (meter.budget == this ? meter.batch - meter.left : 0);
}

void Budget::add(Index steps) noexcept {
  for (Budget* budget = this; budget != nullptr; budget = budget->outer_) {
    if (budget->done() < max_counted)
      budget->done_.fetch_add(std::min(steps, max_counted), std::memory_order_relaxed);
  }
}

void Budget::look() {
  const Clock::time_point now = timed_ ? Clock::now() : Clock::time_point::min();
  for (Budget* budget = this; budget != nullptr; budget = budget->outer_) {
    if (budget->is_cancelled(now)) throw Error(ErrorKind::cancelled, "the run was cancelled");
    if (now > budget->deadline_) {
      throw passes_limit("the time since the start", "deadline", budget->milliseconds_);
    }
    if (budget->done() > budget->most_) {
      throw passes_limit(std::to_string(budget->done()) + " elementary steps", budget->limit_,
                         budget->most_);
    }
  }
}

bool Budget::is_cancelled(Clock::time_point now) {
  if (cancelled_) return true;
  bool asked = cancel_.flag && *cancel_.flag;
  if (!asked && cancel_.asked && now >= next_question_ && std::this_thread::get_id() == thread_) {
    next_question_ = now + between_questions;
    asked = cancel_.asked();
  }
  if (asked) cancelled_ = true;
  return asked;
}

Budget* current_budget() { return meter.budget; }

BudgetScope::BudgetScope(Budget* budget) : before_((flush(), meter.budget)) {
  meter.budget = budget;
}
BudgetScope::~BudgetScope() {
  flush();
  meter.budget = before_;
}

Index Budget::left() const {
  Index steps = max_batch;
  for (const Budget* budget = this; budget != nullptr; budget = budget->outer_)
    steps = std::min(steps, budget->most_ - budget->done());
  return std::max<Index>(steps, 0);
}

void Meter::settle() {
  flush();
  if (budget) budget->look();
  left = batch = budget ? budget->left() : unlimited;
}

void check_budget() { meter.settle(); }

Charge::Charge(Index bytes) {
  if (!meter.budget || !meter.budget->account()) return;
  meter.budget->account()->take(bytes);
  account_ = meter.budget->account();
  bytes_ = bytes;
}

void Charge::resize(Index bytes) {
  if (!account_) {
    *this = Charge(bytes);
    return;
  }
  if (bytes > bytes_) account_->take(bytes - bytes_);
  if (bytes < bytes_) account_->give(bytes_ - bytes);
  bytes_ = bytes;
}

void charge_list(Index indices) {
  Index bytes = 0;
  charge_scratch(__builtin_mul_overflow(indices, Index{sizeof(Index)}, &bytes) ? unlimited : bytes);
}

void charge_text(Index bytes) {
  const Index most = current_limits().string_bytes;
  if (bytes > most) {
    throw passes_limit("a text of " + std::to_string(bytes) + " bytes", "string_bytes", most);
  }
  if (bytes > text_in_place) charge_scratch(bytes);
}

void ask_memory(Index bytes) {
  if (meter.budget && meter.budget->account()) meter.budget->account()->ask(bytes);
}

void charge_scratch(Index bytes) {
  if (!meter.scratch) return ask_memory(bytes);
  meter.scratch->resize(meter.scratch->bytes() + bytes);
}

}  // namespace touchstone
