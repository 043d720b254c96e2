// Tests linear classifiers and support vector machines against the reference: scores have its bits,
// labels are its own.
#include <gmock/gmock.h>

#include "optimized/testing.h"

namespace touchstone {
namespace {

using Attributes = std::map<std::string, Attribute>;

template <class T>
Attribute attribute(T held) {
  Attribute made;
  made.is = std::move(held);
  return made;
}

std::vector<float> numbers(Index many, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> made;
  for (Index k = 0; k < many; ++k) made.push_back(static_cast<float>(random() % 1000) / 500 - 1);
  return made;
}

Tensor rows_of(Shape shape, bool specials) {
  Tensor x(Type::float32, std::move(shape));
  const std::vector<float> values = numbers(x.size(), 5);
  std::copy(values.begin(), values.end(), x.data<float>());
  return specials ? with_specials(std::move(x)) : x;
}

Attributes labelled(Index classes, Attributes further) {
  if (classes % 2 == 0) {
    std::vector<std::string> names;
    for (Index e = 0; e < classes; ++e)
      names.push_back("class of a long name, number " + std::to_string(e));
    further["classlabels_strings"] = attribute(names);
  } else {
    std::vector<Index> names;
    for (Index e = 0; e < classes; ++e) names.push_back(7 - 3 * e);
    further["classlabels_ints"] = attribute(names);
  }
  return further;
}

Model model_of(const std::string& op, const Attributes& attributes, const Shape& shape) {
  Model made;
  made.ir_version = 8;
  made.opsets["ai.onnx.ml"] = 1;
  made.opsets[""] = 15;
  made.graph.name = "rows";
  made.graph.inputs.push_back(info("x", shape));
  Node node;
  node.domain = "ai.onnx.ml";
  node.op = op;
  node.inputs = {"x"};
  node.outputs = {"y", "z"};
  node.attributes = attributes;
  made.graph.nodes.push_back(node);
  const bool texts = attributes.contains("classlabels_strings");
  for (const std::string& name : node.outputs) {
    ValueInfo output;
    output.name = name;
    output.type = tensor_type(name == "z" ? Type::float32 : texts ? Type::string : Type::int64);
    made.graph.outputs.push_back(output);
  }
  resolve(made);
  return made;
}

// Runs both runtimes, and compares them by bits; any NaN equals any other. Returns the kernels.
std::string check(const Model& model, const Tensor& x) {
  const std::map<std::string, Value> feeds{{"x", x}}, expected = run(model, feeds);
  std::string kernels;
  for (const Index threads : {1, 3}) {
    Session session(model, SessionOptions{.threads = threads});
    for (int again = 0; again < 2; ++again) {
      const std::map<std::string, Value> made = session.run(feeds);
      for (const auto& [name, value] : expected) {
        const Tensor &wanted = value.tensor(), &got = made.at(name).tensor();
        EXPECT_EQ(got.shape(), wanted.shape());
        EXPECT_EQ(got.type(), wanted.type());
        for (Index k = 0; k < wanted.size(); ++k) {
          if (wanted.type() == Type::string)
            EXPECT_EQ(got.data<std::string>()[k], wanted.data<std::string>()[k]);
          else if (wanted.type() == Type::float32 && std::isnan(wanted.data<float>()[k]))
            EXPECT_TRUE(std::isnan(got.data<float>()[k])) << name << ", element " << k;
          else
            EXPECT_EQ(code_at(got, k), code_at(wanted, k)) << name << ", element " << k;
        }
      }
    }
    kernels.clear();
    for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
  }
  return kernels;
}

constexpr std::array transforms{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

TEST(LinearModels, Classifiers) {
  constexpr Index features = 5;
  for (const char* transform : transforms) {
    for (const Index classes : {1, 2, 3, 21}) {
      for (const bool specials : {false, true}) {
        for (const Shape& shape : {Shape{71, features}, Shape{1, features}, Shape{features}}) {
          Attributes all =
              labelled(classes, {{"post_transform", attribute(std::string(transform))}});
          all["coefficients"] = attribute(numbers(classes * features, 1));
          if (!specials) all["intercepts"] = attribute(numbers(classes, 2));
          EXPECT_EQ(check(model_of("LinearClassifier", all, shape), rows_of(shape, specials)),
                    "linear models; ");
        }
      }
    }
  }
}

TEST(LinearModels, OneLineForTwoClasses) {
  for (const bool specials : {false, true}) {
    const Shape shape{20, 6};
    Attributes all = labelled(2, {{"post_transform", attribute(std::string("LOGISTIC"))}});
    all["coefficients"] = attribute(numbers(6, 1));
    all["intercepts"] = attribute(numbers(1, 2));
    EXPECT_EQ(check(model_of("LinearClassifier", all, shape), rows_of(shape, specials)),
              "linear models; ");
  }
}

TEST(LinearModels, BrokenRules) {
  Attributes all = labelled(3, {});
  all["coefficients"] = attribute(numbers(7, 1));
  EXPECT_THROW(
      Session(model_of("LinearClassifier", all, {4, 2})).run({{"x", rows_of({4, 2}, false)}}),
      Error);
  all["vectors_per_class"] = attribute(std::vector<Index>{2, -1, Index{1} << 62});
  all["support_vectors"] = attribute(numbers(6, 1));
  all["rho"] = attribute(numbers(3, 1));
  EXPECT_THROW(Session(model_of("SVMClassifier", all, {4, 2})).run({{"x", rows_of({4, 2}, false)}}),
               Error);
}

TEST(LinearModels, Machines) {
  constexpr Index features = 5;
  for (const char* kind : {"LINEAR", "POLY", "RBF", "SIGMOID"}) {
    for (const Index classes : {2, 3, 5}) {
      for (const bool probable : {false, true}) {
        for (const Shape& shape : {Shape{71, features}, Shape{features}}) {
          const Index pairs = classes * (classes - 1) / 2;
          std::vector<Index> per_class;
          Index vectors = 0;
          for (Index e = 0; e < classes; ++e) {
            per_class.push_back(e == 1 ? 0 : 4 * e + 3);
            vectors += per_class.back();
          }
          Attributes all = labelled(classes, {{"kernel_type", attribute(std::string(kind))}});
          all["vectors_per_class"] = attribute(per_class);
          all["support_vectors"] = attribute(numbers(vectors * features, 1));
          all["coefficients"] = attribute(numbers((classes - 1) * vectors, 2));
          all["kernel_params"] = attribute(std::vector<float>{0.3F, 0.25F, 3});
          all["rho"] = attribute(numbers(pairs, 3));
          if (probable) {
            all["prob_a"] = attribute(numbers(pairs, 4));
            all["prob_b"] = attribute(numbers(pairs, 6));
          } else {
            all["post_transform"] = attribute(std::string("SOFTMAX"));
          }
          for (const bool specials : {false, true}) {
            EXPECT_EQ(check(model_of("SVMClassifier", all, shape), rows_of(shape, specials)),
                      "linear models; ");
          }
        }
      }
    }
  }
}

TEST(LinearModels, MachinesWithoutVectors) {
  for (const Index many : {1, 4}) {
    const Shape shape{9, 3};
    Attributes all = labelled(4, {});
    all["coefficients"] = attribute(numbers(12, 1));
    all["rho"] = attribute(numbers(many, 3));
    EXPECT_EQ(check(model_of("SVMClassifier", all, shape), rows_of(shape, true)),
              "linear models; ");
  }
}

TEST(LinearModels, KernelsAreCharged) {
  Attributes all = labelled(3, {});
  all["coefficients"] = attribute(numbers(30, 1));
  const Model model = model_of("LinearClassifier", all, {50, 10});
  Session session(model, SessionOptions{.threads = 1});
  const std::map<std::string, Value> feeds{{"x", rows_of({50, 10}, false)}};
  session.run(feeds);
  Limits limits;
  limits.work = 50 * 30;
  const Budget budget(limits);
  EXPECT_THROW(session.run(feeds), Error);
}

}  // namespace
}  // namespace touchstone
