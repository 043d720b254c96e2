// Runs an operator that tests/lines/test_counted.py plants, on the vectors in its arguments
// ("-1,2"), and a function like those of hand-written templates, on their sizes. The test compares
// gcov's counts of this run with the expected ones.
#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "reference/registry.h"

namespace touchstone {
namespace native {
void run_Planted_1(Call& call);
}
namespace structural {
int run_planted(const Facts& facts, int size);
}
}  // namespace touchstone

using namespace touchstone;  // a standalone program

namespace {

Tensor vector_of(const std::string& words) {
  std::vector<float> numbers;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');) numbers.push_back(std::stof(word));
  Tensor made(Type::float32, {static_cast<Index>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), made.data<float>());
  return made;
}

}  // namespace

int main(int count, char** words) {
  const Signature* signature = find_signature("", "Planted", 1);
  Node node;
  node.op = "Planted", node.inputs = {"x"}, node.outputs = {"y"}, node.signature = signature;
  for (int k = 1; k < count; ++k) {
    Call call{&node, signature, {vector_of(words[k])}, std::vector<Value>(1), {true}, {}};
    const Facts facts(node, *signature, describe(*signature, call.inputs), {true});
    try {
      structural::run_planted(facts, static_cast<int>(call.inputs[0].tensor().size()));
      native::run_Planted_1(call);
    } catch (const Error&) {  // a rule that is violated on purpose
    }
  }
  return 0;
}
