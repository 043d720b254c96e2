// Vectors of doubles, included by kernels that are compiled once per instruction set, with
// TOUCHSTONE_VECTOR_BYTES. Includes no common header, as vector_exp.h.
#pragma once

#include <cstdint>

namespace touchstone::optimized {
namespace {

constexpr int lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(double);

using Doubles __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = double;
using Longs __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = std::int64_t;

inline Longs bits(Doubles x) { return reinterpret_cast<Longs>(x); }
inline Doubles of_bits(Longs x) { return reinterpret_cast<Doubles>(x); }
inline Doubles all(double x) { return x - Doubles{}; }
constexpr std::int64_t sign = std::int64_t{1} << 63;

}  // namespace
}  // namespace touchstone::optimized
