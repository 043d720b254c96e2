// Reads and writes NumPy's .npy format, version 1 to 3: magic, a Python dict literal with descr,
// fortran_order and shape, then the items. The dict's parser accepts only these three keys.
#include "core/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "core/error.h"

namespace touchstone {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::usage, "the .npy file " + what)
      .with_help("write it with numpy.save, in C order and little endian");
}

struct Item {  // "<f4": kind f, 4 bytes
  char kind = 0;
  Index bytes = 0;
};

struct Header {
  Item item;
  bool fortran = false;
  Shape shape;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Header header() {
    Header out;
    int seen = 0;
    expect('{');
    while (!skip('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        out.item = item(quoted());
        seen |= 1;
      } else if (key == "fortran_order") {
        out.fortran = boolean();
        seen |= 2;
      } else if (key == "shape") {
        out.shape = shape();
        seen |= 4;
      } else {
        refuse("has an unknown key in its header");
      }
      if (!skip(',')) {
        expect('}');
        break;
      }
    }
    if (seen != 7) refuse("lacks a key in its header");
    return out;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool skip(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!skip(c)) refuse(fmt::format("has a header that lacks '{}' at byte {}", c, at_));
  }
  std::string_view quoted() {
    expect('\'');
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) refuse("has a header with an open quote");
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }
  bool boolean() {
    blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    refuse("has a fortran_order that is neither True nor False");
  }
  Index number() {
    blanks();
    Index out = 0;
    const auto [end, problem] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), out);
    if (problem != std::errc() || out < 0) refuse("has a bad number in its shape");
    at_ = static_cast<std::size_t>(end - text_.data());
    return out;
  }
  Shape shape() {
    Shape out;
    expect('(');
    while (!skip(')')) {
      out.push_back(number());
      if (!skip(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }
  static Item item(std::string_view descr) {
    Item out;
    if (descr.size() < 3) refuse("has a short descr");
    if (descr[0] == '>') refuse("is big endian");
    out.kind = descr[1];
    const auto [end, problem] =
        std::from_chars(descr.data() + 2, descr.data() + descr.size(), out.bytes);
    if (problem != std::errc() || end != descr.data() + descr.size() || out.bytes < 0) {
      refuse(fmt::format("holds items of type '{}'", descr));
    }
    if (out.kind == 'U') {
      if (__builtin_mul_overflow(out.bytes, Index{4}, &out.bytes)) refuse("has too long strings");
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct Numpy {
  Type type;
  char kind;
  Index bytes;
};
constexpr Numpy numpy_types[] = {
    {Type::boolean, 'b', 1},   {Type::int8, 'i', 1},        {Type::int16, 'i', 2},
    {Type::int32, 'i', 4},     {Type::int64, 'i', 8},       {Type::uint8, 'u', 1},
    {Type::uint16, 'u', 2},    {Type::uint32, 'u', 4},      {Type::uint64, 'u', 8},
    {Type::float16, 'f', 2},   {Type::float32, 'f', 4},     {Type::float64, 'f', 8},
    {Type::complex64, 'c', 8}, {Type::complex128, 'c', 16},
};

// Returns the bytes of an unpacked element.
Index whole_bytes(Type type) { return (facts(type).bits + 7) / 8; }

Type type_of_item(const Item& item, Type expected) {
  if (item.kind == 'U') return Type::string;
  for (const Numpy& row : numpy_types) {
    if (row.kind == item.kind && row.bytes == item.bytes) return row.type;
  }
  const bool raw = item.kind == 'V' && expected != Type::undefined && expected != Type::string;
  if (raw && whole_bytes(expected) == item.bytes) return expected;
  refuse(fmt::format("holds items of type '{}{}', which is no element type of the standard here",
                     item.kind, item.bytes));
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) refuse("holds a string with a bad code point");
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
  } else if (c < 0x10000) {
    out += {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3f)),
            static_cast<char>(0x80 | (c & 0x3f))};
  } else {
    out += {static_cast<char>(0xf0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3f)),
            static_cast<char>(0x80 | (c >> 6 & 0x3f)), static_cast<char>(0x80 | (c & 0x3f))};
  }
}

std::string string_item(const std::byte* data, Index bytes) {
  std::string out;
  for (Index at = 0; at < bytes; at += 4) {
    std::uint32_t c = 0;
    std::memcpy(&c, data + at, 4);
    if (c == 0) break;
    append_utf8(out, c);
  }
  return out;
}

