// Matmuls of 8-bit integers: MatMulInteger, also with the nodes that scale its sums, and
// QLinearMatMul.
#include <algorithm>
#include <optional>

#include "core/budget.h"
#include "core/error.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/integer_product.h"
#include "optimized/lowering/scaled_matmul.h"
#include "reference/calls.h"
#include "reference/kernels/MatMulInteger_10.h"
#include "reference/kernels/QLinearMatMul_10.h"

namespace touchstone::optimized {
namespace {

constexpr std::size_t absent = 99;

// Positions of the inputs.
struct Places {
  std::size_t a, b, a_zero, b_zero, a_scale = absent, b_scale = absent, y_scale = absent,
                                    y_zero = absent;
};
constexpr Places of_integers{.a = 0, .b = 1, .a_zero = 2, .b_zero = 3};
constexpr Places of_quantised{.a = 0,
                              .b = 3,
                              .a_zero = 2,
                              .b_zero = 5,
                              .a_scale = 1,
                              .b_scale = 4,
                              .y_scale = 6,
                              .y_zero = 7};

const Places& places_of(const Node& node) {
  return node.signature->op == "MatMulInteger" ? of_integers : of_quantised;
}

// Shapes of a call whose rules hold: matrices in front of vectors, and those of zero points.
struct Shapes {
  Shape left, right, batch, made, per_row, per_column, left_zero, right_zero, left_scale,
      right_scale;
};

Shapes shapes_of(const Facts& facts, bool quantised) {
  if (!quantised) {
    const kernels::MatMulInteger_10<float> plan(facts);
    return {plan.left_seen,  plan.right_seen,  plan.batch,       plan.Y_shape, plan.per_row,
            plan.per_column, plan.a_zero_seen, plan.b_zero_seen, {},           {}};
  }
  const kernels::QLinearMatMul_10<float> plan(facts);
  return {plan.left_seen,       plan.right_seen,      plan.batch,          plan.y_shape,
          plan.per_row,         plan.per_column,      plan.left_zero_seen, plan.right_zero_seen,
          plan.left_scale_seen, plan.right_scale_seen};
}

// Calls f(position in `whole`, position in `part`) for all elements of `whole`, to which `part`
// broadcasts.
template <class F>
void each_broadcast(const Shape& whole, const Shape& part, F f) {
  const Index all = count(whole);
  if (count(part) == 1) {
    for (Index k = 0; k < all; ++k) f(k, Index{0});
    return;
  }
  const IndexVector strides = dense_strides(part);
  const Index before = whole.size() - part.size();
  IndexVector at(whole.size(), 0);
  for (Index k = 0; k < all; ++k) {
    Index from = 0;
    for (Index d = before; d < whole.size(); ++d)
      from += part[d - before] == 1 ? 0 : at[d] * strides[d - before];
    f(k, from);
    for (Index d = whole.size() - 1; d >= 0 && ++at[d] == whole[d]; --d) at[d] = 0;
  }
}

class IntegerMatmul : public TensorStep {
 public:
  IntegerMatmul(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers,
                std::optional<ScaledMatmul> scaled = std::nullopt)
      : TensorStep(graph, node, std::move(buffers)),
        product_(graph.node(scaled ? scaled->product : node)),
        at_(places_of(*product_.node)),
        scaled_(std::move(scaled)) {
    kernel =
        (scaled_ ? "scaled integer matmul " : "integer matmul ") + std::string(name(chosen_isa()));
    kernel_class = KernelClass::matmul;
    const Tensor* const b = graph.value(product_.inputs[at_.b]).constant;
    if (b == nullptr || b->shape().size() == 0) return;
    const Shape shape = matrix_shape(b->shape());
    IndexVector format{static_cast<Index>(b->type())};
    format.append(shape.begin(), shape.end());
    constant_b_ = graph.weights().get<PackedColumns>({b}, format, [&] {
      PackedColumns packed;
      pack_b(packed, *b, shape, nullptr);
      return packed;
    });
  }

  void run(RunState& state) override {
    std::vector<Value> inputs;
    for (std::size_t k = 0; k < product_.inputs.size(); ++k)
      inputs.push_back(has_input(k) ? Value(input(state, k)) : Value());
    const Call call = call_of(*product_.node, std::move(inputs));
    const bool quantised = at_.y_zero != absent;
    const Shapes shapes = shapes_of(facts_of(call), quantised);
    depth_ = shapes.left.back();
    if (quantised && depth_ > most_rounded_depth) return run_on_reference(state);
    const Type type = scaled_     ? Type::float32
                      : quantised ? input(state, at_.y_zero).type()
                                  : Type::int32;
    Tensor& made = output(state, 0, type, shapes.made);
    if (made.size() == 0) return;
    charge_work(multiply(made.size(), add(depth_, 1)));

    const Tensor& b = input(state, at_.b);
    if (!constant_b_) pack_b(fed_b_, b, shapes.right, &state);
    pack_a(state, shapes);
    columns_ = shapes.right.back();
    zeros_of_columns(state, shapes);
    IntegerProduct product{};
    product.a_row = rows_.stored_depth();
    product.depth = rows_.stored_depth();
    product.step = PackedColumns::step();
    product.columns = product.pitch = product.width = product.row = columns_;
    if (quantised) {
      product.to = rounding(state, shapes);
      product.to.is_signed = type == Type::int8;
      product.to.y = made.data<std::uint8_t>();
    } else if (scaled_) {
      product.scaled = scaling(state);
      product.scaled.y = made.data<float>();
    } else {
      product.c = made.data<std::int32_t>();
    }
    multiply_all(state, shapes, product);
  }

