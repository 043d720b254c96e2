// Tests attention in sessions: the judge accepts every output, with one thread and two.
#include <gmock/gmock.h>

#include "core/numbers/convert.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using Feeds = std::map<std::string, Value>;
using Attributes = std::map<std::string, Attribute>;

Attribute number(Index value) { return {value, {}, {}}; }
Attribute real(float value) { return {value, {}, {}}; }

Tensor reals(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t(Type::float32, std::move(shape));
  for (Index k = 0; k < t.size(); ++k)
    t.data<float>()[k] = static_cast<float>(random() % 2000) / 1000 - 1;
  return t;
}
Tensor bools(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t(Type::boolean, std::move(shape));
  for (Index k = 0; k < t.size(); ++k) t.data<bool>()[k] = random() % 3 != 0;
  return t;
}
// A mask with rows of minus infinity, and other rows where it is frequent.
Tensor biases(Shape shape, unsigned seed) {
  const Index columns = shape.back();
  std::mt19937 random(seed);
  Tensor t = reals(std::move(shape), seed);
  for (Index k = 0; k < t.size(); ++k) {
    if (k / columns % 3 == 1 || random() % 4 == 0)
      t.data<float>()[k] = -std::numeric_limits<float>::infinity();
  }
  return t;
}

struct Call {
  Tensor q, k, v;
  std::map<std::string, Tensor> further = {};  // inputs
  Attributes attributes = {};
  std::vector<std::string> outputs = {"y"};
  // "": not of this family
  std::string kernel = "attention " + std::string(name(chosen_isa()));
};

std::pair<Model, Feeds> made_of(const Call& call, Index opset) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = opset;
  model.graph.name = "one";
  Node node;
  node.op = "Attention";
  node.attributes = call.attributes;
  Feeds feeds{{"q", call.q}, {"k", call.k}, {"v", call.v}};
  for (const auto& [name, tensor] : call.further) feeds.emplace(name, tensor);
  for (const char* const name :
       {"q", "k", "v", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"}) {
    if (opset < 24 && node.inputs.size() == 6) break;
    const auto fed = feeds.find(name);
    node.inputs.emplace_back(fed == feeds.end() ? "" : name);
    if (fed == feeds.end()) continue;
    ValueInfo made;
    made.name = name;
    made.type = tensor_type(fed->second.tensor().type());
    model.graph.inputs.push_back(made);
  }
  for (const std::string& name : call.outputs) {
    node.outputs.push_back(name);
    if (name.empty()) continue;
    ValueInfo made;
    made.name = name;
    made.type = tensor_type(Type::float32);
    model.graph.outputs.push_back(made);
  }
  model.graph.nodes.push_back(std::move(node));
  resolve(model);
  return {std::move(model), std::move(feeds)};
}

void judge(const Call& call, Index opset) {
  const auto [model, feeds] = made_of(call, opset);
  for (const Index threads : {1, 2}) {
    Session session(model, {.threads = threads});
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(why_refused(model, feeds, session.run(feeds)), "") << opset;
    for (const Placement& row : session.placement()) {
      if (call.kernel.empty()) {
        EXPECT_FALSE(row.kernel.starts_with("attention"));
      } else {
        EXPECT_EQ(row.kernel, call.kernel) << opset;
      }
    }
  }
}
void judge(const Call& call) {
  for (const Index opset : {23, 24, 25}) judge(call, opset);
}

Call heads(Index queries, Index steps, Index q_heads = 2, Index kv_heads = 2, Index depth = 8,
           Index width = 5) {
  return {reals({2, q_heads, queries, depth}, 1), reals({2, kv_heads, steps, depth}, 2),
          reals({2, kv_heads, steps, width}, 3)};
}

TEST(Attention, SizesAndGroups) {
  for (const Index queries : {1, 3, 8, 33}) {
    for (const Index steps : {1, 7, 40, 300}) {
      if (queries * steps > 3000) continue;  // the judge takes long
      for (const Index is_causal : {0, 1}) {
        for (const Index q_heads : {2, 6}) {
          if (queries * steps > 1000 && q_heads == 6) continue;
          Call call = heads(queries, steps, q_heads);
          call.attributes["is_causal"] = number(is_causal);
          judge(call, 23);
        }
      }
    }
  }
  judge(heads(17, 16, 3, 1, 24, 40));
}

