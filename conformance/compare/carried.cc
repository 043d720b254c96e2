// Propagates error bounds through a node: arithmetic by bounded semantics, data movement by
// tracking positions.
#include "conformance/compare/carried.h"

#include <algorithm>

#include "conformance/judge/forms.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "reference/calls.h"
#include "reference/interpreter.h"
#include "reference/registry.h"

namespace touchstone::compare {
namespace {

constexpr double max_work = 2e9;  // multiply-adds: about ten seconds
constexpr Index short_list = 16;  // elements of a tensor that may hold sizes or scales

[[noreturn]] void not_known(const Node& node, const std::string& why) {
  throw Error(ErrorKind::unsupported, node.op + ": " + why);
}

Bounded exactly(const Tensor& tensor, Index k) {
  const long double value = number_at(tensor, k);
  const auto hi = static_cast<double>(value);
  return Bounded::raw(hi, static_cast<double>(value - hi), 0);
}

// False if types, shapes and the values that were seen determine the node's plan.
bool plan_may_read(const Node& node, const std::vector<Carried>& inputs) {
  const ReferenceEntry* const entry = node.signature ? find_entry(*node.signature) : nullptr;
  if (entry == nullptr || entry->infer == nullptr) return true;
  std::vector<Described> described;
  for (const Carried& input : inputs) {
    const std::string& name = node.inputs[described.size()];
    if (input.ours.absent()) {
      described.push_back({.name = name});
      continue;
    }
    if (!input.ours.is_tensor()) return true;
    const Tensor& tensor = input.ours.tensor();
    described.push_back(
        {true, tensor.type(), &tensor.shape(), input.bound.empty() ? &tensor : nullptr, name});
  }
  try {
    return entry->infer(Facts(node, *node.signature, std::move(described), wanted_of(node)))
        .partial;
  } catch (const NotKnown&) {
    return true;
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    return true;
  }
}

}  // namespace

CarriedNode::CarriedNode(const Node& node, std::vector<Carried> inputs, std::vector<Value> observed,
                         const Interpretation& interpretation, const judge::JudgeOptions& options)
    : node_(node),
      inputs_(std::move(inputs)),
      observed_(std::move(observed)),
      interpretation_(interpretation),
      options_(options) {
  // A measure, as Shape or Size, reads no element: its result is known exactly.
  const bool reads_elements = !node_.signature || node_.signature->form != "measure";
  bool has_list = false;
  for (Carried& input : inputs_) {
    seen_inputs_.push_back(input.ours);
    if (!reads_elements) input.bound.clear();
    if (input.bound.empty()) continue;
    const Tensor& tensor = input.ours.tensor();
    has_list = has_list || (tensor.shape().size() < 2 && tensor.size() <= short_list);
  }
  if (has_list && plan_may_read(node_, inputs_))
    not_known(node_, "a short list that was not seen may decide");
  if (!node_.signature) not_known(node_, "no definition");
  read();
}

bool CarriedNode::carries() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const Carried& input) { return !input.bound.empty(); });
}

void CarriedNode::read() {
  extended_.resize(node_.outputs.size());
  const ExtendedEntry* entry = find_extended(*node_.signature);
  const bool moves = node_.signature->form == "move";
  if (moves && carries()) return look_up_moved();
  if (!entry || !entry->bounded) return;
  const BoundedScope scope(Type::float32, interpretation_.cls, Sums::worst, interpretation_.flush);
  ExtendedCall<Bounded> call;
  call.node = &node_;
  call.signature = node_.signature;
  call.inputs = seen_inputs_;
  call.observed = observed_;
  call.seed = options_.seed;
  call.outputs.resize(node_.outputs.size());
  call.wanted = wanted_of(node_);
  for (const Carried& input : inputs_)
    call.carried.push_back(input.bound.empty() ? nullptr : &input.bound);
  if (entry->multiply_adds) {
    const double work = entry->multiply_adds(call);
    bool all_seen = true;
    for (std::size_t k = 0; k < observed_.size(); ++k)
      all_seen = all_seen && (!call.wanted[k] || !observed_[k].absent());
    if (all_seen && work > static_cast<double>(options_.sample_above))
      call.sample = std::max<Index>(256, options_.sample);
    else if (work > max_work)
      not_known(node_, "too much work to bound each element");
  }
  extended_ = judge::bounded_outputs(*entry, call, interpretation_.cls);
}

