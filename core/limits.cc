// The presets of limits, and the check that every tensor passes before it is allocated.
#include "core/limits.h"

#include "core/checked.h"
#include "core/error.h"
#include "core/tensor.h"

namespace touchstone {
namespace {

thread_local const Limits* current = nullptr;

}  // namespace

Error passes_limit(const std::string& what, std::string_view limit, Index allowed) {
  const std::string name(limit), most = std::to_string(allowed);
  return Error(ErrorKind::limit, what + " passes the limit '" + name + "' of " + most)
      .with_rule("limit/" + name, name + " <= " + most, "docs/model-rules.md")
      .with_help("raise the limit if you trust the model");
}

Limits Limits::trusted() { return {}; }

Limits Limits::untrusted() {
  Limits limits;
  limits.elements = Index{1} << 30;
  limits.bytes = Index{1} << 32;
  limits.string_bytes = Index{1} << 24;
  limits.loop_iterations = 1'000'000;
  limits.memory = Index{512} << 20;
  limits.work = 100'000'000'000;
  limits.folding_work = Index{1} << 28;
  limits.messages = Index{1} << 21;
  limits.milliseconds = 60'000;
  limits.one_link = true;
  return limits;
}

Limits Limits::fuzz() {
  Limits limits = untrusted();
  limits.file_bytes = Index{1} << 20;
  limits.nodes = 1'000;
  limits.elements = Index{1} << 16;
  limits.bytes = Index{1} << 20;
  limits.string_bytes = Index{1} << 12;
  limits.loop_iterations = 100;
  limits.memory = Index{64} << 20;
  limits.work = 10'000'000;
  limits.folding_work = 1'000'000;
  limits.messages = 100'000;
  limits.milliseconds = 10'000;
  return limits;
}

const Limits& current_limits() {
  static const Limits trusted = Limits::trusted();
  return current ? *current : trusted;
}

LimitsScope::LimitsScope(const Limits& limits)
    : limits_(limits), outer_(std::exchange(current, &limits_)) {}
LimitsScope::~LimitsScope() { current = outer_; }

Index check_size(Type type, const Shape& shape, const Limits& limits) {
  // If the count itself overflows, the error names the limit on elements, not the width of an
  // Index.
  const auto described = [&] { return "a tensor of " + std::string(name(type)) + text(shape); };
  if (shape.size() > limits.rank_checked) {
    throw passes_limit("a tensor of rank " + std::to_string(shape.size()), "rank_checked",
                       limits.rank_checked);
  }
  Index elements = 1;
  bool fits = true, none = false;
  for (const Index size : shape) {
    if (size < 0) throw Error(ErrorKind::invalid_input, described() + " has a negative size");
    none = none || size == 0;
    fits = fits && !__builtin_mul_overflow(elements, size, &elements);
  }
  if (none) return 0;
  if (!fits || elements > limits.elements)
    throw passes_limit(described(), "elements", limits.elements);
  const Index bytes = type == Type::string
                          ? (Checked(elements) * Index{sizeof(std::string)}).value()
                          : packed_bytes(type, elements);
  if (bytes > limits.bytes) {
    throw passes_limit(described(), "bytes", limits.bytes);
  }
  return elements;
}

}  // namespace touchstone
