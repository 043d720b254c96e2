// Makes our own targets from their options.
#include "tools/touchstone/own_target.h"

#include <charconv>
#include <cstdlib>

#include "conformance/targets/launch.h"
#include "conformance/targets/target.h"
#include "core/error.h"
#ifdef TOUCHSTONE_WITH_FAST
#include "optimized/session.h"
#endif

namespace touchstone::command {
namespace {

#ifdef TOUCHSTONE_WITH_FAST
// The environment selects the instruction set, once per process.
optimized::SessionOptions fast_options(const std::string& target, Index default_threads) {
  optimized::SessionOptions options;
  options.threads = default_threads;
  if (const std::string isa = targets::option_of(target, "isa"); !isa.empty()) {
    optimized::choose_isa(isa);  // refuses an unavailable instruction set
    ::setenv("TOUCHSTONE_ISA", isa.c_str(), 1);
  }
  if (const std::string threads = targets::option_of(target, "threads"); !threads.empty()) {
    const auto [end, error] =
        std::from_chars(threads.data(), threads.data() + threads.size(), options.threads);
    if (error != std::errc() || end != threads.data() + threads.size() || options.threads < 1)
      throw Error(ErrorKind::usage, "threads=" + threads + " of the target is no number above 0");
  }
  if (const std::string level = targets::option_of(target, "level"); !level.empty()) {
    const std::optional<transform::Level> known = transform::level_by_name(level);
    if (!known)
      throw Error(ErrorKind::usage, "there is no level '" + level + "'")
          .with_help("levels: none, basic, extended, all");
    options.passes.level = *known;
  }
  if (const std::string pass = targets::option_of(target, "without"); !pass.empty())
    options.passes.without = {pass};
  if (const std::string devices = targets::option_of(target, "device"); !devices.empty())
    options.devices = devices;
  return options;
}
#endif

}  // namespace

std::unique_ptr<targets::Target> own_target(const std::string& name,
                                            [[maybe_unused]] Index threads) {
  if (name == "reference") return targets::make_reference();
#ifdef TOUCHSTONE_WITH_FAST
  if (name == "fast" || name.starts_with("fast:"))
    return targets::make_fast(fast_options(name, threads));
#endif
  return nullptr;
}

}  // namespace touchstone::command
