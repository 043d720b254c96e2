// Tests subgraphs after all passes: branches that the feeds' shapes choose, bodies in bodies, and
// recurrent layers in them.
#include <gmock/gmock.h>

#include <algorithm>

#include "core/numbers/convert.h"
#include "optimized/lowering/flow_testing.h"

namespace touchstone::optimized::flow {
namespace {

// Requires the reference's outcome for all feeds in turn, at every level. Numbers are whole, so
// that every order of a sum gives the same. Returns the kernels at the highest level.
std::string at_all_levels(const Model& model, const std::vector<Feeds>& all) {
  same(model, all);
  Session session(model, {.threads = 2});
  std::string kernels;
  for (int again = 0; again < 2; ++again) {
    for (const Feeds& feeds : all) {
      EXPECT_EQ(outcome([&] { return session.run(feeds); }),
                outcome([&] { return run(model, feeds); }));
      kernels.clear();
      for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
    }
  }
  return kernels;
}

Tensor flag(bool holds) { return numbers(Type::boolean, {}, {holds ? 1 : 0}); }
Tensor trips(Index count) { return numbers(Type::int64, {}, {count}); }

// Y without its last dimension if that is 1, as exporters write it, times two.
TEST(Branches, ThatFedShapesChoose) {
  const Build squeezed = Build()
                             .hold("axes", list({-1}))
                             .node("Squeeze", {"r", "axes"}, {"t"})
                             .out("t", Type::float32);
  const Build as_it_is = Build().node("Identity", {"r"}, {"t"}).out("t", Type::float32);
  Build build;
  build.hold("last", numbers(Type::int64, {}, {-1}))
      .hold("one", numbers(Type::int64, {}, {1}))
      .node("Relu", {"x"}, {"r"})
      .node("Shape", {"r"}, {"shape"})
      .node("Gather", {"shape", "last"}, {"size"})
      .node("Equal", {"size", "one"}, {"c"})
      .node("If", {"c"}, {"s"}, {{"then_branch", body(squeezed)}, {"else_branch", body(as_it_is)}})
      .node("Add", {"s", "s"}, {"y"})
      .out("y");
  std::vector<Feeds> all;
  for (const Shape& shape : {Shape{3, 1}, Shape{3, 5}, Shape{4, 1}, Shape{1}, Shape{2, 3, 4}})
    all.push_back({{"x", whole(shape, 3)}});
  const Model model = model_of(build, all[0]);
  EXPECT_THAT(at_all_levels(model, all), ::testing::Not(::testing::HasSubstr("subgraphs")));
  const std::string kernels = at_all_levels(model, {all[0], all[2]});
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("subgraphs"))) << kernels;
}

// A branch of a constant alone, and one that gives back what it captures.
TEST(Branches, WithoutNodes) {
  const Build constant = Build().hold("k", whole({2, 2}, 9)).out("k", Type::float32);
  const Build captured = Build().node("Identity", {"r"}, {"t"}).out("t", Type::float32);
  const Build build = Build()
                          .node("Relu", {"x"}, {"r"})
                          .node("If", {"c"}, {"y"},
                                {{"then_branch", body(constant)}, {"else_branch", body(captured)}})
                          .node("Add", {"r", "x"}, {"z"})
                          .out("y")
                          .out("z");
  std::vector<Feeds> all;
  for (const bool which : {true, false, true})
    all.push_back({{"c", flag(which)}, {"x", whole({2, 2}, 3)}});
  at_all_levels(model_of(build, all[0]), all);
}

// The body captures a value and a constant, shadows no name, and has a branch that the trip's
// number chooses.
Build stepping() {
  const Build even = Build()
                         .hold("factor", numbers(Type::float32, {}, {2}))
                         .node("Mul", {"state", "factor"}, {"t"})
                         .node("Add", {"t", "x"}, {"u"})
                         .out("u", Type::float32);
  const Build odd = Build().node("Sub", {"state", "x"}, {"u"}).out("u", Type::float32);
  return Build()
      .in("i")
      .in("goes")
      .in("state")
      .hold("two", numbers(Type::int64, {}, {2}))
      .hold("zero", numbers(Type::int64, {}, {0}))
      .node("Mod", {"i", "two"}, {"rest"})
      .node("Equal", {"rest", "zero"}, {"is_even"})
      .node("Less", {"i", "most"}, {"on"})
      .node("If", {"is_even"}, {"next"}, {{"then_branch", body(even)}, {"else_branch", body(odd)}})
      .node("MatMul", {"next", "w"}, {"product"})
      .node("Clip", {"product", "low", "high"}, {"bounded"})
      .out("on", Type::boolean)
      .out("bounded", Type::float32)
      .out("next", Type::float32);
}

