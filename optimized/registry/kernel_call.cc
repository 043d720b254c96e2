// From canonical problems to the buffers that kernels take.
#include <memory>

#include "optimized/kernels/compiled.h"
#include "optimized/registry/adapter.h"

namespace touchstone {

namespace {

template <std::size_t rank, std::size_t from>
std::array<Index, rank> chosen(const std::array<Index, from>& all,
                               const std::array<std::size_t, rank>& which) {
  std::array<Index, rank> some;
  for (std::size_t k = 0; k < rank; ++k) some[k] = all[which[k]];
  return some;
}

// `all` and `kept`: the dimensions of the problem that an input and the output have.
template <std::size_t rank, std::size_t output_rank>
void call(CompiledKernel kernel, const Problem<rank>& problem, CallValues& values,
          const std::array<std::size_t, rank>& all,
          const std::array<std::size_t, output_rank>& kept) {
  std::vector<std::unique_ptr<Strided<rank>>> inputs;
  std::vector<void*> arguments;
  for (const Placed<rank>& input : problem.inputs) {
    inputs.push_back(std::make_unique<Strided<rank>>(input.data, chosen(problem.extents, all),
                                                     chosen(input.strides, all)));
    arguments.push_back(inputs.back()->argument());
  }
  values.append_to(arguments);
  Strided<output_rank> output(problem.output, chosen(problem.extents, kept),
                              chosen(problem.output_strides, kept));
  arguments.push_back(output.argument());
  call_compiled(kernel, arguments.data());
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
