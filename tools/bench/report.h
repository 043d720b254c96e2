// A bench in words and as an object.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "tools/bench/measure.h"
#include "tools/bench/roof.h"

namespace touchstone {

// All runtimes on one model with one number of threads; ours comes first.
struct Heat {
  std::string model;
  Index threads = 1;
  std::optional<Fallen> unfair;  // the referee cannot tell: then no figure stands
  std::vector<Figure> figures;
};

// Peer over ours, of one heat: over 1 is a peer that is slower.
struct Ratio {
  double middle = 0, low = 0, high = 0;  // the median of the rounds, and their quartiles
};
std::optional<Ratio> ratio(const Heat& heat, const Figure& peer);

// Over all heats with so many threads that have a ratio to this peer.
struct Mean {
  std::string runtime;
  Index threads = 1, models = 0;
  double ratio = 0, least = 0;
  std::string least_model;
};
std::vector<Mean> means(const std::vector<Heat>& heats);

std::string machine();  // its processor and how many are usable

void print(const Heat& heat);
void print_runtimes(const std::vector<Heat>& heats);  // which version each is, and how it was asked
void print(const std::vector<Roof>& roofs);
void print(const std::vector<Mean>& means);

nlohmann::ordered_json to_json(const Heat& heat);
nlohmann::ordered_json to_json(const Roof& roof);
nlohmann::ordered_json to_json(const Mean& mean);

// The worst that befell a runtime; none if all figures stand.
std::optional<Fall> worst(const std::vector<Heat>& heats);

}  // namespace touchstone
