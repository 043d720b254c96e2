// Runs a plan's steps. Values that a run made are released before the next.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "optimized/plan/plan_impl.h"

namespace touchstone::optimized {
namespace {

bool is_same(const Tensor& bound, Type type, const Shape& shape) {
  return bound.type() == type && bound.shape() == shape;
}

// Checks an output against the tensor that the caller bound for it.
void require_same(const std::string& name, const Tensor& bound, Type type, const Shape& shape) {
  if (is_same(bound, type, shape)) return;
  throw Error(ErrorKind::usage,
              "the output '" + name + "' is " + std::string(touchstone::name(type)) + text(shape) +
                  ", but memory is bound for " + std::string(touchstone::name(bound.type())) +
                  text(bound.shape()));
}

void copy_bytes(const std::byte* from, Tensor& to) {
  const std::span<std::byte> scratch = to.bytes();
  if (!scratch.empty()) std::memcpy(scratch.data(), from, scratch.size());
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

// True if nothing that a run reads, and no other output, is in the memory of one bound output.
using Bound = std::map<std::string, Tensor>;
bool is_apart(Bound::const_iterator one, const Bound& all,
              const std::map<std::string, Value>& feeds) {
  const auto with_feed = [&](const auto& fed) {
    return !fed.second.is_tensor() || overlap(fed.second.tensor().bytes(), one->second.bytes());
  };
  if (std::any_of(feeds.begin(), feeds.end(), with_feed)) return false;
  for (auto other = all.begin(); other != all.end(); ++other) {
    if (other != one && overlap(other->second.bytes(), one->second.bytes())) return false;
  }
  return true;
}

}  // namespace

void Plan::Impl::compute(const std::map<std::string, Value>& feeds, ThreadPool& pool,
                         std::vector<Timing>* timings) {
  for (const auto& [name, value] : feeds) {
    if (const Index k = graph.find(name); k != no_value) held(k) = value;
  }
  if (check) check->begin(feeds);
  run_steps(pool, timings, false);
}

void Plan::Impl::run_steps(ThreadPool& pool, std::vector<Timing>* timings, bool repeats) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = timings ? Clock::now() : Clock::time_point();
  const auto micro = [&](Clock::time_point at) {
    return std::chrono::duration<double, std::micro>(at - began).count();
  };
  const auto since = [&] { return micro(Clock::now()); };
  if (!options.nested) pool.watch(timings != nullptr);
  const ThreadPool::Run run(pool, wakes && !options.nested);
  RunState state{pool, values, scratch_of, options.limits, &options};
  const bool timed = timings != nullptr || options.timed;
  if (!options.nested) forget_last_run();
  for (std::size_t k = 0; k < builder.steps.size(); ++k) {
    if (repeats && steady[k]) continue;
    const double begin = timed ? since() : 0;
    placed_step(*builder.steps[k], [&] {
      const ScratchScope scratch;
      charge_work(work[k]);
      if (looks[k]) check_budget();
      if (check) check->before(static_cast<Index>(k));
      builder.steps[k]->run(state);
      if (check) check->after(static_cast<Index>(k), values);
    });
    const double end = timed ? since() : 0;
    spent[k] += end - begin;
    if (timings) {
      timings->push_back({static_cast<Index>(k), begin, end});
      for (const ThreadPool::Busy& busy : pool.taken())
        timings->push_back(
            {static_cast<Index>(k), micro(busy.begin), micro(busy.end), busy.thread});
    }
    for (const Index value : drops[k]) values[static_cast<std::size_t>(value)].is = {};
  }
  if (check) check->end(values);
}

// Returns an output after a run, outside of the plan's memory.
Value Plan::Impl::made(Output& output, const PlanMemory* own) {
  if (output.lent) return *std::exchange(output.lent, std::nullopt);
  if (output.memory == nullptr && own && output.moved && is_outside(held(output.value), *own))
    return std::move(held(output.value));
  if (output.memory == nullptr) return detached(held(output.value), own);
  Tensor copy = tensor_for(output);
  copy_bytes(output.memory, copy);
  return copy;
}

Tensor Plan::Impl::tensor_for(const Output& output) const {
  const AnalyzedValue& fact = graph.value(output.value);
  const Type type = fact.type->element;
  return options.outputs ? options.outputs->get(fact.name, type, *fact.shape, options.limits)
                         : Tensor(type, *fact.shape, Storage::unfilled);
}

void Plan::Impl::lend(Output& output, Tensor to) {
  output.lent = std::move(to);
  caller->move(output.value, output.lent->data<float>());
}

std::map<std::string, Value> Plan::run(const std::map<std::string, Value>& feeds, ThreadPool& pool,
                                       std::vector<Timing>* timings) {
  Impl& h = *impl_;
  const LimitsScope scope(h.options.limits);
  const Impl::Clean clean{h};
  for (auto& [name, output] : h.outputs) {
    if (h.takes_memory(output)) h.lend(output, h.tensor_for(output));
  }
  h.compute(feeds, pool, timings);
  std::map<std::string, Value> outputs;
  for (auto& [name, output] : h.outputs)
    outputs.emplace_hint(outputs.end(), name, h.made(output, nullptr));
  return outputs;
}

void Plan::run_in_order(std::vector<Value>& feeds, std::vector<Value>& outputs, ThreadPool& pool,
                        bool repeats) {
  Impl& h = *impl_;
  const LimitsScope scope(h.options.limits);
  const Impl::Clean clean{h};
  if (feeds.size() != h.inputs.size()) BUG("a plan is fed other values than its inputs");
  if (h.check) {
    std::map<std::string, Value> named;
    for (std::size_t k = 0; k < feeds.size(); ++k)
      named.emplace(h.model.graph.inputs[k].name, feeds[k]);
    h.compute(named, pool, nullptr);
  } else {
    for (std::size_t k = 0; k < feeds.size(); ++k) {
      Value& to = h.held(h.inputs[k]);
      if (k + h.options.steady.size() < feeds.size() && !feeds[k].is_tensor()) {
        to = std::move(feeds[k]);
      } else {
        to = feeds[k];
      }
    }
    h.run_steps(pool, nullptr, repeats);
  }
  outputs.resize(h.outputs_in_order.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    Impl::Output& output = *h.outputs_in_order[k];
    const Index same = output.input;
    const bool is_fed =
        same != no_value && is_outside(feeds[static_cast<std::size_t>(same)], *h.memory);
    outputs[k] = is_fed ? feeds[static_cast<std::size_t>(same)] : h.made(output, h.memory.get());
  }
}

void Plan::run_into(const std::map<std::string, Value>& feeds,
                    std::map<std::string, Tensor>& outputs, ThreadPool& pool,
                    std::vector<Timing>* timings) {
  Impl& h = *impl_;
  const LimitsScope scope(h.options.limits);
  const Impl::Clean clean{h};
  for (auto& [name, output] : h.outputs) {
    if (!h.takes_memory(output)) continue;
    const AnalyzedValue& fact = h.graph.value(output.value);
    const auto bound = outputs.find(name);
    if (bound != outputs.end() && is_same(bound->second, fact.type->element, *fact.shape) &&
        is_apart(bound, outputs, feeds)) {
      h.lend(output, bound->second);
    } else {
      h.caller->move(output.value, nullptr);
    }
  }
  h.compute(feeds, pool, timings);
  for (auto& [name, bound] : outputs) {
    const Impl::Output& output = h.outputs.at(name);
    if (output.lent) continue;
    if (output.memory == nullptr) {
      const Value& held = h.held(output.value);
      if (!held.is_tensor())
        throw Error(ErrorKind::usage,
                    "the output '" + name + "' is no tensor: no memory can be bound for it");
      const Tensor& made = held.tensor();
      require_same(name, bound, made.type(), made.shape());
      copy_bytes(made.bytes().data(), bound);
    } else {
      const AnalyzedValue& fact = h.graph.value(output.value);
      require_same(name, bound, fact.type->element, *fact.shape);
      copy_bytes(output.memory, bound);
    }
  }
}

}  // namespace touchstone::optimized
