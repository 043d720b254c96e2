// Loads a model from its bytes, and checks it.
#include "model/model.h"

#include "fuzz/bytes/target.h"

namespace touchstone::bytes {

void model(Bytes input) {
  accepts([&] {
    const Limits limits = limits_of_input();
    Model read = parse_model(input, {}, limits);
    resolve(read);
    for (const Error& error : check(read, limits))
      require(error.kind != ErrorKind::internal, "the checker has an internal error");
  });
}

}  // namespace touchstone::bytes
