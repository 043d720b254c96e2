// A kernel that Halide compiled ahead of time, as all rooms call it.
#pragma once

#include "backends/kernel.h"
