// Main function of test programs that run once per instruction set (TOUCHSTONE_ISA). Runs no test
// if the processor lacks the set.
#include <gtest/gtest.h>

#include "core/error.h"
#include "optimized/registry/isa.h"

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  try {
    touchstone::optimized::chosen_isa();
  } catch (const touchstone::Error&) {
    testing::GTEST_FLAG(filter) = "-*";
  }
  return RUN_ALL_TESTS();
}
