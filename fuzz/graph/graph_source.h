// The graph level of the fuzzer: a source of whole graphs.
#pragma once

#include <memory>

#include "fuzz/graph/graph_grower.h"

namespace touchstone::fuzz {

// A case's text is "graph NUMBER". A number gives no case if no node fits its inputs.
class GraphSource : public Source {
 public:
  explicit GraphSource(GrowthOptions options = {});
  GraphSource(std::shared_ptr<const GraphLibrary> library, GrowthOptions options)
      : library_(std::move(library)), options_(std::move(options)) {}
  Case make(std::uint64_t number) const override;

  const GraphLibrary& library() const { return *library_; }

 private:
  std::shared_ptr<const GraphLibrary> library_;
  GrowthOptions options_;
};

std::filesystem::path folder_of_idioms();

}  // namespace touchstone::fuzz