TEST(Attention, BlocksOfOneHead) {
  judge({reals({1, 1, 60, 4}, 1), reals({1, 1, 70, 4}, 2), reals({1, 1, 70, 3}, 3)});
  Call call{reals({1, 1, 20, 2}, 1), reals({1, 1, 9000, 2}, 2), reals({1, 1, 9000, 1}, 3)};
  call.attributes["is_causal"] = number(1);
  judge(call, 23);
}

TEST(Attention, FlatInputs) {
  for (const Index queries : {1, 6}) {
    Call call{reals({2, queries, 4 * 6}, 1), reals({2, 9, 2 * 6}, 2), reals({2, 9, 2 * 3}, 3)};
    call.attributes = {{"q_num_heads", number(4)},
                       {"kv_num_heads", number(2)},
                       {"is_causal", number(1)},
                       {"scale", real(0.7F)}};
    call.outputs = {"y", "present_key", "present_value"};
    judge(call);
  }
}

TEST(Attention, Masks) {
  const std::vector<Shape> shapes{{7},       {5, 7},       {1, 7},       {4, 5, 7}, {4, 1, 7},
                                  {1, 5, 7}, {2, 4, 5, 7}, {2, 1, 1, 7}, {5, 1}};
  for (const Shape& shape : shapes) {
    for (const Index is_causal : {0, 1}) {
      for (const Tensor& mask : {bools(shape, 4), biases(shape, 5)}) {
        Call call = heads(5, 7, 4);
        call.further = {{"attn_mask", mask}};
        call.attributes["is_causal"] = number(is_causal);
        judge(call);
      }
    }
  }
  Call scalar = heads(3, 4);
  scalar.further = {{"attn_mask", reals({}, 6)}};
  judge(scalar, 23);
  Call small = heads(3, 4);
  small.further = {{"attn_mask", biases({3, 2}, 7)}};
  judge(small, 24);
}

TEST(Attention, KeysOfThePast) {
  for (const Index queries : {1, 4, 10}) {
    for (const bool shows : {false, true}) {
      Call call = heads(queries, queries, 4);
      call.further = {{"past_key", reals({2, 2, 6, 8}, 8)},
                      {"past_value", reals({2, 2, 6, 5}, 9)},
                      {"attn_mask", bools({queries, 6 + queries}, 10)}};
      call.attributes["is_causal"] = number(1);
      if (shows) call.outputs = {"y", "present_key", "present_value"};
      judge(call);
    }
  }
}

TEST(Attention, SpecialValues) {
  for (const Index queries : {2, 12}) {
    for (const Index is_causal : {0, 1}) {
      Call call = heads(queries, 12);
      call.attributes["is_causal"] = number(is_causal);
      const auto with = [&](Tensor Call::*which) {
        Call made = call;
        made.*which = with_specials(reals((call.*which).shape(), 11));
        return made;
      };
      for (Tensor Call::*which : {&Call::q, &Call::k, &Call::v}) judge(with(which));
      Call infinite = call;
      infinite.v.data<float>()[infinite.v.size() - 1] = std::numeric_limits<float>::infinity();
      judge(infinite);
      Call later = call;  // scores of minus infinity alone, of a key that is masked or not
      for (Index k = 0; k < 8; ++k) later.k.data<float>()[11 * 8 + k] = k == 0 ? -HUGE_VALF : 0;
      judge(later);
      Call masked = call;
      masked.further = {{"attn_mask", with_specials(biases({queries, 12}, 12))}};
      judge(masked);
    }
  }
}

TEST(Attention, CappedScores) {
  for (const Index queries : {2, 12}) {
    Call call = heads(queries, 9, 4);
    call.attributes = {{"softcap", real(0.5F)}, {"is_causal", number(1)}, {"scale", real(30)}};
    judge(call);
    call.q = with_specials(call.q);
    judge(call);
  }
}

