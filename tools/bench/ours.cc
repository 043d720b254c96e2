// Table of our runtimes by name. A new executor needs one row here.
#include "tools/bench/ours.h"

#ifdef TOUCHSTONE_WITH_FAST
#include "optimized/session.h"
#endif

namespace touchstone::bench {

namespace {

using Dims = std::map<std::string, Index>;

}  // namespace

const std::vector<OurRuntime>& our_runtimes() {
  static const std::vector<OurRuntime> all{
#ifdef TOUCHSTONE_WITH_FAST
      {"fast",
       [](Index threads, const Dims& dims) {
         return targets::make_fast({.threads = threads, .dims = dims});
       },
       [] {
         return "all passes, sizes of symbols at load, threads sleep between runs, " +
                std::string(optimized::name(optimized::chosen_isa()));
       }},
      {"direct",
       [](Index threads, const Dims& dims) {
         return targets::make_fast({.threads = threads, .winograd = false, .dims = dims});
       },
       [] {
         return "as fast, and convolutions sum their products one by one (no Winograd), " +
                std::string(optimized::name(optimized::chosen_isa()));
       }},
#endif
      {"reference", [](Index, const Dims&) { return targets::make_reference(); },
       [] { return std::string("one thread, whatever is asked"); }}};
  return all;
}

}  // namespace touchstone::bench
