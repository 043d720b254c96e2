// libFuzzer's edits of inputs that are messages: of fields, or of bytes as in any other input.
// TOUCHSTONE_PREFIX bytes before the message are kept.
#include <algorithm>
#include <cstdint>

#include "fuzz/bytes/message_edit.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  constexpr std::size_t prefix = TOUCHSTONE_PREFIX;
  if (seed % 4 == 0 || size <= prefix) return LLVMFuzzerMutate(data, size, max_size);
  const auto change = [](std::string_view text) {
    constexpr std::size_t longer = 16;
    std::string changed(text);
    changed.resize(text.size() + longer);
    changed.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(changed.data()), text.size(),
                                    changed.size()));
    return changed;
  };
  const std::string_view message(reinterpret_cast<const char*>(data) + prefix, size - prefix);
  const std::string made = touchstone::bytes::edited_message(message, seed, change);
  if (made.size() > max_size - prefix) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(made.begin(), made.end(), data + prefix);
  return prefix + made.size();
}
