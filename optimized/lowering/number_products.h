// Sums of products of float64 and integers, by the description of a contraction.
#pragma once

#include "optimized/lowering/contraction.h"

namespace touchstone::optimized {

// True for float64 and integers of 8 to 64 bits, which compute modulo 2^n.
bool has_number_products(Type type);

// C[i] = sum over s of A[i, s] B[i, s]; C is dense. Checks the budget but charges no work.
void number_products(RunState& state, Type type, const Contraction& of, const void* a,
                     const void* b, void* c);

}  // namespace touchstone::optimized
