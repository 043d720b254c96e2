// Estimates the cost of cases before any has run. The size of a model's weights is the best
// estimate that its file offers.
#include "conformance/suites/weight.h"

#include <algorithm>
#include <span>

#include "core/error.h"
#include "core/files.h"
#include "model/proto.h"

namespace touchstone::suites {
namespace {

constexpr Index read_up_to = 1 << 20;                // bytes of a file
constexpr Index most = Index{1} << 50, longest = 8;  // elements; dimensions of a shape

// Returns the product of the numbers, 0 if one is no valid size.
template <class Numbers>
Index elements(const Numbers& sizes) {
  Index all = 1;
  for (const auto size : sizes) {
    if (size < 1 || size > most / all) return 0;
    all *= size;
  }
  return all;
}

// Returns the product of the elements of a short int64 vector, which may be a shape; 0 for any
// other tensor.
Index said_elements(const pb::TensorProto& proto) {
  const bool shape = proto.data_type() == pb::TensorProto::INT64 && proto.dims_size() == 1 &&
                     proto.dims(0) <= longest;
  if (!shape) return 0;
  const Limits limits;
  const Tensor numbers = read_tensor(proto, {nullptr, limits});
  return elements(
      std::span(numbers.data<std::int64_t>(), static_cast<std::size_t>(numbers.size())));
}

}  // namespace

Index weight_of_model(const std::filesystem::path& model) {
  try {
    const OpenFile file = open_trusted(model);
    if (file.size() > read_up_to) return file.size() / static_cast<Index>(sizeof(float));
    pb::ModelProto proto;
    if (!proto.ParseFromString(file.read_all({}))) return 0;
    Index all = 0;
    for (const pb::TensorProto& tensor : proto.graph().initializer())
      all = std::min(most, all + elements(tensor.dims()) + said_elements(tensor));
    return all;
  } catch (const Error&) {
    return 0;  // the run itself reports the error
  }
}

}  // namespace touchstone::suites