TEST(Attention, ShownScores) {
  for (const Index mode : {0, 1, 2, 3}) {
    for (const Index queries : {2, 12}) {
      Call call = heads(queries, 9, 4);
      call.further = {{"attn_mask", biases({queries, 9}, 5)}};
      call.attributes = {{"softcap", real(0.7F)}, {"qk_matmul_output_mode", number(mode)}};
      call.outputs = {"y", "", "", "qk_matmul_output"};
      judge(call);
    }
  }
}

TEST(Attention, MasksOfAnyType) {
  for (const Type type : {Type::int64, Type::uint8, Type::float64}) {
    const Tensor numbers = reals({5, 7}, 6);
    Tensor mask(type, numbers.shape());
    for (Index k = 0; k < mask.size(); ++k)
      set_number(mask, k, 5 * number_at(numbers, k), Saturate::yes);
    Call call = heads(5, 7);
    call.further = {{"attn_mask", mask}};
    judge(call);
  }
}

TEST(Attention, WindowsOfKeys) {
  for (const auto& [left, right] : std::vector<std::pair<Index, Index>>{
           {0, 0}, {2, -1}, {-1, 1}, {3, 2}, {std::numeric_limits<Index>::max(), 0}}) {
    for (const Index is_causal : {0, 1}) {
      for (const bool is_masked : {false, true}) {
        Call call = heads(9, 9, 4);
        call.attributes = {{"left_window_size", number(left)},
                           {"right_window_size", number(right)},
                           {"is_causal", number(is_causal)}};
        if (is_masked) call.further = {{"attn_mask", biases({9, 15}, 5)}};
        call.further.emplace("past_key", reals({2, 2, 6, 8}, 8));
        call.further.emplace("past_value", reals({2, 2, 6, 5}, 9));
        judge(call, 25);
      }
    }
  }
}

TEST(Attention, PaddedKeys) {
  for (const std::pair<Index, Index>& counts :
       std::vector<std::pair<Index, Index>>{{7, 3}, {0, 7}, {100, -5}, {2, 1}}) {
    for (const Index is_causal : {0, 1}) {
      Call call = heads(4, 7, 4);
      Tensor filled(Type::int64, {2});
      filled.data<Index>()[0] = counts.first;
      filled.data<Index>()[1] = counts.second;
      call.further = {{"nonpad_kv_seqlen", filled}};
      call.attributes["is_causal"] = number(is_causal);
      for (const Index opset : {24, 25}) judge(call, opset);
      call.further.emplace("attn_mask", bools({4, 6}, 3));
      call.attributes["left_window_size"] = number(2);
      judge(call, 25);
    }
  }
}

TEST(Attention, Elsewhere) {
  Call call = heads(4, 5);
  call.kernel = "";
  call.attributes["softmax_precision"] = number(static_cast<Index>(Type::float16));
  judge(call);
  call.attributes.clear();
  for (Call& empty : std::vector{heads(0, 5), heads(4, 0), heads(4, 5, 2, 2, 8, 0)}) {
    empty.kernel = "reference";
    judge(empty);
  }
}

TEST(Attention, BrokenRules) {
  Call mask = heads(4, 5), groups = heads(4, 5, 3, 2), depth = heads(4, 5);
  mask.further = {{"attn_mask", bools({4, 6}, 13)}};
  depth.k = reals({2, 2, 5, 7}, 14);
  Call named = heads(4, 5), window = heads(4, 5), padded = heads(4, 5), shown = heads(4, 5);
  named.attributes["q_num_heads"] = number(2);
  window.attributes["right_window_size"] = number(-2);
  padded.further = {{"nonpad_kv_seqlen", Tensor(Type::int64, {3})}};
  shown.further = {{"nonpad_kv_seqlen", Tensor(Type::int64, {2})}};
  shown.outputs = {"y", "present_key"};
  for (const Call& call : {mask, groups, depth, named, window, padded, shown}) {
    const auto [model, feeds] = made_of(call, 25);
    Session session(model, {.threads = 1});
    EXPECT_THROW(session.run(feeds), Error);
  }
}

}  // namespace
}  // namespace touchstone::optimized
