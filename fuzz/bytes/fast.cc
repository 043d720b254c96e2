// Runs a model by the fast executor: twice in a session, since the second run reuses its plan. What
// the reference runs, it must run.
#include "fuzz/bytes/feeds.h"
#include "optimized/session.h"
#include "reference/interpreter.h"

namespace touchstone::bytes {

void fast(Bytes input) {
  optimized::SessionOptions options;
  options.threads = 1;
  options.limits = limits_of_input();
  Model model;
  Feeds feeds;
  if (!accepts([&] {
        model = valid_model(input, options.limits);
        feeds = feeds_of(model);
      }))
    return;
  const bool runs = accepts([&] { run(model, feeds, RunOptions{options.limits, {}}); });
  const std::optional<Error> refused = refusal([&] {
    optimized::Session session(std::move(model), options);
    session.run(feeds);
    session.run(feeds);
  });
  if (!runs || !refused) return;
  // Packed weights and plans take memory and work that the reference does not need.
  const bool is_limit =
      refused->kind == ErrorKind::limit || refused->kind == ErrorKind::out_of_memory;
  require(is_limit, "a model that the reference runs is refused: " + refused->message);
}

}  // namespace touchstone::bytes
