// Rounding of four-dimensional buffers to floats of 16 bits, row by row, called as the kernels that
// Halide compiles are called.
#include "optimized/kernels/half_rounding.h"

namespace touchstone::optimized {
namespace {

const HalfTable& table_of(Isa isa) { return BY_ISA(isa, half); }

const HalfKernels& of(const HalfTable& table, Type type) {
  return type == Type::float16 ? table.float16 : table.bfloat16;
}

void round_rows(const HalfKernels& kernels, const halide_buffer_t& from,
                const halide_buffer_t& to) {
  const auto offset = [](const halide_buffer_t& buffer, const Index(&at)[4]) {
    Index sum = 0;
    for (int d = 1; d < 4; ++d) sum += at[d] * buffer.dim[d].stride;
    return sum;
  };
  const auto* const x = reinterpret_cast<const float*>(from.host);
  auto* const y = reinterpret_cast<float*>(to.host);
  const Index row = to.dim[0].extent, step = from.dim[0].stride;
  Index at[4]{};
  for (at[3] = 0; at[3] < to.dim[3].extent; ++at[3]) {
    for (at[2] = 0; at[2] < to.dim[2].extent; ++at[2]) {
      for (at[1] = 0; at[1] < to.dim[1].extent; ++at[1]) {
        const float* const source = x + offset(from, at);
        float* const target = y + offset(to, at);
        if (step == 1) {
          kernels.round(source, target, row);
        } else {
          for (Index k = 0; k < row; ++k) kernels.round(source + k * step, target + k, 1);
        }
      }
    }
  }
}

template <Isa isa, Type type>
int round_buffer(void** arguments) {
  round_rows(of(table_of(isa), type), *static_cast<const halide_buffer_t*>(arguments[0]),
             *static_cast<const halide_buffer_t*>(arguments[1]));
  return 0;
}

template <Type type>
constexpr CompiledSet rounding{round_buffer<Isa::sse41, type>, round_buffer<Isa::avx2, type>,
                               round_buffer<Isa::avx512, type>};

}  // namespace

const HalfKernels& half_kernels(Type type) { return of(table_of(chosen_isa()), type); }

CompiledSet rounding_kernel(Type type) {
  return type == Type::float16 ? rounding<Type::float16> : rounding<Type::bfloat16>;
}

}  // namespace touchstone::optimized
