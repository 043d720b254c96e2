// Runs a model by the fast executor: twice in a session, since the second run reuses its plan.
#include "fuzz/bytes/feeds.h"
#include "optimized/session.h"

namespace touchstone::bytes {

void fast(Bytes input) {
  accepts([&] {
    SessionOptions options;
    options.threads = 1;
    options.limits = limits_of_input();
    Model model = valid_model(input, options.limits);
    const Feeds feeds = feeds_of(model);
    Session session(std::move(model), options);
    session.run(feeds);
    session.run(feeds);
  });
}

}  // namespace touchstone::bytes
