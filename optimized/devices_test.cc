// Tests plans with nodes on a device: which nodes run there, what is copied and when, and what is
// refused. The device is OpenCL's, or the processor behind the same interface, which counts calls
// and fails on demand.
#include "backends/device.h"

#include <gmock/gmock.h>

#include "core/error.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

// The processor posing as a separate device.
class Watched : public backends::Device {
 public:
  backends::DeviceKind kind() const override { return backends::DeviceKind::cpu; }
  std::string name() const override { return "watched"; }
  std::unique_ptr<backends::DeviceBuffer> allocate(Index bytes) override {
    if (count(&Traffic::buffers) == failing)
      throw Error(ErrorKind::out_of_memory, "the device watched has no memory");
    return inner_->allocate(bytes);
  }
  void upload(const void* from, backends::DeviceBuffer& to, Index bytes) override {
    count(&Traffic::uploads);
    inner_->upload(from, to, bytes);
  }
  void download(backends::DeviceBuffer& from, void* to, Index bytes) override {
    count(&Traffic::downloads);
    inner_->download(from, to, bytes);
  }
  void launch(backends::CompiledKernel kernel,
              std::span<const backends::DeviceArgument> arguments) override {
    if (count(&Traffic::launches) == lost) throw Error(ErrorKind::internal, "the device is lost");
    inner_->launch(kernel, arguments);
  }
  void finish() override { inner_->finish(); }

  Index failing = -1, lost = -1;

 private:
  const std::shared_ptr<backends::Device> inner_ = backends::open_cpu();
};

std::shared_ptr<Watched> watched;
std::shared_ptr<backends::Device> open_watched(const std::string& name) {
  if (name != "watched") throw Error(ErrorKind::usage, "there is no device '" + name + "'");
  return watched;
}
SessionOptions beside(std::string devices) {
  watched = std::make_shared<Watched>();
  SessionOptions options;
  options.devices = std::move(devices);
  options.open = open_watched;
  return options;
}
SessionOptions on_opencl(std::string devices = "opencl,cpu") {
  SessionOptions options;
  options.devices = std::move(devices);
  return options;
}

std::vector<std::string> kernels(const Session& session) {
  std::vector<std::string> made;
  for (const Placement& row : session.placement()) made.push_back(row.kernel);
  return made;
}

using Feeds = std::map<std::string, Value>;

void expect_same(const Feeds& expected, const Feeds& made) {
  ASSERT_EQ(expected.size(), made.size());
  for (const auto& [name, value] : expected) {
    const Tensor &wanted = value.tensor(), &got = made.at(name).tensor();
    ASSERT_EQ(got.shape(), wanted.shape()) << name;
    for (Index k = 0; k < wanted.size(); ++k)
      ASSERT_EQ(got.data<float>()[k], wanted.data<float>()[k]) << name << ", element " << k;
  }
}

// Relu, a convolution that only the processor runs, a sum with a constant, a view, a reduction.
Net islands() {
  Net net({1, 4, 6, 6});
  const std::string a = net.node("Relu", {"x"});
  const std::string b = net.node("Add", {net.node("Neg", {a}), net.constant({4, 1, 1})});
  const std::string c = net.convolution(b, {3, 4, 1, 1});
  const std::string d = net.node("Abs", {c});
  const std::string e = net.node("Reshape", {d, net.integers({3, 36})});
  net.output(net.node("ReduceMax", {e, net.integers({1})}, {}, {{"keepdims", 0}}));
  net.output(b);
  return net;
}

TEST(Placement, CopiesStandAtTheEdgesAlone) {
  const Model model = islands().model();
  const Tensor x = whole({1, 4, 6, 6}, 1);
  Session session(model, beside("watched,cpu"));
  const Feeds expected = run(model, {{"x", x}});
  expect_same(expected, session.run({{"x", x}}));
  std::vector<std::string> made;
  for (const std::string& kernel : kernels(session)) {
    if (kernel.find("watched") != std::string::npos) made.push_back(kernel);
  }
  EXPECT_EQ(made, (std::vector<std::string>{"copy to watched", "Relu_1 watched", "Neg_1 watched",
                                            "Add_1 watched", "copy from watched", "copy to watched",
                                            "Abs_1 watched", "ReduceMax_1 watched",
                                            "copy from watched"}));
  EXPECT_GT(session.device_bytes(), 0);

  // The plan has uploaded the constants; a second run copies only the values that cross the
  // boundary.
  const backends::Device::Traffic before = watched->traffic();
  expect_same(expected, session.run({{"x", x}}));
  EXPECT_EQ(watched->traffic().uploads - before.uploads, 2);
  EXPECT_EQ(watched->traffic().downloads - before.downloads, 2);
  EXPECT_EQ(watched->traffic().launches - before.launches, 5);
  EXPECT_EQ(watched->traffic().buffers, before.buffers);
}

