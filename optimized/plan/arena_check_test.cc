// Tests that the arena check names faulty steps, whatever foreign memory they access, and that
// sound plans pass.
#include "optimized/plan/arena_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.h"
#include "model/model.h"
#include "optimized/plan/plan.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

// Pointers that each step bound, in its order: inputs, then outputs.
using Bound = std::vector<std::vector<float*>>;
using Fault = std::function<void(RunState&, const Bound&)>;

class Mutant : public Step {
 public:
  Mutant(std::unique_ptr<Step> of, std::shared_ptr<Bound> all, std::size_t number, Fault fault)
      : of_(std::move(of)), all_(std::move(all)), number_(number), fault_(std::move(fault)) {
    nodes = of_->nodes;
    about = of_->about;
    kernel = of_->kernel;
    kernel_class = of_->kernel_class;
  }
  void bind(const Memory& memory) override {
    class Spy : public Memory {
     public:
      Spy(const Memory& memory, std::vector<float*>& seen) : memory_(memory), seen_(seen) {}
      float* at(Index buffer) const override {
        seen_.push_back(memory_.at(buffer));
        return seen_.back();
      }

     private:
      const Memory& memory_;
      std::vector<float*>& seen_;
    };
    of_->bind(Spy(memory, (*all_)[number_]));
  }
  void run(RunState& state) override {
    of_->run(state);
    if (fault_) fault_(state, *all_);
  }
  Index scratch() const override { return of_->scratch(); }

 private:
  const std::unique_ptr<Step> of_;
  const std::shared_ptr<Bound> all_;
  const std::size_t number_;
  const Fault fault_;
};

constexpr Index floats = 20;                                       // of each tensor
constexpr std::size_t load = 0, first = 1, second = 2, third = 3;  // steps of the model

// v0 = -x, v1 = -v0, y = v1 * c: a copy of x, then three steps.
Model chain() {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 21;
  model.graph.name = "chain";
  model.graph.inputs.push_back(info("x", {4, 5}));
  model.graph.outputs.push_back(info("y", {4, 5}));
  model.graph.initializers.emplace("c", whole({4, 5}, 1));
  const auto add = [&](const std::string& op, std::vector<std::string> inputs, std::string output) {
    Node node;
    node.op = op;
    node.name = "make " + output;
    node.index = static_cast<Index>(model.graph.nodes.size());
    node.inputs = std::move(inputs);
    node.outputs = {std::move(output)};
    model.graph.nodes.push_back(node);
  };
  add("Neg", {"x"}, "v0");
  add("Neg", {"v0"}, "v1");
  add("Mul", {"v1", "c"}, "y");
  require_valid(model, Limits::trusted());
  return model;
}

// Wraps all steps, so that each can access what the others bound; one of them has the fault.
std::function<void(Builder&)> faulty(std::size_t step, Fault fault) {
  return [step, fault = std::move(fault)](Builder& builder) {
    const auto bound = std::make_shared<Bound>(builder.steps.size());
    for (std::size_t k = 0; k < builder.steps.size(); ++k) {
      builder.steps[k] = std::make_unique<Mutant>(std::move(builder.steps[k]), bound, k,
                                                  k == step ? fault : Fault());
    }
  };
}

// Hidden from AddressSanitizer, which also knows poisoned buffers and would report the injected
// fault first.
__attribute__((no_sanitize_address)) void poke(float* at, float value) { *at = value; }
__attribute__((no_sanitize_address)) float peek(const float* at) { return *at; }

// Returns the error with the node's place; "" if there is none.
std::string found(const PlanOptions& options) {
  const Model model = chain();
  ThreadPool pool(2);
  try {
    const Tensor x = whole({4, 5}, 2);
    Plan plan(model, {{"x", x.shape()}}, pool.size(), options);
    const Tensor copy = whole({4, 5}, 2);
    for (int run = 0; run < 2; ++run) {
      const std::map<std::string, Value> made = plan.run({{"x", x}}, pool);
      const Tensor& y = made.at("y").tensor();
      for (Index k = 0; k < y.size(); ++k) {
        const float factor = model.graph.initializers.at("c").data<float>()[k];
        EXPECT_EQ(y.data<float>()[k], copy.data<float>()[k] * factor);
      }
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::internal);
    return error.place + ": " + error.message;
  }
  return "";
}

std::string found(std::size_t step, Fault fault) {
  PlanOptions options;
  options.fuse = false;
  options.check_arena = true;
  options.change = faulty(step, std::move(fault));
  return found(options);
}

#define EXPECT_FOUND(text, ...)                                \
  do {                                                         \
    const std::string said = found(__VA_ARGS__);               \
    EXPECT_THAT(said, ::testing::HasSubstr(text)) << said;     \
    EXPECT_THAT(said, ::testing::HasSubstr("step '")) << said; \
  } while (false)

TEST(ArenaCheck, ASoundPlanPasses) { EXPECT_EQ(found(first, {}), ""); }

