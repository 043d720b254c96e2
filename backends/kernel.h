// Type of a kernel that Halide compiled ahead of time, for a processor or a device, and the
// function that calls it.
#pragma once

namespace touchstone::backends {

using CompiledKernel = int (*)(void** arguments);  // returns 0 on success

// Throws Error with Halide's message if the kernel fails: out_of_memory, or internal.
void call_compiled(CompiledKernel kernel, void** arguments);

// Checks a status that Halide's runtime returned. If it is not 0, throws Error with the messages
// since forget_words, of the kinds that call_compiled throws. `what` begins the message: "a copy to
// the device".
void check_compiled(int status, const char* what);

// Clears the kept message. Required before each call of Halide's runtime whose status
// check_compiled checks.
void forget_words();

}  // namespace touchstone::backends
