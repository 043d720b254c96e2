// Judges every fast kernel on every instruction set that this processor has. Calls are drawn from
// the signatures alone: shapes of rank 0 to 6, empty ones, broadcasting, lengths across vector
// tails, NaN, infinities and -0. A fast kernel must refuse each call that the reference refuses;
// the bounded semantics judge its outputs.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "conformance/judge/judge.h"
#include "core/error.h"
#include "optimized/kernels/paged_testing.h"
#include "optimized/registry/registry.h"
#include "reference/registry.h"

namespace touchstone {
namespace {

constexpr int wanted_calls = 60;  // judged calls per operator version and instruction set

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  Index below(Index n) { return static_cast<Index>(random_() % static_cast<std::uint64_t>(n)); }
  bool one_in(Index n) { return below(n) == 0; }

  Shape shape() {
    Shape s;
    const Index rank = below(7);
    static constexpr Index lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65};
    Index size = 1;
    for (Index k = 0; k < rank; ++k) {
      const Index d = one_in(24) ? 0 : lengths[below(size > 300 ? 3 : size > 40 ? 6 : 14)];
      size *= std::max<Index>(d, 1);
      s.push_back(d);
    }
    return s;
  }
  // Returns a shape that may broadcast with `other`: some dimensions 1, some leading ones dropped,
  // some prepended.
  Shape related(const Shape& other) {
    if (one_in(2)) return other;
    Shape s;
    for (Index k = one_in(2) ? below(other.size() + 1) : 0; k < other.size(); ++k)
      s.push_back(one_in(2) ? 1 : other[k]);
    return s;
  }
  float element(int regime) {
    static constexpr float inf = std::numeric_limits<float>::infinity();
    static constexpr float special[] = {
        0.0F, -0.0F, inf, -inf, std::numeric_limits<float>::quiet_NaN(), 1, -1, 1e-40F, 3.4e38F};
    if (regime == 0) return special[below(9)];
    if (regime == 1) return static_cast<float>(below(17) - 8);
    if (regime == 2)
      return std::ldexp(1 + static_cast<float>(below(1 << 20)) / (1 << 20),
                        static_cast<int>(below(60)) - 30) *
             (one_in(2) ? 1.0F : -1.0F);
    return std::normal_distribution<float>(0, 3)(random_);
  }
  Tensor floats(const Shape& shape) {
    Tensor t(Type::float32, shape);
    const int regime = static_cast<int>(below(4));
    for (Index k = 0; k < t.size(); ++k) t.data<float>()[k] = element(regime);
    return t;
  }
  std::vector<Index> axes(Index rank) {
    std::vector<Index> list;
    for (Index k = 0; k < rank; ++k) {
      if (one_in(2)) list.push_back(one_in(3) ? k - rank : k);
    }
    return list;
  }

 private:
  std::mt19937_64 random_;
};

struct Drawn {
  Node node;
  std::vector<Value> inputs;
};

bool takes_float(const Signature& signature, std::string_view type) {
  if (type == "tensor(float)") return true;
  for (const ConstraintSpec& c : signature.types) {
    if (c.name == type)
      return std::find(c.types.begin(), c.types.end(), "tensor(float)") != c.types.end();
  }
  return false;
}

Drawn draw_call(const Signature& signature, Draw& draw) {
  Drawn d;
  d.node.op = signature.op;
  d.node.domain = signature.domain;
  d.node.signature = &signature;
  const Shape first = draw.shape();
  bool large = true;
  for (std::size_t k = 0; k < signature.inputs.size(); ++k) {
    const ParameterSpec& p = signature.inputs[k];
    Value value;
    if (!p.optional || !draw.one_in(3)) {
      if (takes_float(signature, p.type)) {
        value = draw.floats(large ? first : p.optional ? Shape{} : draw.related(first));
        large = false;
      } else {
        const std::vector<Index> axes = draw.axes(first.size());
        Tensor list(Type::int64, {static_cast<Index>(axes.size())});
        std::copy(axes.begin(), axes.end(), list.data<Index>());
        value = list;
      }
    }
    d.node.inputs.push_back(value.absent() ? "" : std::string(p.name));
    d.inputs.push_back(value);
  }
  if (d.inputs.size() == 2 && signature.inputs[1].type == signature.inputs[0].type &&
      draw.one_in(2))
    std::swap(d.inputs[0], d.inputs[1]);
  for (const ParameterSpec& p : signature.outputs) d.node.outputs.emplace_back(p.name);
  for (const AttributeSpec& a : signature.attributes) {
    if (!a.required && draw.one_in(3)) continue;
    Attribute& held = d.node.attributes[std::string(a.name)];
    if (a.kind == "int")
      held.is = draw.one_in(2) ? draw.below(2) : draw.below(2 * first.size() + 1) - first.size();
    else if (a.kind == "float")
      held.is = draw.element(3);
    else if (a.kind == "ints")
      held.is = draw.axes(first.size());
    else
      d.node.attributes.erase(std::string(a.name));
  }
  return d;
}

