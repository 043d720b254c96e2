// Writes complete events ("X") in microseconds; data that the trace format lacks is stored in
// "args".
#include "tools/touchstone/trace.h"

#include "core/files.h"

namespace touchstone::command {
namespace {

using Json = nlohmann::ordered_json;

Json named(const char* what, int process, Index row, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", row}, {"args", {{"name", name}}}};
}

Json described(const optimized::Placement& step) {
  Json args{{"kernel", step.kernel},
            {"nodes", step.nodes},
            {"reads", step.reads},
            {"writes", step.writes},
            {"bytes", step.bytes}};
  if (step.flop > 0) args["flop"] = step.flop;
  return args;
}

}  // namespace

void Trace::add(const std::string& name, const optimized::Session& session) {
  const int process = ++processes_;
  const std::vector<optimized::Placement> steps = session.placement();
  events_.push_back(named("process_name", process, 0, name));
  events_.push_back(named("thread_name", process, 0, "steps"));
  Index threads = 0;
  for (const optimized::Timing& timing : session.timings()) {
    const optimized::Placement& step = steps.at(static_cast<std::size_t>(timing.step));
    const bool whole = timing.thread < 0;
    for (; threads <= timing.thread; ++threads) {
      events_.push_back(
          named("thread_name", process, threads + 1, "thread " + std::to_string(threads)));
    }
    events_.push_back({{"name", step.nodes.empty() ? step.kernel : step.nodes.front()},
                       {"cat", whole ? "step" : "part"},
                       {"ph", "X"},
                       {"ts", timing.begin},
                       {"dur", timing.end - timing.begin},
                       {"pid", process},
                       {"tid", whole ? 0 : timing.thread + 1},
                       {"args", whole ? described(step) : Json{{"kernel", step.kernel}}}});
  }
}

void Trace::write(const std::filesystem::path& file) const {
  const Json object{{"displayTimeUnit", "ms"},
                    {"otherData", {{"schema", "touchstone.trace/1"}}},
                    {"traceEvents", events_}};
  write_atomically(file, object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace touchstone::command
