// Runs a model by the reference.
#include "fuzz/bytes/feeds.h"
#include "reference/interpreter.h"

namespace touchstone::bytes {

void reference(Bytes input) {
  accepts([&] {
    const Limits limits = limits_of_input();
    const Model model = valid_model(input, limits);
    run(model, feeds_of(model), RunOptions{limits, {}});
  });
}

}  // namespace touchstone::bytes
