// A kernel that Halide compiled ahead of time, for a processor or with code for a device in it, and
// the one way to call it.
#pragma once

namespace touchstone {

using CompiledKernel = int (*)(void** arguments);  // not 0 where it failed

// Throws Error with Halide's words where the kernel fails: out_of_memory, or internal.
void call_compiled(CompiledKernel kernel, void** arguments);

// What Halide's runtime gave back: 0, or its words since the last call are thrown as Error, of the
// kind that call_compiled throws. `what` begins the sentence: "a copy to the device".
void check_compiled(int status, const char* what);

// Before a call of Halide's runtime that check_compiled looks at.
void forget_words();

}  // namespace touchstone
