// Family `placements`: ReverseSequence, TensorScatter, Trilu and EyeLike by fed numbers, Range, and
// nodes that pass their elements on: BitCast, and Dropout outside of training.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/groups.h"

namespace touchstone::optimized {
namespace {

void copy_bytes(std::byte* to, const std::byte* from, Index bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

class Placement : public Moves {
 protected:
  using Moves::Moves;

  // Calls work(first, end) for ranges of rows of `bytes` each, on all threads.
  template <class F>
  static void rows(RunState& state, Index all, Index bytes, F work) {
    const Index step = std::max<Index>(ceil_div(all, parts_for(state.pool.size())), 1);
    const double cost = static_cast<double>(all * bytes) / 4 * nanoseconds_an_element;
    state.each(ceil_div(all, step), cost,
               [&](Index part, Index) { work(part * step, std::min((part + 1) * step, all)); });
  }
  // Copies all elements.
  static void copy_all(RunState& state, const Tensor& from, Tensor& to) {
    constexpr Index piece = 65536;
    const Index bytes = static_cast<Index>(from.bytes().size());
    rows(state, ceil_div(bytes, piece), piece, [&](Index first, Index end) {
      copy_bytes(to.bytes().data() + first * piece, from.bytes().data() + first * piece,
                 std::min(end * piece, bytes) - first * piece);
    });
  }
};

class ReverseSequence : public Placement {
 public:
  using Placement::Placement;

 private:
  // Reverses rows of single elements.
  template <class T>
  static void reverse_elements(RunState& state, const Tensor& from, const IndexVector& lengths,
                               Tensor& made) {
    const Index times = from.shape()[1];
    const auto row_bytes = times * static_cast<Index>(sizeof(T));
    rows(state, made.size() > 0 ? lengths.size() : 0, row_bytes, [&](Index first, Index end) {
      for (Index k = first; k < end; ++k) {
        const T* const x = from.data<T>() + k * times;
        std::reverse_copy(x, x + lengths[k], made.data<T>() + k * times);
        std::copy(x + lengths[k], x + times, made.data<T>() + k * times + lengths[k]);
      }
    });
  }

  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Shape& shape = from.shape();
    const Facts given = fact().attributes();
    const Index batch_axis = given.integer("batch_axis", 1), time_axis = given.integer("time_axis");
    const std::optional<IndexVector> lengths = list(state, 1);
    if (shape.size() < 2 || batch_axis < 0 || time_axis < 0 || batch_axis + time_axis != 1 ||
        !lengths || input(state, 1).shape() != Shape{shape[batch_axis]})
      return false;
    const Index times = shape[time_axis];
    for (const Index length : *lengths) {
      if (length < 0 || length > times) return false;
    }
    Tensor& made = output(state, 0, from.type(), shape);
    const Index row = count(tail(shape, 2)) * bytes_of(from.type());
    if (time_axis == 1 && row == bytes_of(from.type())) {
      with_sized(from.type(), [&]<class T>() { reverse_elements<T>(state, from, *lengths, made); });
      return true;
    }
    rows(state, made.size() > 0 ? shape[0] * shape[1] : 0, row, [&](Index first, Index end) {
      for (Index k = first; k < end; ++k) {
        const Index one = k / shape[1], other = k % shape[1];
        const Index time = time_axis == 0 ? one : other;
        const Index length = (*lengths)[time_axis == 0 ? other : one];
        const Index source = time < length ? length - 1 - time : time;
        const Index at = time_axis == 0 ? source * shape[1] + other : one * shape[1] + source;
        copy_bytes(made.bytes().data() + k * row, from.bytes().data() + at * row, row);
      }
    });
    return true;
  }
};

class TensorScatter : public Placement {
 public:
  using Placement::Placement;