 private:
  // Inputs of the product, not of the last node.
  bool has_input(std::size_t k) const {
    return k < product_.inputs.size() && product_.inputs[k] != no_value;
  }
  static const Tensor& tensor(const RunState& state, Index value) {
    return state.values[static_cast<std::size_t>(value)].tensor();
  }
  const Tensor& input(const RunState& state, std::size_t k) const {
    return tensor(state, product_.inputs[k]);
  }

  Scaling scaling(const RunState& state) const {
    const Tensor& scale = tensor(state, scaled_->scale);
    Scaling made{scale.data<float>(), nullptr, scale.size() == 1 ? 0 : 1, 0, nullptr};
    if (scaled_->bias != no_value) {
      const Tensor& bias = tensor(state, scaled_->bias);
      made.bias = bias.data<float>();
      made.bias_step = bias.size() == 1 ? 0 : 1;
    }
    return made;
  }

  static Shape matrix_shape(const Shape& shape) {
    return shape.size() == 1 ? Shape{shape[0], 1} : shape;
  }
  static Index matrices(const Shape& shape) { return count(head(shape, shape.size() - 2)); }

  // `state`: null while the plan is made.
  static void pack_b(PackedColumns& packed, const Tensor& b, const Shape& shape, RunState* state) {
    const Index depth = shape[shape.size() - 2], columns = shape.back(), all = matrices(shape);
    packed.reserve(all, depth, columns);
    const bool is_signed = b.type() == Type::int8;
    const auto pack = [&](Index part, Index) {
      const Index matrix = part / packed.panels();
      packed.pack(matrix, part % packed.panels(), b.data<std::uint8_t>() + matrix * depth * columns,
                  columns, is_signed);
    };
    const Index parts = multiply(all, packed.panels());
    const double work = static_cast<double>(b.size()) * nanoseconds_an_element;
    if (state != nullptr) return state->each(parts, work, pack);
    for (Index part = 0; part < parts; ++part) pack(part, 0);
  }
  const PackedColumns& packed_b() const { return constant_b_ ? *constant_b_ : fed_b_; }

  void pack_a(RunState& state, const Shapes& shapes) {
    const Tensor& a = input(state, at_.a);
    const Index rows = count(shapes.per_row);
    const bool is_signed = a.type() == Type::int8;
    rows_.reserve(rows, depth_, integer_tiles().fours);
    const Index parts = std::min(rows, parts_for(state.pool.size()));
    const double work = static_cast<double>(rows) * static_cast<double>(depth_) * 0.1;
    state.each(parts, work, [&](Index part, Index) {
      for (Index m = rows * part / parts; m < rows * (part + 1) / parts; ++m)
        rows_.pack(m, a.data<std::uint8_t>() + m * depth_, is_signed);
    });
    const Tensor* zero = has_input(at_.a_zero) ? &input(state, at_.a_zero) : nullptr;
    each_broadcast(shapes.per_row, shapes.left_zero, [&](Index m, Index from) {
      rows_.zeros()[m] = stored_zero(zero == nullptr ? 0 : byte_at(*zero, from), false, !is_signed);
    });
  }

  void zeros_of_columns(RunState& state, const Shapes& shapes) {
    const bool is_signed = input(state, at_.b).type() == Type::int8;
    const Tensor* zero = has_input(at_.b_zero) ? &input(state, at_.b_zero) : nullptr;
    const Index all = count(shapes.per_column);
    zeros_ = column_memory_.at<std::int32_t>(multiply(all, 2));
    const std::int32_t* const sums = packed_b().sums(0);
    each_broadcast(shapes.per_column, shapes.right_zero, [&](Index n, Index from) {
      zeros_[n] = stored_zero(zero == nullptr ? 0 : byte_at(*zero, from), is_signed, false);
      zeros_[all + n] = rest_of(sums[n], zeros_[n], depth_);
    });
    rests_ = zeros_ + all;
  }

  Requantise rounding(RunState& state, const Shapes& shapes) {
    Requantise to{};
    to.narrow = true;
    const auto scales = [&](std::size_t at, const Shape& seen, const Shape& whole,
                            KeptMemory& memory, std::int64_t& step) -> const float* {
      const Tensor& given = input(state, at);
      if (step = given.size() == 1 ? 0 : 1; step == 0) return given.data<float>();
      float* const wide = memory.at<float>(count(whole));
      each_broadcast(whole, seen,
                     [&](Index k, Index from) { wide[k] = given.data<float>()[from]; });
      return wide;
    };
    to.row_scale = scales(at_.a_scale, shapes.left_scale, shapes.per_row, row_scales_, to.row_step);
    to.column_scale =
        scales(at_.b_scale, shapes.right_scale, shapes.per_column, column_scales_, to.column_step);
    to.y_scale = input(state, at_.y_scale).data<float>()[0];
    to.y_zero = static_cast<float>(byte_at(input(state, at_.y_zero), 0));
    return to;
  }

