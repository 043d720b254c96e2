// Tests spectra of real series where the definition has exact zeros.
#include <gtest/gtest.h>

#include <cmath>

#include "optimized/lowering/flow_testing.h"

namespace touchstone::optimized::flow {
namespace {

TEST(Fourier, FirstAndMiddleBinsOfRealSeriesAreReal) {
  for (const Index length : {8, 12, 257, 258}) {
    SCOPED_TRACE(length);
    Tensor series(Type::float32, {1, length, 1});
    for (Index t = 0; t < length; ++t)
      series.data<float>()[t] = (t % 2 == 0 ? 100.0F : -99.0F) + std::sin(static_cast<float>(t));
    Build build;
    build.node("DFT", {"x"}, {"y"}, {{"axis", integer(1)}}).out("y");
    const Feeds feeds{{"x", series}};
    Session session(model_of(build, feeds, 17), {.threads = 1});
    const Tensor made = session.run(feeds).at("y").tensor();
    EXPECT_EQ(made.data<float>()[1], 0);
    EXPECT_NE(made.data<float>()[3], 0);
    if (length % 2 == 0) {
      EXPECT_EQ(made.data<float>()[length + 1], 0);
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized::flow
