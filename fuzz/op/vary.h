// Changes of a draft, each at a random place: types, sizes, ranks, attributes, presence, data. The
// result may break rules; the solver mends it.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "fuzz/op/draft.h"
#include "fuzz/op/seeds.h"
#include "fuzz/random.h"

namespace touchstone::fuzz {

// Places that a change fixed: the solver moves others first.
struct Pinned {
  std::set<std::pair<std::size_t, Index>> dims;  // port and dimension; -1: the rank
  std::set<std::string> attributes;
};

class Variation {
 public:
  // `computed`: ports whose elements decide shapes or rules, so that their data stays.
  Variation(Draft& draft, Random& random, const Seeds::Version& seeds,
            std::set<std::size_t> computed, Index max_elements)
      : draft_(draft),
        random_(random),
        seeds_(seeds),
        computed_(std::move(computed)),
        max_elements_(max_elements) {}

  void types();
  void sizes();
  void ranks();
  void attribute();
  void inputs();    // omits an optional input, adds one, or another number of variadic ones
  void contents();  // containers of other lengths
  void data();
  void declared();  // constants and feeds, symbols and unknown sizes; breaks no rule of a version

  const Pinned& pinned() const { return pinned_; }

 private:
  Index drawn_size();
  void fill(DraftValue& value, bool is_data);
  void put_specials(DraftValue& value);
  bool fits() const;

  Draft& draft_;
  Random& random_;
  const Seeds::Version& seeds_;
  const std::set<std::size_t> computed_;
  const Index max_elements_;
  Pinned pinned_;
};

}  // namespace touchstone::fuzz
