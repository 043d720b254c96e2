// Injected faults of one tensor. A fault of values changes one element, or the position that an
// element is read from. A fault of shapes keeps the remaining elements in order.
#include "tests/lines/tensor_faults.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/numbers/convert.h"
#include "core/numbers/formats.h"

namespace touchstone {
namespace {

using Number = long double;

// A fault of one number of a type.
struct NumberFault {
  const char* name;
  Number (*of)(Number x, Type type);
};

Number shortened(Number x, int digits) {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  const Number fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
}

Number narrowed(Number x, int bits) {
  const auto code = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::fmod(x, 0x1p63L)));
  const unsigned shift = 64U - static_cast<unsigned>(bits);
  return static_cast<Number>(static_cast<std::int64_t>(code << shift) >> shift);
}

bool past_float16(Type type) { return format_of(type).largest > 65504; }

const NumberFault of_floats[] = {
    {"NaN is 0", [](Number x, Type) { return std::isnan(x) ? 0.0L : x; }},
    {"an infinity is a large number",
     [](Number x, Type type) {
       const Number largest = format_of(type).largest;
       return std::isinf(x) ? std::copysign(largest, x) : x;
     }},
    {"an infinity is NaN",
     [](Number x, Type) { return std::isinf(x) ? std::numeric_limits<Number>::quiet_NaN() : x; }},
    {"-0 is 0", [](Number x, Type) { return x == 0 ? 0.0L : x; }},
    {"a subnormal is 0",
     [](Number x, Type type) {
       const Number smallest = format_of(type).smallest_normal;
       return std::fabs(x) < smallest ? std::copysign(0.0L, x) : x;
     }},
    {"no sign", [](Number x, Type) { return std::fabs(x); }},
    {"a negative is 0", [](Number x, Type) { return x < 0 ? 0.0L : x; }},
    {"no fraction", [](Number x, Type) { return std::trunc(x); }},
    {"none past 1",
     [](Number x, Type) { return std::isnan(x) ? x : std::clamp(x, Number{-1}, Number{1}); }},
    {"fewer digits",
     [](Number x, Type type) { return shortened(x, type == Type::float64 ? 24 : 8); }},
    {"infinite past float16",
     [](Number x, Type type) {
       const Number infinity = std::numeric_limits<Number>::infinity();
       return past_float16(type) && std::fabs(x) > 65504 ? std::copysign(infinity, x) : x;
     }},
    {"0 under float16",
     [](Number x, Type type) {
       return past_float16(type) && std::fabs(x) < 0x1p-25L ? std::copysign(0.0L, x) : x;
     }},
};

const NumberFault of_integers[] = {
    {"no sign", [](Number x, Type) { return std::fabs(x); }},
    {"a negative is 0", [](Number x, Type) { return x < 0 ? 0.0L : x; }},
    {"0 is 1", [](Number x, Type) { return x == 0 ? 1.0L : x; }},
    {"none past 1", [](Number x, Type) { return std::clamp(x, Number{-1}, Number{1}); }},
    {"in 8 bits", [](Number x, Type type) { return facts(type).bits > 8 ? narrowed(x, 8) : x; }},
    {"in 16 bits", [](Number x, Type type) { return facts(type).bits > 16 ? narrowed(x, 16) : x; }},
    {"in 32 bits", [](Number x, Type type) { return facts(type).bits > 32 ? narrowed(x, 32) : x; }},
    {"as a double", [](Number x, Type) { return static_cast<Number>(static_cast<double>(x)); }},
    {"unsigned is clamped as signed",
     [](Number x, Type type) {
       const Number most = std::floor(greatest_integer(type) / 2);
       return facts(type).is_signed ? x : std::min(x, most);
     }},
};

bool is_complex(Type type) { return facts(type).is_complex; }

std::size_t bytes_of_part(Type type) {
  return static_cast<std::size_t>(facts(type).bits) / (is_complex(type) ? 16 : 8);
}

void copy_element(const Tensor& from, Index at, Tensor& to, Index there) {
  switch (from.type()) {
    case Type::string:
      to.data<std::string>()[there] = from.data<std::string>()[at];
      return;
    case Type::complex64:
    case Type::complex128: {
      const std::size_t size = 2 * bytes_of_part(from.type());
      std::memcpy(to.bytes().data() + static_cast<std::size_t>(there) * size,
                  from.bytes().data() + static_cast<std::size_t>(at) * size, size);
      return;
    }
    default:
      set_code(to, there, code_at(from, at));
  }
}

// The leading elements in another shape, padded with zeros.
Tensor refitted(const Tensor& from, Shape shape) {
  Tensor made(from.type(), std::move(shape));
  for (Index k = 0; k < std::min(made.size(), from.size()); ++k) copy_element(from, k, made, k);
  return made;
}

// A tensor whose element k is read from position at(k).
template <class From>
Tensor moved(const Tensor& from, const From& at) {
  Tensor made(from.type(), from.shape());
  for (Index k = 0; k < made.size(); ++k) copy_element(from, at(k), made, k);
  return made;
}

