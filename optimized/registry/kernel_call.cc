// From canonical problems to Halide's buffers. Halide's own error handler ends the process; ours
// keeps the words and lets the kernel return, and the caller gets an Error.
#include <HalideRuntime.h>

#include <string>

#include "core/error.h"
#include "optimized/registry/adapter.h"

namespace touchstone {

namespace {

thread_local std::string last_error;

void keep_error(void*, const char* message) { last_error = message; }

template <std::size_t rank>
struct Buffer {
  halide_buffer_t buffer{};
  halide_dimension_t dims[rank]{};

  // `which`: the dimensions of the problem that the buffer has.
  template <std::size_t from>
  Buffer(const float* data, const std::array<Index, from>& extents,
         const std::array<Index, from>& strides, const std::array<std::size_t, rank>& which) {
    for (std::size_t k = 0; k < rank; ++k) {
      dims[k].extent = static_cast<std::int32_t>(extents[which[k]]);
      dims[k].stride = static_cast<std::int32_t>(strides[which[k]]);
    }
    buffer.host = reinterpret_cast<std::uint8_t*>(const_cast<float*>(data));
    buffer.type = halide_type_t(halide_type_float, 32);
    buffer.dimensions = static_cast<std::int32_t>(rank);
    buffer.dim = dims;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
};

template <std::size_t rank, std::size_t output_rank>
void call(CompiledKernel kernel, const Problem<rank>& problem, CallValues& values,
          const std::array<std::size_t, rank>& all,
          const std::array<std::size_t, output_rank>& kept) {
  static const bool handled = (halide_set_error_handler(keep_error), true);
  (void)handled;
  std::vector<std::unique_ptr<Buffer<rank>>> inputs;
  std::vector<void*> arguments;
  for (const Placed<rank>& input : problem.inputs) {
    inputs.push_back(
        std::make_unique<Buffer<rank>>(input.data, problem.extents, input.strides, all));
    arguments.push_back(&inputs.back()->buffer);
  }
  values.append_to(arguments);
  Buffer<output_rank> output(problem.output, problem.extents, problem.output_strides, kept);
  arguments.push_back(&output.buffer);
  last_error.clear();
  if (const int status = kernel(arguments.data()); status != 0) {
    const bool memory = status == halide_error_code_out_of_memory;
    throw Error(memory ? ErrorKind::out_of_memory : ErrorKind::internal,
                "a fast kernel failed with status " + std::to_string(status) + ": " + last_error);
  }
}

}  // namespace

void call_kernel(CompiledKernel kernel, const Problem<4>& problem, CallValues& values) {
  call<4, 4>(kernel, problem, values, {0, 1, 2, 3}, {0, 1, 2, 3});
}
void call_kernel(CompiledKernel kernel, const ReduceProblem& problem, CallValues& values) {
  call<3, 2>(kernel, problem, values, {0, 1, 2}, {0, 2});
}

void ElementwiseCall::run(const KernelTable& kernels, Isa isa) {
  const KernelPair& kernel = kernels[static_cast<std::size_t>(isa)];
  elementwise_problems(output_.shape, inputs_, output_.data, [&](const Problem<4>& problem) {
    call_kernel(kernel.usual, problem, values_);
  });
}

void ReduceCall::run(const KernelTable& kernels, Isa isa) {
  const KernelPair& kernel = kernels[static_cast<std::size_t>(isa)];
  reduce_problems(output_.shape, reduced_, inputs_, output_.data,
                  [&](const ReduceProblem& problem) {
                    call_kernel(problem.by_rows ? kernel.rows : kernel.usual, problem, values_);
                  });
}

bool run_fast(const FastEntry& entry, Call& call, Isa isa) {
  return entry.run(call, *entry.kernels, isa);
}

}  // namespace touchstone