TEST(Placement, BuffersThatDoNotMeetAreOne) {
  Net net({100});
  std::string v = "x";
  for (int k = 0; k < 10; ++k) v = net.node("Neg", {v});
  net.output(v);
  const Tensor x = whole({100}, 1);
  Session session(net.model(), beside("watched"));
  expect_same(run(net.model(), {{"x", x}}), session.run({{"x", x}}));
  EXPECT_EQ(session.device_bytes(), 2 * 400);
}

TEST(Placement, TheProcessorBeforeADeviceRunsAll) {
  Session session(islands().model(), beside("cpu,watched"));
  session.run({{"x", whole({1, 4, 6, 6}, 1)}});
  EXPECT_EQ(watched->traffic().buffers, 0);
  for (const std::string& kernel : kernels(session))
    EXPECT_THAT(kernel, ::testing::Not(::testing::HasSubstr("watched"))) << kernel;
}

TEST(Placement, ADeviceAloneRefusesByName) {
  Session session(islands().model(), beside("watched"));
  try {
    session.run({{"x", whole({1, 4, 6, 6}, 1)}});
    FAIL() << "it ran elsewhere";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::unsupported);
    EXPECT_THAT(error.message, ::testing::HasSubstr("watched")) << error.message;
    EXPECT_THAT(error.place, ::testing::HasSubstr("(Conv)")) << error.place;
  }
}

TEST(Placement, ListsOfDevicesAreChecked) {
  const Model model = islands().model();
  for (const char* list : {"", "abacus", "watched,watched", "watched,abacus", "cpu,abacus"})
    EXPECT_THROW(Session(model, beside(list)), Error) << list;
}

TEST(Placement, MemoryThatADeviceLacksIsAnErrorOfTheNode) {
  const SessionOptions healthy = beside("watched,cpu");
  Session(islands().model(), healthy);
  const Index buffers = watched->traffic().buffers;
  EXPECT_GT(buffers, 1);
  for (Index failing = 0; failing < buffers; ++failing) {
    const SessionOptions options = beside("watched,cpu");
    watched->failing = failing;
    Session session(islands().model(), options);  // planning fails on it here, and again in the run
    watched->failing = watched->traffic().buffers;
    const Feeds feeds{{"x", whole({1, 4, 6, 6}, 1)}};
    try {
      session.run(feeds);
      FAIL() << "there was memory";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::out_of_memory);
      EXPECT_THAT(error.place, ::testing::HasSubstr("node '")) << error.place;
    }
    watched->failing = -1;
    expect_same(run(islands().model(), feeds), session.run(feeds));
  }
}

TEST(Placement, ADeviceThatIsLostIsAnErrorOfTheNode) {
  Session session(islands().model(), beside("watched,cpu"));
  const Feeds feeds{{"x", whole({1, 4, 6, 6}, 1)}};
  watched->lost = 1;
  try {
    session.run(feeds);
    FAIL() << "it was not lost";
  } catch (const Error& error) {
    EXPECT_EQ(error.message, "the device is lost");
    EXPECT_THAT(error.place, ::testing::HasSubstr("(Neg)")) << error.place;
  }
  watched->lost = -1;
  expect_same(run(islands().model(), feeds), session.run(feeds));
}

TEST(Placement, OfOpenClGivesWhatTheReferenceGives) {
  const Model model = islands().model();
  const Feeds feeds{{"x", whole({1, 4, 6, 6}, 1)}};
  Session session(model, on_opencl());
  for (int k = 0; k < 2; ++k) expect_same(run(model, feeds), session.run(feeds));
  const std::vector<std::string> made = kernels(session);
  EXPECT_NE(std::find(made.begin(), made.end(), "ReduceMax_1 opencl"), made.end());
}

