// A kernel that refuses its arguments is an Error, not the end of the process.
#include <gtest/gtest.h>

#include "core/error.h"
#include "optimized/registry/adapter.h"

namespace touchstone {
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
  problem.output_strides[0] = 2;  // a kernel writes dense rows
  CallValues values;              // it has none
  try {
    call_kernel((*entry->kernels)[0].usual, problem, values);
    FAIL() << "the kernel took a problem that is none";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::internal);
    EXPECT_NE(error.message.find("a fast kernel failed with status"), std::string::npos)
        << error.message;
    EXPECT_GT(error.message.size(), 60U) << error.message;
  }
}

}  // namespace
}  // namespace touchstone
