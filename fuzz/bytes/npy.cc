// Reads a file of NumPy. What was read is written, and read again as the same.
#include "core/npy.h"

#include "fuzz/bytes/target.h"

namespace touchstone::bytes {

void npy(Bytes input) {
  constexpr unsigned types = 28;
  const auto expected = static_cast<Type>(take_byte(input) % (types + 1));
  const Limits limits = limits_of_input();
  accepts([&] {
    const Tensor read = parse_npy(input, expected, limits);
    const std::string written = serialize_npy(read);
    const Tensor again = parse_npy(std::as_bytes(std::span(written)), read.type(), limits);
    require(again.shape() == read.shape() && serialize_npy(again) == written,
            "what was written is read as another tensor");
  });
}

}  // namespace touchstone::bytes
