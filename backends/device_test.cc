// Tests of the contract of Device on the processor and on OpenCL: buffers, copies, kernels in
// order, and Errors for every failure.
#include "backends/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/error.h"

// Kernels that add two float32 tensors of four dimensions.
extern "C" int device_Add_1_opencl_argv(void** arguments);
extern "C" int Add_1_sse41_argv(void** arguments);

namespace touchstone::backends {
namespace {

class EveryDevice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { device_ = open_device(GetParam()); }
  CompiledKernel sum() const {
    return device_->kind() == DeviceKind::opencl ? device_Add_1_opencl_argv : Add_1_sse41_argv;
  }
  std::shared_ptr<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Devices, EveryDevice, ::testing::Values("cpu", "opencl"),
                         [](const auto& named) { return std::string(named.param); });

std::vector<float> counted(std::size_t size, float from) {
  std::vector<float> made(size);
  std::iota(made.begin(), made.end(), from);
  return made;
}
Index bytes_of(const std::vector<float>& list) { return static_cast<Index>(list.size()) * 4; }

TEST_P(EveryDevice, KeepsWhatIsCopiedThere) {
  for (const std::size_t size : {0, 1, 17, 40000}) {
    std::vector<float> sent = counted(size, 1), came(size, -1);
    const auto buffer = device_->allocate(bytes_of(sent));
    EXPECT_EQ(buffer->bytes(), bytes_of(sent));
    device_->upload(sent.data(), *buffer, bytes_of(sent));
    std::vector<float> expected = sent;
    sent.assign(size, 0);  // upload has returned, so this must have no effect
    device_->download(*buffer, came.data(), bytes_of(came));
    EXPECT_EQ(came, expected);
  }
}

TEST_P(EveryDevice, CopiesTheFrontOfABuffer) {
  const std::vector<float> sent = counted(100, 1);
  std::vector<float> came(3, -1);
  const auto buffer = device_->allocate(400);
  device_->upload(sent.data(), *buffer, 400);
  const std::vector<float> front{7, 8};
  device_->upload(front.data(), *buffer, 8);
  device_->download(*buffer, came.data(), 12);
  EXPECT_EQ(came, (std::vector<float>{7, 8, 3}));
}

TEST_P(EveryDevice, RunsKernelsInOrder) {
  const std::vector<float> row = counted(70, 1), column{10, 20, 30};
  const auto a = device_->allocate(280), b = device_->allocate(12);
  const auto first = device_->allocate(840), second = device_->allocate(840);
  device_->upload(row.data(), *a, 280);
  device_->upload(column.data(), *b, 12);
  const Device::Traffic before = device_->traffic();
  const auto seen = [](DeviceBuffer& buffer, Index x, Index y) {
    return DeviceArgument{nullptr, &buffer, {{70, x}, {3, y}, {1, 0}, {1, 0}}};
  };
  const DeviceArgument made[] = {seen(*a, 1, 0), seen(*b, 0, 1), seen(*first, 1, 70)};
  const DeviceArgument again[] = {seen(*first, 1, 70), seen(*a, 1, 0), seen(*second, 1, 70)};
  device_->launch(sum(), made);
  device_->launch(sum(), again);
  device_->finish();
  std::vector<float> came(210);
  device_->download(*second, came.data(), 840);
  for (std::size_t y = 0; y < 3; ++y) {
    for (std::size_t x = 0; x < 70; ++x)
      ASSERT_EQ(came[y * 70 + x], 2 * row[x] + column[y]) << x << ", " << y;
  }
  EXPECT_EQ(device_->traffic().launches, before.launches + 2);
  EXPECT_EQ(device_->traffic().uploads, before.uploads);
  EXPECT_EQ(device_->traffic().downloads, before.downloads + 1);
}

TEST_P(EveryDevice, SaysWhatAKernelRefuses) {
  const auto buffer = device_->allocate(4);
  // One axis, though the kernel takes four.
  const DeviceArgument wrong{nullptr, buffer.get(), {{1, 1}}};
  const DeviceArgument three[] = {wrong, wrong, wrong};
  try {
    device_->launch(sum(), three);
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::internal);
    EXPECT_THAT(error.message, ::testing::HasSubstr("dimensions")) << error.message;
  }
  device_->finish();  // the queue still works
}

TEST_P(EveryDevice, SaysThatThereIsNotEnoughMemory) {
  try {
    device_->allocate(Index{1} << 60);
    FAIL() << "a machine of so much memory";
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind == ErrorKind::out_of_memory || error.kind == ErrorKind::unsupported);
    EXPECT_THAT(error.message, ::testing::HasSubstr("1152921504606846976 bytes")) << error.message;
    EXPECT_THAT(error.message, ::testing::HasSubstr(GetParam())) << error.message;
  }
}

TEST(Devices, AreOpenedByName) {
  EXPECT_EQ(open_device("cpu")->kind(), DeviceKind::cpu);
  EXPECT_EQ(open_device("opencl"), open_device("opencl"));
  const auto kind_of = [](const char* name) {
    try {
      open_device(name);
    } catch (const Error& error) {
      return error.kind;
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind_of("cuda"), ErrorKind::unsupported);
  EXPECT_EQ(kind_of("abacus"), ErrorKind::usage);
}

}  // namespace
}  // namespace touchstone::backends
