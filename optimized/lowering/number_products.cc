// Maps a contraction of numbers on tiles: dimensions of both operands form a batch of matrices,
// whose operands are packed if their strides do not suit.
#include "optimized/lowering/number_products.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "optimized/kernels/number_tiles.h"
#include "optimized/problems/collapse.h"
#include "optimized/registry/isa.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

NumberTileKernel number_tiles() { return BY_ISA(chosen_isa(), number_tiles); }

// Some dimensions of a contraction, with the strides of up to two operands.
struct Dims {
  Shape extents;
  IndexVector first, second;
  void add(Index extent, Index one, Index other) {
    if (extent == 1) return;
    const Index last = extents.size() - 1;
    if (last >= 0 && first[last] == extent * one && second[last] == extent * other) {
      extents[last] *= extent;
      first[last] = one;
      second[last] = other;
      return;
    }
    extents.push_back(extent);
    first.push_back(one);
    second.push_back(other);
  }
  Index size() const { return count(extents); }
  // Offsets of the point numbered k.
  std::pair<Index, Index> at(Index k) const {
    std::pair<Index, Index> found{0, 0};
    for (Index d = extents.size() - 1; d >= 0; k /= extents[d], --d) {
      found.first += k % extents[d] * first[d];
      found.second += k % extents[d] * second[d];
    }
    return found;
  }
};

// rows: strides of A and C; columns: of B and C; depth: of A and B; batch: of A and B, and of C.
struct Matrices {
  Dims rows, columns, depth, batch;
  IndexVector batch_c;
};

Matrices matrices_of(const Contraction& of) {
  Matrices made;
  const IndexVector c = dense_strides(of.kept);
  for (Index d = 0; d < of.kept.size(); ++d) {
    const Index a = of.a.kept[d], b = of.b.kept[d];
    if (of.kept[d] == 1) continue;
    if (a != 0 && b == 0) {
      made.rows.add(of.kept[d], a, c[d]);
    } else if (a == 0 && b != 0) {
      made.columns.add(of.kept[d], b, c[d]);
    } else {  // one by one
      made.batch.extents.push_back(of.kept[d]);
      made.batch.first.push_back(a);
      made.batch.second.push_back(b);
      made.batch_c.push_back(c[d]);
    }
  }
  for (Index d = 0; d < of.summed.size(); ++d)
    made.depth.add(of.summed[d], of.a.summed[d], of.b.summed[d]);
  return made;
}

// Matrix [rows][columns] of T from strided elements of S.
template <class T, class S>
void pack(const S* from, const Dims& rows, const IndexVector& row_strides, const Dims& columns,
          const IndexVector& column_strides, T* to) {
  const Shape extents = join(rows.extents, columns.extents);
  const Collapsed walk = collapse(extents, {join(row_strides, column_strides)});
  const Index last = walk.extents.size() - 1;
  if (last < 0) {
    *to = static_cast<T>(*from);
    return;
  }
  const Index length = walk.extents[last], step = walk.strides[0][last];
  each_outer(walk, last, [&](const std::vector<Index>& at) {
    const S* const x = from + at[0];
    for (Index k = 0; k < length; ++k) *to++ = static_cast<T>(x[k * step]);
  });
}

// T computes, S is stored.
template <class T, class S>
class Products {
 public:
  Products(RunState& state, NumberKind kind, const Matrices& x)
      : state_(state),
        kind_(kind),
        x_(x),
        m_(x.rows.size()),
        n_(x.columns.size()),
        k_(x.depth.size()) {}

  void run(const S* a, const S* b, S* c) {
    IndexVector at(x_.batch.extents.size(), 0);
    for (Index batch = 0; batch < x_.batch.size(); ++batch) {
      const auto [of_a, of_b] = x_.batch.at(batch);
      Index of_c = 0, rest = batch;
      for (Index d = at.size() - 1; d >= 0; rest /= x_.batch.extents[d], --d)
        of_c += rest % x_.batch.extents[d] * x_.batch_c[d];
      matrix(a + of_a, b + of_b, c + of_c);
      check_budget();
    }
  }

 private:
  static constexpr bool is_direct = std::is_same_v<T, S>;

  static void reserve(std::vector<T>& memory, Index size) {
    if (static_cast<Index>(memory.size()) >= size) return;
    charge_scratch(multiply(size, sizeof(T)));
    memory.resize(static_cast<std::size_t>(size));
  }

