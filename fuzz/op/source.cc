// A number seeds all draws of its case. So the case is the same on every machine.
#include "fuzz/op/source.h"

#include <fnmatch.h>

#include <algorithm>

#include "conformance/suites/maker.h"
#include "core/error.h"
#include "fuzz/op/control.h"
#include "fuzz/op/coverage.h"
#include "fuzz/op/draw.h"
#include "fuzz/op/seeds.h"

namespace touchstone::fuzz {
namespace {

constexpr int max_versions = 8;  // versions try_draft for a number whose first one has no such case
constexpr Index large_one_in = 40;
constexpr Index large_factor = 8;  // of bounds, for one case in large_one_in

Case case_of(const std::string& line, suites::LineModel made, const Draft& draft) {
  Case one;
  one.text = line;
  Feeds feeds;
  for (std::size_t k = 0; k < made.feeds.size(); ++k)
    feeds[made.model.graph.inputs[k].name] = std::move(made.feeds[k]);
  one.feeds.push_back(std::move(feeds));
  one.model = std::move(made.model);
  one.refused = draft.refused;
  one.covered = marks_of(draft);
  return one;
}

}  // namespace

struct OperatorSource::Impl {
  OperatorOptions options;
  Knowledge known;
  std::vector<const Signature*> versions;
};

OperatorSource::OperatorSource(OperatorOptions options) {
  Impl impl{std::move(options), Knowledge(suites::lines_of_spec()), {}};
  for (const Signature& signature : all_signatures()) {
    const Seeds::Version& known = impl.known.seeds.of(signature);
    const bool has_cases =
        !known.valid.empty() || !known.refused.empty() || has_body_template(signature);
    if (has_cases && fnmatch(impl.options.versions.c_str(), name_of(signature).c_str(), 0) == 0)
      impl.versions.push_back(&signature);
  }
  if (impl.versions.empty())
    throw Error(ErrorKind::usage,
                "no version of an operator matches '" + impl.options.versions + "'");
  impl_ = std::make_unique<const Impl>(std::move(impl));
}

OperatorSource::~OperatorSource() = default;

Case OperatorSource::make(std::uint64_t number) const {
  Random random(number);
  Bounds bounds = impl_->options.bounds;
  if (random.one_in(large_one_in)) {
    bounds.elements *= large_factor;
    bounds.work *= large_factor;
  }
  for (int attempt = 0; attempt < max_versions; ++attempt) {
    const Signature& signature = *random.pick(impl_->versions);
    const bool invalid = random.below(100) < impl_->options.invalid_percent;
    if (has_body_template(signature) && !invalid) {
      std::optional<Case> one = draw_with_body(signature, bounds, random);
      if (!one) continue;
      one->text += " #" + std::to_string(number);  // data come from the number
      return std::move(*one);
    }
    std::optional<Drawn> drawn =
        (invalid ? draw_refused : draw_valid)(signature, impl_->known, bounds, random);
    if (drawn) return case_of(text(drawn->draft), std::move(drawn->made), drawn->draft);
  }
  throw Error(ErrorKind::usage, "number " + std::to_string(number) + " gives no case");
}

Case OperatorSource::of_line(const std::string& line) {
  return case_of(line, suites::model_of(suites::parse_line(line)), parse_draft(line));
}

}  // namespace touchstone::fuzz
