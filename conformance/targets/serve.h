// The worker's side: answers messages on its standard input until nobody asks any more.
#pragma once

#include <functional>

#include "conformance/targets/protocol.h"
#include "conformance/targets/target.h"
#include "core/shape.h"

namespace touchstone {

// Before the first job: what the process prints goes to standard error, memory_bytes is a hard
// limit on data (0: none), and it dies with its host.
void become_worker(Index memory_bytes);

using Say = std::function<void(const Message&)>;

// Hands each message to `reply`, which says something to it. Returns when the host is gone.
void serve(const std::function<void(const Message&, const Say&)>& reply);

// Serves a target: describes it, runs jobs.
void serve(Target& target);

// One job on a target: load, feed, run, serialise; every failure is an answer. `reached` hears of
// each phase as it begins.
Answer run_job(Target& target, const Job& job, const std::function<void(Phase)>& reached);

// Which ports the input files stand for. The files count all inputs, or only those without a
// default.
std::vector<Port> fed_ports(const std::vector<Port>& ports, std::size_t files);

}  // namespace touchstone
