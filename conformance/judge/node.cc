// Judges one node. Selects the semantics and the class for each output, a sample or all elements,
// and flushed or kept subnormals.
#include <algorithm>
#include <cmath>
#include <span>

#include "conformance/judge/forms.h"
#include "conformance/judge/node_means.h"
#include "conformance/judge/text.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "core/numbers/formats.h"
#include "reference/value_facts.h"

namespace touchstone::judge {
namespace {

bool is_subnormal(long double x, const Format& f) {
  return x != 0 && std::abs(x) < f.smallest_normal;
}

bool holds_subnormal(const Value& value) {
  if (!value.is_tensor()) return false;
  const Tensor& t = value.tensor();
  if (!facts(t.type()).is_float) return false;
  const Format& f = format_of(t.type());
  for (Index i = 0; i < t.size(); ++i) {
    if (is_subnormal(number_at(t, i), f)) return true;
  }
  return false;
}

Tensor without_subnormals(const Tensor& tensor) {
  Tensor out(tensor.type(), tensor.shape());
  const Format& f = format_of(tensor.type());
  for (Index i = 0; i < tensor.size(); ++i) {
    const long double x = number_at(tensor, i);
    set_number(out, i, is_subnormal(x, f) ? std::copysign(0.0L, x) : x);
  }
  return out;
}

bool holds_subnormal(const ExtendedOutput<Bounded>& output) {
  if (!output.present || !facts(output.type).is_float) return false;
  const Format& f = format_of(output.type);
  return std::any_of(output.values.begin(), output.values.end(),
                     [&](const Bounded& b) { return is_subnormal(b.hi, f); });
}

using Parameters = std::span<const ParameterSpec>;

// True if the k-th parameter has a type constraint of this list. A variadic parameter is the last.
bool is_of(const std::vector<std::string_view>& constraints, Parameters all, std::size_t k) {
  if (all.empty()) return false;
  const std::string_view own = all[std::min(k, all.size() - 1)].type;
  return std::find(constraints.begin(), constraints.end(), own) != constraints.end();
}

// Returns the type in which a class-fast evaluation may hold its elements. It is a 16-bit type only
// if all float tensors have that type and the node does not select another by `stash_type`. Tensors
// that are converted first do not count.
Type element_type(const Node& node, const NodeMeans& means, const std::optional<Inferred>& said,
                  const std::vector<Value>& inputs, const std::vector<Value>& observed) {
  std::vector<Type> types;
  const auto add = [&](Parameters parameters, std::size_t k, Type type) {
    if (!is_of(means.converted, parameters, k)) types.push_back(type);
  };
  const auto add_all = [&](Parameters parameters, const std::vector<Value>& values) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k].is_tensor()) add(parameters, k, values[k].tensor().type());
    }
  };
  const Parameters outputs = node.signature ? node.signature->outputs : Parameters{};
  add_all(node.signature ? node.signature->inputs : Parameters{}, inputs);
  add_all(outputs, observed);
  for (std::size_t k = 0; said && k < said->types.size(); ++k) add(outputs, k, said->types[k]);
  Type found = Type::undefined;
  for (const Type type : types) {
    if (type == Type::undefined || !facts(type).is_float || facts(type).bits < 16) continue;
    if (facts(type).bits > 16 || (found != Type::undefined && found != type)) return Type::float32;
    found = type;
  }
  const auto attributes =
      node.signature ? node.signature->attributes : std::span<const AttributeSpec>{};
  for (const AttributeSpec& attribute : attributes) {
    if (attribute.name == "stash_type") return Type::float32;
  }
  return found == Type::undefined ? Type::float32 : found;
}

// True if a shape matches the inferred one; a data-dependent size matches any size.
bool fits(const Shape& said, const Shape& shape) {
  bool all = said.size() == shape.size();
  for (Index d = 0; all && d < said.size(); ++d) all = said[d] == shape[d] || said[d] == any_size;
  return all;
}

bool close_call(const Comparison& c) { return std::abs(c.utilisation_max - 1) <= 0.02; }

