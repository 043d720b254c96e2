// Implements Device on OpenCL through Halide's runtime, which holds the context and its queue. The
// OpenCL loader is opened on first use, so a process that uses no OpenCL device needs none.
#include <CL/cl.h>
#include <HalideRuntime.h>
#include <HalideRuntimeOpenCL.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "backends/device.h"
#include "backends/view.h"

namespace touchstone::backends {
namespace {

struct Loader {
  void* handle = nullptr;
  std::string problem;
  Loader() {
    for (const char* name : {"libOpenCL.so.1", "libOpenCL.so"}) {
      handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle) return;
      if (problem.empty()) problem = dlerror();
    }
  }
};

const Loader& loader() {
  static const Loader made;
  return made;
}

}  // namespace
}  // namespace touchstone::backends

// Replaces Halide's own function, which looks for the library without a version suffix only.
extern "C" void* halide_opencl_get_symbol(void*, const char* name) {
  void* const handle = touchstone::backends::loader().handle;
  return handle ? dlsym(handle, name) : nullptr;
}

namespace touchstone::backends {
namespace {

template <class F>
F* function(const char* name) {
  return reinterpret_cast<F*>(halide_opencl_get_symbol(nullptr, name));
}

[[noreturn]] void absent(const std::string& why) {
  throw Error(ErrorKind::unsupported, "the device opencl is not here: " + why)
      .with_help("install a driver for OpenCL, or take the device cpu");
}

// Capabilities of the device that Halide will select: one of the first platform, a GPU if there is
// one.
struct Found {
  bool gpu = false;
  bool rounds = false;  // supports correctly rounded division and square root
};

Found find_device() {
  if (!loader().handle) absent(loader().problem);
  const auto platforms_of = function<decltype(clGetPlatformIDs)>("clGetPlatformIDs");
  const auto devices_of = function<decltype(clGetDeviceIDs)>("clGetDeviceIDs");
  const auto info_of = function<decltype(clGetDeviceInfo)>("clGetDeviceInfo");
  if (!platforms_of || !devices_of || !info_of)
    absent("libOpenCL.so.1 lacks functions of OpenCL 1.2");
  cl_platform_id platform = nullptr;
  cl_uint count = 0;
  if (platforms_of(1, &platform, &count) != CL_SUCCESS || count == 0)
    absent("no driver is installed for it");
  Found found;
  cl_device_id device = nullptr;
  for (const cl_device_type type :
       std::array<cl_device_type, 2>{CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL}) {
    count = 0;
    if (devices_of(platform, type, 1, &device, &count) != CL_SUCCESS || count == 0) continue;
    found.gpu = type == CL_DEVICE_TYPE_GPU;
    break;
  }
  if (count == 0) absent("its driver names no device");
  cl_device_fp_config single = 0;
  info_of(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, nullptr);
  found.rounds = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  return found;
}

// Holds its allocation as a Halide view, because Halide frees device memory through the view.
class ClBuffer : public DeviceBuffer {
 public:
  explicit ClBuffer(Index bytes) : DeviceBuffer(bytes) {
    if (bytes > Index{4} * std::numeric_limits<std::int32_t>::max())
      throw Error(
          ErrorKind::unsupported,
          std::to_string(bytes) + " bytes in one buffer are too many for the device opencl");
    view.set_axes({{std::max<Index>((bytes + 3) / 4, 1), 1}});
    forget_words();
    check_compiled(
        halide_device_malloc(nullptr, view.argument(), halide_opencl_device_interface()),
        ("an allocation of " + std::to_string(bytes) + " bytes on the device opencl").c_str());
  }
  ~ClBuffer() override {
    if (halide_device_free(nullptr, view.argument()) != 0)
      return;  // nothing to report: the device is gone and its memory with it
  }

  HalideView view;
};

HalideView seen(DeviceBuffer& buffer, const std::vector<DeviceAxis>& axes) {
  const halide_buffer_t& held = static_cast<ClBuffer&>(buffer).view.buffer;
  HalideView made;
  made.buffer.device = held.device;
  made.buffer.device_interface = held.device_interface;
  made.set_axes(axes);
  return made;
}

class OpenCl : public Device {
 public:
  explicit OpenCl(const Found& found) {
    if (found.gpu) halide_opencl_set_device_type("gpu");
    if (found.rounds) halide_opencl_set_build_options("-cl-fp32-correctly-rounded-divide-sqrt");
  }
  DeviceKind kind() const override { return DeviceKind::opencl; }
  std::string name() const override { return "opencl"; }

  std::unique_ptr<DeviceBuffer> allocate(Index bytes) override {
    count(&Traffic::buffers);
    return std::make_unique<ClBuffer>(bytes);
  }
  void upload(const void* from, DeviceBuffer& to, Index bytes) override {
    count(&Traffic::uploads);
    if (bytes == 0) return;
    HalideView view = whole(to, bytes);
    view.buffer.host = static_cast<std::uint8_t*>(const_cast<void*>(from));
    view.buffer.set_host_dirty(true);
    forget_words();
    check_compiled(
        halide_copy_to_device(nullptr, view.argument(), halide_opencl_device_interface()),
        "a copy to the device opencl");
  }
  void download(DeviceBuffer& from, void* to, Index bytes) override {
    count(&Traffic::downloads);
    if (bytes == 0) return;
    HalideView view = whole(from, bytes);
    view.buffer.host = static_cast<std::uint8_t*>(to);
    view.buffer.set_device_dirty(true);
    forget_words();
    check_compiled(halide_copy_to_host(nullptr, view.argument()), "a copy from the device opencl");
  }
  void launch(CompiledKernel kernel, std::span<const DeviceArgument> arguments) override {
    count(&Traffic::launches);
    call_with_views(kernel, arguments, [](const DeviceArgument& argument) {
      return seen(*argument.buffer, argument.axes);
    });
  }
  void finish() override {
    forget_words();
    check_compiled(halide_device_sync_global(nullptr, halide_opencl_device_interface()),
                   "the queue of the device opencl");
  }

 private:
  HalideView whole(DeviceBuffer& buffer, Index bytes) {
    if (bytes > buffer.bytes() || bytes % 4 != 0) BUG("a copy that does not fit the buffer");
    return seen(buffer, {{bytes / 4, 1}});
  }
};

}  // namespace

std::shared_ptr<Device> open_opencl() {
  static const std::shared_ptr<Device> device = std::make_shared<OpenCl>(find_device());
  return device;
}

}  // namespace touchstone::backends
