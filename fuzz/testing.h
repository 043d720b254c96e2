// Sources and targets of the fuzzer's tests: small lines, and a runtime that is wrong on demand.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "conformance/targets/target.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "fuzz/line_source.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz::testing {

// The case of a number is a line with sizes that depend on the number; every 7th has none.
class SmallSource : public Source {
 public:
  Case make(std::uint64_t number) const override {
    static const std::string heads[] = {"Neg-13", "Abs-13", "Relu-14", "Exp-13", "Tanh-13"};
    const std::uint64_t place = number & 0xffffff;
    if (place % 7 == 6) throw Error(ErrorKind::unsupported, "no case");
    return case_of_line(heads[place % 5] + "(float[" + std::to_string(place % 4 + 2) + "," +
                        std::to_string(place % 9 + 1) + "]~real)");
  }
};

// Misbehavior of a runtime on models with this operator.
struct Fault {
  std::string op;
  enum Kind { none, crash, hang, hoard, wrong_last, refuse } kind = none;
};

class FaultyModel : public targets::LoadedModel {
 public:
  FaultyModel(Model model, const Fault& fault) : model_(std::move(model)), fault_(fault) {}
  std::vector<targets::Port> inputs() const override { return targets::ports_of(model_); }
  std::vector<std::string> kernels() const override { return {"planted"}; }

  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) override {
    std::map<std::string, Value> outputs = touchstone::run(model_, feeds, {});
    const auto& nodes = model_.graph.nodes;
    const auto hit = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const Node& node) { return node.op == fault_.op; });
    if (hit == nodes.end()) return outputs;
    if (fault_.kind == Fault::crash) std::raise(SIGSEGV);
    if (fault_.kind == Fault::hang) ::pause();
    if (fault_.kind == Fault::refuse) throw Error(ErrorKind::invalid_input, "not this");
    if (fault_.kind == Fault::hoard) {
      std::vector<std::vector<char>> hoard;
      while (true) hoard.emplace_back(std::size_t{1} << 26);
    }
    const auto shown = outputs.find(hit->outputs.front());
    if (fault_.kind == Fault::wrong_last && shown != outputs.end()) spoil(shown->second);
    return outputs;
  }

 private:
  // Makes the last element wrong if there are at least three.
  static void spoil(Value& value) {
    const Tensor& right = value.tensor();
    if (right.size() < 3) return;
    Tensor wrong(right.type(), right.shape());
    for (Index k = 0; k < right.size(); ++k) set_number(wrong, k, number_at(right, k));
    set_number(wrong, right.size() - 1, number_at(right, right.size() - 1) * 2 + 1);
    value = wrong;
  }

  Model model_;
  Fault fault_;
};

class FaultyTarget : public targets::Target {
 public:
  explicit FaultyTarget(Fault fault) : fault_(std::move(fault)) {}
  std::string name() const override { return "faulty"; }
  std::unique_ptr<targets::LoadedModel> load(const std::filesystem::path& model) override {
    return std::make_unique<FaultyModel>(load_valid(model, Limits::trusted()), fault_);
  }

 private:
  Fault fault_;
};

}  // namespace touchstone::fuzz::testing
