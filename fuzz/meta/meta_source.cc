// Draws from a state of its own, so that the transformation does not depend on the case's draws.
#include "fuzz/meta/meta_source.h"

#include "core/error.h"
#include "fuzz/meta/transformation.h"

namespace touchstone::fuzz {
namespace {

constexpr std::uint64_t own_draws = 0x6d657461;

}  // namespace

Case MetaSource::make(std::uint64_t number) const {
  Random random(number ^ own_draws << 32U);
  Case made = random.pick(sources_)->make(number);
  if (!made.refused.empty())
    throw Error(ErrorKind::unsupported, "an invalid model has no transformation");
  made.transformation = draw_transformation(made, fast_, random);
  if (made.transformation.empty())
    throw Error(ErrorKind::unsupported, "no transformation of " + made.text + " was found");
  return made;
}

}  // namespace touchstone::fuzz
