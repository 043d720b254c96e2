// Quantization and dequantization: QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/integer_product.h"
#include "optimized/lowering/quantise_kernels.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr Index piece = 8192;  // numbers of a row with one scale, at most

std::optional<QuantisedType> quantised_type(Type type) {
  switch (type) {
    case Type::uint8:
      return QuantisedType::uint8;
    case Type::int8:
      return QuantisedType::int8;
    case Type::uint16:
      return QuantisedType::uint16;
    case Type::int16:
      return QuantisedType::int16;
    case Type::int32:
      return QuantisedType::int32;
    default:
      return std::nullopt;
  }
}

// Rows of a tensor, within which scales are the same or neighbors.
struct QuantisedRows {
  Index rows = 0, length = 0;  // every row is that long, but those at the end of their group
  Index group = 1;             // rows of a group: the last of them ends at `extent`
  Index extent = 0;            // numbers of a group
  Index step = 0;              // 1 if each number has its own scale
  // Row r has the scales from (r / outer * blocks + r % outer / block) * width on.
  Index outer = 1, blocks = 0, block = 1, width = 1;

  Index start(Index r) const { return r / group * extent + r % group * length; }
  Index size(Index r) const { return std::min(length, extent - r % group * length); }
  Index scale(Index r) const { return (r / outer * blocks + r % outer / block) * width; }
};

// Returns nothing if a rule is violated.
std::optional<QuantisedRows> rows_of(const Shape& x, const Shape& scale, const Facts& node) {
  const Index all = count(x), rank = x.size();
  if (count(scale) == 1 && scale.size() <= 1)
    return QuantisedRows{.rows = ceil_div(all, piece),
                         .length = piece,
                         .group = std::max<Index>(ceil_div(all, piece), 1),
                         .extent = all,
                         .outer = std::max<Index>(ceil_div(all, piece), 1),
                         .block = std::max<Index>(ceil_div(all, piece), 1)};
  if (rank == 0 || node.signature().since < 13) return std::nullopt;
  const Index axis = rank == 1 ? 0 : wrap(node.integer("axis", 1), rank);
  const Index block = node.integer("block_size");
  if (axis < 0 || axis >= rank || block < 0) return std::nullopt;
  const Index extent = x[axis], inner = count(tail(x, axis + 1));
  const Index outer = count(head(x, axis));
  if (block > 0 && scale.size() == rank) {
    const Index blocks = ceil_div(extent, block);
    if (scale != replaced(x, axis, blocks)) return std::nullopt;
    if (inner == 1)
      return QuantisedRows{.rows = multiply(outer, blocks),
                           .length = std::min(block, extent),
                           .group = std::max<Index>(blocks, 1),
                           .extent = extent,
                           .blocks = 1};
    return QuantisedRows{.rows = multiply(outer, extent),
                         .length = inner,
                         .extent = inner,
                         .step = 1,
                         .outer = std::max<Index>(extent, 1),
                         .blocks = blocks,
                         .block = block,
                         .width = inner};
  }
  if (scale.size() != 1 || scale[0] != extent) return std::nullopt;
  if (inner == 1)
    return QuantisedRows{.rows = outer, .length = extent, .extent = extent, .step = 1, .width = 0};
  return QuantisedRows{.rows = multiply(outer, extent),
                       .length = inner,
                       .extent = inner,
                       .outer = std::max<Index>(extent, 1)};
}

class QuantiseStep : public TensorStep {
 public:
  QuantiseStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers, bool back)
      : TensorStep(graph, node, std::move(buffers)),
        kernels_(quantise_kernels(chosen_isa())),
        back_(back),
        type_(graph.value(fact().outputs[0]).type->element) {
    kernel = (back ? "dequantize " : "quantize ") + std::string(name(chosen_isa()));
    kernel_class = KernelClass::pointwise;
  }

  void run(RunState& state) override {
    const Tensor &x = input(state, 0), &scale = input(state, 1);
    const std::optional<QuantisedRows> found =
        rows_of(x.shape(), scale.shape(), fact().attributes());
    if (!found) return run_on_reference(state);
    const float* zeros = nullptr;
    if (has_input(2)) {
      const Tensor& zero = input(state, 2);
      if (zero.shape() != scale.shape() && (zero.size() != 1 || scale.size() != 1))
        return run_on_reference(state);
      zeros = numbers(zero);
    }
    Tensor& y = output(state, 0, type_, x.shape());
    if (y.size() == 0) return;
    const QuantisedRows& rows = *found;
    const Index parts = std::min(rows.rows, parts_for(state.pool.size()));
    state.each(parts, static_cast<double>(y.size()) * nanoseconds_an_element,
               [&](Index part, Index) {
                 for (Index r = rows.rows * part / parts; r < rows.rows * (part + 1) / parts; ++r)
                   one_row(rows, r, x, scale.data<float>(), zeros, y);
               });
  }

 private:
  const float* numbers(const Tensor& zero) {
    float* const made = zeros_.at<float>(zero.size());
    const float one = 1;
    const QuantisedRow row{zero.size(), &one, nullptr, 0};
    kernels_.dequantise(row, zero.bytes().data(), *quantised_type(zero.type()), made);
    return made;
  }

  void one_row(const QuantisedRows& rows, Index r, const Tensor& x, const float* scales,
               const float* zeros, Tensor& y) const {
    const Index from = rows.start(r), at = rows.scale(r);
    const QuantisedRow row{rows.size(r), scales + at, zeros == nullptr ? nullptr : zeros + at,
                           rows.step};
    const auto element = [&](auto* bytes, Type type) {
      return bytes + from * facts(type).bits / 8;
    };
    const void* const given = element(x.bytes().data(), x.type());
    if (back_) {
      kernels_.dequantise(row, given, *quantised_type(x.type()), y.data<float>() + from);
    } else if (x.type() == Type::int32) {
      kernels_.quantise_integers(row, static_cast<const std::int32_t*>(given),
                                 *quantised_type(type_), element(y.bytes().data(), type_));
    } else {
      kernels_.quantise(row, static_cast<const float*>(given), *quantised_type(type_),
                        element(y.bytes().data(), type_));
    }
  }

  const QuantiseKernels& kernels_;
  const bool back_;
  const Type type_;  // of the output
  KeptMemory zeros_;
};