  void matrix(const S* a, const S* b, S* c) {
    NumberTile tile{};
    tile.depth = k_;
    set_a(tile, a);
    set_b(tile, b);
    const bool in_place =
        is_direct && x_.rows.extents.size() <= 1 &&
        (n_ == 1 || (x_.columns.extents.size() == 1 && x_.columns.second[0] == 1));
    if (in_place) {
      tile.c = c;
      tile.c_row = m_ > 1 ? x_.rows.second[0] : 0;
    } else {
      reserve(made_, m_ * n_);
      tile.c = made_.data();
      tile.c_row = n_;
    }
    parts(tile);
    if (!in_place) scatter(c);
  }

  void set_a(NumberTile& tile, const S* a) {
    if (is_direct && x_.rows.extents.size() <= 1 && x_.depth.extents.size() <= 1) {
      tile.a = a;
      tile.a_row = m_ > 1 ? x_.rows.first[0] : 0;
      tile.a_depth = k_ > 1 ? x_.depth.first[0] : 0;
      return;
    }
    reserve(a_, m_ * k_);
    pack(a, x_.rows, x_.rows.first, x_.depth, x_.depth.first, a_.data());
    tile.a = a_.data();
    tile.a_row = k_;
    tile.a_depth = 1;
  }

  void set_b(NumberTile& tile, const S* b) {
    const bool contiguous = n_ == 1 || (x_.columns.extents.size() == 1 && x_.columns.first[0] == 1);
    if (is_direct && contiguous && x_.depth.extents.size() <= 1) {
      tile.b = b;
      tile.b_depth = k_ > 1 ? x_.depth.second[0] : 0;
      return;
    }
    reserve(b_, k_ * n_);
    pack(b, x_.depth, x_.depth.second, x_.columns, x_.columns.first, b_.data());
    tile.b = b_.data();
    tile.b_depth = n_;
  }

  // Divides C into blocks of rows and columns.
  void parts(const NumberTile& whole) {
    constexpr Index most_rows = 64, most_columns = 256;
    const NumberTileKernel kernel = number_tiles();
    const Index down = ceil_div(m_, most_rows), across = ceil_div(n_, most_columns);
    const double cost = static_cast<double>(m_) * static_cast<double>(n_) *
                        static_cast<double>(k_) * 8 * nanoseconds_a_multiply_add;
    state_.each(down * across, cost, [&](Index part, Index) {
      const Index row = part % down * most_rows, column = part / down * most_columns;
      NumberTile tile = whole;
      tile.rows = std::min(most_rows, m_ - row);
      tile.columns = std::min(most_columns, n_ - column);
      tile.a = static_cast<const T*>(whole.a) + row * whole.a_row;
      tile.b = static_cast<const T*>(whole.b) + column;
      tile.c = static_cast<T*>(whole.c) + row * whole.c_row + column;
      check_budget();
      kernel(kind_, tile);
    });
  }

  void scatter(S* c) const {
    const T* from = made_.data();
    for (Index row = 0; row < m_; ++row) {
      S* const to = c + x_.rows.at(row).second;
      for (Index column = 0; column < n_; ++column)
        to[x_.columns.at(column).second] = static_cast<S>(*from++);
    }
  }

  RunState& state_;
  const NumberKind kind_;
  const Matrices& x_;
  const Index m_, n_, k_;
  std::vector<T> a_, b_, made_;  // packed
};

}  // namespace

bool has_number_products(Type type) {
  if (type == Type::float64) return true;
  return type != Type::undefined && facts(type).is_integer && facts(type).bits >= 8;
}

void number_products(RunState& state, Type type, const Contraction& of, const void* a,
                     const void* b, void* c) {
  if (count(of.kept) == 0) return;
  const auto compute = [&]<class T, class S>(NumberKind kind) {
    S* const to = static_cast<S*>(c);
    if (count(of.summed) == 0) {
      std::fill_n(to, count(of.kept), S{0});
      return;
    }
    Matrices x = matrices_of(of);
    const bool turned = x.columns.size() < x.rows.size() && x.columns.size() < 8;
    if (turned) {  // A and B change places, so that columns fill vectors
      std::swap(x.rows, x.columns);
      std::swap(x.depth.first, x.depth.second);
      std::swap(x.batch.first, x.batch.second);
    }
    const S *one = static_cast<const S*>(a), *other = static_cast<const S*>(b);
    if (turned) std::swap(one, other);
    Products<T, S>(state, kind, x).run(one, other, to);
  };
  if (type == Type::float64)
    return compute.template operator()<double, double>(NumberKind::float64);
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  switch (facts(type).bits) {
    case 8:
      return compute.template operator()<U32, std::uint8_t>(NumberKind::bits32);
    case 16:
      return compute.template operator()<U32, std::uint16_t>(NumberKind::bits32);
    case 32:
      return compute.template operator()<U32, U32>(NumberKind::bits32);
    default:
      return compute.template operator()<U64, U64>(NumberKind::bits64);
  }
}

}  // namespace touchstone::optimized
