// A test program that runs once for each instruction set (TOUCHSTONE_ISA): where this processor
// lacks it, no test of it is run.
#include <gtest/gtest.h>

#include "core/error.h"
#include "optimized/registry/isa.h"

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  try {
    touchstone::chosen_isa();
  } catch (const touchstone::Error&) {
    testing::GTEST_FLAG(filter) = "-*";
  }
  return RUN_ALL_TESTS();
}
