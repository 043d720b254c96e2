// A draw depends on RapidCheck's seed alone.
#include "fuzz/op/calls.h"

#include <fnmatch.h>

#include "core/error.h"
#include "fuzz/op/simplify.h"

namespace touchstone::fuzz {

rc::Shrinkable<Draft> shrinkable_call(const Draft& draft, const Knowledge& known,
                                      const Bounds& bounds) {
  return rc::shrinkable::shrinkRecur(draft, [&known, bounds](const Draft& before) {
    return rc::seq::mapMaybe(rc::seq::fromContainer(simplifications(before)),
                             [&known, bounds, before](const Draft& candidate) -> rc::Maybe<Draft> {
                               std::optional<Draft> made =
                                   solved_simpler(candidate, before, known, bounds);
                               if (!made) return rc::Nothing;
                               return std::move(*made);
                             });
  });
}

rc::Gen<Draft> valid_calls(const Knowledge& known, const std::string& versions,
                           const Bounds& bounds) {
  std::vector<const Signature*> matching;
  for (const Signature& signature : all_signatures()) {
    if (!known.seeds.of(signature).valid.empty() &&
        fnmatch(versions.c_str(), name_of(signature).c_str(), 0) == 0)
      matching.push_back(&signature);
  }
  if (matching.empty())
    throw Error(ErrorKind::usage, "no version of an operator matches '" + versions + "'");
  return [&known, bounds, matching](const rc::Random& seed, int) {
    rc::Random next = seed;
    Random random(next.next());
    for (;;) {
      const Signature& signature = *random.pick(matching);
      const std::optional<Drawn> drawn = draw_valid(signature, known, bounds, random);
      if (drawn) return shrinkable_call(drawn->draft, known, bounds);
    }
  };
}

Draft shrink(const Draft& draft, const Knowledge& known, const Bounds& bounds,
             const std::function<bool(const Draft&)>& fails) {
  rc::Shrinkable<Draft> best = shrinkable_call(draft, known, bounds);
  for (bool found = true; found;) {
    found = false;
    rc::Seq<rc::Shrinkable<Draft>> shrinks = best.shrinks();
    for (auto next = shrinks.next(); next && !found; next = found ? next : shrinks.next()) {
      found = fails(next->value());
      if (found) best = *next;
    }
  }
  return best.value();
}

void showValue(const Draft& draft, std::ostream& out) { out << text(draft); }

}  // namespace touchstone::fuzz
