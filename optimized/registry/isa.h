// The instruction sets that kernels are compiled for. Which one runs is decided once, by what the
// processor says, or by TOUCHSTONE_ISA, so that every set is tested on one machine.
#pragma once

#include <array>
#include <string_view>

namespace touchstone {

enum class Isa { sse41, avx2, avx512 };
inline constexpr std::array all_isas{Isa::sse41, Isa::avx2, Isa::avx512};

std::string_view name(Isa isa);  // "avx2", as TOUCHSTONE_ISA says it
bool processor_has(Isa isa);

// `forced`: a name, or empty for the best that the processor has. Throws Error: usage for a name
// that there is not, unsupported where the processor lacks it.
Isa choose_isa(std::string_view forced);
Isa chosen_isa();  // choose_isa of the environment, asked once

}  // namespace touchstone
