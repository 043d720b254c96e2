// Family `codes`: casts from and to types of few bits: a table of all codes for sources of up to
// 8 bits, and the reference's conversion, spread over the threads, for wider ones.
#include <algorithm>
#include <cstring>

#include "core/numbers/convert.h"
#include "core/placement.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"

namespace touchstone::optimized {
namespace {

constexpr Index piece = 4096;  // elements of a part: whole bytes of every type
constexpr double nanoseconds_a_code = 0.5, nanoseconds_a_conversion = 30;

bool is_real(Type type) {
  return type != Type::undefined && type != Type::string && !facts(type).is_complex;
}

class Codes : public TensorStep {
 public:
  Codes(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        from_(element_of(graph, node, 0)),
        to_(element_type(graph, fact().outputs[0])) {
    if (facts(from_).bits > 8) return;
    const Index codes = Index{1} << facts(from_).bits;
    Tensor all(from_, {codes});
    for (Index k = 0; k < codes; ++k) set_code(all, k, static_cast<std::uint64_t>(k));
    const Tensor cast = converted(all);
    table_ = Tensor(is_packed(to_) ? Type::uint8 : to_, {codes});
    if (is_packed(to_)) {
      const std::vector<std::uint8_t> made = unpack(cast);
      std::copy(made.begin(), made.end(), table_.data<std::uint8_t>());
    } else {
      table_ = cast;
    }
  }

  void run(RunState& state) override {
    const Tensor& from = input(state, 0);
    Tensor& made = output(state, 0, to_, from.shape());
    const Index all = from.size(), parts = ceil_div(all, piece);
    const bool looks_up = table_.size() > 0;
    const double cost = looks_up ? nanoseconds_a_code : nanoseconds_a_conversion;
    state.each(parts, static_cast<double>(all) * cost, [&](Index part, Index) {
      const Index first = part * piece, count = std::min(piece, all - first);
      const Tensor x = slice(from, first, count);
      Tensor y = slice(made, first, count);
      if (looks_up)
        look_up(x, y);
      else
        convert(x, y, saturation(), rounding());
    });
  }

 private:
  // A tensor over some elements, which begin with a byte of their own.
  static Tensor slice(const Tensor& tensor, Index first, Index count) {
    std::byte* const at = const_cast<std::byte*>(tensor.bytes().data());
    return tensor_at(at + packed_bytes(tensor.type(), first), tensor.type(), {count});
  }

  void look_up(const Tensor& from, Tensor& to) const {
    const auto go = [&](const std::uint8_t* codes) {
      with_sized(table_.type(), [&]<class T>() {
        const T* const table = table_.data<T>();
        if (!is_packed(to_)) {
          T* const y = to.data<T>();
          for (Index k = 0; k < to.size(); ++k) y[k] = table[codes[k]];
        } else if constexpr (std::is_integral_v<T>) {
          std::vector<std::uint8_t> made(static_cast<std::size_t>(to.size()));
          for (std::size_t k = 0; k < made.size(); ++k)
            made[k] = static_cast<std::uint8_t>(table[codes[k]]);
          pack(made, to);
        }
      });
    };
    if (is_packed(from_))
      go(unpack(from).data());
    else
      go(from.data<std::uint8_t>());
  }

  Tensor converted(const Tensor& from) const {
    Tensor made(to_, from.shape());
    convert(from, made, saturation(), rounding());
    return made;
  }
  Saturate saturation() const {
    return cast_saturation(to_, fact().attributes().integer("saturate", 1) != 0);
  }
  Rounding rounding() const {
    if (to_ != Type::float8e8m0) return Rounding::nearest_even;
    const std::string way = fact().attributes().text("round_mode", "up");
    return way == "up" ? Rounding::up : way == "down" ? Rounding::down : Rounding::nearest_up;
  }

  const Type from_, to_;
  Tensor table_;  // the result of each code; a byte each for packed types
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || (signature.op != "Cast" && signature.op != "CastLike"))
    return false;
  if (fact.outputs.size() != 1 || !is_real(element_type(graph, fact.outputs[0]))) return false;
  const std::string way = fact.attributes().text("round_mode", "up");
  return is_real(element_of(graph, node, 0)) && (way == "up" || way == "down" || way == "nearest");
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  auto made = std::make_unique<Codes>(graph, node, std::move(buffers));
  made->kernel = "codes " + std::string(graph.node(node).node->signature->op);
  made->kernel_class = KernelClass::pointwise;
  return made;
}

}  // namespace

const KernelFamily codes_family{"codes", KernelClass::pointwise, takes, step};

}  // namespace touchstone::optimized
