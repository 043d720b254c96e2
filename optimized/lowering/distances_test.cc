// Tests the Scan that computes distances against the reference: every element has its bits.
#include "optimized/lowering/flow_testing.h"
#include "optimized/lowering/ml_testing.h"

namespace touchstone::optimized::flow {
namespace {

struct Kind {
  bool squares = true, swapped = false, plain = true;
  Index axis = 1, kept = 0;
};

// The body subtracts `row` from `table`, or the other way round, and sums along an axis.
Build body_of(Type type, const Kind& kind) {
  Build made;
  made.in("table", tensor_type(type)).in("row", tensor_type(type));
  std::vector<std::string> pair{"table", "row"};
  if (kind.swapped) std::swap(pair[0], pair[1]);
  made.node("Identity", {kind.plain ? "table" : "apart"}, {"next"});
  made.node("Sub", pair, {"apart"});
  std::map<std::string, Attribute> reduction{{"keepdims", integer(kind.kept)}};
  if (kind.squares) {
    reduction["axes"] = integers({kind.axis});
    made.node("ReduceSumSquare", {"apart"}, {"sums"}, reduction);
  } else {
    made.hold("axes", list({kind.axis}));
    made.node("Abs", {"apart"}, {"magnitudes"});
    made.node("ReduceSum", {"magnitudes", "axes"}, {"sums"}, reduction);
  }
  made.node("Identity", {"sums"}, {"found"});
  if (!kind.plain) std::swap(made.graph.nodes[0], made.graph.nodes[1]);
  return made.out("next", type).out("found", type);
}

Tensor table(Type type, const Shape& shape) {
  Tensor made(type, shape);
  std::mt19937 random(static_cast<unsigned>(made.size()));
  for (Index k = 0; k < made.size(); ++k)
    set_number(made, k, static_cast<long double>(random() % 1000) / 64 - 7);
  if (made.size() > 20) set_number(made, 17, std::numeric_limits<float>::infinity());
  return made;
}

std::string scanned(Type type, const Kind& kind, const Tensor& x, const Tensor& others, bool fed,
                    std::map<std::string, Attribute> further = {}) {
  further["body"] = body(body_of(type, kind));
  further["num_scan_inputs"] = integer(1);
  Build build;
  Feeds feeds{{"x", x}};
  if (fed) {
    feeds["others"] = others;
  } else {
    build.hold("others", others);
  }
  build.node("Scan", {"x", "others"}, {"same", "y"}, further).out("same", type).out("y", type);
  return ml::check(model_of(build, feeds, 17), feeds);
}

TEST(Distances, OfRows) {
  for (const Type type : {Type::float32, Type::float64}) {
    for (const bool squares : {true, false}) {
      for (const bool swapped : {false, true}) {
        for (const bool fed : {false, true}) {
          for (const Index many : {1, 3, 17, 70}) {
            const Kind kind{.squares = squares, .swapped = swapped, .axis = swapped ? -1 : 1};
            EXPECT_EQ(scanned(type, kind, table(type, {9, 5}), table(type, {many, 5}), fed),
                      "distances; ");
          }
        }
      }
    }
  }
}

TEST(Distances, OtherTablesRunOnPlans) {
  const Tensor x = table(Type::float32, {4, 5});
  EXPECT_EQ(scanned(Type::float32, {}, x, table(Type::float32, {3, 1}), true),
            "plans of subgraphs; ");
  EXPECT_EQ(
      scanned(Type::float32, {}, table(Type::float32, {0, 5}), table(Type::float32, {3, 5}), true),
      "plans of subgraphs; ");
}

TEST(Distances, OtherBodiesRunOnPlans) {
  const Tensor x = table(Type::float32, {4, 5}), others = table(Type::float32, {3, 5});
  for (const Kind& kind : {Kind{.axis = 0}, Kind{.kept = 1}, Kind{.plain = false}})
    EXPECT_EQ(scanned(Type::float32, kind, x, others, true), "plans of subgraphs; ");
  EXPECT_EQ(scanned(Type::float32, {}, x, others, true, {{"scan_input_directions", integers({1})}}),
            "plans of subgraphs; ");
}

TEST(Distances, AreCharged) {
  Build build;
  const Tensor x = table(Type::float32, {40, 5});
  const Feeds feeds{{"x", x}, {"others", x}};
  build.node("Scan", {"x", "others"}, {"same", "y"},
             {{"body", body(body_of(Type::float32, {}))}, {"num_scan_inputs", integer(1)}});
  build.out("y", Type::float32);
  Session session(model_of(build, feeds, 17), SessionOptions{.threads = 1});
  session.run(feeds);
  Limits limits;
  limits.work = 40 * 40 * 4;
  const Budget budget(limits);
  EXPECT_THROW(session.run(feeds), Error);
}

}  // namespace
}  // namespace touchstone::optimized::flow
