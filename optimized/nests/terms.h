// Terms of nests: what is computed for each element of a row, over plain arrays. The table is
// written by codegen/emit_nests.py and compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace touchstone {

// `count` elements of a term over some arrays and numbers, written to `out` (map), joined to what
// stands there (sum, prod, max, min), or all joined to the one number there (the same, fold).
using Term = void (*)(std::int64_t count, const float* const* arrays, const float* numbers,
                      float* out);

const Term* nest_terms_sse41();
const Term* nest_terms_avx2();
const Term* nest_terms_avx512();

}  // namespace touchstone
