// Tests runs of one session at the same time: they overlap, give the answers of runs alone, share
// the weights, and end by cancel and deadline also while they wait.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/error.h"
#include "model/testing.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using Values = std::map<std::string, Value>;

// Kernels of many kinds, some with scratch buffers and arrays of their own.
Model many_kernels(bool sized) {
  Net net({1, 8, 14, 14});
  const std::map<std::string, std::vector<Index>> padded{{"pads", {1, 1, 1, 1}}};
  const std::string a = net.node("Relu", {net.convolution("x", {40, 8, 3, 3}, padded)});
  const std::string b = net.convolution(a, {40, 1, 3, 3}, padded, 40);
  const std::string c = net.node("Mul", {b, net.node("Sigmoid", {net.node("Add", {a, b})})});
  const std::string d = net.node("MaxPool", {c}, {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}});
  const std::string up = net.node("ConvTranspose", {d, net.constant({40, 5, 2, 2})});
  net.output(net.node("Softmax", {up}, {}, {{"axis", 1}}));
  const std::string flat = net.node("Flatten", {net.node("GlobalAveragePool", {d})});
  const std::string product = net.node("MatMul", {flat, net.constant({40, 70})});
  net.output(net.node("CumSum", {product, net.held(Tensor(Type::int64, {}))}));
  net.node("TopK", {product, net.integers({5})});
  net.outputs({"values", "places"});
  net.output("values");
  net.output(net.node("ReduceSum", {c, net.integers({1, 2})}));
  Model made = net.model();
  if (!sized) made.graph.inputs[0].shape->at(0) = {{}, "n"};
  return made;
}

Tensor image(Index images, unsigned seed) {
  Tensor made = whole({images, 8, 14, 14}, seed);
  for (Index k = 0; k < made.size(); ++k) made.data<float>()[k] *= 0.37F;
  return made;
}

bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](auto& x, auto& y) {
           const std::span<const std::byte> left = x.second.tensor().bytes(),
                                            right = y.second.tensor().bytes();
           return x.first == y.first && x.second.tensor().shape() == y.second.tensor().shape() &&
                  std::equal(left.begin(), left.end(), right.begin(), right.end());
         });
}

void in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> all;
  for (int t = 0; t < count; ++t) all.emplace_back(work, t);
  for (std::thread& thread : all) thread.join();
}

TEST(SessionThreads, AnswersAreThoseOfRunsAlone) {
  for (const Index threads : {1, 3}) {
    for (const bool sized : {true, false}) {
      const Model model = many_kernels(sized);
      const SessionOptions options{.threads = threads, .concurrent_runs = 8};
      std::vector<Values> feeds, expected;
      for (int t = 0; t < 8; ++t) {
        feeds.push_back({{"x", image(sized ? 1 : 1 + t % 3, static_cast<unsigned>(t))}});
        expected.push_back(Session(model, options).run(feeds.back()));
      }
      Session session(model, options);
      std::atomic<int> wrong{0};
      in_threads(8, [&](int t) {
        for (int k = 0; k < 20; ++k) {
          const auto which = static_cast<std::size_t>((t + k) % 8);
          if (!same_bits(session.run(feeds[which]), expected[which])) ++wrong;
        }
      });
      EXPECT_EQ(wrong, 0) << threads << sized;
    }
  }
}

