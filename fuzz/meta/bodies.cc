// Reads the bodies once. A function's name is that of the version and of the body's own opset.
#include "fuzz/meta/bodies.h"

#include "fuzz/runner.h"
#include "model/model.h"

namespace touchstone::fuzz {
namespace {

std::map<std::string, std::map<Index, std::shared_ptr<Function>>> read_bodies() {
  std::map<std::string, std::map<Index, std::shared_ptr<Function>>> all;  // by version, by opset
  const std::string_view bytes = body_bytes();
  Model model =
      parse_model(std::as_bytes(std::span(bytes.data(), bytes.size())), {}, Limits::trusted());
  for (const std::shared_ptr<Function>& function : model.functions) {
    const std::size_t at = function->name.rfind("_at_");
    all[function->name.substr(0, at)][std::stoll(function->name.substr(at + 4))] = function;
  }
  return all;
}

}  // namespace

std::shared_ptr<Function> standard_body(const Signature& signature, Index opset) {
  static const auto all = read_bodies();
  const auto found = all.find(std::string(signature.op) + "_" + std::to_string(signature.since));
  if (!signature.domain.empty() || found == all.end()) return nullptr;
  const auto newer = found->second.upper_bound(opset);
  if (newer == found->second.begin()) return nullptr;
  return std::make_shared<Function>(*std::prev(newer)->second);
}

}  // namespace touchstone::fuzz
