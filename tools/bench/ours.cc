// What runs behind each name. A new executor is one row here.
#include "tools/bench/ours.h"

#ifdef TOUCHSTONE_WITH_FAST
#include "optimized/session.h"
#endif

namespace touchstone {

const std::vector<OurRuntime>& our_runtimes() {
  static const std::vector<OurRuntime> all{
#ifdef TOUCHSTONE_WITH_FAST
      {"fast", [](Index threads) { return make_fast({.threads = threads}); },
       [] { return "all passes, threads sleep between runs, " + std::string(name(chosen_isa())); }},
      {"direct", [](Index threads) { return make_fast({.threads = threads, .winograd = false}); },
       [] {
         return "as fast, and convolutions sum their products one by one (no Winograd), " +
                std::string(name(chosen_isa()));
       }},
#endif
      {"reference", [](Index) { return make_reference(); },
       [] { return std::string("one thread, whatever is asked"); }}};
  return all;
}

}  // namespace touchstone
