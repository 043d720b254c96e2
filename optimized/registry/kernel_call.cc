// Converts canonical problems into Halide buffers and calls the kernels.
#include <optional>

#include "core/error.h"
#include "optimized/kernels/compiled.h"
#include "optimized/registry/adapter.h"
#include "optimized/registry/device_registry.h"
#include "reference/shape_only.h"

namespace touchstone::optimized {

namespace {

constexpr std::size_t max_inputs = 8, max_values = 16;

template <std::size_t rank, std::size_t from>
std::array<Index, rank> chosen(const std::array<Index, from>& all,
                               const std::array<std::size_t, rank>& which) {
  std::array<Index, rank> some;
  for (std::size_t k = 0; k < rank; ++k) some[k] = all[which[k]];
  return some;
}

// `kept`: the input dimensions that the output has.
template <std::size_t rank, std::size_t output_rank>
void call(backends::CompiledKernel kernel, const std::array<Index, rank>& extents,
          std::span<const Placed<rank>> inputs, const CallValues& values, float* output,
          const std::array<Index, rank>& output_strides,
          const std::array<std::size_t, output_rank>& kept) {
  if (inputs.size() > max_inputs || values.size() > max_values) BUG("a kernel of so many inputs");
  std::array<std::optional<Strided<rank>>, max_inputs> buffers;
  std::array<void*, max_inputs + max_values + 1> arguments;
  std::size_t count = 0;
  for (const Placed<rank>& input : inputs) {
    buffers[count].emplace(input.data, extents, input.strides);
    arguments[count] = buffers[count]->argument();
    ++count;
  }
  for (std::size_t k = 0; k < values.size(); ++k) arguments[count++] = values.at(k);
  Strided<output_rank> result(output, chosen(extents, kept), chosen(output_strides, kept));
  arguments[count] = result.argument();
  backends::call_compiled(kernel, arguments.data());
}

}  // namespace

void call_kernel(backends::CompiledKernel kernel, const std::array<Index, 4>& extents,
                 std::span<const Placed<4>> inputs, const CallValues& values, float* output,
                 const std::array<Index, 4>& output_strides) {
  call<4, 4>(kernel, extents, inputs, values, output, output_strides, {0, 1, 2, 3});
}
void call_kernel(backends::CompiledKernel kernel, const Problem<4>& p, const CallValues& values) {
  call<4, 4>(kernel, p.extents, p.inputs, values, p.output, p.output_strides, {0, 1, 2, 3});
}
void call_kernel(backends::CompiledKernel kernel, const ReduceProblem& p,
                 const CallValues& values) {
  call<3, 2>(kernel, p.extents, p.inputs, values, p.output, p.output_strides, {0, 2});
}

void ElementwiseCall::run(const KernelUse& use) {
  const KernelPair& kernels = use.kernels[static_cast<std::size_t>(use.isa)];
  const backends::CompiledKernel kernel =
      use.record && kernels.joined ? kernels.joined : kernels.usual;
  if (use.record) {
    *use.record = {kernel, inputs_, values_, output_.shape, {}};
    return;
  }
  elementwise_problems(output_.shape, inputs_, output_.data,
                       [&](const Problem<4>& problem) { call_kernel(kernel, problem, values_); });
}

void ReduceCall::run(const KernelUse& use) {
  if (use.record) {
    *use.record = {nullptr, inputs_, values_, output_.shape, reduced_};
    return;
  }
  const KernelPair& kernel = use.kernels[static_cast<std::size_t>(use.isa)];
  reduce_problems(output_.shape, reduced_, inputs_, output_.data,
                  [&](const ReduceProblem& problem) {
                    call_kernel(problem.by_rows ? kernel.rows : kernel.usual, problem, values_);
                  });
}

bool run_fast(const FastEntry& entry, Call& call, Isa isa) {
  return entry.run(call, {*entry.kernels, isa});
}

bool record_fast(const FastEntry& entry, Call& call, RecordedCall& record, Isa isa) {
  const ShapeOnlyOutputs shape_only;  // a real output would allocate a whole feature map
  return entry.run(call, {*entry.kernels, isa, &record});
}

bool record_for_device(const DeviceEntry& entry, Call& call, RecordedCall& record) {
  static constexpr KernelTable none{};
  return entry.run(call, {none, Isa::sse41, &record});
}

backends::CompiledKernel kernel_for(const DeviceEntry& entry, backends::DeviceKind kind) {
  return kind == backends::DeviceKind::opencl ? entry.opencl
                                              : entry.cpu[static_cast<std::size_t>(chosen_isa())];
}

}  // namespace touchstone::optimized
