// Tests functions of float64 that vectors compute, with other roundings than the reference's: the
// judge accepts them.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "optimized/judge_testing.h"
#include "optimized/lowering/flow_testing.h"

namespace touchstone::optimized::flow {
namespace {

Tensor numbers_of_all_sizes() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> all{-0.0,   infinity, -infinity, 1e-300,  -1e-300, 1e300,
                          -1e300, 709.7827, 709.79,    -745.13, -745.14, std::nan("")};
  for (Index k = -900; k <= 900; ++k) all.push_back(std::pow(0.01 * static_cast<double>(k), 3));
  Tensor made(Type::float64, {static_cast<Index>(all.size())});
  std::copy(all.begin(), all.end(), made.data<double>());
  return made;
}

void judged(const std::string& op, std::map<std::string, Attribute> attributes = {},
            Index opset = 21) {
  const Feeds feeds{{"x", numbers_of_all_sizes()}};
  const Model model =
      model_of(Build().node(op, {"x"}, {"y"}, std::move(attributes)).out("y"), feeds, opset);
  for (const Index threads : {1, 2}) {
    Session session(model, {.threads = threads, .passes = {.level = transform::Level::none}});
    EXPECT_EQ(why_refused(model, feeds, session.run(feeds)), "") << op;
    EXPECT_THAT(session.placement()[0].kernel, ::testing::HasSubstr("elements")) << op;
  }
}

TEST(Functions, OfFloat64ByVectors) {
  const auto real = [](float value) { return Attribute{value, {}, {}}; };
  for (const char* const op : {"Elu", "Exp", "Selu", "Sigmoid", "Sqrt", "Tanh"}) judged(op);
  for (const char* const op : {"Elu", "Selu"}) judged(op, {{"alpha", real(0.7F)}});
  judged("Gelu", {{"approximate", Attribute{std::string("tanh"), {}, {}}}});
  judged("Swish", {{"alpha", real(1.3F)}}, 24);
  judged("Celu", {{"alpha", real(2)}}, 28);
  judged("Selu", {}, 5);
}

}  // namespace
}  // namespace touchstone::optimized::flow
