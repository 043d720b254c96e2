// The table of device kernels in a bundle, which has none.
#include "optimized/registry/device_registry.h"

namespace touchstone::optimized {

const DeviceEntry* find_for_devices(const Signature&) { return nullptr; }

}  // namespace touchstone::optimized