 private:
  bool moved(RunState& state) override {
    const Tensor &past = input(state, 0), &update = input(state, 1);
    const Shape &shape = past.shape(), &more = update.shape();
    const Facts given = fact().attributes();
    const std::string mode = given.text("mode", "linear");
    const Index rank = shape.size(), axis = wrap(given.integer("axis", -2), rank);
    if (axis <= 0 || axis >= rank || more.size() != rank || more[axis] > shape[axis] ||
        replaced(more, axis, 0) != replaced(shape, axis, 0) ||
        (mode != "linear" && mode != "circular"))
      return false;
    IndexVector starts;  // empty: all are zero
    if (has_input(2)) {
      const std::optional<IndexVector> fed = list(state, 2);
      if (!fed || input(state, 2).shape() != Shape{shape[0]}) return false;
      starts = *fed;
    }
    const bool wraps = mode == "circular";
    for (const Index start : starts) {
      if (more[axis] > 0 && (start < 0 || start > shape[axis] - (wraps ? 1 : more[axis])))
        return false;
    }
    Tensor& made = output(state, 0, past.type(), shape);
    if (made.size() == 0) return true;
    copy_all(state, past, made);
    const Index row = count(tail(shape, axis + 1)) * bytes_of(past.type());
    const Index each = count(head(tail(shape, 1), axis - 1)), length = more[axis];
    rows(state, length > 0 ? shape[0] * each : 0, length * row, [&](Index first, Index end) {
      for (Index k = first; k < end; ++k) {
        const Index start = starts.empty() ? 0 : starts[k / each];
        const Index whole = std::min(length, shape[axis] - start);
        std::byte* const to = made.bytes().data() + k * shape[axis] * row;
        const std::byte* const from = update.bytes().data() + k * length * row;
        copy_bytes(to + start * row, from, whole * row);
        copy_bytes(to, from + whole * row, (length - whole) * row);
      }
    });
    return true;
  }
};

class Trilu : public Placement {
 public:
  using Placement::Placement;

 private:
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Shape& shape = from.shape();
    const Index rank = shape.size();
    Index diagonal = 0;
    if (has_input(1)) {
      const std::optional<IndexVector> fed = list(state, 1);
      if (!fed || fed->size() != 1) return false;
      diagonal = (*fed)[0];
    }
    if (rank < 2) return false;
    const bool upper = fact().attributes().integer("upper", 1) != 0;
    Tensor& made = output(state, 0, from.type(), shape);
    if (made.size() == 0) return true;
    const Index height = shape[rank - 2], width = shape[rank - 1];
    diagonal = std::clamp(diagonal, -height - 1, width + 1);
    const Index bytes = bytes_of(from.type());
    rows(state, made.size() / width, width * bytes, [&](Index first, Index end) {
      for (Index k = first; k < end; ++k) {
        // Columns before `cut` are kept below the diagonal, the others above it.
        const Index cut = std::clamp<Index>(k % height + diagonal + (upper ? 0 : 1), 0, width);
        const Index low = upper ? cut : 0, high = upper ? width : cut;
        std::byte* const to = made.bytes().data() + k * width * bytes;
        const std::byte* const x = from.bytes().data() + k * width * bytes;
        std::memset(to, 0, static_cast<std::size_t>(low * bytes));
        copy_bytes(to + low * bytes, x + low * bytes, (high - low) * bytes);
        std::memset(to + high * bytes, 0, static_cast<std::size_t>((width - high) * bytes));
      }
    });
    return true;
  }
};

class EyeLike : public Placement {
 public:
  using Placement::Placement;

 private:
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Facts given = fact().attributes();
    const Type type =
        given.given("dtype") ? static_cast<Type>(given.integer("dtype")) : from.type();
    if (from.shape().size() != 2 || !is_movable(type)) return false;
    Tensor one(type, {});
    set_number(one, 0, 1);
    Tensor& made = output(state, 0, type, from.shape());
    std::fill(made.bytes().begin(), made.bytes().end(), std::byte{0});
    const Index height = from.shape()[0], width = from.shape()[1], bytes = bytes_of(type);
    const Index diagonal = std::clamp(given.integer("k"), -height, width);
    for (Index y = std::max<Index>(-diagonal, 0); y < std::min(height, width - diagonal); ++y)
      copy_bytes(made.bytes().data() + (y * width + y + diagonal) * bytes, one.bytes().data(),
                 bytes);
    return true;
  }
};

// start + k * delta; integers wrap round.
class Range : public Placement {
 public:
  using Placement::Placement;

 private:
  bool moved(RunState& state) override {
    for (std::size_t k = 0; k < 3; ++k) {
      if (input(state, k).size() != 1 || input(state, k).type() != input(state, 0).type())
        return false;
    }
    switch (input(state, 0).type()) {
      case Type::float64:
        return fill<double, double>(state);
      case Type::int16:
        return fill<std::int16_t, std::uint64_t>(state);
      case Type::int32:
        return fill<std::int32_t, std::uint64_t>(state);
      case Type::int64:
        return fill<std::int64_t, std::uint64_t>(state);
      default:
        return false;
    }
  }