class NodeJudge {
 public:
  NodeJudge(const Node& node, const NodeMeans& means, const std::vector<Value>& inputs,
            const std::vector<Value>& observed, const JudgeOptions& options)
      : node_(node), means_(means), inputs_(inputs), observed_(observed), options_(options) {
    observed_.resize(node.outputs.size());
    for (const std::string& name : node.outputs) wanted_.push_back(!name.empty());
    if (means.infer) said_ = means.infer();
    elements_ = element_type(node, means, said_, inputs_, observed_);
  }

  NodeJudgement judge() {
    const NodeJudgement first = judge_as({options_.cls, 0, false});
    if (!is_fail(first.verdict)) return first;
    const bool extended = means_.extended && means_.extended->bounded && any_extended_;
    if (options_.cls == Class::strict) {
      if (!options_.then_fast) return first;
      if (extended) {
        const NodeJudgement fast = judge_as({Class::fast, 0, false});
        if (!is_fail(fast.verdict)) return fast;
      }
    }
    // One formula computes the whole tensor. An open or mistrusted verdict of an alternative
    // excuses nothing.
    if (extended) {
      if (const auto passed = pass_of_any(1, false)) return *passed;
      if (subnormal_) {
        if (const auto passed = pass_of_any(0, true)) return *passed;
      }
    }
    if (computes() && flush_inputs()) {
      if (const auto passed = pass_of_any(0, true)) return *passed;
    }
    return first;
  }

 private:
  struct Interpretation {
    Class cls;
    std::size_t formula;  // 0: the entry's own; k: `also[k - 1]`
    bool flush;
  };

  // Judges in class fast, by the formulas from `formula` on; returns the first pass.
  std::optional<NodeJudgement> pass_of_any(std::size_t formula, bool flush) {
    const std::size_t last = means_.extended ? means_.extended->also.size() : 0;
    for (; formula <= last; ++formula) {
      NodeJudgement found = judge_as({Class::fast, formula, flush});
      if (is_pass(found.verdict)) return found;
    }
    return std::nullopt;
  }

  // Data movement preserves subnormals on every machine.
  bool computes() const { return !node_.signature || node_.signature->form != "move"; }

  // Flushes subnormal inputs to zero, as machines that flush do on reading. Returns true if there
  // were any.
  bool flush_inputs() {
    bool any = false;
    for (Value& value : inputs_) {
      // The narrowest types consist mostly of such numbers: no machine flushes those.
      if (!holds_subnormal(value) || format_of(value.tensor().type()).precision < 8) continue;
      value = without_subnormals(value.tensor());
      any = true;
    }
    return any;
  }

  template <class S>
  ExtendedCall<S> call() const {
    ExtendedCall<S> c;
    c.node = &node_;
    c.signature = node_.signature;
    c.inputs = inputs_;
    c.observed = observed_;
    c.wanted = wanted_;
    c.seed = options_.seed;
    c.sample = sample_;
    c.outputs.resize(node_.outputs.size());
    return c;
  }

  std::vector<ExtendedOutput<Bounded>> bounded(const Interpretation& by, Sums sums) const {
    const BoundedScope scope(elements_, by.cls, sums, by.flush);
    return outputs_by(*means_.extended, by.formula, call<Bounded>());
  }

  NodeJudgement judge_as(const Interpretation& by) {
    NodeJudgement out;
    out.cls = by.cls;
    out.flushed = by.flush;
    if (by.formula > 0) out.formula = means_.extended->also[by.formula - 1].name;
    out.outputs.resize(node_.outputs.size());
    if (!misfits(out)) compare(out, by);
    bool first = true;
    for (std::size_t k = 0; k < out.outputs.size(); ++k) {
      if (!wanted_[k]) continue;
      out.verdict = first ? out.outputs[k].verdict : worse(out.verdict, out.outputs[k].verdict);
      if (out.detail.empty()) out.detail = out.outputs[k].detail;
      first = false;
    }
    if (first) out.verdict = Verdict::exact;  // a node without outputs cannot be wrong
    return out;
  }