TEST(ArenaCheck, WithoutItAFaultGoesUnseen) {
  PlanOptions options;
  options.fuse = false;
  options.change = faulty(third, [](RunState&, const Bound& at) { poke(at[load].back(), 7); });
  EXPECT_EQ(found(options), "");
}

TEST(ArenaCheck, AFloatPastTheEndIsNamed) {
  EXPECT_FOUND("'make v0' (Neg), output 'v0', main graph: step 'pointwise", first,
               [](RunState&, const Bound& at) { poke(at[first].back() + floats, 7); });
  EXPECT_FOUND("wrote outside of its buffers: 0 bytes past the end of the buffer of 'v0'", first,
               [](RunState&, const Bound& at) { poke(at[first].back() + floats, 7); });
}

TEST(ArenaCheck, AFloatBeforeTheBufferIsNamed) {
  EXPECT_FOUND("wrote outside of its buffers: 4 bytes before the buffer of 'v1'", second,
               [](RunState&, const Bound& at) { poke(at[second].back() - 1, 7); });
}

// The copy of x is made larger than the buffer that takes its place later.
TEST(ArenaCheck, AWriteIntoADeadBufferIsNamed) {
  constexpr Index large = 10000;
  PlanOptions options;
  options.fuse = false;
  options.check_arena = true;
  options.change = [](Builder& builder) {
    builder.spans.front().bytes = large * 4;
    faulty(load, [](RunState&, const Bound& at) {
      for (Index k = floats; k < large; ++k) poke(at[load].back() + k, 0);
    })(builder);
    faulty(third,
           [](RunState&, const Bound& at) { poke(at[load].back() + large / 2, 7); })(builder);
  };
  EXPECT_FOUND("wrote outside of its buffers: memory where no buffer lives", options);
}

TEST(ArenaCheck, AWriteIntoWhatAStepOnlyReadsIsNamed) {
  EXPECT_FOUND("wrote outside of its buffers: element 3 of the buffer of 'v0'", second,
               [](RunState&, const Bound& at) { poke(at[first].back() + 3, 7); });
}

TEST(ArenaCheck, AWriteIntoAConstantIsNamed) {
  EXPECT_FOUND("wrote outside of its buffers: into the buffer of 'c'", third,
               [](RunState&, const Bound& at) { at[third][1][0] += 1; });
}

TEST(ArenaCheck, AWriteIntoAFeedIsNamed) {
  EXPECT_FOUND("wrote outside of its buffers: into the feed 'x'", load,
               [](RunState& state, const Bound&) {
                 const Value& x = state.values[1];
                 const_cast<float*>(x.tensor().data<float>())[0] += 1;
               });
}

TEST(ArenaCheck, AWritePastScratchIsNamed) {
  EXPECT_FOUND("wrote outside of its buffers: past the end of its scratch memory", second,
               [](RunState& state, const Bound&) { poke(state.scratch[1], 7); });
  EXPECT_FOUND("wrote outside of its buffers: in front of its scratch memory", second,
               [](RunState& state, const Bound&) { poke(state.scratch[0] - 1, 7); });
}

TEST(ArenaCheck, AReadOutsideOfBuffersIsNamed) {
  EXPECT_FOUND("left poison in the buffer of 'y'", third, [](RunState&, const Bound& at) {
    poke(at[third].back() + 2, -peek(at[second].back() - 1));
  });
}

TEST(ArenaCheck, AStepThatTakesABufferNotItsOwnIsNamed) {
  PlanOptions options;
  options.fuse = false;
  options.check_arena = true;
  options.change = [](Builder& builder) {
    for (BufferUse& use : builder.uses) use.buffers.erase(use.writes.front().buffer);
  };
  EXPECT_FOUND("which the plan did not give it", options);
}

TEST(ArenaCheck, AnOutputThatDiesTooEarlyIsNamed) {
  PlanOptions options;
  options.check_arena = true;
  options.change = [](Builder& builder) {
    Span& span = builder.spans[static_cast<std::size_t>(builder.outputs.begin()->second)];
    span.last = span.first;
  };
  const std::string said = found(options);
  EXPECT_THAT(said, ::testing::HasSubstr("the output 'y' is read when the run ends")) << said;
}

TEST(ArenaCheck, BuffersThatOverlapAreNamed) {
  const std::vector<float> memory(1024);
  PlanOptions options;
  options.fuse = false;
  options.check_arena = true;
  options.buffers = [&](Index) {
    return std::shared_ptr<void>(const_cast<float*>(memory.data()), [](void*) {});
  };
  const std::string said = found(options);
  EXPECT_THAT(said, ::testing::HasSubstr("live at the same time and overlap")) << said;
}

TEST(ArenaCheck, TheEnvironmentTurnsItOn) {
  ::setenv("TOUCHSTONE_CHECK", "arena", 1);
  EXPECT_TRUE(arena_check_chosen());
  ::setenv("TOUCHSTONE_CHECK", "everything", 1);
  EXPECT_THROW(arena_check_chosen(), Error);
  ::unsetenv("TOUCHSTONE_CHECK");
  EXPECT_FALSE(arena_check_chosen());
}

}  // namespace
}  // namespace touchstone::optimized