  template <class T, class C>
  bool fill(RunState& state) {
    const Tensor& start = input(state, 0);
    std::vector<Described> fed;
    for (std::size_t k = 0; k < 3; ++k) {
      const Tensor& one = input(state, k);
      if (!std::isfinite(static_cast<double>(one.data<T>()[0]))) return false;
      fed.push_back({true, one.type(), &one.shape(), &one, ""});
    }
    if (input(state, 2).data<T>()[0] == 0) return false;
    Index all = 0;
    try {
      all = steps(fed[0], fed[1], fed[2]);
    } catch (const Error&) {
      return false;  // the reference raises it with the node's place
    }
    Tensor& made = output(state, 0, start.type(), {all});
    const auto first = static_cast<C>(start.data<T>()[0]);
    const auto by = static_cast<C>(input(state, 2).data<T>()[0]);
    T* const to = made.data<T>();
    rows(state, all, sizeof(T), [&](Index from, Index end) {
      for (Index k = from; k < end; ++k) to[k] = static_cast<T>(first + static_cast<C>(k) * by);
    });
    return true;
  }
};

class BitCast : public Placement {
 public:
  using Placement::Placement;

 private:
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const auto type = static_cast<Type>(fact().attributes().integer("to"));
    if (type == Type::boolean || facts(type).bits != facts(from.type()).bits) return false;
    copy_all(state, from, output(state, 0, type, from.shape()));
    return true;
  }
};

// Dropout that passes on what it reads, with a mask of ones.
class Dropout : public Placement {
 public:
  using Placement::Placement;

 private:
  static constexpr int feeds_mode = 12, masks_in_bools = 10, always_tests = 7;

  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Facts given = fact().attributes();
    const int since = given.signature().since;
    if (since < always_tests && given.integer("is_test") == 0) return false;
    if (since >= feeds_mode) {
      if (has_input(1) && input(state, 1).size() != 1) return false;
      if (has_input(2)) {
        const Tensor& mode = input(state, 2);
        if (mode.size() != 1 || mode.data<std::uint8_t>()[0] != 0) return false;
      }
    }
    copy_all(state, from, output(state, 0, from.type(), from.shape()));
    if (!has_output(1)) return true;
    const Type type = since >= masks_in_bools ? Type::boolean : from.type();
    Tensor one(type, {});
    set_number(one, 0, 1);
    Tensor& mask = output(state, 1, type, from.shape());
    with_sized(type,
               [&]<class T>() { std::fill_n(mask.data<T>(), mask.size(), one.data<T>()[0]); });
    return true;
  }
};

struct Row {
  std::string_view op;
  std::size_t inputs;
  MakeStep make;
};
constexpr Row placements[] = {
    {"ReverseSequence", 2, make_step<ReverseSequence>},
    {"TensorScatter", 2, make_step<TensorScatter>},
    {"Trilu", 1, make_step<Trilu>},
    {"EyeLike", 1, make_step<EyeLike>},
    {"Range", 3, make_step<Range>},
    {"BitCast", 1, make_step<BitCast>},
    {"Dropout", 1, make_step<Dropout>},
};

const Row* row_of(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs.empty() || fact.outputs[0] == no_value)
    return nullptr;
  for (const Row& row : placements) {
    if (row.op != signature.op || fact.inputs.size() < row.inputs) continue;
    for (std::size_t k = 0; k < row.inputs; ++k) {
      if (fact.inputs[k] == no_value) return nullptr;
    }
    const Type type = element_of(graph, node, 0);
    if (row.op == "BitCast")
      return type != Type::undefined && type != Type::string ? &row : nullptr;
    if (!is_movable(type)) return nullptr;
    const bool counts = type == Type::float64 || facts(type).is_integer;
    return counts || row.op != "Range" ? &row : nullptr;
  }
  return nullptr;
}

bool takes(const AnalyzedGraph& graph, Index node) {
  return row_of(graph, node) != nullptr && !is_movement_of_any_type(graph, node);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const Row& row = *row_of(graph, node);
  std::unique_ptr<Step> made = row.make(graph, node, std::move(buffers));
  made->kernel = "placements " + std::string(row.op);
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily placements_family{"placements", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
