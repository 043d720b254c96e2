// Tests that buffers beyond the reach of 32-bit kernels are refused before a kernel is called.
#include "optimized/kernels/compiled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace touchstone::optimized {
namespace {

TEST(Compiled, WhatReachesTooFarIsRefused) {
  const Index much = Index{1} << 30;
  EXPECT_NO_THROW(Strided<2>(nullptr, {2, much / 2}, {1, 2}));
  EXPECT_NO_THROW(Strided<2>(nullptr, {2, 1}, {1, much * much}));  // a stride that is never used
  EXPECT_NO_THROW(Strided<1>(nullptr, {0}, {much * much}));
  for (const Index step : {Index{4}, Index{-4}, much * 2, much * much}) {
    try {
      Strided<2>(nullptr, {2, much}, {1, step});
      ADD_FAILURE() << step;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::unsupported);
      EXPECT_THAT(error.message, ::testing::HasSubstr(std::to_string(step))) << error.message;
    }
  }
  EXPECT_THROW(Strided<1>(nullptr, {much * 2 + 1}, {0}), Error);
  // Each fits, their sum does not.
  EXPECT_THROW(Strided<2>(nullptr, {much + 1, much + 1}, {1, 1}), Error);
}

}  // namespace
}  // namespace touchstone::optimized
