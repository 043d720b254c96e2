// Messages to structs and back. A worker's answer is read as if an enemy had written it.
#include "conformance/targets/protocol.h"

#include <charconv>

namespace touchstone {
namespace {

// A small enumeration as digits; false if it is not below `end`.
template <class E>
bool read_code(const std::string& text, int end, E& code) {
  int number = -1;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || stop != text.data() + text.size() || number < 0 || number >= end) return false;
  code = static_cast<E>(number);
  return true;
}

template <class E>
std::string code(E value) {
  return std::to_string(static_cast<int>(value));
}

}  // namespace

Message ask(const Job& job) {
  Message message{"run", job.model.string()};
  for (const auto& input : job.inputs) message.push_back(input.string());
  return message;
}

bool read(const Message& message, Job& job) {
  if (message.size() < 2 || message[0] != "run") return false;
  job = {message[1], {message.begin() + 2, message.end()}};
  return true;
}

Message tell(const Answer& answer) {
  Message message{"answer", code(answer.kind), code(answer.phase), code(answer.error), answer.detail};
  for (const Output& output : answer.outputs) {
    message.insert(message.end(), {output.name, output.type, output.bytes});
  }
  return message;
}

bool read(const Message& message, Answer& answer) {
  if (message.size() < 5 || (message.size() - 5) % 3 != 0 || message[0] != "answer") return false;
  answer = {};
  // Only the first three kinds are a worker's to say.
  if (!read_code(message[1], 3, answer.kind) || !read_code(message[2], 3, answer.phase) ||
      !read_code(message[3], static_cast<int>(ErrorKind::internal) + 1, answer.error)) {
    return false;
  }
  answer.detail = message[4];
  for (std::size_t k = 5; k < message.size(); k += 3) {
    answer.outputs.push_back({message[k], message[k + 1], message[k + 2]});
  }
  return true;
}

}  // namespace touchstone
