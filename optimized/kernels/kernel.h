// A kernel that Halide compiled ahead of time.
#pragma once

namespace touchstone {

using CompiledKernel = int (*)(void** arguments);  // not 0 where it failed

}  // namespace touchstone
