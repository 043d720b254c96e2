// Source of metamorphic cases: a case of one operator or a graph, with a transformation that the
// number draws.
#pragma once

#include <memory>
#include <vector>

#include "fuzz/case.h"

namespace touchstone::fuzz {

class MetaSource : public Source {
 public:
  // A number picks one of the sources. `fast`: options of the fast executor may be drawn.
  MetaSource(std::vector<std::unique_ptr<Source>> sources, bool fast)
      : sources_(std::move(sources)), fast_(fast) {}
  Case make(std::uint64_t number) const override;

 private:
  std::vector<std::unique_ptr<Source>> sources_;
  bool fast_;
};

}  // namespace touchstone::fuzz