  // Checks types and shapes first, so that semantics that follow the target's outputs can rely on
  // their extents.
  bool misfits(NodeJudgement& out) const {
    bool bad = false;
    for (std::size_t k = 0; k < out.outputs.size(); ++k) {
      if (!wanted_[k]) continue;
      Comparison& c = out.outputs[k];
      if (observed_[k].absent()) {
        c.verdict = Verdict::unwritten;
        c.detail = "output '" + node_.outputs[k] + "' was not given";
        bad = true;
      } else if (said_ && k < said_->types.size() && said_->types[k] != Type::undefined &&
                 !(observed_[k].is_tensor() && observed_[k].tensor().type() == said_->types[k])) {
        c.verdict = Verdict::wrong_type;
        c.detail = text(observed_[k].type()) + " for a tensor of " +
                   std::string(touchstone::name(said_->types[k]));
        bad = true;
      } else if (said_ && k < said_->shapes.size() && said_->shapes[k] &&
                 observed_[k].is_tensor() &&
                 !fits(*said_->shapes[k], observed_[k].tensor().shape())) {
        c.verdict = Verdict::wrong_shape;
        c.detail = text(observed_[k].tensor().shape()) + " for " + text(*said_->shapes[k]);
        bad = true;
      }
    }
    return bad;
  }

  void compare(NodeJudgement& out, const Interpretation& by) {
    std::vector<ExtendedOutput<Bounded>> extended(node_.outputs.size());
    if (means_.extended && means_.extended->bounded) {
      choose_sample();
      extended = bounded(by, Sums::worst);
    }
    out.sampled = sample_ > 0;
    std::vector<ExtendedOutput<Bounded>> aggregate;  // computed when an output first needs it
    bool needs_native = false;
    for (std::size_t k = 0; k < extended.size(); ++k) {
      if (!wanted_[k]) continue;
      if (!extended[k].present) {
        needs_native = true;
        continue;
      }
      any_extended_ = true;
      subnormal_ = subnormal_ || holds_subnormal(extended[k]);
      out.outputs[k] = judge_one(extended[k], k, by, aggregate);
    }
    if (!subnormal_)
      subnormal_ = std::any_of(inputs_.begin(), inputs_.end(),
                               [](const Value& v) { return holds_subnormal(v); });
    if (needs_native) compare_natively(out, extended);
  }

  void choose_sample() {
    sample_ = 0;
    if (!means_.extended->multiply_adds) return;
    const double work = means_.extended->multiply_adds(call<Bounded>());
    if (work > static_cast<double>(options_.sample_above))
      sample_ = std::max<Index>(256, options_.sample);
  }

  Comparison judge_one(const ExtendedOutput<Bounded>& extended, std::size_t k,
                       const Interpretation& by, std::vector<ExtendedOutput<Bounded>>& aggregate) {
    if (!observed_[k].is_tensor()) {
      Comparison c;
      c.verdict = Verdict::wrong_type;
      c.detail = text(observed_[k].type()) + " for a tensor";
      return c;
    }
    const Tensor& actual = observed_[k].tensor();
    Comparison c = judge_extended(extended, actual);
    if (close_call(c) && means_.extended->exact) {
      ExtendedCall<Exact> exact = call<Exact>();
      const BoundedScope scope(elements_, by.cls, Sums::worst, by.flush);
      means_.extended->exact(exact);
      c = judge_extended(extended, actual, nullptr, &exact.outputs[k]);
    }
    if (!is_fail(c.verdict) && options_.random_data && independent(c) >= aggregate_from &&
        c.verdict != Verdict::exact) {
      if (aggregate.empty()) aggregate = bounded(by, Sums::aggregate);
      const Comparison all = judge_extended(extended, actual, &aggregate[k]);
      c.aggregate = all.aggregate;
      // An alternative formula passes by the bounds of single elements only.
      const bool decides = c.verdict == Verdict::open && by.formula == 0;
      if (all.aggregate > 1 || decides) c = all;
    }
    return c;
  }

