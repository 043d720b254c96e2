// Packed operands of products of 8-bit integers, for the steps of matmuls and convolutions.
#pragma once

#include "core/tensor.h"
#include "optimized/kernels/integer_rows.h"
#include "optimized/kernels/integer_tiles.h"
#include "optimized/lowering/kept_memory.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {

// Sums of products that a processor has beyond an instruction set: of four in a vector, or of
// matrices in tile registers.
enum class IntegerDots { none, vectors, tiles };
inline constexpr IntegerDots all_integer_dots[] = {IntegerDots::none, IntegerDots::vectors,
                                                   IntegerDots::tiles};
bool processor_has(IntegerDots dots, Isa isa);
const IntegerTiles& integer_tiles(Isa isa, IntegerDots dots);
// Those of the chosen instruction set.
const IntegerTiles& integer_tiles();
const IntegerRowKernels& integer_rows();

// Rows of A, and for each a zero point and the sum of the stored numbers.
class PackedRows {
 public:
  // `rows` rows of `depth` numbers, one after the other, padded to a multiple of `fours` groups of
  // four.
  void reserve(Index rows, Index depth, Index fours);
  // Stores row m. May be called for different rows by different threads.
  void pack(Index m, const std::uint8_t* from, bool is_signed);
  // Index of the stored depth.
  Index stored_depth() const { return stored_; }
  const void* row(Index m) const;
  std::int32_t* zeros() const { return zeros_; }
  const std::int32_t* sums() const { return sums_; }

 private:
  KeptMemory rows_memory_, numbers_memory_;
  Index depth_ = 0, stored_ = 0;
  std::byte* rows_ = nullptr;
  std::int32_t *zeros_ = nullptr, *sums_ = nullptr;
};

// Panels of one or more matrices B of the same shape, and for each column the sum of the stored
// numbers.
class PackedColumns {
 public:
  void reserve(Index matrices, Index depth, Index columns);
  // Stores a panel of a matrix whose first row is at `from`, with rows `stride` apart.
  void pack(Index matrix, Index panel, const std::uint8_t* from, Index stride, bool is_signed);
  Index panels() const { return panels_; }
  // Bytes between groups of four rows, as IntegerProduct has them.
  static Index step() { return integer_tiles().fours == 1 ? 0 : 4 * integer_tiles().columns; }
  const std::uint8_t* matrix(Index k) const { return panels_memory_ + k * matrix_bytes_; }
  const std::int32_t* sums(Index matrix) const { return sums_ + matrix * columns_; }

 private:
  KeptMemory panels_scratch_, sums_scratch_;
  Index depth_ = 0, stored_ = 0, columns_ = 0, panels_ = 0, matrix_bytes_ = 0;
  std::uint8_t* panels_memory_ = nullptr;
  std::int32_t* sums_ = nullptr;
};

// An 8-bit integer at a position of a tensor of type uint8 or int8.
inline std::int32_t byte_at(const Tensor& tensor, Index k) {
  return tensor.type() == Type::int8 ? std::int32_t{tensor.data<std::int8_t>()[k]}
                                     : std::int32_t{tensor.data<std::uint8_t>()[k]};
}

// Longest sums of products of two 9-bit integers that fit 32 bits. Rounded sums must not wrap.
inline constexpr Index most_rounded_depth = 0x7fffffff / (255 * 255);

}  // namespace touchstone::optimized
