// Polls the budget from loops over nodes. Their bodies take microseconds, so the batches of tens of
// thousands of operations would poll deadline and cancellation too seldom.
#pragma once

#include "core/budget.h"

namespace touchstone {

class BudgetWatch {
 public:
  // Throws Error: limit (naming 'work' or 'deadline') or cancelled.
  void step() {
    if (++steps_ % steps_a_look == 0) check_budget();
  }

 private:
  static constexpr Index steps_a_look = 64;
  Index steps_ = 0;
};

}  // namespace touchstone
