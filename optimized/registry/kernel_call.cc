// From canonical problems to Halide's buffers. Halide's own error handler ends the process; ours
// keeps the words and lets the kernel return, and the caller gets an Error.
#include <HalideRuntime.h>

#include <optional>
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

// Halide's own handler ends the process; with ours the kernel returns a status.
void checked_call(CompiledKernel kernel, void** arguments) {
  static const bool handled = (halide_set_error_handler(keep_error), true);
  (void)handled;
  last_error.clear();
  if (const int status = kernel(arguments); status != 0) {
    const bool memory = status == halide_error_code_out_of_memory;
    throw Error(memory ? ErrorKind::out_of_memory : ErrorKind::internal,
                "a fast kernel failed with status " + std::to_string(status) + ": " + last_error);
  }
}

}  // namespace

// Halide's buffers of one call. The rank of inputs and output is the form's.
struct PreparedCall::Held {
  template <std::size_t rank, std::size_t output_rank>
  struct Buffers {
    std::vector<std::unique_ptr<Buffer<rank>>> inputs;
    std::unique_ptr<Buffer<output_rank>> output;
  };
  CompiledKernel kernel;
  CallValues values;
  Buffers<4, 4> elementwise;
  Buffers<3, 2> reduce;
  std::vector<void*> arguments;

  template <std::size_t rank, std::size_t output_rank>
  void hold(Buffers<rank, output_rank>& buffers, const Problem<rank>& problem,
            const std::array<std::size_t, rank>& all,
            const std::array<std::size_t, output_rank>& kept) {
    for (const Placed<rank>& input : problem.inputs) {
      buffers.inputs.push_back(
          std::make_unique<Buffer<rank>>(input.data, problem.extents, input.strides, all));
      arguments.push_back(&buffers.inputs.back()->buffer);
    }
    for (std::size_t k = 0; k < values.size(); ++k) arguments.push_back(values.at(k));
    buffers.output = std::make_unique<Buffer<output_rank>>(problem.output, problem.extents,
                                                           problem.output_strides, kept);
    arguments.push_back(&buffers.output->buffer);
  }
};

PreparedCall::PreparedCall(CompiledKernel kernel, const Problem<4>& problem, CallValues values)
    : held_(new Held{kernel, std::move(values), {}, {}, {}}) {
  held_->hold<4, 4>(held_->elementwise, problem, {0, 1, 2, 3}, {0, 1, 2, 3});
}
PreparedCall::PreparedCall(CompiledKernel kernel, const ReduceProblem& problem, CallValues values)
    : held_(new Held{kernel, std::move(values), {}, {}, {}}) {
  held_->hold<3, 2>(held_->reduce, problem, {0, 1, 2}, {0, 2});
}
PreparedCall::~PreparedCall() = default;
PreparedCall::PreparedCall(PreparedCall&&) noexcept = default;
PreparedCall& PreparedCall::operator=(PreparedCall&&) noexcept = default;

void PreparedCall::run() const { checked_call(held_->kernel, held_->arguments.data()); }

void call_elementwise(CompiledKernel kernel, const std::array<Index, 4>& extents,
                      std::span<const Placed<4>> inputs, const CallValues& values, float* output,
                      const std::array<Index, 4>& output_strides) {
  constexpr std::size_t most_inputs = 8, most_values = 16;
  if (inputs.size() > most_inputs || values.size() > most_values) BUG("a kernel of so many inputs");
  std::array<std::optional<Buffer<4>>, most_inputs + 1> buffers;
  std::array<void*, most_inputs + most_values + 1> arguments;
  constexpr std::array<std::size_t, 4> all{0, 1, 2, 3};
  std::size_t count = 0;
  for (const Placed<4>& input : inputs) {
    buffers[count].emplace(input.data, extents, input.strides, all);
    arguments[count] = &buffers[count]->buffer;
    ++count;
  }
  for (std::size_t k = 0; k < values.size(); ++k) arguments[count++] = values.at(k);
  buffers.back().emplace(output, extents, output_strides, all);
  arguments[count] = &buffers.back()->buffer;
  checked_call(kernel, arguments.data());
}

void ElementwiseCall::run(const KernelUse& use) {
  const CompiledKernel kernel = use.kernels[static_cast<std::size_t>(use.isa)].usual;
  if (use.record) {
    *use.record = {kernel, inputs_, values_};
    return;
  }
  elementwise_problems(output_.shape, inputs_, output_.data, [&](const Problem<4>& problem) {
    PreparedCall(kernel, problem, values_).run();
  });
}

void ReduceCall::run(const KernelUse& use) {
  if (use.record) BUG("a call of a reduction is recorded");
  const KernelPair& kernel = use.kernels[static_cast<std::size_t>(use.isa)];
  reduce_problems(
      output_.shape, reduced_, inputs_, output_.data, [&](const ReduceProblem& problem) {
        PreparedCall(problem.by_rows ? kernel.rows : kernel.usual, problem, values_).run();
      });
}

bool run_fast(const FastEntry& entry, Call& call, Isa isa) {
  return entry.run(call, {*entry.kernels, isa});
}

bool record_fast(const FastEntry& entry, Call& call, RecordedCall& record, Isa isa) {
  return entry.run(call, {*entry.kernels, isa, &record});
}

}  // namespace touchstone
