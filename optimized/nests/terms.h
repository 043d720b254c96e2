// Terms of row kernels: functions that evaluate an expression for each element, over plain arrays.
// codegen/emit_nests.py writes the table; it is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone {

// Evaluates a term for `count` elements from arrays and scalars. A `map` term writes `out`; sum,
// prod, max, min combine with its elements; a `fold` combines all elements into the one number at
// `out`.
using Term = void (*)(std::int64_t count, const float* const* arrays, const float* numbers,
                      float* out);

const Term* nest_terms_sse41();
const Term* nest_terms_avx2();
const Term* nest_terms_avx512();

}  // namespace touchstone
