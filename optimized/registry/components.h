// Components of the executor that a build may leave out, by the option TOUCHSTONE_LEFT_OUT of
// CMake: what no plan of the models of a bundle takes (optimized/bundle.h).
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace touchstone::optimized {

// clang-format off
#define TOUCHSTONE_COMPONENTS(X) \
  X(matmul) X(few_columns) X(matrix_vector) X(grouped) X(winograd) X(narrow) X(transposed) \
  X(pool) X(join) X(copy) X(repeat) X(elements) X(row_kernels)
// clang-format on

enum class Component {
  matmul,         // tiles of a matmul
  few_columns,    // a matmul by a constant matrix of few columns
  matrix_vector,  // one row by a constant transposed matrix
  grouped,        // algorithms of convolution, as in ConvolutionAlgorithm
  winograd,
  narrow,
  transposed,   // transposed convolution in channel blocks
  pool,         // pooling in channel blocks
  join,         // Concat along the channels
  copy,         // strided copies of one node
  repeat,       // copies along repeated dimensions
  elements,     // generated kernels over elements and reductions
  row_kernels,  // generated kernels over rows
};

#define TOUCHSTONE_ITEM(name) Component::name,
inline constexpr std::array all_components{TOUCHSTONE_COMPONENTS(TOUCHSTONE_ITEM)};
#undef TOUCHSTONE_ITEM

constexpr std::string_view name(Component component) {
#define TOUCHSTONE_ITEM(name) #name,
  constexpr std::string_view names[] = {TOUCHSTONE_COMPONENTS(TOUCHSTONE_ITEM)};
#undef TOUCHSTONE_ITEM
  return names[static_cast<std::size_t>(component)];
}

#ifndef TOUCHSTONE_LEFT_OUT
constexpr bool is_built(Component) { return true; }
#else
constexpr bool is_built(Component component) {
  using enum Component;
  constexpr std::array left_out{TOUCHSTONE_LEFT_OUT};
  return std::ranges::find(left_out, component) == left_out.end();
}
#endif

// Throws Error (unsupported): another plan than those that the bundle was made for wants it.
[[noreturn]] void refuse(Component component);

}  // namespace touchstone::optimized
