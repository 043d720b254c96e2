// Parses any message into fields by their wire types, edits one, and writes all with right lengths.
#include "fuzz/bytes/message_edit.h"

#include <array>
#include <random>
#include <utility>
#include <vector>

namespace touchstone::bytes {
namespace {

enum Wire { varint = 0, eight_bytes = 1, counted = 2, four_bytes = 5 };

struct Field {
  std::uint64_t tag = 0, number = 0;  // number: of a varint
  std::string text;                   // of any other
  unsigned wire() const { return tag & 7; }
};
using Fields = std::vector<Field>;

bool take_number(std::string_view& bytes, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= std::uint64_t{byte & 127U} << shift;
    if (byte < 128) return true;
  }
  return false;
}

void put_number(std::string& bytes, std::uint64_t number) {
  for (; number >= 128; number >>= 7) bytes += static_cast<char>(number | 128);
  bytes += static_cast<char>(number);
}

bool parse(std::string_view bytes, Fields& fields) {
  while (!bytes.empty()) {
    Field field;
    if (!take_number(bytes, field.tag) || field.tag >> 3 == 0) return false;
    std::uint64_t size = 0;
    switch (field.wire()) {
      case varint:
        if (!take_number(bytes, field.number)) return false;
        break;
      case eight_bytes:
        size = 8;
        break;
      case four_bytes:
        size = 4;
        break;
      case counted:
        if (!take_number(bytes, size)) return false;
        break;
      default:
        return false;
    }
    if (size > bytes.size()) return false;
    field.text = bytes.substr(0, size);
    bytes.remove_prefix(size);
    fields.push_back(std::move(field));
  }
  return true;
}

std::string write(const Fields& fields) {
  std::string bytes;
  for (const Field& field : fields) {
    put_number(bytes, field.tag);
    if (field.wire() == varint) put_number(bytes, field.number);
    if (field.wire() == counted) put_number(bytes, field.text.size());
    bytes += field.text;
  }
  return bytes;
}

class Editor {
 public:
  using Change = std::function<std::string(std::string_view)>;
  Editor(std::uint32_t seed, const Change& change) : random_(seed), change_(change) {}

  std::string edited(std::string_view bytes) {
    Fields fields;
    if (bytes.empty() || !parse(bytes, fields)) return change_(bytes);
    Field& one = fields[below(fields.size())];
    if (one.wire() == counted && !one.text.empty() && below(4) != 0)
      one.text = edited(one.text);
    else
      edit(fields);
    return write(fields);
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  void edit(Fields& fields) {
    const std::size_t at = below(fields.size()), to = below(fields.size() + 1);
    const auto place = [&](std::size_t k) {
      return fields.begin() + static_cast<std::ptrdiff_t>(k);
    };
    switch (below(5)) {
      case 0:
        fields.erase(place(at));
        break;
      case 1:
        fields.insert(place(to), Field(fields[at]));
        break;
      case 2:
        std::swap(fields[at], fields[below(fields.size())]);
        break;
      case 3:  // the contents of one field in another
        fields[at].text = fields[below(fields.size())].text;
        if (fields[at].wire() != counted) fields[at].tag = (fields[at].tag & ~7ULL) | counted;
        break;
      default:
        change(fields[at]);
    }
  }

  void change(Field& field) {
    constexpr std::array<std::uint64_t, 12> odd{
        0, 1, 2, 3, 7, 16, 127, ~0ULL, ~0ULL - 1, 1ULL << 31U, 1ULL << 62U, 1ULL << 63U};
    if (field.wire() == varint)
      field.number = below(2) == 0 ? odd[below(odd.size())] : field.number + below(33) - 16;
    else if (field.wire() == counted)
      field.text = change_(field.text);
    else
      field.text[below(field.text.size())] = static_cast<char>(below(256));
  }

  std::minstd_rand random_;
  const Change& change_;
};

}  // namespace

std::string edited_message(std::string_view message, std::uint32_t seed,
                           const std::function<std::string(std::string_view)>& change) {
  return Editor(seed, change).edited(message);
}

}  // namespace touchstone::bytes
