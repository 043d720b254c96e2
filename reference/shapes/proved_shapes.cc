// Proves shapes by passes over the model with the fed sizes.
#include "reference/shapes/proved_shapes.h"

#include "reference/shapes/shape_walk.h"

namespace touchstone {
namespace {

constexpr Index max_steps = 4'000'000;  // node visits of a pass; later values stay unknown

}  // namespace

struct ShapeProver::Impl {
  Impl(const Model& model, const Limits& given) : limits(given), state(model, limits, max_steps) {}

  const Limits limits;
  ShapeInference state;
  ShapeWalk::Memo memo;
  std::vector<std::optional<Shape>> shapes;           // by row
  std::unordered_map<std::string, std::size_t> rows;  // of the main graph, by name
  std::size_t rows_seen = 0;
  std::set<Index> violations;
  std::map<std::string, bool> conditions;
  bool breaks_surely = false;
  bool is_complete = true;  // false within a proof, and after one that threw
};

ShapeProver::ShapeProver(const Model& model, const Limits& limits)
    : impl_(std::make_unique<Impl>(model, limits)) {}
ShapeProver::~ShapeProver() = default;

// A proof that throws, also for want of memory, leaves nothing that the next one would build on.
void ShapeProver::prove(const std::map<std::string, Shape>& feeds) {
  if (!impl_->is_complete)
    impl_ = std::make_unique<Impl>(impl_->state.model, Limits(impl_->limits));
  Impl& h = *impl_;
  h.is_complete = false;
  h.state.steps_left = max_steps;
  InferredRun walked = ShapeWalk(h.state, nullptr, &feeds).go_on(h.memo);
  h.shapes = std::move(walked.shapes);
  h.conditions = std::move(walked.conditions);
  h.violations.clear();
  h.breaks_surely = false;
  for (const Violation& violation : walked.violations) {
    if (violation.node >= 0) h.violations.insert(violation.node);
    h.breaks_surely = h.breaks_surely || violation.surely_run;
  }
  for (; h.rows_seen < h.state.rows.size(); ++h.rows_seen) {
    const ShapeRow& row = h.state.rows[h.rows_seen];
    if (row.path.empty()) h.rows.insert_or_assign(row.name, h.rows_seen);
  }
  h.is_complete = true;
}

void ShapeProver::follow(const std::map<std::string, Shape>& feeds, SymbolTable& symbols,
                         InputSizes sizes) {
  impl_ = std::make_unique<Impl>(impl_->state.model, Limits(impl_->limits));
  impl_->state.sizes = &symbols;
  impl_->state.input_sizes = std::move(sizes);
  prove(feeds);
}

std::optional<std::vector<SymbolicInteger>> ShapeProver::sizes(const std::string& name) const {
  const auto found = impl_->rows.find(name);
  if (found == impl_->rows.end()) return std::nullopt;
  SymbolicTensor of =
      symbolic_sizes(impl_->shapes[found->second], impl_->state.symbolic_of(found->second));
  return of.has_rank ? std::optional(std::move(of.sizes)) : std::nullopt;
}

ProvedValue ShapeProver::value(const std::string& name) const {
  const auto found = impl_->rows.find(name);
  if (found == impl_->rows.end()) return {};
  return {impl_->state.rows[found->second].type, impl_->shapes[found->second]};
}

const std::set<Index>& ShapeProver::violations() const { return impl_->violations; }
bool ShapeProver::breaks_surely() const { return impl_->breaks_surely; }
const std::map<std::string, bool>& ShapeProver::conditions() const { return impl_->conditions; }

ProvedShapes prove_shapes(const Model& model, const std::map<std::string, Shape>& feeds,
                          const Limits& limits) {
  ShapeProver prover(model, limits);
  prover.prove(feeds);
  ProvedShapes proved;
  for (const auto& [name, row] : prover.impl_->rows)
    proved.values.emplace(name, prover.value(name));
  proved.violations = prover.violations();
  proved.breaks_surely = prover.breaks_surely();
  proved.conditions = prover.conditions();
  return proved;
}

}  // namespace touchstone
