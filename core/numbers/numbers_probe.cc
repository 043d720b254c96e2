// Filter for the Python tests: converts numbers from stdin to stdout as raw bytes, so that they can
// be compared with numpy and ml_dtypes.
//   numbers_probe decode TYPE                      uint64 codes   -> long doubles
//   numbers_probe encode TYPE SATURATE ROUNDING    long doubles   -> uint64 codes
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/numbers/convert.h"

namespace {

using touchstone::Rounding;

template <class In, class Out, class F>
int filter(F convert_one) {
  In in;
  while (std::fread(&in, sizeof in, 1, stdin) == 1) {
    const Out out = convert_one(in);
    std::array<char, sizeof out> bytes{};
    std::memcpy(bytes.data(), &out, sizeof out);
    if (std::fwrite(bytes.data(), bytes.size(), 1, stdout) != 1) return 1;
  }
  return 0;
}

Rounding rounding_named(const std::string& name) {
  if (name == "nearest_up") return Rounding::nearest_up;
  if (name == "up") return Rounding::up;
  return name == "down" ? Rounding::down : Rounding::nearest_even;
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 2 ? words[1] : "";
  const touchstone::Type type = touchstone::type_by_name(count > 2 ? words[2] : "");
  if (what == "decode") {
    return filter<std::uint64_t, long double>(
        [&](std::uint64_t code) { return touchstone::decode(type, code); });
  }
  if (what == "encode" && count == 5) {
    const auto saturate = touchstone::Saturate{std::string(words[3]) == "yes"};
    const Rounding rounding = rounding_named(words[4]);
    return filter<long double, std::uint64_t>(
        [&](long double value) { return touchstone::encode(type, value, saturate, rounding); });
  }
  return 2;
}