TEST(Branches, InALoop) {
  Build inner = stepping();
  inner.graph.outputs[2].shape = std::vector<Dim>{{2, ""}, {3, ""}};
  Build build;
  build.hold("w", whole({3, 3}, 5))
      .hold("low", numbers(Type::float32, {}, {-9}))
      .hold("high", numbers(Type::float32, {}, {9}))
      .node("Loop", {"trips", "go", "x"}, {"last", "states"}, {{"body", body(inner)}})
      .out("last")
      .out("states");
  std::vector<Feeds> all;
  for (const Index count : {5, 0, 1, 9}) {
    for (const bool goes : {true, false}) {
      all.push_back({{"trips", trips(count)},
                     {"go", flag(goes)},
                     {"most", trips(3)},
                     {"x", whole({2, 3}, 4)}});
    }
  }
  at_all_levels(model_of(build, all[0]), all);
}

// A function that holds the loop with the branch is called twice.
TEST(Branches, InALoopInAFunction) {
  Build inner = stepping();
  inner.graph.outputs.resize(2);
  auto called = std::make_shared<Function>();
  called->name = "F", called->domain = "local";
  called->inputs = {"trips", "x", "most", "w"};
  called->outputs = {"last"};
  called->opsets[""] = 21;
  called->nodes = Build()
                      .node("Constant", {}, {"low"}, {{"value_float", {-9.0F, {}, {}}}})
                      .node("Constant", {}, {"high"}, {{"value_float", {9.0F, {}, {}}}})
                      .node("Loop", {"trips", "", "x"}, {"last"}, {{"body", body(inner)}})
                      .graph.nodes;
  Build build;
  build.hold("w", whole({3, 3}, 5))
      .node("F", {"trips", "x", "most", "w"}, {"a"})
      .node("F", {"trips", "a", "most", "w"}, {"b"})
      .out("b");
  for (Node& node : build.graph.nodes) node.domain = "local";
  const Feeds feeds{{"trips", trips(4)}, {"most", trips(9)}, {"x", whole({2, 3}, 4)}};
  Model model = model_of(Build(), feeds);
  for (Node& node : build.graph.nodes) model.graph.nodes.push_back(node);
  model.graph.initializers = build.graph.initializers;
  model.graph.outputs = build.graph.outputs;
  model.functions.push_back(called);
  model.opsets["local"] = 1;
  resolve(model);
  at_all_levels(model, {feeds});
}

// A sequence is carried and grows; its items are slices of a captured value.
TEST(Branches, ASequenceThatALoopCarries) {
  const Build step = Build()
                         .in("i")
                         .in("goes")
                         .in("items")
                         .node("Identity", {"goes"}, {"on"})
                         .node("Gather", {"x", "i"}, {"row"})
                         .node("Relu", {"row"}, {"r"})
                         .node("SequenceInsert", {"items", "r"}, {"more"})
                         .out("on", Type::boolean)
                         .out("more");
  Build build;
  build.node("SequenceEmpty", {}, {"none"})
      .node("Loop", {"trips", "", "none"}, {"items"}, {{"body", body(step)}})
      .node("ConcatFromSequence", {"items"}, {"y"}, {{"axis", integer(0)}})
      .out("y");
  const Feeds feeds{{"trips", trips(4)}, {"x", whole({5, 3}, 4)}};
  at_all_levels(model_of(build, feeds), {feeds});
}

// A body gives back its inputs in another order, so that carried values change places.
TEST(Branches, CarriedValuesThatChangePlaces) {
  const Build step = Build()
                         .in("i")
                         .in("goes")
                         .in("a")
                         .in("b")
                         .out("goes", Type::boolean)
                         .out("b", Type::float32)
                         .out("a", Type::float32);
  Build build;
  build.node("Add", {"x", "x"}, {"r"})
      .node("Mul", {"x", "r"}, {"n"})
      .node("Loop", {"trips", "", "r", "n"}, {"first", "second"}, {{"body", body(step)}})
      .node("Sub", {"x", "r"}, {"e"})
      .out("first")
      .out("second")
      .out("e");
  std::vector<Feeds> all;
  for (const Index count : {0, 1, 2, 3})
    all.push_back({{"trips", trips(count)}, {"x", whole({9}, 4)}});
  at_all_levels(model_of(build, all[0]), all);
}