Call call_of(const Drawn& d) {
  Call call;
  call.node = &d.node;
  call.signature = d.node.signature;
  call.inputs = d.inputs;
  call.outputs.resize(d.node.outputs.size());
  call.wanted.assign(d.node.outputs.size(), true);
  return call;
}

std::string describe(const Drawn& d) {
  std::string text = d.node.op + "-" + std::to_string(d.node.signature->since);
  for (const Value& v : d.inputs)
    text += " " + (v.absent() ? "none" : touchstone::text(v.tensor().shape()));
  for (const auto& [name, a] : d.node.attributes) {
    text += " " + name;
    if (const auto* i = std::get_if<Index>(&a.is)) text += "=" + std::to_string(*i);
    if (const auto* f = std::get_if<float>(&a.is)) text += "=" + std::to_string(*f);
    if (const auto* l = std::get_if<std::vector<Index>>(&a.is)) {
      text += "=[";
      for (Index i : *l) text += std::to_string(i) + " ";
      text += "]";
    }
  }
  return text;
}

// Describes a refusal: the position, the judge's detail and the reference kernel's value there.
std::string complaint(const Drawn& d, const judge::NodeJudgement& j, const Value& native) {
  std::string text = describe(d) + ": " + std::string(judge::name(j.verdict)) + " " + j.detail;
  if (j.outputs.empty() || j.outputs[0].where < 0) return text;
  const Index at = j.outputs[0].where;
  text += "; the reference has " + std::to_string(native.tensor().data<float>()[at]) + " of";
  for (const Value& v : d.inputs) {
    if (!v.absent() && v.tensor().shape() == native.tensor().shape())
      text += " " + std::to_string(v.tensor().data<float>()[at]);
  }
  return text;
}

class Fast : public ::testing::TestWithParam<optimized::Isa> {};