// Keeps some elements and zeroes all others.
template <class Where>
Tensor only(const Tensor& from, const Where& kept) {
  Tensor made(from.type(), from.shape());
  for (Index k = 0; k < made.size(); ++k)
    if (kept(k)) copy_element(from, k, made, k);
  return made;
}

Tensor by_number(const Tensor& from, const NumberFault& fault) {
  Tensor made = moved(from, [](Index k) { return k; });
  for (Index k = 0; k < made.size(); ++k) {
    const Number before = number_at(from, k), after = fault.of(before, from.type());
    const bool same = (std::isnan(before) && std::isnan(after)) ||
                      (before == after && std::signbit(before) == std::signbit(after));
    if (!same) set_number(made, k, after);
  }
  return made;
}

using Code = std::uint64_t;

Tensor by_code(const Tensor& from, Code (*of)(Code)) {
  Tensor made(from.type(), from.shape());
  for (Index k = 0; k < made.size(); ++k) set_code(made, k, of(code_at(from, k)));
  return made;
}

Tensor by_text(const Tensor& from, std::string (*of)(std::string)) {
  Tensor made(from.type(), from.shape());
  for (Index k = 0; k < made.size(); ++k)
    made.data<std::string>()[k] = of(from.data<std::string>()[k]);
  return made;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string in_ascii(std::string text) {
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  return text;
}

// Converts each byte to the Latin-1 character of that code, in UTF-8.
std::string from_latin(std::string text) {
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) made += static_cast<char>(0xc0U | byte >> 6U);
    made += byte >= 0x80 ? static_cast<char>(0x80U | (byte & 0x3fU)) : c;
  }
  return made;
}

