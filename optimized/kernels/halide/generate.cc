// Compiles every registered generator for one instruction set into one library, in one process,
// since each process loads all of LLVM.
//
// generate_kernels TARGET SUFFIX FOLDER LIBRARY: kernels for a processor;
// generate_kernels --devices TARGET SUFFIX FOLDER LIBRARY: kernels that embed device code;
// generate_kernels --code TARGET EXTENSION FOLDER: the device code alone, as text;
// generate_kernels --runtime TARGET FOLDER: Halide's runtime.
#include <Halide.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "optimized/kernels/halide/generate.h"

namespace {

using Halide::Internal::ExecuteGeneratorArgs;
using Halide::Internal::GeneratorRegistry;

ExecuteGeneratorArgs basics(const std::string& target, const std::string& folder) {
  std::filesystem::create_directories(folder);
  ExecuteGeneratorArgs args;
  args.output_dir = folder;
  args.targets = {Halide::Target(target)};
  args.output_types = {Halide::OutputFileType::object};
  return args;
}

void runtime(const std::string& target, const std::string& folder) {
  ExecuteGeneratorArgs args = basics(target, folder);
  args.runtime_name = "halide_runtime";
  args.output_types = {Halide::OutputFileType::static_library};
  Halide::Internal::execute_generator(args);
}

bool ends_with(const std::string& name, const std::string& end) {
  return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
}

// True for kernels generated from spec/, one per entry. Handwritten kernels have lowercase names;
// kernels for processors alone (`_fma`, `_rows`) are not for devices. `_contracted`
// kernels are for devices only.
bool is_for_devices(const std::string& name) {
  const bool by_hand = name[0] >= 'a' && name[0] <= 'z';
  return !by_hand && name.find("_fma") == std::string::npos && !ends_with(name, "_rows");
}
bool is_for_processors(const std::string& name) { return !ends_with(name, "_contracted"); }

// Definitions depend on NaN, infinities and -0 on devices too; sums of products may be contracted,
// as in handwritten kernels. Asserts stay enabled, since they report where a device failed.
std::vector<ExecuteGeneratorArgs> for_devices(const std::string& target, const std::string& suffix,
                                              const std::string& folder) {
  std::vector<ExecuteGeneratorArgs> all;
  for (const std::string& name : GeneratorRegistry::enumerate()) {
    if (!is_for_devices(name)) continue;
    const std::string loose = target + "-no_runtime-no_bounds_query";
    ExecuteGeneratorArgs& args = all.emplace_back(
        basics(ends_with(name, "_contracted") ? loose : loose + "-strict_float", folder));
    args.generator_name = name;
    args.function_name = "device_" + name + "_" + suffix;
  }
  return all;
}

void device_kernels(const std::string& target, const std::string& suffix, const std::string& folder,
                    const std::string& library) {
  std::vector<std::string> objects;
  for (const ExecuteGeneratorArgs& args : for_devices(target, suffix, folder)) {
    Halide::Internal::execute_generator(args);
    objects.push_back(folder + "/" + args.function_name + ".o");
  }
  Halide::create_static_library(objects, Halide::Target(target), library);
}

void device_code(const std::string& target, const std::string& extension,
                 const std::string& folder) {
  for (ExecuteGeneratorArgs& args : for_devices(target, "code", folder)) {
    args.output_types = {Halide::OutputFileType::device_code};
    Halide::Internal::execute_generator(args);
    const std::string stem = folder + "/" + args.function_name;
    std::filesystem::rename(stem + ".device_code",
                            folder + "/" + args.generator_name + "." + extension);
  }
}

// Halide's prefetch intrinsic emits a non-temporal hint and offers no other. On x86 such lines
// bypass L2, so weights prefetched early would be evicted before their use. Therefore the hint is
// replaced in the assembly text.
void assemble_as_kept(const std::string& stem) {
  const std::string quoted = "'" + stem + "'";
  const std::string command =
      "sed s/prefetchnta/prefetcht0/ " + quoted + ".s | as -o " + quoted + ".o -";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot run: " + command);
}

void kernels(const std::string& isa, const std::string& suffix, const std::string& folder,
             const std::string& library) {
  // Definitions depend on NaN, infinities and -0, and every machine must give the same bits: hence
  // strict_float. Asserts stay enabled: they cost nanoseconds per call, and their failures become
  // an Error (registry/kernel_call.cc). Only kernels named `_fma` contract a product and its sum to
  // one instruction, which strict_float forbids. They mark the operations that must stay strict
  // themselves.
  const std::string loose = isa + "-no_runtime-no_bounds_query", target = loose + "-strict_float";
  std::vector<std::string> objects;
  const auto make = [&](ExecuteGeneratorArgs args, bool prefetch) {
    const std::string stem = folder + "/" + args.function_name;
    if (prefetch) args.output_types = {Halide::OutputFileType::assembly};
    Halide::Internal::execute_generator(args);
    if (prefetch) assemble_as_kept(stem);
    objects.push_back(stem + ".o");
  };
  for (const std::string& name : GeneratorRegistry::enumerate()) {
    if (!is_for_processors(name)) continue;
    const bool fused = name.find("_fma") != std::string::npos;
    ExecuteGeneratorArgs args = basics(fused ? loose : target, folder);
    args.generator_name = name;
    args.function_name = name + "_" + suffix;
    make(args, name.find("_prefetch") != std::string::npos);
  }
  // Handwritten kernels rely on their schedules: sums may be contracted. Instead of asserts, their
  // callers' tests check the preconditions.
  const std::string contracted = isa + "-no_asserts-no_runtime-no_bounds_query";
  for (const auto list : touchstone::optimized::generators::lists_of_kernels()) {
    for (const touchstone::optimized::generators::WrittenKernel& kernel : list(suffix)) {
      ExecuteGeneratorArgs args = basics(contracted, folder);
      args.generator_name = "written";
      args.create_generator = kernel.create;
      args.generator_params = kernel.params;
      args.function_name = kernel.function + "_" + suffix;
      make(args, kernel.prefetch);
    }
  }
  Halide::create_static_library(objects, Halide::Target(target), library);
}

void run(const std::vector<std::string>& given) {
  if (given.size() == 3 && given[0] == "--runtime") return runtime(given[1], given[2]);
  if (given.size() == 4 && given[0] == "--code") return device_code(given[1], given[2], given[3]);
  if (given.size() == 5 && given[0] == "--devices")
    return device_kernels(given[1], given[2], given[3], given[4]);
  if (given.size() == 4) return kernels(given[0], given[1], given[2], given[3]);
  throw std::invalid_argument(
      "generate_kernels: see the beginning of optimized/kernels/halide/generate.cc");
}

}  // namespace

int main(int count, char** words) {
  try {
    run({words + 1, words + count});
  } catch (const Halide::Error& error) {
    throw std::runtime_error(
        error.what());  // Halide's is no std::exception: its message would be lost
  }
}
