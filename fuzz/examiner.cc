// A batch of one number.
#include "fuzz/examiner.h"

#include "core/error.h"
#include "core/json.h"

namespace touchstone::fuzz {

Outcome Examiner::operator()(const Case& one) {
  if (!runner_) runner_ = make_runner_();
  Outcome found;
  bool died = false;
  in_batches(
      0, 1,
      {.batch = 1,
       .seconds = options_.seconds,
       .waiting = options_.waiting,
       .memory = options_.memory},
      [&](Index, const Enter& enter) { return to_json(examine(one, *runner_, enter)).dump(); },
      [&](const Ended& ended) {
        died = !ended.died.empty();
        found = died ? outcome_of_death(ended)
                     : outcome_of(nlohmann::ordered_json::parse(ended.text, nullptr, false));
      });
  if (!died) return found;
  runner_.reset();  // its worker may have died, or be in the middle of an answer
  found.text = text_of(one);
  found.refused = one.refused;
  describe_only_node(one, found);
  return found;
}

std::string Examiner::apart(const std::function<std::string()>& work) const {
  Ended last;
  in_batches(
      0, 1, {.batch = 1, .seconds = options_.seconds, .waiting = options_.waiting},
      [&](Index, const Enter&) { return work(); }, [&](const Ended& ended) { last = ended; });
  if (!last.died.empty()) throw Error(ErrorKind::internal, "a process died: " + last.died);
  return last.text;
}

}  // namespace touchstone::fuzz
