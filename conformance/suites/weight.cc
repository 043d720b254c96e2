// Which cases are begun first is asked before any has run: a model's weights are the best hint that
// its file gives.
#include "conformance/suites/weight.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "model/proto.h"

namespace touchstone {
namespace {

constexpr Index read_up_to = 1 << 20;                // bytes of a file
constexpr Index most = Index{1} << 50, longest = 8;  // elements; dimensions of a shape

// The product of the numbers, 0 if one is no size.
template <class Numbers>
Index elements(const Numbers& sizes) {
  Index all = 1;
  for (const auto size : sizes) {
    if (size < 1 || size > most / all) return 0;
    all *= size;
  }
  return all;
}

std::vector<Index> whole_numbers(const pb::TensorProto& tensor) {
  std::vector<Index> numbers(tensor.int64_data().begin(), tensor.int64_data().end());
  const std::string& raw = tensor.raw_data();
  for (std::size_t at = 0; at + sizeof(Index) <= raw.size(); at += sizeof(Index)) {
    Index number = 0;
    std::copy_n(raw.data() + at, sizeof number, reinterpret_cast<char*>(&number));
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

Index weight_of_model(const std::filesystem::path& model) {
  pb::ModelProto proto;
  try {
    const OpenFile file = open_trusted(model);
    if (file.size() > read_up_to) return file.size() / static_cast<Index>(sizeof(float));
    if (!proto.ParseFromString(file.read_all({}))) return 0;
  } catch (const Error&) {
    return 0;  // who runs the case says what is wrong with it
  }
  Index all = 0;
  for (const pb::TensorProto& tensor : proto.graph().initializer()) {
    all = std::min(most, all + elements(tensor.dims()));
    const bool shape = tensor.data_type() == pb::TensorProto::INT64 && tensor.dims_size() == 1 &&
                       tensor.dims(0) <= longest;
    if (shape) all = std::min(most, all + elements(whole_numbers(tensor)));
  }
  return all;
}

}  // namespace touchstone
