// Includes backends/kernel.h, the type and call of kernels that Halide compiled ahead of time.
#pragma once

#include "backends/kernel.h"