TEST(Placement, OfContractions) {
  Net net({3, 4, 5});
  const std::string stack = net.node("MatMul", {"x", net.constant({3, 5, 70})});
  net.output(stack);
  net.output(net.node("MatMul", {"x", net.constant({1, 5, 7})}));
  const std::string flat = net.node("Reshape", {stack, net.integers({12, 70})});
  net.output(
      net.node("Gemm", {flat, net.constant({9, 70}), net.constant({9})}, {}, {{"transB", 1}}));
  net.output(net.node("Gemm", {flat, flat}, {}, {{"transA", 1}}));
  net.output(net.node("MatMul", {net.constant({12}), flat}));
  const Feeds feeds{{"x", whole({3, 4, 5}, 3)}};
  Session session(net.model(), on_opencl("opencl"));
  expect_same(run(net.model(), feeds), session.run(feeds));
}

TEST(Placement, OfReductionsAlongAnyAxis) {
  for (const std::vector<Index>& axes :
       std::vector<std::vector<Index>>{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}}) {
    Net net({7, 20, 33});
    net.output(net.node("ReduceSum", {"x", net.integers(axes)}, {}, {{"keepdims", 0}}));
    net.output(net.node("ReduceMin", {"x", net.integers(axes)}));
    const Feeds feeds{{"x", whole({7, 20, 33}, 3)}};
    Session session(net.model(), on_opencl("opencl"));
    expect_same(run(net.model(), feeds), session.run(feeds));
  }
}

TEST(Placement, OfEmptyTensors) {
  Net net({0, 2, 3});
  net.output(net.node("Add", {"x", net.constant({2, 3})}));
  net.output(net.node("ReduceSum", {"x", net.integers({0})}));
  net.output(net.node("ReduceSum", {"x", net.integers({1})}));
  net.output(net.node("MatMul", {"x", net.constant({3, 4})}));
  const std::string flat = net.node("Reshape", {"x", net.integers({0, 6})}, {}, {{"allowzero", 1}});
  net.output(net.node("Gemm", {flat, flat}, {}, {{"transA", 1}}));
  net.output(net.node("Gemm", {flat, flat, net.constant({6})}, {}, {{"transA", 1}}));
  net.output(net.node("Gemm", {flat, flat, net.constant({6, 1})}, {}, {{"transA", 1}}));
  const Feeds feeds{{"x", whole({0, 2, 3}, 3)}};
  for (const SessionOptions& options : {beside("watched,cpu"), on_opencl()}) {
    Session session(net.model(), options);
    expect_same(run(net.model(), feeds), session.run(feeds));
  }
  EXPECT_EQ(watched->traffic().launches, 1);  // the sum over the empty dimension
}

TEST(Placement, NumbersThatAreFedAreLookedAtOnTheHost) {
  Net net({5});
  const std::string min = net.constant({}), max = net.constant({});
  net.output(net.node("Clip", {"x", min, max}));
  Model model = net.model();
  model.graph.initializers.clear();
  for (const std::string& name : {min, max}) model.graph.inputs.push_back(info(name, {}));
  Session session(model, on_opencl("opencl"));
  for (const float bound : {1.0F, 2.0F}) {
    Tensor low(Type::float32, {}), high(Type::float32, {});
    *low.data<float>() = -bound;
    *high.data<float>() = bound;
    const Feeds feeds{{"x", whole({5}, 3)}, {min, low}, {max, high}};
    expect_same(run(model, feeds), session.run(feeds));
  }
}

// A scalar argument of a kernel, such as a bound, may also be computed in the run: from a feed, or
// on the device.
TEST(Placement, NumbersThatARunMakesAreLookedAtOnTheHost) {
  Net net({5});
  const std::string min = net.node("ReduceMin", {"x"}, {}, {{"keepdims", 0}});
  const std::string max = net.node("ReduceMax", {net.node("Neg", {"x"})}, {}, {{"keepdims", 0}});
  net.output(net.node("Clip", {net.node("Add", {"x", "x"}), min, max}));
  Session session(net.model(), on_opencl("opencl"));
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Feeds feeds{{"x", whole({5}, seed)}};
    expect_same(run(net.model(), feeds), session.run(feeds));
  }
}

}  // namespace
}  // namespace touchstone::optimized
