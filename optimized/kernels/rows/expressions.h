// Expressions of row kernels: functions that evaluate an expression for each element, over plain
// arrays. codegen/emit_row_kernels.py writes the table; it is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Evaluates an expression for `count` elements from arrays and scalars. A `map` expression writes
// `out`; sum, prod, max, min combine with its elements; a `fold` combines all elements into the one
// number at `out`.
using ScalarExpression = void (*)(std::int64_t count, const float* const* arrays,
                                  const float* numbers, float* out);

const ScalarExpression* row_expressions_sse41();
const ScalarExpression* row_expressions_avx2();
const ScalarExpression* row_expressions_avx512();

}  // namespace touchstone::optimized