// Products of captured values are the same in each trip of a run, and others in the next run. The
// inner loop captures what the outer one carries.
TEST(Branches, CapturedProductsThatTripsShare) {
  const Build inner = Build()
                          .in("j")
                          .in("inner_goes")
                          .in("t")
                          .node("MatMul", {"s", "w"}, {"sw"})
                          .node("Relu", {"sw"}, {"swr"})
                          .node("Add", {"t", "swr"}, {"t1"})
                          .node("Clip", {"t1", "low", "high"}, {"t2"})
                          .out("inner_goes", Type::boolean)
                          .out("t2", Type::float32);
  const Build outer = Build()
                          .in("i")
                          .in("goes")
                          .in("s")
                          .node("MatMul", {"r", "w"}, {"rw"})
                          .node("Reshape", {"rw", "flat"}, {"line"})
                          .node("Add", {"line", "line"}, {"twice"})
                          .node("Reshape", {"twice", "square"}, {"back"})
                          .node("Loop", {"trips", "", "s"}, {"u"}, {{"body", body(inner)}})
                          .node("Sub", {"u", "back"}, {"v"})
                          .node("Clip", {"v", "low", "high"}, {"next"})
                          .out("goes", Type::boolean)
                          .out("next", Type::float32)
                          .out("back", Type::float32);
  Build build;
  build.hold("w", whole({3, 3}, 5))
      .hold("low", numbers(Type::float32, {}, {-9}))
      .hold("high", numbers(Type::float32, {}, {9}))
      .hold("flat", list({-1}))
      .hold("square", list({2, 3}))
      .node("Add", {"x", "x"}, {"r"})
      .node("Loop", {"trips", "", "x"}, {"y", "all"}, {{"body", body(outer)}})
      .out("y")
      .out("all");
  std::vector<Feeds> all;
  for (const unsigned seed : {1U, 2U, 3U})
    all.push_back({{"trips", trips(3)}, {"x", whole({2, 3}, seed)}});
  at_all_levels(model_of(build, all[0]), all);
}

// One step of a layer for each trip, its state carried.
TEST(Branches, ARecurrentLayerInABranchInALoop) {
  const Build one = Build()
                        .node("Unsqueeze", {"row", "axes"}, {"sequence"})
                        .node("LSTM", {"sequence", "w", "r", "", "", "h", "c"}, {"", "h2", "c2"},
                              {{"hidden_size", integer(4)}})
                        .out("h2", Type::float32)
                        .out("c2", Type::float32);
  const Build none = Build()
                         .node("Identity", {"h"}, {"h2"})
                         .node("Identity", {"c"}, {"c2"})
                         .out("h2", Type::float32)
                         .out("c2", Type::float32);
  const Build step = Build()
                         .in("i")
                         .in("goes")
                         .in("h")
                         .in("c")
                         .node("Identity", {"goes"}, {"on"})
                         .node("Gather", {"x", "i"}, {"row"})
                         .node("Less", {"i", "most"}, {"more"})
                         .node("If", {"more"}, {"h1", "c1"},
                               {{"then_branch", body(one)}, {"else_branch", body(none)}})
                         .out("on", Type::boolean)
                         .out("h1", Type::float32)
                         .out("c1", Type::float32)
                         .out("h1", Type::float32);
  Build build;
  build.hold("w", whole({1, 16, 3}, 5))
      .hold("r", whole({1, 16, 4}, 6))
      .hold("axes", list({0}))
      .node("Loop", {"trips", "", "h0", "c0"}, {"h", "c", "all"}, {{"body", body(step)}})
      .out("h")
      .out("c")
      .out("all");
  const Feeds feeds{{"trips", trips(5)},
                    {"most", trips(4)},
                    {"x", whole({5, 2, 3}, 4)},
                    {"h0", whole({1, 2, 4}, 7)},
                    {"c0", whole({1, 2, 4}, 8)}};
  const Model model = model_of(build, feeds);
  const std::string why = why_refused(model, feeds, Session(model, {.threads = 2}).run(feeds));
  EXPECT_TRUE(why.empty() || why.find("open") != std::string::npos) << why;
}

// Nodes of float16 in a body are lowered like those of the main graph, a recurrent layer too.
TEST(Branches, HalfPrecisionInABody) {
  const auto half = [](const Tensor& from) {
    Tensor made(Type::float16, from.shape());
    convert(from, made);
    return made;
  };
  const Build step = Build()
                         .in("i")
                         .in("goes")
                         .in("state")
                         .node("Identity", {"goes"}, {"on"})
                         .node("MatMul", {"state", "w"}, {"p"})
                         .node("Clip", {"p", "low", "high"}, {"next"})
                         .out("on", Type::boolean)
                         .out("next", Type::float16);
  Build build;
  build.hold("w", half(whole({4, 4}, 5)))
      .hold("low", half(numbers(Type::float32, {}, {-9})))
      .hold("high", half(numbers(Type::float32, {}, {9})))
      .node("Loop", {"trips", "", "x"}, {"y"}, {{"body", body(step)}})
      .out("y");
  const Feeds feeds{{"trips", trips(3)}, {"x", half(whole({2, 4}, 4))}};
  at_all_levels(model_of(build, feeds), {feeds});
}

}  // namespace
}  // namespace touchstone::optimized::flow
