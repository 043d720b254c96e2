// Prints the innermost calls of a crashing process.
#pragma once

namespace touchstone::fuzz {

// When a signal of a fault arrives, prints "frames:" and a line `MODULE(+OFFSET) [ADDRESS]` for
// each innermost call to stderr. Then the process dies by the signal. Does nothing in sanitized
// builds, which print their own.
void print_frames_of_crashes();

}  // namespace touchstone::fuzz
