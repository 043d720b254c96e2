// Models after the passes of our optimizer, and after conversions to other opsets.
#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "fuzz/meta/rewrites.h"
#include "fuzz/runner.h"
#include "model/model.h"
#include "transform/convert/convert.h"
#include "transform/optimize/passes.h"
#include "transform/optimize/pattern.h"

namespace touchstone::fuzz {
namespace {

// True if the change keeps every bit of the outputs.
bool keeps_bits(const transform::PassCount& count) {
  for (const transform::Pattern& pattern : transform::all_patterns()) {
    if (pattern.name == count.pattern) return pattern.exact;
  }
  const std::span<const transform::Pass> passes = transform::all_passes();
  return std::any_of(passes.begin(), passes.end(), [&](const transform::Pass& pass) {
    return pass.name == count.pass && pass.exact;
  });
}

void optimize_by(Variant& variant, transform::PassOptions options) {
  options.limits = limits_of_case();
  transform::Optimized made = transform::optimize(std::move(variant.is.model), options);
  if (made.counts.empty()) throw Error(ErrorKind::unsupported, "no pass changes the model");
  variant.is.model = std::move(made.model);
  variant.exact = std::all_of(made.counts.begin(), made.counts.end(), keeps_bits);
}

std::vector<std::string> opsets_of(const Case& one, bool above) {
  std::vector<std::string> found;
  for (const auto& [domain, now] : one.model.opsets) {
    const Index newest = newest_opset(domain);
    const std::string prefix = domain.empty() ? "" : domain + ":";
    for (Index opset = above ? now + 1 : 1; opset <= (above ? newest : std::min(newest, now - 1));
         ++opset)
      found.push_back(prefix + std::to_string(opset));
  }
  return found;
}

}  // namespace

std::vector<std::string> opsets_above(const Case& one) { return opsets_of(one, true); }

std::vector<std::string> opsets_below(const Case& one) { return opsets_of(one, false); }

void convert_opset(Variant& variant, const std::string& opset) {
  const std::size_t colon = opset.rfind(':');
  const std::string domain = colon == std::string::npos ? "" : opset.substr(0, colon);
  const std::string number = colon == std::string::npos ? opset : opset.substr(colon + 1);
  Index version = 0;
  std::from_chars(number.data(), number.data() + number.size(), version);
  variant.is.model =
      transform::convert(std::move(variant.is.model), {{domain, version}}, limits_of_case()).model;
}

// Those that change the model at the highest level, which have the others before them.
std::vector<std::string> passes_that_change(const Case& one) {
  Model model = one.model;
  require_valid(model, limits_of_case());
  std::vector<std::string> names;
  const transform::PassOptions options{.level = transform::Level::all, .limits = limits_of_case()};
  for (const transform::PassCount& count : transform::optimize(std::move(model), options).counts) {
    for (const std::string& name : {count.pass, count.pattern}) {
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
  }
  return names;
}

void optimize_to(Variant& variant, const std::string& level) {
  const std::optional<transform::Level> known = transform::level_by_name(level);
  if (!known) throw Error(ErrorKind::usage, "there is no level '" + level + "'");
  optimize_by(variant, {.level = *known});
}

void run_one_pass(Variant& variant, const std::string& pass) {
  optimize_by(variant, {.level = transform::Level::none, .with = {pass}});
}

void leave_out_pass(Variant& variant, const std::string& pass) {
  optimize_by(variant, {.level = transform::Level::all, .without = {pass}});
}

}  // namespace touchstone::fuzz
