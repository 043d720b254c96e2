// Tests that a kernel that refuses its arguments throws Error instead of ending the process, and
// that recording computes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/placement.h"
#include "optimized/registry/adapter.h"
#include "optimized/registry/isa.h"
#include "reference/calls.h"

namespace touchstone::optimized {
namespace {

TEST(KernelCall, HalidesErrorsBecomeOurs) {
  const FastEntry* entry = nullptr;
  for (const FastEntry& e : fast_entries()) {
    if (e.signature->op == "Add") entry = &e;
  }
  ASSERT_NE(entry, nullptr);
  Problem<4> problem;  // extents that no buffer has
  problem.extents = {4, -1, 1, 1};
  problem.inputs.resize(2);
  float out[4];
  problem.output = out;
  problem.output_strides[0] = 2;  // kernels write contiguous rows
  CallValues values;              // none
  try {
    call_kernel((*entry->kernels)[0].usual, problem, values);
    FAIL() << "the kernel took a problem that is none";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::internal);
    EXPECT_THAT(error.message, ::testing::HasSubstr("a fast kernel failed with status"))
        << error.message;
    EXPECT_GT(error.message.size(), 60U) << error.message;
  }
}

// Allocating both outputs would take as much memory as another feature map each, zeroed.
TEST(KernelCall, WhatIsOnlyRecordedHasNoMemoryForItsOutputs) {
  const FastEntry* entry = nullptr;
  for (const FastEntry& e : fast_entries()) {
    if (e.signature->op == "Add") entry = &e;
  }
  ASSERT_NE(entry, nullptr);
  Node node;
  node.op = "Add";
  node.inputs = {"a", "b"};
  node.outputs = {"c"};
  node.signature = entry->signature;
  const auto recorded = [&] {
    auto* const nobodys = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
    const Tensor input = tensor_at(nobodys, Type::float32, {Index{1} << 20});
    Call call = call_of(node, {input, input});
    RecordedCall record;
    EXPECT_TRUE(record_fast(*entry, call, record, chosen_isa()));
    EXPECT_EQ(record.inputs.size(), 2U);
    return call.outputs[0].tensor();
  };
  const Tensor one = recorded(), other = recorded();
  EXPECT_EQ(one.size(), Index{1} << 20);
  EXPECT_EQ(one.data<float>(), other.data<float>());
}

}  // namespace
}  // namespace touchstone::optimized
