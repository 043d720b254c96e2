// Our own runtimes as the bench sees them: a model is opened once and run many times.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace touchstone {

class OurSession {
 public:
  virtual ~OurSession() = default;
  virtual std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) = 0;
  virtual std::string settings() const = 0;  // how it runs, in words
};

struct OurRuntime {
  std::string name;
  std::unique_ptr<OurSession> (*open)(const std::filesystem::path& model, Index threads);
};

// The best first.
const std::vector<OurRuntime>& our_runtimes();

// Answers the bench on standard input until it is gone: the child of `touchstone bench`. Throws
// Error (usage) if there is no such runtime.
void serve_bench(const std::string& runtime);

}  // namespace touchstone
