// Instruction sets that kernels are compiled for. Selected once, by the processor's capabilities or
// by TOUCHSTONE_ISA, so that every set can be tested on one machine.
#pragma once

#include <array>
#include <string_view>

#include "optimized/registry/built_isas.h"

namespace touchstone::optimized {

enum class Isa { sse41, avx2, avx512 };
inline constexpr std::array all_isas{Isa::sse41, Isa::avx2, Isa::avx512};

template <class T>
constexpr const T& by_isa(Isa isa, const T& sse41, const T& avx2, const T& avx512) {
  return isa == Isa::sse41 ? sse41 : isa == Isa::avx2 ? avx2 : avx512;
}
// Names the table or the function of an instruction set: BY_ISA(isa, dots) is dots_sse41, dots_avx2
// or dots_avx512. A function that needs the set is called afterwards: `BY_ISA(isa, tables)()`.
#define BY_ISA(isa, name)                                                        \
  by_isa(isa, TOUCHSTONE_OF_ISA(name, sse41, ), TOUCHSTONE_OF_ISA(name, avx2, ), \
         TOUCHSTONE_OF_ISA(name, avx512, ))

std::string_view name(Isa isa);  // "avx2", as in TOUCHSTONE_ISA
bool is_built(Isa isa);          // false: left out by the option TOUCHSTONE_ISAS
bool processor_has(Isa isa);

// `forced`: a name, or empty for the best that the processor has. Throws Error: usage for an
// unknown name, unsupported if the processor lacks the set or no kernel was built for it.
Isa choose_isa(std::string_view forced);
Isa chosen_isa();  // choose_isa of the environment variable, evaluated once

}  // namespace touchstone::optimized