// Returns a string's code points, as numpy stores them; a byte that is no UTF-8 becomes its own
// code point.
std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    char32_t c = more == 0 ? lead : lead & (0x3f >> more);
    for (std::size_t k = 1; k <= more && at + k < text.size(); ++k) {
      c = c << 6 | (static_cast<unsigned char>(text[at + k]) & 0x3f);
    }
    out += c;
    at += 1 + more;
  }
  return out;
}

std::string with_header(std::string_view descr, const Shape& shape, std::string_view items) {
  std::string dims;
  for (const Index size : shape) dims += fmt::format("{},", size);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  header.append(63 - (10 + header.size()) % 64, ' ');  // items are aligned to 64 bytes
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out += items;
  return out;
}

std::string serialize_strings(const Tensor& tensor) {
  std::size_t longest = 1;
  std::vector<std::u32string> texts;
  for (Index k = 0; k < tensor.size(); ++k) {
    texts.push_back(code_points(tensor.data<std::string>()[k]));
    longest = std::max(longest, texts.back().size());
  }
  std::string items;
  for (std::u32string& text : texts) {
    text.resize(longest);
    items.append(reinterpret_cast<const char*>(text.data()), 4 * longest);
  }
  return with_header(fmt::format("<U{}", longest), tensor.shape(), items);
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes, Type expected, const Limits& limits) {
  const auto byte = [&](std::size_t k) { return std::to_integer<std::size_t>(bytes[k]); };
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    refuse("does not begin as one does");
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) refuse(fmt::format("has version {}", version));
  std::size_t start = 10;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) {
    start = 12;
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > bytes.size() - start) refuse("ends inside its header");
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + start;
  const Header header = Reader({text, length}).header();
  if (header.fortran && header.shape.size() > 1) refuse("is in Fortran order");
  if (header.shape.size() > limits.rank_run) {
    throw Error(ErrorKind::limit,
                fmt::format("the .npy file has rank {}, over the limit rank_run = {}",
                            header.shape.size(), limits.rank_run));
  }
  const Type type = type_of_item(header.item, expected);
  const Index elements = count(header.shape);
  const std::span<const std::byte> items = bytes.subspan(start + length);
  Index wanted = 0;
  if (__builtin_mul_overflow(elements, header.item.bytes, &wanted) ||
      wanted != static_cast<Index>(items.size())) {
    refuse(fmt::format("holds {} bytes of items, but its shape {} needs another number",
                       items.size(), touchstone::text(header.shape)));
  }
  if (elements > limits.elements) {
    throw Error(ErrorKind::limit,
                fmt::format("the .npy file has {} elements, over the limit elements = {}", elements,
                            limits.elements));
  }
  Tensor out(type, header.shape);
  if (type == Type::string) {
    for (Index k = 0; k < elements; ++k) {
      out.data<std::string>()[k] =
          string_item(items.data() + k * header.item.bytes, header.item.bytes);
    }
    out.charge_texts();
  } else if (is_packed(type)) {
    pack({reinterpret_cast<const std::uint8_t*>(items.data()), items.size()}, out);
  } else if (!items.empty()) {
    if (type == Type::boolean) {
      for (const std::byte b : items) {
        if (std::to_integer<int>(b) > 1) refuse("holds a bool that is neither 0 nor 1");
      }
    }
    std::memcpy(out.bytes().data(), items.data(), items.size());
  }
  return out;
}

std::string serialize_npy(const Tensor& tensor) {
  if (tensor.type() == Type::string) return serialize_strings(tensor);
  std::string items;
  if (is_packed(tensor.type())) {
    const std::vector<std::uint8_t> codes = unpack(tensor);
    items.assign(codes.begin(), codes.end());
  } else if (tensor.size() > 0) {
    items.assign(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
  }
  const Index bytes = whole_bytes(tensor.type());
  std::string descr = fmt::format("|V{}", bytes);
  for (const Numpy& row : numpy_types) {
    if (row.type == tensor.type())
      descr = fmt::format("{}{}{}", bytes == 1 ? '|' : '<', row.kind, bytes);
  }
  return with_header(descr, tensor.shape(), items);
}

}  // namespace touchstone