TEST_P(Fast, EveryKernelIsWhatTheEntrySays) {
  if (!processor_has(GetParam())) GTEST_SKIP() << "this processor has no " << name(GetParam());
  ASSERT_FALSE(optimized::fast_entries().empty());
  Index elements = 0, exact = 0, within = 0;
  for (const optimized::FastEntry& entry : optimized::fast_entries()) {
    const ReferenceEntry* reference = find_entry(*entry.signature);
    ASSERT_NE(reference, nullptr);
    Draw draw(std::hash<std::string_view>()(entry.signature->op) +
              static_cast<std::uint64_t>(entry.signature->since));
    int judged = 0, empty = 0;
    std::set<Index> ranks;
    for (int k = 0; k < 3000 && (judged < wanted_calls || empty == 0); ++k) {
      const Drawn d = draw_call(*entry.signature, draw);
      Call right = call_of(d), fast = call_of(d);
      std::string refused;
      try {
        reference->native(right);
      } catch (const Error& error) {
        refused = error.message;
      }
      if (!refused.empty()) {
        try {
          run_fast(entry, fast, GetParam());
          ADD_FAILURE() << describe(d) << " runs fast, but the reference says: " << refused;
        } catch (const Error& error) {
          EXPECT_EQ(error.message, refused) << describe(d);
        }
        continue;
      }
      // Guard pages next to each tensor catch reads outside the inputs and writes outside the
      // output.
      testing::PagedTensors beside(k % 2 == 0 ? testing::Edge::after : testing::Edge::before);
      for (Value& input : fast.inputs) {
        if (input.is_tensor()) input = beside.copy(input.tensor());
      }
      const Tensor& shaped = right.outputs[0].tensor();
      const Tensor placed = beside.make(shaped.type(), shaped.shape());
      fast.outputs[0] = placed;
      ASSERT_TRUE(run_fast(entry, fast, GetParam())) << describe(d);
      ASSERT_EQ(fast.outputs[0].tensor().data<float>(), placed.data<float>()) << describe(d);
      const judge::NodeJudgement j = judge::judge_node(d.node, d.inputs, fast.outputs);
      ASSERT_TRUE(judge::is_pass(j.verdict) || j.verdict == judge::Verdict::mistrusted ||
                  j.verdict == judge::Verdict::open)
          << complaint(d, j, right.outputs[0]);
      if (!judge::is_pass(j.verdict)) continue;  // open and mistrusted calls do not count
      const Tensor& out = fast.outputs[0].tensor();
      ranks.insert(out.shape().size());
      empty += out.size() == 0;
      elements += out.size();
      (judge::judge_exact(right.outputs[0], fast.outputs[0]).verdict == judge::Verdict::exact
           ? exact
           : within) += out.size();
      ++judged;
    }
    EXPECT_GE(judged, wanted_calls) << entry.signature->op << "-" << entry.signature->since;
    EXPECT_GE(ranks.size(), 5U) << entry.signature->op << "-" << entry.signature->since;
    EXPECT_GT(empty, 0) << entry.signature->op << "-" << entry.signature->since;
  }
  RecordProperty("elements", static_cast<int>(elements));
  RecordProperty("in_tensors_of_the_reference's_bits", static_cast<int>(exact));
  RecordProperty("in_other_tensors", static_cast<int>(within));
}

// All instruction sets give the same bits: no contraction, and sums in sixteen lanes and one tree.
TEST(FastKernels, GiveTheSameBitsOnEveryInstructionSet) {
  for (const optimized::FastEntry& entry : optimized::fast_entries()) {
    Draw draw(7 + static_cast<std::uint64_t>(entry.signature->since));
    int compared = 0;
    for (int k = 0; k < 200 && compared < 20; ++k) {
      const Drawn d = draw_call(*entry.signature, draw);
      std::vector<Value> first;
      for (optimized::Isa isa : optimized::all_isas) {
        if (!processor_has(isa)) continue;
        Call call = call_of(d);
        try {
          run_fast(entry, call, isa);
        } catch (const Error&) {
          break;
        }
        if (first.empty()) {
          first = call.outputs;
          ++compared;
        }
        EXPECT_EQ(judge::judge_exact(first[0], call.outputs[0], judge::ZeroSign::compared).verdict,
                  judge::Verdict::exact)
            << describe(d) << " " << name(isa);
      }
    }
    EXPECT_GE(compared, 10) << entry.signature->op;
  }
}

TEST(FastKernels, LeaveOtherTypesToTheReference) {
  for (const optimized::FastEntry& entry : optimized::fast_entries()) {
    Draw draw(3);
    Drawn d;
    d.node.op = entry.signature->op;
    d.node.signature = entry.signature;
    for (std::size_t k = 0; k < entry.signature->inputs.size(); ++k) {
      const ParameterSpec& p = entry.signature->inputs[k];
      if (!p.optional) d.inputs.push_back(Tensor(Type::float64, {1}));
    }
    Call call = call_of(d);
    call.outputs.resize(1), call.wanted = {true};
    EXPECT_FALSE(run_fast(entry, call)) << entry.signature->op;
    EXPECT_TRUE(call.outputs[0].absent());
  }
}

TEST(FastKernels, WhatHasNoneSaysWhy) {
  for (const optimized::Unfit& u : optimized::unfit_for_fast())
    EXPECT_FALSE(u.reason.empty()) << u.version;
}

INSTANTIATE_TEST_SUITE_P(Isas, Fast, ::testing::ValuesIn(optimized::all_isas),
                         [](const auto& isa) { return std::string(name(isa.param)); });

}  // namespace
}  // namespace touchstone
