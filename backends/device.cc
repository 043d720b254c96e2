// Opens a device by name.
#include "backends/device.h"

#include "core/error.h"

namespace touchstone::backends {

std::shared_ptr<Device> open_device(const std::string& name) {
  if (name == "cpu") return open_cpu();
#ifndef TOUCHSTONE_BUNDLE
  if (name == "opencl") return open_opencl();
#endif
  if (name == "cuda") {
    throw Error(ErrorKind::unsupported,
                "kernels are compiled for the device cuda, not yet run on it")
        .with_help("devices: cpu, opencl");
  }
  throw Error(ErrorKind::usage, "there is no device '" + name + "'")
      .with_help("devices: cpu, opencl");
}

}  // namespace touchstone::backends
