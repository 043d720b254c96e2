// Settings of sessions and of the functions on models, and the places that models are loaded from.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <map>
#include <string>

#include "model/custom.h"
#include "model/model.h"
#include "optimized/session.h"
#include "python/module/guard.h"

namespace touchstone::python {

struct Operators {
  CustomOperators all;
};

struct Settings {
  bool fast = true;
  optimized::SessionOptions options;
  Operators operators;
  std::map<std::string, Index> symbols, denotations;  // sizes of the inputs' open dimensions
  std::map<std::string, Value> initializers;          // replace those of the model
  std::string optimized_file;                         // written if not empty
};

// Request to end a load or a run, made by another thread.
struct Stop {
  std::atomic<bool> asked{false};
};

inline Cancel cancel_by(const Stop* stop) {
  return {.flag = stop ? &stop->asked : nullptr, .asked = signal_raised};
}

// A model's file, or its bytes with the folder of its external data ("": it has none).
struct Source {
  nanobind::bytes data;  // the path of a file
  bool is_file = false;
  std::string folder;

  // Loads a model to run it. Runs without the interpreter's lock.
  Model load(const Limits& limits) const;
  // Loads a model that need not be valid.
  Model parse(const Limits& limits, bool resolved = true) const;
};

Limits limits_named(const std::string& name);

// Applies `symbols`, `denotations` and `initializers`. Throws Error (usage).
void adapt(Model& model, const Settings& settings);

}  // namespace touchstone::python
