// Tests folded shape arithmetic, and plans of subgraphs.
#include <gmock/gmock.h>

#include <algorithm>

#include "optimized/lowering/flow_testing.h"

namespace touchstone::optimized::flow {
namespace {

// Shape arithmetic as exporters write it: [batch, rows] of the input, joined with -1.
TEST(Folded, WhatTheFedShapesDetermine) {
  const Build build = Build()
                          .hold("zero", numbers(Type::int64, {}, {0}))
                          .hold("axis", list({0}))
                          .hold("rest", list({-1}))
                          .node("Shape", {"x"}, {"shape"})
                          .node("Gather", {"shape", "zero"}, {"batch"})
                          .node("Unsqueeze", {"batch", "axis"}, {"one"})
                          .node("Concat", {"one", "rest"}, {"to"}, {{"axis", integer(0)}})
                          .node("Reshape", {"x", "to"}, {"y"})
                          .out("y")
                          .out("to");
  const Feeds first{{"x", whole({2, 3, 4}, 1)}}, second{{"x", whole({5, 2, 2}, 2)}};
  EXPECT_EQ(same(model_of(build, first), {first, second}), "copy; ");
}

TEST(Folded, NeitherDrawnNorFedNumbers) {
  const Build draws = Build()
                          .node("Shape", {"x"}, {"shape"})
                          .node("RandomNormalLike", {"x"}, {"n"})
                          .node("Shape", {"n"}, {"y"})
                          .out("y");
  EXPECT_EQ(same(draws, {{"x", whole({2, 3}, 1)}}), "draws RandomNormalLike; ");
  Build fed;
  fed.hold("s", list({2, 3}))
      .node("Expand", {"x", "s"}, {"y"})
      .out("y")
      .in("s", tensor_type(Type::int64));
  fed.graph.inputs.back().shape = std::vector<Dim>{{2, ""}};
  const Model model = model_of(fed, {{"x", whole({3}, 1)}});
  same(model, {{{"x", whole({3}, 1)}}, {{"x", whole({3}, 1)}, {"s", list({4, 3})}}});
}

TEST(Folded, TheShapeOfALargeInput) {
  const Index size = (Index{1} << 20) + 1;  // past the bytes of a folded result
  const Build build = Build().node("Shape", {"x"}, {"y"}).out("y");
  EXPECT_EQ(same(build, {{"x", whole({size}, 1)}}), "");
}

// The first node takes more than its share of the work; the second is folded nevertheless.
TEST(Folded, ANodeThatIsTooMuchWorkStopsNoOther) {
  const Build build = Build()
                          .hold("a", numbers(Type::int32, {1000, 1000}, {1, 2}))
                          .node("ReduceSum", {"a"}, {"sum"}, {{"keepdims", integer(0)}})
                          .node("Shape", {"x"}, {"y"})
                          .out("sum")
                          .out("y");
  const Feeds feeds{{"x", whole({2, 3}, 1)}};
  Limits limits;
  limits.folding_work = 1000;
  const std::string kernels = same(model_of(build, feeds), {feeds}, limits);
  EXPECT_EQ(std::count(kernels.begin(), kernels.end(), ';'), 1) << kernels;
}

TEST(Folded, AnErrorIsLeftToTheRun) {
  same(Build()
           .hold("nine", numbers(Type::int64, {}, {9}))
           .node("Shape", {"x"}, {"shape"})
           .node("Gather", {"shape", "nine"}, {"y"})
           .out("y"),
       {{"x", whole({2, 3}, 1)}});
}

// Adds x to a sum and appends the trip's number to a list, which grows.
Build counting() {
  return Build()
      .in("i")
      .in("goes")
      .in("sum")
      .in("items")
      .hold("axis", list({0}))
      .node("Identity", {"goes"}, {"on"})
      .node("Add", {"sum", "x"}, {"more"})
      .node("Unsqueeze", {"i", "axis"}, {"one"})
      .node("Concat", {"items", "one"}, {"longer"}, {{"axis", integer(0)}})
      .out("on", Type::boolean)
      .out("more", Type::float32)
      .out("longer", Type::int64)
      .out("more", Type::float32);
}

TEST(Bodies, ALoopThatGrowsAList) {
  Build build;
  build.node("Loop", {"trips", "go", "start", "list"}, {"sum", "numbers", "sums"},
             {{"body", body(counting())}});
  build.out("sum").out("numbers").out("sums");
  build.graph.nodes[0].attributes["body"] = body([] {
    Build made = counting();
    made.graph.outputs[3].shape = std::vector<Dim>{{2, ""}, {3, ""}};
    return made;
  }());
  std::vector<Feeds> all;
  for (const Index trips : {3, 0, 20, 1}) {
    all.push_back({{"trips", numbers(Type::int64, {}, {trips})},
                   {"go", numbers(Type::boolean, {}, {1})},
                   {"start", whole({2, 3}, 5)},
                   {"list", list({})},
                   {"x", whole({2, 3}, 4)}});
  }
  all.push_back(all[0]);
  all.back()["go"] = numbers(Type::boolean, {}, {0});
  EXPECT_EQ(same(model_of(build, all[0]), all), "plans of subgraphs; ");
}

// Both outputs are tensors of their own, which a plan hands out by moving them.
TEST(Bodies, AnOutputThatIsNamedTwice) {
  const Build twice = Build()
                          .in("i")
                          .in("goes")
                          .in("first")
                          .in("second")
                          .node("Identity", {"goes"}, {"on"})
                          .node("NonZero", {"first"}, {"found"})
                          .out("on", Type::boolean)
                          .out("found", Type::int64)
                          .out("found", Type::int64);
  const Feeds feeds{{"trips", numbers(Type::int64, {}, {2})}, {"x", list({3, 0, 4})}};
  same(Build()
           .node("Loop", {"trips", "", "x", "x"}, {"y", "z"}, {{"body", body(twice)}})
           .out("y")
           .out("z"),
       feeds);
}

// The carried float doubles in length with each trip, so plans differ from trip to trip.
TEST(Bodies, ALoopWhoseStateGrows) {
  const Build doubling = Build()
                             .in("i")
                             .in("goes")
                             .in("state")
                             .node("Identity", {"goes"}, {"on"})
                             .node("Concat", {"state", "state"}, {"next"}, {{"axis", integer(0)}})
                             .node("Relu", {"next"}, {"positive"})
                             .out("on", Type::boolean)
                             .out("positive", Type::float32);
  const Feeds feeds{{"trips", numbers(Type::int64, {}, {12})}, {"x", whole({3}, 1)}};
  same(Build().node("Loop", {"trips", "", "x"}, {"y"}, {{"body", body(doubling)}}).out("y"), feeds);
}

// The fed list has an initializer too, which is its default only.
TEST(Bodies, AFedInputIsNoConstant) {
  Build step;
  step.in("i")
      .in("goes")
      .in("s")
      .hold("s", list({7}))
      .hold("axis", list({0}))
      .node("Identity", {"goes"}, {"on"})
      .node("Unsqueeze", {"i", "axis"}, {"one"})
      .node("Concat", {"s", "one"}, {"longer"}, {{"axis", integer(0)}})
      .out("on", Type::boolean)
      .out("longer", Type::int64);
  const Feeds feeds{{"trips", numbers(Type::int64, {}, {5})}, {"l", list({3})}};
  same(Build().node("Loop", {"trips", "", "l"}, {"y"}, {{"body", body(step)}}).out("y"), feeds);
}

TEST(Bodies, ABranchWithAnInputThatNobodyFeeds) {
  const Build branch = Build()
                           .in("u", tensor_type(Type::float32))
                           .node("Relu", {"u"}, {"t"})
                           .out("t", Type::float32);
  const Build other = Build().node("Relu", {"x"}, {"r"}).out("r", Type::float32);
  const Build build =
      Build()
          .node("If", {"c"}, {"y"}, {{"then_branch", body(branch)}, {"else_branch", body(other)}})
          .out("y");
  for (const Index which : {1, 0})
    same(build, {{"c", numbers(Type::boolean, {}, {which})}, {"x", whole({3}, 8)}});
}

// No step of the body looks at the budget: it returns what it is fed.
TEST(Bodies, ALoopWithoutStepsIsInterrupted) {
  const Build step =
      Build().in("i").in("goes").in("v").out("goes", Type::boolean).out("v", Type::float32);
  const Feeds feeds{{"trips", numbers(Type::int64, {}, {Index{1} << 40})},
                    {"go", numbers(Type::boolean, {}, {1})},
                    {"x", whole({3}, 1)}};
  const Model model = model_of(
      Build().node("Loop", {"trips", "go", "x"}, {"y"}, {{"body", body(step)}}).out("y"), feeds);
  Limits limits;
  limits.milliseconds = 200;
  Session session(model,
                  {.threads = 1, .passes = {.level = transform::Level::none}, .limits = limits});
  EXPECT_THAT(outcome([&] { return session.run(feeds); }), ::testing::HasSubstr("deadline"));
}

TEST(Bodies, AScanOfAxesAndDirections) {
  const Build step = Build()
                         .in("state")
                         .in("a")
                         .in("b")
                         .node("Add", {"state", "a"}, {"next"})
                         .node("Mul", {"a", "b"}, {"product"})
                         .out("next", Type::float32)
                         .out("product", Type::float32);
  Build build;
  build
      .node("Scan", {"s", "x", "z"}, {"last", "products"},
            {{"body", body(step)},
             {"num_scan_inputs", integer(2)},
             {"scan_input_axes", integers({1, 0})},
             {"scan_input_directions", integers({0, 1})},
             {"scan_output_axes", integers({1})},
             {"scan_output_directions", integers({1})}})
      .out("last")
      .out("products");
  same(build, {{"s", whole({2, 4}, 1)}, {"x", whole({2, 5, 4}, 2)}, {"z", whole({5, 4}, 3)}});
  // Different lengths are an error.
  same(build, {{"s", whole({2, 4}, 1)}, {"x", whole({2, 5, 4}, 2)}, {"z", whole({6, 4}, 3)}});
}

// One branch returns what it captures, the other computes.
TEST(Bodies, BranchesThatCaptureValues) {
  const Build as_it_is = Build().node("Identity", {"r"}, {"same"}).out("same", Type::float32);
  const Build twice = Build().node("Add", {"r", "x"}, {"t"}).out("t", Type::float32);
  const Build build =
      Build()
          .node("Relu", {"x"}, {"r"})
          .node("If", {"c"}, {"y"}, {{"then_branch", body(as_it_is)}, {"else_branch", body(twice)}})
          .node("Sigmoid", {"x"}, {"s"})
          .node("Softmax", {"s"}, {"f"})
          .out("y")
          .out("f");
  std::vector<Feeds> all;
  for (const Index which : {1, 0}) {
    all.push_back({{"c", numbers(Type::boolean, {}, {which})}, {"x", whole({3, 50}, 8)}});
  }
  Model model = model_of(build, all[0]);
  for (const Feeds& feeds : all) {
    const Feeds made = Session(model, {.threads = 1}).run(feeds);
    EXPECT_EQ(bits(made.at("y")), bits(run(model, feeds).at("y")));
  }
}

TEST(Bodies, AMatmulByACapturedConstant) {
  const Build step = Build()
                         .in("i")
                         .in("goes")
                         .in("state")
                         .node("Identity", {"goes"}, {"on"})
                         .node("MatMul", {"state", "w"}, {"p"})
                         .node("Tanh", {"p"}, {"next"})
                         .out("on", Type::boolean)
                         .out("next", Type::float32);
  const Feeds feeds{{"trips", numbers(Type::int64, {}, {3})}, {"x", whole({2, 32}, 1)}};
  const Model model = model_of(Build()
                                   .hold("w", whole({32, 32}, 9))
                                   .node("Loop", {"trips", "", "x"}, {"y"}, {{"body", body(step)}})
                                   .out("y"),
                               feeds);
  Session session(model, {.threads = 2});
  const Feeds made = session.run(feeds);
  const std::string why = why_refused(model, feeds, made);
  EXPECT_TRUE(why.empty() || why.find("open") != std::string::npos) << why;
}

// The third trip reads an element past the end.
TEST(Bodies, ErrorsNameThePlaceInTheBody) {
  const Build step = Build()
                         .in("i")
                         .in("goes")
                         .node("Identity", {"goes"}, {"on"})
                         .node("Gather", {"x", "i"}, {"e"})
                         .out("on", Type::boolean)
                         .out("e", Type::float32);
  const Build build = Build().node("Loop", {"trips", ""}, {"y"}, {{"body", body(step)}}).out("y");
  const Feeds feeds{{"trips", numbers(Type::int64, {}, {3})}, {"x", whole({2}, 1)}};
  same(build, feeds);
  Limits limits;
  limits.loop_iterations = 2;
  Feeds longer = feeds;
  longer["x"] = whole({9}, 1);
  same(model_of(build, longer), {longer}, limits);
}

}  // namespace
}  // namespace touchstone::optimized::flow
