// Limits on what hostile models may ask for. Every error that one of them causes names it.
#pragma once

#include <limits>

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/shape.h"
#include "core/types.h"

namespace touchstone {

constexpr Index unlimited = std::numeric_limits<Index>::max();

struct Limits {
  Index file_bytes = (Index{1} << 31) - 1;
  int protobuf_depth = 100;
  int graph_depth = 32;
  Index nodes = 1'000'000;
  int rank_checked = 1024;
  int rank_run = 64;
  Index elements = Index{1} << 33;  // of one tensor
  Index bytes = Index{1} << 34;     // of one tensor
  Index string_bytes = Index{1} << 28;
  Index loop_iterations = 100'000'000;
  Index memory = unlimited;             // bytes alive at once of a session and its runs
  Index work = unlimited;               // elementary steps of one load or one run (core/budget.h)
  Index folding_work = Index{1} << 31;  // of all constants that passes over one graph compute
  Index messages = Index{1} << 24;      // of one file: nodes, values, attributes, texts ..
  Index milliseconds =
      0;  // of wall time, of one load or one run ('deadline'); 0: as many as it takes
  bool one_link = false;  // refuse files with more than one hard link

  static Limits trusted();
  static Limits untrusted();
  static Limits fuzz();
};

// "`what` passes the limit 'bytes' of 16", with the rule that docs/model-rules.md names.
Error passes_limit(const std::string& what, std::string_view limit, Index allowed);

// The limits that this thread's tensors are made under: trusted() outside every scope.
const Limits& current_limits();

class LimitsScope {
 public:
  explicit LimitsScope(const Limits& limits);
  ~LimitsScope();
  LimitsScope(const LimitsScope&) = delete;
  LimitsScope& operator=(const LimitsScope&) = delete;

 private:
  Limits held_;
  const Limits* outer_;
};

// Throws Error (limit) naming the limit that a tensor of this type and shape would break:
// rank_checked, elements, bytes. (rank_run is the interpreter's to check: what is only checked may
// have more.) Gives back the number of elements.
Index check_size(Type type, const Shape& shape, const Limits& limits);

}  // namespace touchstone
