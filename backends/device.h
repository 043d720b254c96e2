// What the fast executor sees of a device: memory of its own, and a queue that does one thing after
// the other. A device knows pointers, sizes and compiled kernels, no operator.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backends/kernel.h"
#include "core/shape.h"

namespace touchstone {

// Memory of a device.
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

// An argument of a kernel: a value (anything of at most 8 bytes), or floats in a buffer, seen by
// axes, innermost first, from the buffer's first element on.
struct DeviceAxis {
  Index extent, step;  // in elements
};
struct DeviceArgument {
  void* value = nullptr;  // given: a value
  DeviceBuffer* buffer = nullptr;
  std::vector<DeviceAxis> axes;  // at most four
};

enum class DeviceKind { cpu, opencl };

// Everything it does is queued and done in order; an Error says that it cannot be done, or that
// what was queued before failed. Sessions share it, and any thread may call it.
class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  virtual std::string name() const = 0;  // "opencl", as a list of devices says it

  // Throws Error (out_of_memory), here or where the buffer is written first.
  virtual std::unique_ptr<DeviceBuffer> allocate(Index bytes) = 0;

  // The buffer's first `bytes`. What stands at `from` may change once upload returns; what is
  // downloaded stands at `to` once download returns.
  virtual void upload(const void* from, DeviceBuffer& to, Index bytes) = 0;
  virtual void download(DeviceBuffer& from, void* to, Index bytes) = 0;

  // A kernel that was compiled for a device of this kind.
  virtual void launch(CompiledKernel kernel, std::span<const DeviceArgument> arguments) = 0;

  // Returns when all that was queued is done.
  virtual void finish() = 0;

  struct Traffic {
    Index uploads = 0, downloads = 0, launches = 0, buffers = 0;  // since the device was opened
  };
  Traffic traffic() const {
    const std::lock_guard lock(counting_);
    return traffic_;
  }

 protected:
  // Returns how many there were before.
  Index count(Index Traffic::*what) {
    const std::lock_guard lock(counting_);
    return (traffic_.*what)++;
  }

 private:
  mutable std::mutex counting_;
  Traffic traffic_;
};

// The process's own memory and its kernels: what holds of every device is tested on it too.
std::shared_ptr<Device> open_cpu();

// The first OpenCL device that the machine has, asked for at the first call and then shared. Throws
// Error (unsupported) where there is none, with the reason.
std::shared_ptr<Device> open_opencl();

// By name: "cpu", "opencl". Throws Error: usage for a name that there is not, unsupported for a
// device that cannot be opened here.
std::shared_ptr<Device> open_device(const std::string& name);

}  // namespace touchstone
