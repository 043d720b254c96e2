// The worker's side: answers jobs on its standard input until nobody asks any more.
#pragma once

#include <functional>

#include "conformance/targets/protocol.h"
#include "conformance/targets/target.h"
#include "core/shape.h"

namespace touchstone {

// Before the first job: memory_bytes is a hard limit on data (0: none), and the process dies with its host.
void become_worker(Index memory_bytes);

// Answers each message with what `reply` makes of it. Returns when the host is gone.
void serve(const std::function<Message(const Message&)>& reply);

// One job on a target: load, feed, run, serialise; every failure is an answer.
Answer run_job(Target& target, const Job& job);

// Which ports the input files stand for. The files count all inputs, or only those without a default.
std::vector<Port> fed_ports(const std::vector<Port>& ports, std::size_t files);

}  // namespace touchstone
