// Writes tensors to a message: always raw_data, except strings. External data becomes inline.
#include "model/proto.h"

namespace touchstone {

void write_tensor(const Tensor& tensor, pb::TensorProto& proto) {
  proto.set_data_type(static_cast<int>(tensor.type()));
  for (const Index dim : tensor.shape()) proto.add_dims(dim);
  if (tensor.type() == Type::string) {
    const std::string* texts = tensor.data<std::string>();
    for (Index i = 0; i < tensor.size(); ++i) proto.add_string_data(texts[i]);
    return;
  }
  const std::span<const std::byte> bytes = tensor.bytes();
  proto.set_raw_data(bytes.data(), bytes.size());
}

void write_sparse(const SparseTensor& sparse, pb::SparseTensorProto& proto) {
  write_tensor(sparse.values, *proto.mutable_values());
  write_tensor(sparse.indices, *proto.mutable_indices());
  for (const Index dim : sparse.shape) proto.add_dims(dim);
}

}  // namespace touchstone
