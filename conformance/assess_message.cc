// How an assignment travels to the judge's process and an assessment comes back.
#include <charconv>

#include "conformance/assess.h"

namespace touchstone {
namespace {

// Shortest text that reads back to the same double.
std::string text_of(double value) {
  char digits[64];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, written.ptr};
}

template <class T>
bool parse(const std::string& text, T& value) {
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && stop == text.data() + text.size();
}

void add_paths(Message& message, const std::vector<std::filesystem::path>& paths) {
  message.push_back(std::to_string(paths.size()));
  for (const auto& path : paths) message.push_back(path.string());
}

bool take_paths(const Message& message, std::size_t& at, std::vector<std::filesystem::path>& paths) {
  std::size_t count = 0;
  if (at >= message.size() || !parse(message[at++], count) || count > message.size() - at) return false;
  for (; count > 0; --count) paths.emplace_back(message[at++]);
  return true;
}

}  // namespace

Message ask(const Assignment& assignment) {
  Message message{"assess", assignment.model.string(), text_of(assignment.rtol), text_of(assignment.atol)};
  add_paths(message, assignment.inputs);
  add_paths(message, assignment.expected);
  for (const Output& output : assignment.outputs) {
    message.insert(message.end(), {output.name, output.type, output.bytes});
  }
  return message;
}

bool read(const Message& message, Assignment& assignment) {
  assignment = {};
  if (message.size() < 6 || message[0] != "assess") return false;
  assignment.model = message[1];
  if (!parse(message[2], assignment.rtol) || !parse(message[3], assignment.atol)) return false;
  std::size_t at = 4;
  if (!take_paths(message, at, assignment.inputs) || !take_paths(message, at, assignment.expected)) return false;
  if ((message.size() - at) % 3 != 0) return false;
  for (; at < message.size(); at += 3) {
    assignment.outputs.push_back({message[at], message[at + 1], message[at + 2]});
  }
  return true;
}

Message tell(const Assessment& assessment) {
  Message message{"assessment", assessment.compat, assessment.verdict, assessment.detail,
                  assessment.utilisation ? text_of(*assessment.utilisation) : ""};
  if (assessment.judged) {
    const JudgedNode& j = *assessment.judged;
    message.insert(message.end(), {j.node, j.form, j.type, std::to_string(j.elements), std::to_string(j.open), text_of(j.resolution)});
  }
  return message;
}

bool read(const Message& message, Assessment& assessment) {
  if ((message.size() != 5 && message.size() != 11) || message[0] != "assessment") return false;
  assessment = {message[1], message[2], message[3], {}};
  if (message.size() == 11) {
    JudgedNode& j = assessment.judged.emplace();
    j.node = message[5], j.form = message[6], j.type = message[7];
    if (!parse(message[8], j.elements) || !parse(message[9], j.open) || !parse(message[10], j.resolution)) return false;
  }
  if (message[4].empty()) return true;
  return parse(message[4], assessment.utilisation.emplace());
}

}  // namespace touchstone
