// Shards of a campaign on the machines of a Ray cluster (fuzz/ray_driver.py).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/shape.h"

namespace touchstone::command {

struct RayShards {
  std::string address;  // or "local"
  Index workers = 1, jobs = 1;
  std::filesystem::path folder;
  std::vector<std::string> words;  // of each shard's command, after its name

  // Returns the folders of the shards that have a state.
  std::vector<std::string> begun() const;
};

// Runs the shards, each from the state in its folder if it has one. Returns false if Ctrl-C stopped
// them. Throws Error.
bool run_on_ray(const RayShards& shards);

}  // namespace touchstone::command
