// Detects the processor's instruction sets; each set's flags match those of the targets in
// optimized/CMakeLists.txt.
#include "optimized/registry/isa.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <cstdlib>
#include <string>

#include "core/error.h"

namespace touchstone::optimized {

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::sse41:
      return "sse41";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  BUG("an instruction set without a name");
}

bool is_built(Isa isa) {
  return by_isa(isa, TOUCHSTONE_BUILT_SSE41, TOUCHSTONE_BUILT_AVX2, TOUCHSTONE_BUILT_AVX512) == 1;
}

#ifdef __x86_64__
namespace {

// Not every compiler's __builtin_cpu_supports knows f16c. The operating-system support that it
// needs is that of AVX.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace

bool processor_has(Isa isa) {
  __builtin_cpu_init();
  switch (isa) {
    case Isa::sse41:
      return __builtin_cpu_supports("sse4.1");
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    case Isa::avx512:
      return processor_has(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
  }
  BUG("an instruction set that no processor has");
}
#else
bool processor_has(Isa) { return false; }
#endif

Isa choose_isa(std::string_view forced) {
  std::string names;
  for (std::size_t k = all_isas.size(); k-- > 0;) {
    const Isa isa = all_isas[k];
    if (!is_built(isa)) continue;
    names += (names.empty() ? "" : ", ") + std::string(name(isa));
    if (forced.empty() ? !processor_has(isa) : forced != name(isa)) continue;
    if (!processor_has(isa)) {
      throw Error(ErrorKind::unsupported, "TOUCHSTONE_ISA is " + std::string(forced) +
                                              ", which this processor does not have");
    }
    return isa;
  }
  if (forced.empty()) {
    throw Error(ErrorKind::unsupported,
                "this processor has none of " + names + ", which the fast kernels need");
  }
  throw Error(ErrorKind::usage,
              "TOUCHSTONE_ISA is " + std::string(forced) + ", but it may be " + names);
}

Isa chosen_isa() {
  static const Isa chosen = [] {
    const char* forced = std::getenv("TOUCHSTONE_ISA");
    return choose_isa(forced ? forced : "");
  }();
  return chosen;
}

}  // namespace touchstone::optimized
