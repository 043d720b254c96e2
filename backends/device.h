// Interface between the fast executor and a compute device: device memory and an in-order queue. A
// device knows pointers, sizes and compiled kernels, but no operators.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backends/kernel.h"
#include "core/shape.h"

namespace touchstone::backends {

// Memory of a device; freed by the destructor.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(Index bytes) : bytes_(bytes) {}
  virtual ~DeviceBuffer() = default;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  Index bytes() const { return bytes_; }

 private:
  const Index bytes_;
};

// Argument of a kernel: a scalar value of at most 8 bytes, or a float32 view of a buffer that
// starts at its first element. Axes are innermost first.
struct DeviceAxis {
  Index extent, step;  // in elements; `step` is the stride
};
struct DeviceArgument {
  void* value = nullptr;  // not null: the argument is a scalar
  DeviceBuffer* buffer = nullptr;
  std::vector<DeviceAxis> axes;  // at most four
};

enum class DeviceKind { cpu, opencl };

// In-order queue and allocator of one device. Calls may return before the work is done; they throw
// Error if they, or work queued before, failed. Several sessions may use a device; all methods are
// thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  virtual std::string name() const = 0;  // as open_device takes it, such as "opencl"

  // Throws Error (out_of_memory), here or at the first write if the driver allocates lazily.
  virtual std::unique_ptr<DeviceBuffer> allocate(Index bytes) = 0;

  // Copy the first `bytes` of the buffer. The caller may overwrite `from` once upload returns; `to`
  // is complete once download returns.
  virtual void upload(const void* from, DeviceBuffer& to, Index bytes) = 0;
  virtual void download(DeviceBuffer& from, void* to, Index bytes) = 0;

  // Queues a kernel that was compiled for a device of this kind.
  virtual void launch(CompiledKernel kernel, std::span<const DeviceArgument> arguments) = 0;

  // Blocks until all queued work is done.
  virtual void finish() = 0;

  struct Traffic {
    Index uploads = 0, downloads = 0, launches = 0, buffers = 0;  // since the device was opened
  };
  Traffic traffic() const {
    const std::lock_guard lock(counting_);
    return traffic_;
  }

 protected:
  // Returns the count before the increment.
  Index count(Index Traffic::*what) {
    const std::lock_guard lock(counting_);
    return (traffic_.*what)++;
  }

 private:
  mutable std::mutex counting_;
  Traffic traffic_;
};

// Returns the device whose memory and kernels are the process's own. Tests of the interface run on
// it too.
std::shared_ptr<Device> open_cpu();

// Returns the first OpenCL device of the machine, opened by the first call and reused by later
// ones. Throws Error (unsupported) with the reason if there is none.
std::shared_ptr<Device> open_opencl();

// Opens a device by name: "cpu" or "opencl". Throws Error: usage for an unknown name, unsupported
// for a device that cannot be opened here.
std::shared_ptr<Device> open_device(const std::string& name);

}  // namespace touchstone::backends
