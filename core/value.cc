// Dynamic type of a Value, and checked access to its tensor.
#include "core/error.h"
#include "core/tensor.h"

namespace touchstone {
namespace {

struct TypeOf {
  ValueType operator()(std::monostate) const { return {}; }
  ValueType operator()(const Tensor& tensor) const { return tensor_type(tensor.type()); }
  ValueType operator()(const Sequence& sequence) const { return sequence_type(sequence.inner); }
  ValueType operator()(const Optional& optional) const { return optional_type(optional.inner); }
  ValueType operator()(const Map& map) const { return map_type(map.key, map.value); }
  ValueType operator()(const SparseTensor& sparse) const {
    return sparse_type(sparse.values.type());
  }
};

}  // namespace

const Tensor& Value::tensor() const {
  const Tensor* held = std::get_if<Tensor>(&is);
  if (!held) BUG("a tensor is asked of a value that holds none");
  return *held;
}

ValueType Value::type() const { return std::visit(TypeOf{}, is); }

}  // namespace touchstone
