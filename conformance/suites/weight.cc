// Which cases are begun first is asked before any has run: a model's weights are the best hint that
// its file gives.
#include "conformance/suites/weight.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "model/proto.h"

namespace touchstone {
namespace {

constexpr std::uintmax_t read_up_to = 1 << 20;       // bytes of a file
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
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(model, missing);
  if (missing) return 0;
  if (size > read_up_to) return static_cast<Index>(size / sizeof(float));
  std::ifstream file(model, std::ios::binary);
  pb::ModelProto proto;
  if (!proto.ParseFromIstream(&file)) return 0;
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
