// JSON objects that `--json` prints for show, check, optimize and convert. The Python package
// returns the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "model/graph.h"
#include "reference/shapes/shapes.h"
#include "transform/convert/convert.h"
#include "transform/optimize/declare_shapes.h"
#include "transform/optimize/passes.h"

namespace touchstone::command {

struct ModelFiles {
  std::string model, out;  // names; `out` is "" if nothing was written
};

nlohmann::ordered_json show_report(const std::string& file, const Model& model);
void add_shapes(const InferredShapes& found, nlohmann::ordered_json& all);

// Returns every rule that the model violates, worst first.
std::vector<Error> breaches_of(const std::function<Model()>& load, const Limits& limits);
nlohmann::ordered_json check_report(const std::string& file, const std::vector<Error>& breaches);

nlohmann::ordered_json sizes_of(const Model& model);
nlohmann::ordered_json optimize_report(
    const ModelFiles& files, const std::string& level, const nlohmann::ordered_json& before,
    const transform::Optimized& made, const std::optional<transform::DeclaredSizes>& declared = {});

std::string shown_domain(const std::string& domain);
nlohmann::ordered_json opsets_of(const Model& model);
nlohmann::ordered_json convert_report(const ModelFiles& files, const nlohmann::ordered_json& before,
                                      const transform::Converted& made);

}  // namespace touchstone::command
