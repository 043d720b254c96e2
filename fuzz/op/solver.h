// Solves the rules of an operator version over a draft. Each broken rule is turned into changes of
// the sizes, ranks, attributes and small inputs that its terms read, by inverting the terms.
#pragma once

#include <string>

#include "fuzz/op/evaluate.h"
#include "fuzz/op/seeds.h"
#include "fuzz/op/vary.h"
#include "fuzz/random.h"

namespace touchstone::fuzz {

class Solver {
 public:
  Solver(Draft& draft, const Program& program, const Seeds::Version& seeds, const Pinned& pinned,
         Random& random)
      : draft_(draft),
        program_(program),
        seeds_(seeds),
        pinned_(pinned),
        random_(random),
        evaluate_(draft, program) {}

  // Makes every rule hold that the draft determines. Returns false if it gives up. `redraw`: inputs
  // that hold positions get other ones.
  bool solve(bool redraw = true);
  // Makes one rule fail and all others hold. Returns false if it gives up.
  bool breach(const Term& rule);

  // The first rule that the draft breaks; null if none.
  const NamedTerm* broken();

 private:
  static constexpr int max_turns = 24;
  static constexpr int max_depth = 32;

  bool satisfy(const Term& term, bool want);
  bool satisfy_logic(const Term& term, bool want);
  bool satisfy_comparison(const Term& term, bool want);
  bool satisfy_order(const Term& term, std::string_view how);
  bool satisfy_equal(const Term& a, const Term& b);
  bool satisfy_reduction(const Term& term, bool want);
  bool satisfy_broadcast(const std::vector<Term>& shapes);
  bool satisfy_given(const std::string& name, bool want);
  bool satisfy_wanted(std::string_view output, bool want);
  bool satisfy_class(const Term& term, const std::string& name, bool want);
  bool satisfy_list(const Term& term, bool want);

  bool assign(const Term& term, const Result& to);
  bool assign_form(const Term& term, const Result& to);
  bool assign_name(const std::string& name, const Result& to);
  bool assign_arithmetic(const Term& term, const Result& to);
  bool assign_list(const Term& term, const List& to);
  bool assign_items(const Term& term, const List& to);
  bool assign_integer(const Term& term, Index to);
  bool set_shape(const Term& tensor, const List& to);
  bool set_dims(std::size_t port, const List& to);
  bool set_elements(std::size_t port, const List& to);
  bool set_attribute(const std::string& name, const std::string& written);
  bool set_type(std::size_t port, Type to);
  List resized(const List& list, Index size);
  bool place_positions(bool redraw);

  Draft& draft_;
  const Program& program_;
  const Seeds::Version& seeds_;
  const Pinned& pinned_;
  Random& random_;
  Evaluator evaluate_;
  bool loose_ = false;  // pinned places may change, too
  int depth_ = 0;
};

}  // namespace touchstone::fuzz
