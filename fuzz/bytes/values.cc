// Reads a value of test data. What was read is written, and read again as the same.
#include <array>

#include "fuzz/bytes/target.h"
#include "model/model.h"

namespace touchstone::bytes {
namespace {

constexpr std::array types_read{
    "tensor(float)",
    "tensor(string)",
    "tensor(int4)",
    "tensor(complex64)",
    "tensor(float6e2m3)",
    "sparse_tensor(float)",
    "seq(tensor(int64))",
    "optional(tensor(float))",
    "map(int64,tensor(float))",
    "map(string,tensor(double))",
    "seq(map(string,tensor(float)))",
    "optional(seq(tensor(string)))",
};

}  // namespace

void values(Bytes input) {
  const ValueType type = parse_value_type(types_read[take_byte(input) % types_read.size()]);
  const Limits limits = limits_of_input();
  accepts([&] {
    const std::string written = serialize_value(parse_value(input, type, limits));
    std::string again;
    const bool accepted = accepts([&] {
      again = serialize_value(parse_value(std::as_bytes(std::span(written)), type, limits));
    });
    require(accepted, "what was written is refused");
    require(again == written, "what was written is read as another value");
  });
}

}  // namespace touchstone::bytes