  void multiply_all(RunState& state, const Shapes& shapes, const IntegerProduct& given) {
    const IntegerTiles& tiles = integer_tiles();
    const Shape left = head(shapes.left, shapes.left.size() - 2);
    const Shape right = head(shapes.right, shapes.right.size() - 2);
    Index rows = shapes.left[shapes.left.size() - 2], products = count(shapes.batch);
    // All matrices A times the same B are one product.
    const bool one = count(right) == 1 && count(left) == products;
    if (one) rows *= products, products = 1;
    const Index panels = packed_b().panels(), wanted = parts_for(state.pool.size());
    const Index panel_parts = std::min(panels, ceil_div(wanted, products));
    const Index row_parts = std::min(ceil_div(rows, 48), ceil_div(wanted, products * panel_parts));
    const Index parts_each = panel_parts * row_parts;
    const double work = static_cast<double>(rows) * static_cast<double>(columns_) *
                        static_cast<double>(depth_) * static_cast<double>(products) * 0.01;
    Index* const lefts = sources_.at<Index>(multiply(products, 2));
    Index* const rights = lefts + products;
    if (one) {
      lefts[0] = rights[0] = 0;
    } else {
      each_broadcast(shapes.batch, left, [&](Index k, Index from) { lefts[k] = from; });
      each_broadcast(shapes.batch, right, [&](Index k, Index from) { rights[k] = from; });
    }
    state.each(products * parts_each, work, [&](Index part, Index) {
      const Index k = part / parts_each, row_part = part % parts_each / panel_parts;
      const Index panel_part = part % panel_parts;
      const Index m = lefts[k] * rows, from = rights[k];
      IntegerProduct product = given;
      product.a = rows_.row(m);
      product.a_zero = rows_.zeros() + m;
      product.a_sum = rows_.sums() + m;
      product.b = packed_b().matrix(from);
      product.b_zero = zeros_ + from * columns_;
      product.b_rest = rests_ + from * columns_;
      if (product.c != nullptr) {
        product.c += k * rows * columns_;
      } else if (product.scaled.y != nullptr) {
        product.scaled.y += k * rows * columns_;
      } else {
        product.to.y += k * rows * columns_;
        product.to.row_scale += m * product.to.row_step;
        product.to.column_scale += from * columns_ * product.to.column_step;
      }
      const Index first = rows * row_part / row_parts, end = rows * (row_part + 1) / row_parts;
      for (Index panel = panels * panel_part / panel_parts;
           panel < panels * (panel_part + 1) / panel_parts; ++panel)
        tiles.multiply(product, panel, first, end - first);
    });
  }

  const AnalyzedNode& product_;
  const Places& at_;
  const std::optional<ScaledMatmul> scaled_;
  PackedRows rows_;
  PackedColumns fed_b_;
  std::shared_ptr<const PackedColumns> constant_b_;  // shared by the plans of the model
  KeptMemory column_memory_, row_scales_, column_scales_, sources_;
  std::int32_t *zeros_ = nullptr, *rests_ = nullptr;
  Index depth_ = 0, columns_ = 0;
};

bool is_bytes(const AnalyzedGraph& graph, const AnalyzedNode& fact, std::size_t k) {
  if (k >= fact.inputs.size() || fact.inputs[k] == no_value) return true;
  const AnalyzedValue& value = graph.value(fact.inputs[k]);
  return value.is(Type::uint8) || value.is(Type::int8);
}

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const std::string_view op = fact.node->signature->op;
  if (!fact.node->signature->domain.empty() || (op != "MatMulInteger" && op != "QLinearMatMul"))
    return false;
  const Places& at = places_of(*fact.node);
  for (const std::size_t k : {at.a, at.b, at.a_zero, at.b_zero, at.y_zero}) {
    if (!is_bytes(graph, fact, k)) return false;
  }
  for (const std::size_t k : {at.a_scale, at.b_scale, at.y_scale}) {
    if (k != absent && !graph.value(fact.inputs[k]).is(Type::float32)) return false;
  }
  return true;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<IntegerMatmul>(graph, node, std::move(buffers));
}

std::optional<FusedNodes> takes_scaled(const AnalyzedGraph& graph, Index last) {
  std::optional<ScaledMatmul> found = scaled_by(graph, last);
  if (!found || !takes(graph, found->product)) return std::nullopt;
  return std::move(found->fused);
}

std::unique_ptr<Step> scaled_step(const AnalyzedGraph& graph, Index last,
                                  std::vector<Index> buffers) {
  return std::make_unique<IntegerMatmul>(graph, last, std::move(buffers), scaled_by(graph, last));
}

}  // namespace

const KernelFamily integer_matmul_family{"integer matmul", KernelClass::matmul, takes, step};
const FusedFamily scaled_matmul_family{takes_scaled, scaled_step};

}  // namespace touchstone::optimized
