// Family `fills`: ConstantOfShape and OneHot. One element is repeated, and OneHot then places
// another at fed indices.
#include <array>
#include <cstring>

#include "optimized/lowering/elements.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/groups.h"

namespace touchstone::optimized {
namespace {

// Writes the element of `own` bytes again and again into `bytes` bytes, a multiple of `own`.
void repeat_element(std::byte* to, Index bytes, const std::byte* element, Index own) {
  bool alike = true;
  for (Index k = 1; k < own; ++k) alike = alike && element[k] == element[0];
  if (alike) {
    std::memset(to, std::to_integer<int>(element[0]), static_cast<std::size_t>(bytes));
    return;
  }
  constexpr Index block = 4096;  // stays in the nearest cache
  std::memcpy(to, element, static_cast<std::size_t>(own));
  for (Index done = own; done < bytes;) {
    const Index some = std::min({done, block, bytes - done});
    std::memcpy(to + done, to, static_cast<std::size_t>(some));
    done += some;
  }
}

class Fills : public Moves {
 protected:
  using Moves::Moves;

  // False for a shape that the reference refuses by its own error.
  static bool is_allowed(const RunState& state, const Shape& shape) {
    Index elements = 1;
    bool fits = true;
    for (const Index size : shape) {
      if (size < 0) return false;
      fits = !__builtin_mul_overflow(elements, size, &elements) && fits;
    }
    return contains(shape, 0) || (fits && elements <= state.limits.elements);
  }

  static void fill(RunState& state, Tensor& made, const std::byte* element) {
    constexpr Index fewest = 65536;  // bytes of each part
    const Index own = bytes_of(made.type()), bytes = made.size() * own;
    if (bytes == 0) return;
    const Index parts = std::min(parts_for(state.pool.size()), ceil_div(bytes, fewest));
    const Index step = ceil_div(made.size(), parts) * own;
    const double cost = static_cast<double>(bytes) / 4 * nanoseconds_an_element;
    state.each(ceil_div(bytes, step), cost, [&](Index part, Index) {
      const Index first = part * step;
      repeat_element(made.bytes().data() + first, std::min(step, bytes - first), element, own);
    });
  }
};

class ConstantOfShape : public Fills {
 public:
  using Fills::Fills;

 private:
  bool moved(RunState& state) override {
    if (input(state, 0).shape().size() != 1) return false;
    const std::optional<IndexVector> shape = list(state, 0);
    if (!shape || !is_allowed(state, *shape)) return false;
    const Facts given = fact().attributes();
    const Tensor* const value = given.tensor("value");
    if (value != nullptr && value->size() != 1) return false;
    constexpr std::array<std::byte, sizeof(float)> zero{};
    Tensor& made = output(state, 0, value != nullptr ? value->type() : Type::float32, *shape);
    fill(state, made, value != nullptr ? value->bytes().data() : zero.data());
    return true;
  }
};

class OneHot : public Fills {
 public:
  using Fills::Fills;

 private:
  bool moved(RunState& state) override {
    const std::optional<Tensor> whole = truncated(input(state, 0));
    const std::optional<Tensor> depth = truncated(input(state, 1));
    const Tensor& values = input(state, 2);
    if (!whole || !depth || depth->size() != 1 || values.shape() != Shape{2}) return false;
    const Tensor& indices = *whole;
    const Index rank = indices.shape().size(), classes = depth->data<std::int64_t>()[0];
    if (classes < 0) return false;
    const Index given = fact().attributes().integer("axis", -1), axis = wrap(given, rank + 1);
    const bool wraps = fact().node->signature->since >= 11;
    if (given < (wraps ? -rank - 1 : -1) || given > rank) return false;
    const Shape before = head(indices.shape(), axis), after = tail(indices.shape(), axis);
    const Shape shape = join(before, Shape{classes}, after);
    if (!is_allowed(state, shape)) return false;
    Tensor& made = output(state, 0, values.type(), shape);
    if (made.size() == 0) return true;
    fill(state, made, values.bytes().data());
    with_sized(values.type(), [&]<class T>() {
      const T on = values.data<T>()[1];
      place(made.data<T>(), on, indices, classes, count(after), wraps);
    });
    return true;
  }

  // Returns the numbers as int64 without their fractions; nullopt for one beyond its range.
  static std::optional<Tensor> truncated(const Tensor& from) {
    if (from.type() == Type::int64) return from;
    Tensor made(Type::int64, from.shape());
    ElementRow row;
    row.count = from.size();
    row.to = made.bytes().data();
    row.from[0] = from.bytes().data();
    row.steps[0] = 1;
    return unary_loop("Cast", from.type(), Type::int64)(row) ? std::optional(made) : std::nullopt;
  }

  template <class T>
  static void place(T* to, T on, const Tensor& indices, Index classes, Index inner, bool wraps) {
    const auto* at = indices.data<std::int64_t>();
    const Index outer = indices.size() / inner;
    for (Index p = 0; p < outer; ++p, to += classes * inner) {
      for (Index q = 0; q < inner; ++q) {
        Index index = *at++;
        if (index < 0 && wraps) index += classes;
        if (index >= 0 && index < classes) to[index * inner + q] = on;
      }
    }
  }
};

bool is_constant_of_shape(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  if (fact.node->signature->op != "ConstantOfShape") return false;
  const Tensor* const value = fact.attributes().tensor("value");
  return element_of(graph, node, 0) == Type::int64 &&
         (value == nullptr || is_movable(value->type()));
}

bool is_one_hot(const AnalyzedGraph& graph, Index node) {
  if (graph.node(node).node->signature->op != "OneHot") return false;
  const auto counts = [&](std::size_t k) {
    const Type type = element_of(graph, node, k);
    return type == Type::int64 ||
           (type != Type::uint64 && unary_loop("Cast", type, Type::int64) != nullptr);
  };
  return counts(0) && counts(1) && is_movable(element_of(graph, node, 2));
}

// Movement that only constants and shapes control is planned as a whole.
bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  if (!fact.node->signature->domain.empty() || fact.outputs.size() != 1 ||
      fact.outputs[0] == no_value)
    return false;
  return (is_constant_of_shape(graph, node) || is_one_hot(graph, node)) &&
         !is_data_movement(graph, node);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  std::unique_ptr<Step> made;
  if (is_one_hot(graph, node))
    made = std::make_unique<OneHot>(graph, node, std::move(buffers));
  else
    made = std::make_unique<ConstantOfShape>(graph, node, std::move(buffers));
  made->kernel = "fills " + std::string(graph.node(node).node->signature->op);
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily fills_family{"fills", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