std::string trimmed(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::string first_word(std::string text) { return text.substr(0, text.find(' ')); }
std::string short_text(std::string text) { return text.substr(0, 15); }
std::string first_letter(std::string text) { return text.substr(0, 1); }
std::string without_last_letter(std::string text) {
  if (!text.empty()) text.pop_back();
  return text;
}

// Applies `change` to the two parts of each complex element; a part has `size` bytes.
Tensor by_parts(const Tensor& from, void (*change)(std::byte* element, std::size_t size)) {
  Tensor made = moved(from, [](Index k) { return k; });
  const std::size_t size = bytes_of_part(from.type());
  for (std::size_t k = 0; k < static_cast<std::size_t>(made.size()); ++k)
    change(made.bytes().data() + 2 * k * size, size);
  return made;
}

Tensor in_other_bytes(const Tensor& from) {
  Tensor made = moved(from, [](Index k) { return k; });
  const std::size_t size = bytes_of_part(from.type());
  for (std::size_t k = 0; k + size <= made.bytes().size(); k += size)
    std::reverse(made.bytes().data() + k, made.bytes().data() + k + size);
  return made;
}

// Returns the number of elements in one slice along the first dimension.
Index row_of(const Tensor& t) {
  return t.shape().empty() || t.shape().front() == 0 ? t.size() : t.size() / t.shape().front();
}

Tensor by_columns(const Tensor& t) {
  const Shape& shape = t.shape();
  if (shape.size() < 2 || t.size() == 0) return t;
  const Index columns = shape.back(), rows = shape[shape.size() - 2], all = rows * columns;
  return moved(t, [&](Index k) {
    const Index at = k % all;
    return k - at + at % columns * rows + at / columns;
  });
}

Tensor with_rows(const Tensor& t, Index rows) {
  Shape shape = t.shape();
  if (shape.empty() || rows < 0 || shape[0] < rows) return t;
  shape[0] = rows;
  return refitted(t, shape);
}

Shape without_ones(const Shape& shape) {
  Shape left;
  for (const Index extent : shape)
    if (extent != 1) left.push_back(extent);
  return left;
}

Tensor in_four_dimensions(const Tensor& t) {
  Shape shape = t.shape();
  while (shape.size() > 4) {
    Shape fewer{shape[0] * shape[1]};
    fewer.append(shape.begin() + 2, shape.end());
    shape = fewer;
  }
  return t.reshaped(shape);
}

void add_moves(std::vector<TensorFault>& all) {
  const auto move = [&](const char* name, Index (*at)(const Tensor& t, Index k)) {
    all.push_back(
        {name, [at](const Tensor& t) { return moved(t, [&](Index k) { return at(t, k); }); }});
  };
  move("all is the first", [](const Tensor&, Index) { return Index{0}; });
  move("the last is the first", [](const Tensor& t, Index k) { return k + 1 == t.size() ? 0 : k; });
  move("in reverse", [](const Tensor& t, Index k) { return t.size() - 1 - k; });
  move("one too far", [](const Tensor& t, Index k) { return std::min(k + 1, t.size() - 1); });
  move("neighbours swapped", [](const Tensor& t, Index k) {
    const Index other = k % 2 == 0 ? k + 1 : k - 1;
    return other < t.size() ? other : k;
  });
  move("the second row is the first", [](const Tensor& t, Index k) {
    const Index row = row_of(t);
    return t.shape().size() > 1 && k >= row && k < 2 * row ? k - row : k;
  });
  all.push_back({"columns for rows", by_columns});
  all.push_back({"all is 0", [](const Tensor& t) { return Tensor(t.type(), t.shape()); }});
  all.push_back({"the last is 0", [](const Tensor& t) {
                   return only(t, [&](Index k) { return k + 1 < t.size(); });
                 }});
  all.push_back({"past whole fours all is 0", [](const Tensor& t) {
                   return only(t, [&](Index k) { return k < t.size() / 4 * 4; });
                 }});
  all.push_back({"past the first four all is 0",
                 [](const Tensor& t) { return only(t, [](Index k) { return k < 4; }); }});
}

void add_shapes(std::vector<TensorFault>& all) {
  all.push_back({"extents in reverse", [](const Tensor& t) {
                   Shape shape = t.shape();
                   std::reverse(shape.begin(), shape.end());
                   return t.reshaped(shape);
                 }});
  all.push_back({"in one row", [](const Tensor& t) { return t.reshaped({t.size()}); }});
  all.push_back(
      {"no extents of 1", [](const Tensor& t) { return t.reshaped(without_ones(t.shape())); }});
  all.push_back({"a scalar is a row",
                 [](const Tensor& t) { return t.shape().empty() ? t.reshaped({1}) : t; }});
  all.push_back({"a row of one is a scalar",
                 [](const Tensor& t) { return t.shape() == Shape{1} ? t.reshaped({}) : t; }});
  all.push_back({"no more than four dimensions", in_four_dimensions});
  all.push_back({"an extent of 0 is 1", [](const Tensor& t) {
                   Shape shape = t.shape();
                   std::replace(shape.begin(), shape.end(), Index{0}, Index{1});
                   return refitted(t, shape);
                 }});
  all.push_back({"the first row alone", [](const Tensor& t) { return with_rows(t, 1); }});
  all.push_back({"without the last row", [](const Tensor& t) {
                   return t.shape().empty() ? t : with_rows(t, t.shape().front() - 1);
                 }});
}

void add_texts(std::vector<TensorFault>& all) {
  const auto text = [&](const char* name, std::string (*of)(std::string)) {
    all.push_back({name, [of](const Tensor& t) { return by_text(t, of); }});
  };
  text("no capitals", lower);
  text("in capitals", upper);
  text("ASCII alone", in_ascii);
  text("as Latin-1", from_latin);
  text("no spaces", trimmed);
  text("the first word alone", first_word);
  text("the first letter alone", first_letter);
  text("the last letter lost", without_last_letter);
  text("cut at 15 bytes", short_text);
}

void add_parts(std::vector<TensorFault>& all) {
  const auto parts = [&](const char* name, void (*change)(std::byte*, std::size_t)) {
    all.push_back({name, [change](const Tensor& t) { return by_parts(t, change); }});
  };
  parts("no imaginary part", [](std::byte* x, std::size_t n) { std::memset(x + n, 0, n); });
  parts("no real part", [](std::byte* x, std::size_t n) { std::memset(x, 0, n); });
  parts("parts swapped", [](std::byte* x, std::size_t n) { std::swap_ranges(x, x + n, x + n); });
  parts("conjugate", [](std::byte* x, std::size_t n) { x[2 * n - 1] ^= std::byte{0x80}; });
}

}  // namespace

std::vector<TensorFault> tensor_faults(Type type) {
  std::vector<TensorFault> all;
  add_moves(all);
  add_shapes(all);
  const auto numbers = [&](const auto& faults) {
    for (const NumberFault& fault : faults)
      all.push_back({fault.name, [&fault](const Tensor& t) { return by_number(t, fault); }});
  };
  if (type == Type::string) {
    add_texts(all);
    return all;
  }
  if (facts(type).bits > 8) all.push_back({"bytes in reverse", in_other_bytes});
  if (is_complex(type)) {
    add_parts(all);
  } else if (type == Type::boolean) {
    all.push_back(
        {"not", [](const Tensor& t) { return by_code(t, [](Code c) { return c ^ 1U; }); }});
    all.push_back(
        {"all is 1", [](const Tensor& t) { return by_code(t, [](Code) { return Code{1}; }); }});
  } else {
    all.push_back({"no last bit", [](const Tensor& t) {
                     return by_code(t, [](Code c) { return c & ~Code{1}; });
                   }});
    if (facts(type).is_integer)
      numbers(of_integers);
    else
      numbers(of_floats);
  }
  return all;
}

bool equal(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return false;
  if (a.type() == Type::string)
    return std::equal(a.data<std::string>(), a.data<std::string>() + a.size(),
                      b.data<std::string>());
  return std::ranges::equal(a.bytes(), b.bytes());
}

}  // namespace touchstone
