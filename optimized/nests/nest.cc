// Selects the terms that are compiled for the current processor.
#include "optimized/nests/nest.h"

namespace touchstone {
namespace {

const Term* chosen_terms() {
  switch (chosen_isa()) {
    case Isa::avx512:
      return nest_terms_avx512();
    case Isa::avx2:
      return nest_terms_avx2();
    default:
      return nest_terms_sse41();
  }
}

}  // namespace

Nest::Nest(ThreadPool& pool, std::span<float* const> scratch, NestArrays& arrays)
    : terms(chosen_terms()), pool_(pool), scratch_(scratch), arrays_(arrays) {
  arrays_.begin();
}

}  // namespace touchstone
