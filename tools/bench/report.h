// Output of a benchmark as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "tools/bench/measure.h"
#include "tools/bench/roof.h"

namespace touchstone::bench {

// All runtimes on one model with one number of threads; ours comes first.
struct Heat {
  std::string model;
  Index threads = 1;
  std::optional<RuntimeFailure>
      unfair;  // the output_checker cannot distinguish outputs: all figures are invalid
  std::vector<Figure> figures;
};

// Peer time over ours, on one heat: above 1 the peer is slower.
struct Ratio {
  double middle = 0, low = 0, high = 0;  // the median of the rounds, and their quartiles
};
std::optional<Ratio> ratio(const Heat& heat, const Figure& peer);

// Mean over all heats with this number of threads that have a ratio to this peer.
struct Mean {
  std::string runtime;
  Index threads = 1, models = 0;
  double ratio = 0, least = 0;
  std::string least_model;
};
std::vector<Mean> means(const std::vector<Heat>& heats);

std::string machine();  // the CPU and its number of usable cores

void print(const Heat& heat);
void print_runtimes(const std::vector<Heat>& heats);  // their versions and settings
void print(const std::vector<Roof>& roofs);
void print(const std::vector<Mean>& means);

nlohmann::ordered_json to_json(const Heat& heat);
nlohmann::ordered_json to_json(const Roof& roof);
nlohmann::ordered_json to_json(const Mean& mean);

// Returns the most severe failure of any runtime; none if all figures are valid.
std::optional<FailureKind> worst(const std::vector<Heat>& heats);

}  // namespace touchstone::bench
