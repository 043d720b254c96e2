// Reads sparse tensors from a file. Their indices become memory offsets, so each is checked against
// the shape here.
#include "core/checked.h"
#include "model/proto.h"
#include "model/rules.h"

namespace touchstone {
namespace {

// Returns the linear position of the index in row `k`, checked against every dimension.
Index linear(const SparseTensor& sparse, Index k) {
  const Index* indices = sparse.indices.data<Index>();
  const bool by_dimension = sparse.indices.shape().size() == 2;
  const Index total = count(sparse.shape);
  const auto refuse = [&](Index index, Index size) {
    return breach("model/sparse", "index " + std::to_string(index) + " of value " +
                                      std::to_string(k) + " is outside of 0.." +
                                      std::to_string(size - 1));
  };
  if (!by_dimension) {
    if (indices[k] < 0 || indices[k] >= total) throw refuse(indices[k], total);
    return indices[k];
  }
  const Index rank = sparse.shape.size();
  for (Index d = 0; d < rank; ++d) {
    const Index index = indices[k * rank + d];
    if (index < 0 || index >= sparse.shape[d]) throw refuse(index, sparse.shape[d]);
  }
  Index at = 0;  // the shape has elements here, and their number fits
  for (Index d = 0; d < rank; ++d) at = add(multiply(at, sparse.shape[d]), indices[k * rank + d]);
  return at;
}

}  // namespace

SparseTensor read_sparse(const pb::SparseTensorProto& proto, const Source& source) {
  SparseTensor sparse;
  sparse.shape = read_dims(proto.dims(), source.limits);
  if (sparse.shape.empty()) throw breach("model/sparse", "it has no dimension");
  sparse.values = read_tensor(proto.values(), source);
  check_size(sparse.values.type(), sparse.shape, source.limits);
  // No indices are needed if there are no values.
  sparse.indices =
      proto.has_indices() ? read_tensor(proto.indices(), source) : Tensor(Type::int64, Shape{0});
  const Shape& values = sparse.values.shape();
  const Shape& indices = sparse.indices.shape();
  if (values.size() != 1) throw breach("model/sparse", "the values have shape " + text(values));
  const bool fits = indices == values || indices == Shape{values[0], sparse.shape.size()};
  if (sparse.indices.type() != Type::int64 || !fits) {
    throw breach("model/sparse", "the indices are " + std::string(name(sparse.indices.type())) +
                                     text(indices) + " for " + std::to_string(values[0]) +
                                     " values of rank " + std::to_string(sparse.shape.size()));
  }
  Index last = -1;
  for (Index k = 0; k < values[0]; ++k) {
    const Index at = linear(sparse, k);
    if (at <= last)
      throw breach("model/sparse", "the indices do not ascend at value " + std::to_string(k));
    last = at;
  }
  return sparse;
}

}  // namespace touchstone
