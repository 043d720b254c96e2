// Tests determinants against the reference: they have its bits, also of singular matrices and of
// those that hold infinities and NaN.
#include <gtest/gtest.h>

#include <limits>

#include "core/numbers/convert.h"
#include "optimized/testing.h"

namespace touchstone::optimized::det {
namespace {

Model determinants(Type type) {
  Model model;
  model.ir_version = 8;
  model.opsets[""] = 11;
  model.graph.name = "one";
  Node node;
  node.op = "Det";
  node.inputs = {"x"};
  node.outputs = {"y"};
  for (auto* const ports : {&model.graph.inputs, &model.graph.outputs}) {
    ValueInfo& port = ports->emplace_back();
    port.name = ports == &model.graph.inputs ? "x" : "y";
    port.type = tensor_type(type);
  }
  model.graph.nodes.push_back(node);
  resolve(model);
  return model;
}

template <class T>
void check(const Tensor& x) {
  const Model model = determinants(x.type());
  const std::map<std::string, Value> feeds{{"x", x}};
  const Tensor wanted = run(model, feeds).at("y").tensor();
  for (const Index threads : {1, 3}) {
    Session session(model, {.threads = threads});
    const Tensor got = session.run(feeds).at("y").tensor();
    ASSERT_EQ(got.shape(), wanted.shape());
    for (Index k = 0; k < wanted.size(); ++k) {
      const T a = got.data<T>()[k], b = wanted.data<T>()[k];
      EXPECT_TRUE((a == b && std::signbit(a) == std::signbit(b)) ||
                  (std::isnan(a) && std::isnan(b)))
          << "element " << k << " of " << text(x.shape()) << ": " << a << " for " << b;
    }
    EXPECT_EQ(session.placement().back().kernel, "determinants");
  }
}

// Draws from few numbers, so that matrices are often singular, or from many.
template <class T>
Tensor drawn(Type type, Shape shape, Index kinds, bool specials) {
  std::mt19937 random(static_cast<unsigned>(kinds));
  Tensor t(type, std::move(shape));
  for (Index k = 0; k < t.size(); ++k) {
    set_number(t, k, static_cast<long double>(random() % static_cast<unsigned>(kinds)) / 3 - 1);
    if (!specials || random() % 5 != 0) continue;
    const T some[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                      -std::numeric_limits<T>::infinity(), -T{0}};
    t.data<T>()[k] = some[random() % 4];
  }
  return t;
}

template <class T>
void check_all(Type type) {
  for (const bool specials : {false, true}) {
    for (const Index kinds : {2, 7, 100000}) {
      for (const Shape& shape :
           {Shape{1, 1}, {2, 2}, {5, 5}, {40, 3, 3}, {2, 3, 4, 4}, {2, 33, 33}})
        check<T>(drawn<T>(type, shape, kinds, specials));
    }
  }
  for (const Shape& shape : {Shape{0, 0}, {2, 0, 0}, {0, 2, 2}}) check<T>(Tensor(type, shape));
}

TEST(Determinants, HaveTheBitsOfTheReference) {
  check_all<float>(Type::float32);
  check_all<double>(Type::float64);
}

TEST(Determinants, OfNoSquareAreRefused) {
  Session session(determinants(Type::float32));
  EXPECT_THROW(session.run({{"x", Tensor(Type::float32, {2, 3})}}), Error);
  EXPECT_THROW(session.run({{"x", Tensor(Type::float32, {2})}}), Error);
}

}  // namespace
}  // namespace touchstone::optimized::det
