// The symbols of one model: arithmetic, proofs and guards over its symbolic integers.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "reference/shapes/symbolic_integer.h"

namespace touchstone {

enum class Relation : std::uint8_t { less, equal };

// Operations throw Undecided where a result is too long or beyond 64 bits. Not thread-safe.
class SymbolTable {
 public:
  // A symbol of this name; `hint` lies in low .. high.
  SymbolicInteger symbol(std::string name, Index hint, Index low, Index high);

  SymbolicInteger add(SymbolicInteger a, SymbolicInteger b);
  SymbolicInteger subtract(SymbolicInteger a, SymbolicInteger b);
  SymbolicInteger multiply(SymbolicInteger a, SymbolicInteger b);
  SymbolicInteger negative(SymbolicInteger a) { return multiply(a, -1); }
  // Rounds towards minus infinity.
  SymbolicInteger floor_div(SymbolicInteger a, SymbolicInteger b);
  SymbolicInteger ceil_div(SymbolicInteger a, SymbolicInteger b);
  SymbolicInteger quotient(SymbolicInteger a,
                           SymbolicInteger b);  // towards zero, as the notation's
  SymbolicInteger minimum(std::vector<SymbolicInteger> items);
  SymbolicInteger maximum(std::vector<SymbolicInteger> items);
  // Equal to `a` where the guards hold, in one form.
  SymbolicInteger normal(SymbolicInteger a);
  // A long expression as one symbol, so that what is computed from it stays short.
  SymbolicInteger named(SymbolicInteger a);

  SymbolicReal real(RealOperator op, Type type, std::vector<SymbolicReal> operands);
  SymbolicReal real_of(SymbolicInteger a, Type type);
  SymbolicInteger integer_of(RealOperator rounding, SymbolicReal a, Type type);

  // Decides by proof or, unless frozen, by the hints and a guard.
  bool less(SymbolicInteger a, SymbolicInteger b) { return decide(Relation::less, a, b); }
  bool equal(SymbolicInteger a, SymbolicInteger b) { return decide(Relation::equal, a, b); }
  bool decide(Relation relation, SymbolicInteger a, SymbolicInteger b);
  bool decide(Relation relation, SymbolicReal a, SymbolicReal b);
  // Nothing if neither answer is proved.
  std::optional<bool> proved(Relation relation, SymbolicInteger a, SymbolicInteger b);

  // Comparisons that the hints decided: what was computed since holds where they are so.
  struct Guard {
    Relation relation;
    SymbolicInteger difference;                                  // compared with 0
    std::optional<std::pair<SymbolicReal, SymbolicReal>> reals;  // instead
    bool answer;
  };
  const std::vector<Guard>& guards() const { return guards_; }
  // Terms computed and proofs tried so far.
  Index work() const { return work_; }
  // `name` gives the shown name of a symbol.
  using Name = std::function<std::string(const std::string&)>;
  std::string text(SymbolicInteger a, const Name& name = {}) const;

  // Values at other sizes than the hints: `of` gives those of symbols, by name; nothing where a
  // symbol has none, or a division by zero occurs.
  using Values = std::unordered_map<std::string, Index>;
  std::optional<Index> value(SymbolicInteger a, const Values& of) const;
  std::optional<double> value(SymbolicReal a, const Values& of) const;
  // Names of the symbols that occur, also in expressions that have a name; each once.
  std::vector<std::string> names(SymbolicInteger a) const;
  // True if all guards are as they were at the hints.
  bool hold(const Guard& guard, const Values& of) const;
  bool hold(const Values& of) const;

  // While one lives, an open comparison throws Undecided.
  class Frozen {
   public:
    explicit Frozen(SymbolTable& symbols) : symbols_(symbols), before_(symbols.frozen_) {
      symbols.frozen_ = true;
    }
    ~Frozen() { symbols_.frozen_ = before_; }
    Frozen(const Frozen&) = delete;
    Frozen& operator=(const Frozen&) = delete;

   private:
    SymbolTable& symbols_;
    bool before_;
  };

 private:
  using Key = std::vector<std::int64_t>;
  struct HashKey {
    std::size_t operator()(const Key& key) const;
  };
  struct Bounds {
    double low, high;  // infinite if there is none
  };
  struct Cached {
    std::size_t normal_at = SIZE_MAX, bounds_at = SIZE_MAX;  // numbers of guards
    SymbolicInteger normal;
    Bounds bounds{};
  };

  SymbolicInteger made(std::vector<Monomial> terms);
  SymbolicInteger of_atom(std::uint32_t atom);
  std::uint32_t atom(SymbolicAtom atom);
  SymbolicInteger extreme(SymbolicAtom::Kind kind, const std::vector<SymbolicInteger>& items);
  std::optional<SymbolicInteger> exact_quotient(SymbolicInteger a, const Polynomial& b);
  std::optional<SymbolicInteger> nested_floor(const std::vector<Monomial>& terms, Index q);
  SymbolicInteger settled(SymbolicInteger divisor);
  SymbolicInteger normal_atom(std::uint32_t atom);
  void append(Key& key, SymbolicInteger a) const;
  void append(Key& key, const SymbolicReal& a) const;

  std::string text(SymbolicReal a, const Name& name) const;
  std::string quotient_text(SymbolicInteger dividend, SymbolicInteger divisor,
                            const Name& name) const;
  std::optional<Index> atom_value(std::uint32_t atom, const Values& of) const;

  Bounds bounds(SymbolicInteger a);
  Bounds atom_bounds(std::uint32_t atom);
  bool is_never_negative(SymbolicInteger a, int depth);
  bool by_hint(Relation relation, SymbolicInteger difference);
  void learn_never_negative(SymbolicInteger a);
  void learn_zero(SymbolicInteger a);
  void count_atoms(SymbolicInteger a, std::set<std::uint32_t>& into) const;

  std::unordered_map<Key, std::unique_ptr<Polynomial>, HashKey> polynomials_;
  std::unordered_map<Key, std::uint32_t, HashKey> atom_numbers_;
  std::deque<SymbolicAtom> atoms_;
  std::unordered_map<Key, std::unique_ptr<RealOperation>, HashKey> reals_;
  std::unordered_map<const Polynomial*, Cached> cached_;
  std::unordered_map<std::uint32_t, SymbolicInteger> replaced_;  // symbols, by guards of equality
  std::vector<SymbolicInteger> never_negative_;                  // by guards
  std::unordered_set<const Polynomial*> never_zero_;             // by guards
  std::vector<Guard> guards_;
  std::size_t changes_ = 0;
  Index work_ = 0;
  int tries_ = 0;  // left for a proof
  int normalising_ = 0;
  bool frozen_ = false;
};

}  // namespace touchstone
