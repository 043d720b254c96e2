// Tests the selection of the instruction set.
#include "optimized/registry/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace touchstone::optimized {
namespace {

TEST(Isa, TheBestThatTheProcessorHas) {
  const Isa best = choose_isa("");
  EXPECT_TRUE(processor_has(best));
  for (Isa isa : all_isas) {
    EXPECT_FALSE(isa > best && processor_has(isa));
  }
}

TEST(Isa, ForcedByName) {
  EXPECT_EQ(choose_isa("sse41"), Isa::sse41);
  for (Isa isa : all_isas) {
    if (processor_has(isa)) {
      EXPECT_EQ(choose_isa(name(isa)), isa);
    } else {
      EXPECT_THROW(choose_isa(name(isa)), Error);
    }
  }
}

TEST(Isa, ANameThatThereIsNotIsAUsageError) {
  try {
    choose_isa("mmx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::usage);
    EXPECT_THAT(error.message, ::testing::HasSubstr("avx512, avx2, sse41")) << error.message;
  }
}

}  // namespace
}  // namespace touchstone::optimized
