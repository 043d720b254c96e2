// Sources of cases by the name of their level.
#pragma once

#include <memory>
#include <string>

#include "core/error.h"
#include "core/limits.h"
#include "fuzz/case.h"

namespace touchstone::fuzz {

// Returns the source of a level: op, graph, meta or lines. `ops`: a shell pattern of operators, ""
// for all. `target`: cases of level meta use the options that it has. Throws Error: usage for an
// unknown level or a pattern without operators, unsupported for a level that does not exist yet.
std::unique_ptr<Source> source_of(const std::string& level, const std::string& ops,
                                  const std::string& target = "");

// True if the pattern is "" or matches "Clip-13", "Clip" or "ai.onnx.ml.Scaler".
bool matches_operator(const std::string& pattern, const std::string& version);
// The error for a pattern that matches no operator, with a suggestion.
Error no_operator(const std::string& pattern);

// Limits of a case as a source draws it, equal on every machine: no deadline.
Limits limits_of_drawn();

}  // namespace touchstone::fuzz