class DynamicQuantise : public TensorStep {
 public:
  DynamicQuantise(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), kernels_(quantise_kernels(chosen_isa())) {
    kernel = "dynamic quantize " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::pointwise;
  }

  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Index size = x.size(), pieces = ceil_div(size, piece);
    const Index parts = std::min(pieces, parts_for(state.pool.size()));
    const float* const from = x.data<float>();
    const double work = static_cast<double>(size) * nanoseconds_an_element;
    const auto each_part = [&](auto work_on) {
      state.each(parts, work, [&](Index part, Index) {
        const Index first = pieces * part / parts * piece;
        work_on(part, first, std::min(pieces * (part + 1) / parts * piece, size) - first);
      });
    };
    NumberRange* const ranges = ranges_.at<NumberRange>(parts);
    each_part([&](Index part, Index first, Index many) {
      ranges[part] = kernels_.range(from + first, many);
    });
    float low = 0, high = 0;
    bool finite = true;
    for (Index part = 0; part < parts; ++part) {
      low = std::min(low, ranges[part].low);
      high = std::max(high, ranges[part].high);
      finite = finite && ranges[part].finite;
    }
    const float scale = (high - low) / 255;
    const bool zeros = low == 0 && high == 0;
    // NaN and infinities, and numbers so small that their scale is 0.
    if (!finite || !std::isfinite(scale) || (scale == 0 && !zeros)) return run_on_reference(state);
    const float zero = zeros ? 0 : std::rint(std::min(std::max(0 - low / scale, 0.0F), 255.0F));
    if (has_output(1)) *output(state, 1, Type::float32, {}).data<float>() = scale;
    if (has_output(2))
      *output(state, 2, Type::uint8, {}).data<std::uint8_t>() = static_cast<std::uint8_t>(zero);
    if (!has_output(0)) return;
    Tensor& y = output(state, 0, Type::uint8, x.shape());
    if (zeros) {
      std::fill_n(y.data<std::uint8_t>(), size, std::uint8_t{0});
      return;
    }
    const bool plain = scale > 1e-12F && scale < 1e12F;
    each_part([&](Index, Index first, Index many) {
      if (plain)
        return kernels_.quantise_small(scale, zero, many, from + first,
                                       y.data<std::uint8_t>() + first);
      const QuantisedRow row{many, &scale, &zero, 0};
      kernels_.quantise(row, from + first, QuantisedType::uint8, y.data<std::uint8_t>() + first);
    });
  }

 private:
  const QuantiseKernels& kernels_;
  KeptMemory ranges_;
};

// Type of a tensor among those that the kernels read, other than 32-bit integers.
bool is_narrow(const AnalyzedValue& value) {
  return value.is(Type::uint8) || value.is(Type::int8) || value.is(Type::uint16) ||
         value.is(Type::int16);
}

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty()) return false;
  const auto given = [&](std::size_t k) -> const AnalyzedValue* {
    return k < fact.inputs.size() && fact.inputs[k] != no_value ? &graph.value(fact.inputs[k])
                                                                : nullptr;
  };
  if (signature.op == "DynamicQuantizeLinear") return given(0)->is(Type::float32);
  const bool back = signature.op == "DequantizeLinear";
  if (!back && signature.op != "QuantizeLinear") return false;
  if (fact.outputs[0] == no_value || !given(1)->is(Type::float32)) return false;
  const AnalyzedValue &x = *given(0), &y = graph.value(fact.outputs[0]);
  const AnalyzedValue* const zero = given(2);
  if (back) {
    const auto readable = [](const AnalyzedValue& value) {
      return is_narrow(value) || value.is(Type::int32);
    };
    return readable(x) && (zero == nullptr || readable(*zero)) && y.is(Type::float32);
  }
  const Index precision = fact.attributes().integer("precision");
  const bool in_float = precision == 0 || precision == static_cast<Index>(Type::float32);
  return in_float && (x.is(Type::float32) || x.is(Type::int32)) &&
         (zero == nullptr || is_narrow(*zero)) && is_narrow(y);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const std::string_view op = graph.node(node).node->signature->op;
  if (op == "DynamicQuantizeLinear")
    return std::make_unique<DynamicQuantise>(graph, node, std::move(buffers));
  return std::make_unique<QuantiseStep>(graph, node, std::move(buffers), op == "DequantizeLinear");
}

}  // namespace

const KernelFamily quantise_family{"quantize", KernelClass::pointwise, takes, step};

}  // namespace touchstone::optimized
