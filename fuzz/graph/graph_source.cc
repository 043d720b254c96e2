// Opens the building blocks in the data folder and grows a graph per number.
#include "fuzz/graph/graph_source.h"

#include "conformance/data.h"
#include "conformance/suites/maker.h"

namespace touchstone::fuzz {

GraphSource::GraphSource(GrowthOptions options)
    : library_(std::make_shared<const GraphLibrary>(suites::lines_of_spec(), folder_of_idioms())),
      options_(std::move(options)) {}

Case GraphSource::make(std::uint64_t number) const {
  return GraphGrower(*library_, number, options_).grow();
}

std::filesystem::path folder_of_idioms() { return conformance::data_folder() / "fuzz/idioms"; }

}  // namespace touchstone::fuzz
