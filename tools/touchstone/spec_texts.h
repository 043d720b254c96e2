// What every operator version says, for `touchstone spec`: written by codegen from spec/.
#pragma once

#include <span>
#include <string_view>

namespace touchstone {

struct SpecText {
  std::string_view domain;  // "" for ai.onnx
  std::string_view op;
  int since;
  std::string_view json;  // the entry at this version, inheritance resolved
};

std::span<const SpecText> spec_texts();  // sorted by domain, operator, since

}  // namespace touchstone