TEST(SessionThreads, BindingsKeepTheirOwnMemory) {
  const Model model = many_kernels(true);
  Session session(model, {.threads = 2, .concurrent_runs = 3});
  std::atomic<int> wrong{0};
  in_threads(6, [&](int t) {
    const Values feeds{{"x", image(1, static_cast<unsigned>(t))}};
    const Values expected = Session(model, {.threads = 2}).run(feeds);
    std::map<std::string, Tensor> outputs;
    for (const auto& [name, value] : expected)
      outputs.emplace(name, Tensor(value.type().element, value.tensor().shape()));
    Session::Bound bound = session.bind(feeds, outputs);
    for (int k = 0; k < 10; ++k) {
      in_threads(2, [&](int) { bound.run(); });
      if (!same_bits({outputs.begin(), outputs.end()}, expected)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

constexpr Index side = 1024;  // of the weights: 4 MiB

// Multiplies x by weights, and then doubles it again and again in a loop.
Model endless() {
  using namespace testing;
  Graph body = graph({node("Identity", {"on"}, {"go"}), node("Mul", {"s", "half"}, {"next"})},
                     {value("k", tensor_type(Type::int64), std::vector<Dim>{}),
                      value("on", tensor_type(Type::boolean), std::vector<Dim>{}), floats("s")},
                     {value("go", tensor_type(Type::boolean), std::vector<Dim>{}), floats("next")});
  Model made = model(
      graph({node("MatMul", {"x", "w"}, {"p"}),
             node("Loop", {"trips", "", "p"}, {"y"}, {{"body", graph_attribute(std::move(body))}})},
            {info("x", {2, side}), value("trips", tensor_type(Type::int64), std::vector<Dim>{})},
            {floats("y")}));
  made.graph.initializers.emplace("w", whole({side, side}, 1));
  made.graph.initializers.emplace("half", tensor({0.5F}));
  resolve(made);
  return made;
}

Values trips(Index count) {
  Tensor of(Type::int64, {});
  of.data<Index>()[0] = count;
  return {{"x", whole({2, side}, 2)}, {"trips", of}};
}

// Runs of so many threads that are inside of the loop until they are stopped.
class Endless {
 public:
  Endless(Session& session, int count, const std::shared_ptr<MemoryAccount>& account) {
    for (int t = 0; t < count; ++t) {
      threads_.emplace_back([&, account] {
        const Budget budget({}, {&stopped_}, account);
        try {
          std::thread watch([&] {
            while (budget.done() < 10'000'000 && !ended_) std::this_thread::yield();
            ++inside_;
          });
          try {
            session.run(trips(Index{1} << 60));
          } catch (const Error& error) {
            if (error.kind == ErrorKind::cancelled) ++cancelled_;
          }
          ended_ = true;
          watch.join();
        } catch (const std::exception&) {
          ADD_FAILURE();
        }
      });
    }
    while (inside_ < count) std::this_thread::yield();
  }
  ~Endless() { stop(); }
  int stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return cancelled_;
  }

 private:
  std::atomic<bool> stopped_{false}, ended_{false};
  std::atomic<int> inside_{0}, cancelled_{0};
  std::vector<std::thread> threads_;
};

TEST(SessionThreads, RunsOverlapAndShareTheWeights) {
  for (const Index threads : {1, 2}) {
    const Budget budget{Limits()};
    const std::shared_ptr<MemoryAccount>& account = budget.account();
    Session session(endless(), {.threads = threads, .concurrent_runs = 4});
    const Values expected = session.run(trips(3));
    const Index before = account->alive();
    Endless others(session, 3, account);
    EXPECT_TRUE(same_bits(session.run(trips(3)), expected));
    EXPECT_LT(account->alive() - before, side * side * 4) << "weights are there twice";
    EXPECT_EQ(others.stop(), 3);
    EXPECT_TRUE(same_bits(session.run(trips(3)), expected));
  }
}

TEST(SessionThreads, AWaitingRunLooksAtItsBudget) {
  const Budget budget{Limits()};
  Session session(endless(), {.threads = 1, .concurrent_runs = 2});
  Endless others(session, 2, budget.account());
  Limits limits;
  limits.milliseconds = 50;
  const Budget short_one(limits, {}, budget.account());
  try {
    session.run(trips(3));
    ADD_FAILURE() << "three runs at the same time";
  } catch (const Error& error) {
    EXPECT_EQ(error.rule, "limit/deadline") << error.message;
  }
  EXPECT_EQ(others.stop(), 2);
}

// Memory for one arena beside the model, and not for two.
TEST(SessionThreads, WithoutMemoryForTwoTheyRunInTurn) {
  const Model model = many_kernels(false);
  const Values feeds{{"x", image(16, 1)}};
  const Budget measured{Limits()};
  SessionOptions options{.threads = 1, .concurrent_runs = 4};
  Session roomy(model, options);
  const Values expected = roomy.run(feeds);
  const Index alone = measured.account()->alive();
  in_threads(4, [&](int) {
    for (int k = 0; k < 8; ++k) roomy.run(feeds);
  });
  options.limits.memory = alone + alone / 4;
  const Budget narrow(options.limits, {}, std::make_shared<MemoryAccount>(options.limits.memory));
  Session session(model, options);
  std::atomic<int> wrong{0};
  in_threads(4, [&](int) {
    for (int k = 0; k < 8; ++k) {
      if (!same_bits(session.run(feeds), expected)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace touchstone::optimized