  // Examined elements whose errors are independent. A running sum's errors go on along its axis, so
  // each lane counts once.
  Index independent(const Comparison& c) const {
    const Index examined = c.judged + c.open;
    const Signature* const s = node_.signature;
    const bool runs =
        s && s->form == "reduce" && s->inputs.size() > 1 && s->inputs[1].name == "axis";
    if (!runs || examined == 0) return examined;
    const Shape& shape = inputs_[0].tensor().shape();
    const auto axis = static_cast<Index>(number_at(inputs_[1].tensor(), 0));
    return std::min(examined, count(shape) / shape[axis < 0 ? axis + shape.size() : axis]);
  }

  void compare_natively(NodeJudgement& out,
                        const std::vector<ExtendedOutput<Bounded>>& extended) const {
    Opened followed;
    if (means_.follow)
      followed = means_.follow();
    else if (means_.native)
      followed.outputs = means_.native(inputs_);
    const std::vector<Value>& ours = followed.outputs;
    const bool moved = node_.signature &&
                       (node_.signature->form == "move" || node_.signature->form == "container");
    for (std::size_t k = 0; k < extended.size(); ++k) {
      if (!wanted_[k] || extended[k].present) continue;
      if (k < ours.size()) {
        out.outputs[k] =
            judge_exact(ours[k], observed_[k], moved ? ZeroSign::compared : ZeroSign::ignored);
        if (k < followed.open.size()) set_apart(out.outputs[k], followed.open[k]);
      } else {
        out.outputs[k].verdict = Verdict::unsupported;
        out.outputs[k].detail = node_.op + ": no definition to judge it by";
      }
    }
  }

  static void set_apart(Comparison& c, Index open) {
    c.open = open;
    c.judged -= std::min(open, c.judged);
    if (is_pass(c.verdict) && open > 0 && c.judged == 0) {
      c.verdict = Verdict::open;
      c.detail = "any value is right";
    }
  }

  const Node& node_;
  const NodeMeans& means_;
  std::vector<Value> inputs_, observed_;
  const JudgeOptions& options_;
  std::vector<bool> wanted_;
  Index sample_ = 0;
  // Inferred types and shapes, which do not depend on elements that class fast may flush.
  std::optional<Inferred> said_;
  Type elements_ = Type::float32;
  bool any_extended_ = false, subnormal_ = false;
};

// True if the kernel, in its own precision, accepts the inputs. Then rounding decides whether the
// definition reads an element that is not there.
bool natively_accepted(const NodeMeans& means, const std::vector<Value>& inputs) {
  if (!means.native) return false;
  try {
    means.native(inputs);
    return true;
  } catch (const Error&) {
    return false;
  }
}

NodeJudgement ended(const Node& node, Verdict verdict, std::string detail) {
  NodeJudgement out;
  out.verdict = verdict;
  out.detail = std::move(detail);
  out.outputs.resize(node.outputs.size());
  for (Comparison& c : out.outputs) {
    c.verdict = verdict;
    c.detail = out.detail;
  }
  return out;
}

}  // namespace

NodeJudgement judge_node(const Node& node, const NodeMeans& means, const std::vector<Value>& inputs,
                         const std::vector<Value>& observed, const JudgeOptions& options) {
  try {
    return NodeJudge(node, means, inputs, observed, options).judge();
  } catch (const Error& error) {
    // The target gave outputs. If our definition refuses the inputs by a rule, the target should
    // have refused them too. Any other failure of our definition is no verdict on the target.
    const bool refused =
        error.kind == ErrorKind::invalid_input || error.kind == ErrorKind::invalid_model;
    const bool known = error.kind == ErrorKind::unsupported;
    NodeJudgement out =
        ended(node,
              refused ? natively_accepted(means, inputs) ? Verdict::open : Verdict::accepted_invalid
              : known ? Verdict::unsupported
                      : Verdict::harness,
              node.op + ": " + error.message);
    out.over_limit = error.kind == ErrorKind::limit || error.kind == ErrorKind::out_of_memory;
    return out;
  }
}

}  // namespace touchstone::judge
