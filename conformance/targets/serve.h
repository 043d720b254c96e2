// Worker side of the protocol: answers messages on its standard input until the host is gone.
#pragma once

#include <functional>

#include "conformance/targets/protocol.h"
#include "conformance/targets/target.h"
#include "core/shape.h"

namespace touchstone::targets {

// Prepares the process, before the first job: redirects standard output to standard error, limits
// data to memory_bytes (0: no limit), and lets the process die with its host.
void become_worker(Index memory_bytes);

using Say = std::function<void(const Message&)>;

// Passes each message to `reply`, which sends its answer. Returns when the host is gone.
void serve(const std::function<void(const Message&, const Say&)>& reply);

// Serves a target: describes it and runs jobs.
void serve(Target& target);

// Runs one job on a target: load, feed, run, serialize; every failure becomes an answer. `reached`
// is called as each phase begins.
Answer run_job(Target& target, const Job& job, const std::function<void(Phase)>& reached);

// Returns the ports of the input files. The files cover all inputs, or only those without a
// default.
std::vector<Port> fed_ports(const std::vector<Port>& ports, std::size_t files);

}  // namespace touchstone::targets
