// Limits on the resources that hostile models may consume. Every error caused by a limit names it.
#pragma once

#include <limits>

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/shape.h"
#include "core/types.h"

namespace touchstone {

constexpr Index unlimited = std::numeric_limits<Index>::max();

// Defaults are those of trusted(). Errors cite the field names; that of milliseconds is 'deadline'.
struct Limits {
  Index file_bytes = (Index{1} << 31) - 1;
  int protobuf_depth = 100;
  int graph_depth = 32;
  Index nodes = 1'000'000;
  int rank_checked = 1024;
  int rank_run = 64;
  Index elements = Index{1} << 33;  // per tensor
  Index bytes = Index{1} << 34;     // per tensor
  Index string_bytes = Index{1} << 28;
  Index loop_iterations = 100'000'000;
  Index memory = unlimited;  // bytes alive at once of a session and its runs
  Index work = unlimited;    // elementary operations of one load or one run (core/budget.h)
  Index folding_work = Index{1} << 31;  // per graph, of all constants that its passes fold
  Index messages = Index{1} << 24;      // per file: nodes, values, attributes, strings ..
  Index milliseconds = 0;  // wall time of one load or one run ('deadline'); 0: unlimited
  bool one_link = false;   // refuse files with more than one hard link

  static Limits trusted();
  static Limits untrusted();
  static Limits fuzz();
};

// "`what` passes the limit 'bytes' of 16", citing the rule limit/<name> of docs/model-rules.md.
Error passes_limit(const std::string& what, std::string_view limit, Index allowed);

// The limits that this thread creates tensors under: trusted() outside every LimitsScope.
const Limits& current_limits();

// Sets the limits of this thread until the scope ends. Copies them.
class LimitsScope {
 public:
  explicit LimitsScope(const Limits& limits);
  ~LimitsScope();
  LimitsScope(const LimitsScope&) = delete;
  LimitsScope& operator=(const LimitsScope&) = delete;

 private:
  Limits limits_;
  const Limits* outer_;
};

// Returns the number of elements of a tensor of this type and shape. Throws Error (limit) naming
// the limit that it would exceed: rank_checked, elements or bytes. The interpreter enforces
// rank_run, since models that are only checked may exceed it.
Index check_size(Type type, const Shape& shape, const Limits& limits);

}  // namespace touchstone
