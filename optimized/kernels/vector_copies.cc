// Vectorized data movement: transposes, rows contiguous on both sides, channel blocks, transforms
// of weights.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_VECTOR_COPIES.
// Calls no inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/vector_copies.h"

#include <utility>

#include "optimized/kernels/vector_rows.h"
#include "optimized/kernels/vector_transpose.h"

namespace touchstone::optimized {

namespace {

void repeat(const float* from, Stride from_column, float* to, Stride to_column, Stride count,
            Stride times) {
  using V = VectorOf<float>;
  constexpr Stride lanes = vector_bytes == 64 ? 16 : 8;
  for (Stride k = 0; k < count; ++k, from += from_column) {
    for (Stride t = 0; t < times; ++t, to += to_column) copy_vectors<V>(from, to, lanes);
  }
}

void scale_rows(const float* from, const float* by, float* to, Stride rows, Stride width) {
  for (Stride row = 0; row < rows; ++row, from += width, to += width) {
    const float factor = by[row];
#pragma GCC ivdep
    for (Stride at = 0; at < width; ++at) to[at] = from[at] * factor;
  }
}

// Rows of Winograd's matrix G: the weight of each tap in each product.
template <int points>
constexpr double transform[points + 2][3] = {
    {1 / 4., 0, 0},
    {-1 / 6., -1 / 6., -1 / 6.},
    {-1 / 6., 1 / 6., -1 / 6.},
    {1 / 24., 1 / 12., 1 / 6.},
    {1 / 24., -1 / 12., 1 / 6.},
    {0, 0, 1},
};
template <>
constexpr double transform<2>[4][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};

// Sums all nine taps in their order; taps of weight zero are skipped.
template <int points, int product, class V, std::size_t... tap>
inline V weighed(const V* taps, std::index_sequence<tap...>) {
  constexpr const double* down = transform<points>[product / (points + 2)];
  constexpr const double* across = transform<points>[product % (points + 2)];
  V sum{};
  (
      [&] {
        constexpr double factor = down[tap / 3] * across[tap % 3];
        if constexpr (factor != 0) sum += factor * taps[tap];
      }(),
      ...);
  return sum;
}

template <int points, std::size_t... product>
void winograd_weights(const float* taps, float* to, Stride step, Stride width,
                      std::index_sequence<product...>) {
  using Double = VectorOf<double>;
  using Float = VectorOf<float, vector_bytes / 2>;
  for (Stride k = 0; k < width; k += Double::lanes) {
    typename Double::Dense wide[9];
#pragma GCC unroll 9
    for (int tap = 0; tap < 9; ++tap) {
      const typename Float::Dense narrow =
          *reinterpret_cast<const typename Float::Anywhere*>(taps + tap * width + k);
      wide[tap] = __builtin_convertvector(narrow, typename Double::Dense);
    }
    ((*reinterpret_cast<typename Float::Anywhere*>(to + static_cast<Stride>(product) * step + k) =
          __builtin_convertvector((weighed<points, product>(wide, std::make_index_sequence<9>())),
                                  typename Float::Dense)),
     ...);
  }
}

template <int points>
void winograd_weights(const float* taps, float* to, Stride step, Stride width) {
  winograd_weights<points>(taps, to, step, width,
                           std::make_index_sequence<(points + 2) * (points + 2)>());
}

}  // namespace

const VectorCopies& TOUCHSTONE_VECTOR_COPIES() {
  static constexpr VectorCopies moves{transpose<std::uint32_t>,
                                      transpose<std::uint64_t>,
                                      copy_rows,
                                      copy_grid,
                                      stream_grid,
                                      repeat,
                                      scale_rows,
                                      winograd_weights<2>,
                                      winograd_weights<4>};
  return moves;
}

}  // namespace touchstone::optimized
