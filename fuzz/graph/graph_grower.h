// Grows one graph from a number: inputs first, then idioms and single nodes that read earlier
// values, until it has the drawn number of nodes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "fuzz/case.h"
#include "fuzz/graph/graph_builder.h"
#include "fuzz/graph/idiom.h"
#include "fuzz/graph/node_templates.h"
#include "fuzz/random.h"

namespace touchstone::fuzz {

// Building blocks, read once and shared by all graphs.
struct GraphLibrary {
  GraphLibrary(const std::filesystem::path& lines, const std::filesystem::path& idioms);

  NodeTemplates templates;
  std::vector<Idiom> idioms;
  std::map<std::string, std::vector<Idiom>> adapters;  // by `adapts`
};

// Sizes of one grown graph.
struct GrowthOptions {
  Index nodes = 15;       // mean; drawn from 1 to 60
  Index idiom_share = 3;  // one in so many steps is an idiom; 0: none
  std::string only_op;    // if set, the first node is of this operator
};

class GraphGrower {
 public:
  GraphGrower(const GraphLibrary& library, std::uint64_t number, const GrowthOptions& options);
  Case grow();

 private:
  using SizesByRun = std::vector<Index>;
  enum class Fit { as_is, adapted, fresh };

  // Names of one instance of an idiom.
  struct Scope {
    std::map<std::string, ValueId> values;
    std::map<std::string, SizesByRun> sizes;
    std::map<std::string, std::string> texts;
    std::map<std::string, std::shared_ptr<const Graph>> bodies;
    std::map<std::string, std::shared_ptr<Function>> functions;
  };

  // Runs `work`; takes everything back and returns false if it throws. Internal errors are faults
  // of the reference and pass through.
  template <class F>
  bool attempt(F&& work) {
    const GraphBuilder::Mark mark = builder_.mark();
    const std::size_t marks = covered_.size();
    try {
      work();
      return true;
    } catch (const Error& error) {
      if (error.kind == ErrorKind::internal) throw;
      builder_.roll_back(mark);
      covered_.resize(marks);
      return false;
    }
  }
  [[noreturn]] static void refuse(const std::string& why) {
    throw Error(ErrorKind::unsupported, why);
  }

  // graph_grower.cc
  void grow_inputs();
  void grow_step();
  void calm(ValueId from);
  std::vector<ValueId> choose_outputs();
  Case finish();

  // grow_values.cc
  SizesByRun draw_size(Index low, Index high, bool dynamic);
  std::vector<Dim> declare(const std::vector<Value>& by_run);
  ValueId new_input(Type type, const std::vector<SizesByRun>& dims, const std::string& regime);
  ValueId new_tensor(Type type, const std::vector<SizesByRun>& dims, const std::string& regime);
  template <class Test>
  std::optional<ValueId> pick(Test&& fits);

  // grow_node.cc
  bool grow_node();
  bool grow_template(const Signature& signature, const std::string& text);
  std::vector<ValueId> place(const suites::Line& line, Fit fit, std::optional<ValueId> first);
  ValueId connect(const suites::Line& line, std::size_t port, Fit fit,
                  std::vector<ValueId>& chosen);
  ValueId fill_port(const suites::LinePort& port);
  ValueId broadcast_partner(ValueId with);
  std::vector<ValueId> add(Node node, const std::vector<ValueId>& inputs,
                           const std::vector<bool>& outputs);
  ValueId chain(ValueId from);
  suites::Line parse_seeded(const std::string& text);
  const Signature* draw_signature();

  // grow_idiom.cc
  bool grow_idiom();
  void fill_holes(const Idiom& idiom, Scope& scope);
  bool match(const Hole& hole, const KnownValue& value, Scope& scope) const;
  ValueId new_for(const Hole& hole, const Idiom& idiom, Scope& scope);
  void run(const std::vector<Statement>& statements, Scope& scope);
  void run_node_statement(const Statement& statement, Scope& scope);
  void run_block(const Statement& statement, Scope& scope);
  std::string substitute(const std::string& text, const Scope& scope) const;
  ValueId named(const std::string& name, const Scope& scope) const;
  ValueId adapt(const std::string& how, ValueId from, Type type, const Shape& shape);
  ValueId fit_to(ValueId from, Type type, const Shape& shape);

  const GraphLibrary& library_;
  const std::uint64_t number_;
  const GrowthOptions options_;
  Random random_;
  bool dynamic_;
  std::map<std::string, Index> opsets_;
  GraphBuilder builder_;
  std::vector<SizesByRun> symbols_;  // of the graph's inputs
  std::map<SizesByRun, std::string> symbol_names_;
  std::vector<std::string> covered_;
};

template <class Test>
std::optional<ValueId> GraphGrower::pick(Test&& fits) {
  std::vector<ValueId> candidates, ill;
  for (ValueId id = builder_.first_visible(); id < builder_.value_count(); ++id) {
    const KnownValue& value = builder_.value(id);
    if (fits(value)) (value.ill ? ill : candidates).push_back(id);
  }
  if (!ill.empty() && (candidates.empty() || random_.one_in(32))) candidates = std::move(ill);
  if (candidates.empty()) return std::nullopt;
  const auto count = static_cast<Index>(candidates.size());
  return candidates[static_cast<std::size_t>(
      std::max(random_.below(count), random_.below(count)))];  // recent ones more often
}

}  // namespace touchstone::fuzz
