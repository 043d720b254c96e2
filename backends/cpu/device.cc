// Implements Device on the processor: its memory is the process's own and every call completes
// before it returns.
#include <cstring>
#include <new>

#include "backends/device.h"
#include "backends/view.h"

namespace touchstone::backends {
namespace {

constexpr std::size_t alignment = 64;

class CpuBuffer : public DeviceBuffer {
 public:
  explicit CpuBuffer(Index bytes)
      : DeviceBuffer(bytes),
        memory_(::operator new(static_cast<std::size_t>(bytes) + 1, std::align_val_t(alignment),
                               std::nothrow)) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  ~CpuBuffer() override { ::operator delete(memory_, std::align_val_t(alignment)); }
  void* memory() const { return memory_; }

 private:
  void* const memory_;
};

void* memory_of(DeviceBuffer& buffer) { return static_cast<CpuBuffer&>(buffer).memory(); }

class Cpu : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::cpu; }
  std::string name() const override { return "cpu"; }
  std::unique_ptr<DeviceBuffer> allocate(Index bytes) override {
    count(&Traffic::buffers);
    try {
      return std::make_unique<CpuBuffer>(bytes);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::out_of_memory,
                  "the device cpu has no " + std::to_string(bytes) + " bytes");
    }
  }
  void upload(const void* from, DeviceBuffer& to, Index bytes) override {
    count(&Traffic::uploads);
    if (bytes > 0) std::memcpy(memory_of(to), from, static_cast<std::size_t>(bytes));
  }
  void download(DeviceBuffer& from, void* to, Index bytes) override {
    count(&Traffic::downloads);
    if (bytes > 0) std::memcpy(to, memory_of(from), static_cast<std::size_t>(bytes));
  }
  void launch(CompiledKernel kernel, std::span<const DeviceArgument> arguments) override {
    count(&Traffic::launches);
    call_with_views(kernel, arguments, [](const DeviceArgument& argument) {
      HalideView view;
      view.set_axes(argument.axes);
      view.buffer.host = static_cast<std::uint8_t*>(memory_of(*argument.buffer));
      return view;
    });
  }
  void finish() override {}
};

}  // namespace

std::shared_ptr<Device> open_cpu() {
  static const std::shared_ptr<Device> device = std::make_shared<Cpu>();
  return device;
}

}  // namespace touchstone::backends