Type CarriedNode::carried_type() const {
  const auto first = std::find_if(inputs_.begin(), inputs_.end(),
                                  [](const Carried& input) { return !input.bound.empty(); });
  return first->ours.tensor().type();
}

// Throws unless our own elements are those of the sources. Otherwise the elements themselves decide
// where they go, as in a sort, or the output holds positions.
void CarriedNode::require_places(const Tensor& marks, const Value& ours,
                                 const std::vector<std::uint64_t>& sources) const {
  const auto stands = [&](Index i) {
    const auto mark = static_cast<std::size_t>(marks.data<Index>()[i]);
    return mark == 0 || (mark < sources.size() && code_at(ours.tensor(), i) == sources[mark]);
  };
  bool all = ours.is_tensor() && marks.type() == Type::int64 &&
             ours.tensor().shape() == marks.shape() && ours.tensor().type() == carried_type();
  for (Index i = 0; all && i < marks.size(); ++i) all = stands(i);
  if (!all) not_known(node_, "values that were not seen decide");
}

// Runs the kernel on element indices instead of elements, to find each output's source; 0 marks an
// element that the kernel itself makes.
void CarriedNode::look_up_moved() {
  const Type type = carried_type();
  std::vector<Bounded> pool{Bounded::raw(0, 0, 0)};
  std::vector<std::uint64_t> sources{0};  // codes of the elements
  std::vector<Value> marked = seen_inputs_;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const Value& ours = inputs_[k].ours;
    if (!ours.is_tensor() || ours.tensor().type() != type) continue;
    Tensor marks(Type::int64, ours.tensor().shape());
    for (Index i = 0; i < marks.size(); ++i) {
      marks.data<Index>()[i] = static_cast<Index>(pool.size());
      sources.push_back(code_at(ours.tensor(), i));
      pool.push_back(inputs_[k].bound.empty() ? exactly(ours.tensor(), i)
                                              : inputs_[k].bound[static_cast<std::size_t>(i)]);
    }
    marked[k] = marks;
  }
  const std::vector<Value> moved = evaluate(*node_.signature, node_.attributes, marked,
                                            static_cast<Index>(node_.outputs.size()));
  for (std::size_t k = 0; k < std::min(extended_.size(), moved.size()); ++k) {
    if (node_.outputs[k].empty() || !moved[k].is_tensor()) continue;
    const Tensor& marks = moved[k].tensor();
    require_places(marks, natively().at(k), sources);
    extended_[k].shape = marks.shape(), extended_[k].type = type, extended_[k].present = true;
    for (Index i = 0; i < marks.size(); ++i)
      extended_[k].values.push_back(pool.at(static_cast<std::size_t>(marks.data<Index>()[i])));
  }
}

const std::vector<Value>& CarriedNode::natively() {
  if (!natively_) {
    natively_ = evaluate(*node_.signature, node_.attributes, seen_inputs_,
                         static_cast<Index>(node_.outputs.size()));
  }
  return *natively_;
}

Carried CarriedNode::output(std::size_t k) {
  Carried made{natively().at(k), {}};
  if (extended_[k].present) {
    made.bound = std::move(extended_[k].values);
  } else if (carries()) {
    not_known(node_, "values that were not seen decide");
  }
  return made;
}

judge::Comparison CarriedNode::judge(std::size_t k) {
  if (extended_[k].present && observed_[k].is_tensor()) {
    return judge::judge_extended(extended_[k], observed_[k].tensor());
  }
  if (carries()) not_known(node_, "values that were not seen decide");
  return judge::judge_exact(natively().at(k), observed_[k]);
}

}  // namespace touchstone::compare
