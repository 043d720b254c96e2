// Reads the text of a value's type, and of a number. What was read is written, and read again as
// the same.
#include "core/types.h"

#include "core/numbers/convert.h"
#include "core/numbers/text.h"
#include "fuzz/bytes/target.h"

namespace touchstone::bytes {
namespace {

Tensor number_of(Type type, std::string_view text) {
  Tensor made(type, Shape{});
  set_number(made, 0, parse_number(type, text));
  return made;
}

}  // namespace

void types(Bytes input) {
  const std::string_view all = text_of(input);
  accepts([&] {
    const ValueType type = parse_value_type(all);
    require(parse_value_type(text(type)) == type, "the type's own text is another type");
  });
  for (const Type type :
       {Type::float32, Type::float64, Type::float8e5m2, Type::int64, Type::uint8, Type::boolean}) {
    accepts([&] {
      const Tensor read = number_of(type, all);
      const std::string written = number_text(type, number_at(read, 0));
      require(number_text(type, number_at(number_of(type, written), 0)) == written,
              "the number's own text is another number");
    });
  }
}

}  // namespace touchstone::bytes
