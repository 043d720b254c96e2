// Tests every copy routine against a loop over all five dimensions.
#include "optimized/kernels/strided_copy.h"

#include <numeric>

#include "optimized/kernels/testing.h"

namespace touchstone::testing {
namespace {

template <class T>
void check(optimized::Isa isa, const optimized::StridedCopy& move, Index from_count,
           Index from_start, Index to_count) {
  Paged<T> from(static_cast<std::size_t>(from_count));
  std::iota(from.begin(), from.end(), T{1});
  std::vector<T> to(static_cast<std::size_t>(to_count + 128)), wanted = to;
  const auto& n = move.extents;
  std::array<Index, 5> i{};
  for (i[4] = 0; i[4] < n[4]; ++i[4])
    for (i[3] = 0; i[3] < n[3]; ++i[3])
      for (i[2] = 0; i[2] < n[2]; ++i[2])
        for (i[1] = 0; i[1] < n[1]; ++i[1])
          for (i[0] = 0; i[0] < n[0]; ++i[0]) {
            const Index f =
                std::inner_product(i.begin(), i.end(), move.source_strides.begin(), from_start);
            const Index t =
                std::inner_product(i.begin(), i.end(), move.target_strides.begin(), Index{64});
            wanted.at(static_cast<std::size_t>(t)) = from.at(static_cast<std::size_t>(f));
          }
  run_strided_copy(isa, move, sizeof(T), from.data() + from_start, to.data() + 64);
  EXPECT_EQ(to, wanted) << name(isa) << ' ' << sizeof(T) << " bytes, " << n[0] << 'x' << n[1] << 'x'
                        << n[2] << 'x' << n[3] << 'x' << n[4];
}

template <class F>
void each_type(optimized::Isa isa, F with) {
  with.template operator()<std::uint8_t>(isa);
  with.template operator()<std::uint16_t>(isa);
  with.template operator()<std::uint32_t>(isa);
  with.template operator()<std::uint64_t>(isa);
}

// Transposes of dense arrays: dimension order[k] of `from` is the k-th of `to`, innermost first.
TEST(StridedCopy, EveryPermutation) {
  const std::vector<std::array<Index, 5>> shapes{
      {1, 1, 1, 1, 1},    {3, 5, 2, 1, 4},  {16, 16, 2, 1, 1}, {33, 19, 1, 3, 1}, {8, 1, 41, 2, 2},
      {1, 17, 16, 1, 35}, {4, 64, 3, 0, 2}, {100, 2, 3, 1, 1}, {3, 37, 2, 1, 1}};
  for (optimized::Isa isa : present_isas()) {
    for (const std::array<Index, 5>& shape : shapes) {
      std::array<std::size_t, 5> order{0, 1, 2, 3, 4};
      do {
        std::array<Index, 5> steps{};
        Index all = 1;
        for (std::size_t d = 0; d < 5; ++d) steps[d] = all, all *= shape[d];
        optimized::StridedCopy move;
        Index along = 1;
        for (std::size_t d = 0; d < 5; ++d) {
          move.extents[d] = shape[order[d]], move.source_strides[d] = steps[order[d]];
          move.target_strides[d] = along, along *= move.extents[d];
        }
        each_type(isa, [&]<class T>(optimized::Isa i) { check<T>(i, move, all, 0, all); });
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST(StridedCopy, SlicesRepeatsAndBackwardSteps) {
  for (optimized::Isa isa : present_isas()) {
    each_type(isa, []<class T>(optimized::Isa i) {
      check<T>(i, {{20, 3, 1, 1, 1}, {2, 50, 0, 0, 0}, {1, 20, 0, 0, 0}}, 150, 1, 60);
      check<T>(i, {{20, 3, 2, 1, 1}, {1, 0, 25, 0, 0}, {1, 20, 60, 0, 0}}, 50, 3, 120);
      check<T>(i, {{20, 3, 1, 1, 1}, {0, 1, 0, 0, 0}, {1, 20, 0, 0, 0}}, 3, 0, 60);
      check<T>(i, {{20, 3, 1, 1, 1}, {-1, 20, 0, 0, 0}, {1, 20, 0, 0, 0}}, 60, 19, 60);
      check<T>(i, {{20, 3, 1, 1, 1}, {1, -20, 0, 0, 0}, {1, 20, 0, 0, 0}}, 60, 40, 60);
      check<T>(i, {{17, 18, 2, 1, 1}, {1, 20, 400, 0, 0}, {21, 1, 378, 0, 0}}, 800, 5, 760);
      check<T>(i, {{5, 4, 1, 1, 1}, {3, 20, 0, 0, 0}, {7, 40, 0, 0, 0}}, 90, 0, 160);
      check<T>(i, {{3, 20, 18, 1, 1}, {360, 18, 1, 0, 0}, {360, 1, 20, 0, 0}}, 1080, 0, 1080);
      // Strides along extents of 1 must be ignored.
      check<T>(i, {{1, 9, 1, 1, 1}, {1, 7, 1, 1, 1}, {1, 3, 1, 1, 1}}, 90, 0, 40);
    });
  }
}

TEST(StridedCopy, LargePlanes) {
  for (optimized::Isa isa : present_isas()) {
    check<std::uint32_t>(isa, {{517, 601, 1, 1, 1}, {1, 520, 0, 0, 0}, {601, 1, 0, 0, 0}},
                         520 * 601, 0, 517 * 601);
    check<std::uint64_t>(isa, {{517, 300, 1, 1, 1}, {1, 520, 0, 0, 0}, {301, 1, 0, 0, 0}},
                         520 * 300, 0, 517 * 301);
    // Row strides that are multiples of half a page, on either side, with tiles that overlap at the
    // edges.
    check<std::uint32_t>(isa, {{300, 77, 1, 1, 1}, {1, 512, 0, 0, 0}, {77, 1, 0, 0, 0}}, 512 * 77,
                         0, 300 * 77);
    check<std::uint32_t>(
        isa, {{131, 200, 2, 1, 1}, {1, 131, 131 * 200, 0, 0}, {512, 1, 131 * 512, 0, 0}},
        2 * 131 * 200, 0, 2 * 131 * 512);
    check<std::uint64_t>(isa, {{141, 70, 1, 1, 1}, {1, 256, 0, 0, 0}, {70, 1, 0, 0, 0}}, 256 * 70,
                         0, 141 * 70);
    // Short rows that are contiguous with each other on one side only.
    for (Index run : {5, 20, 33, 90}) {
      check<std::uint32_t>(
          isa, {{run, 41, 37, 1, 1}, {1, 37 * run, run, 0, 0}, {1, run, 41 * run, 0, 0}},
          37 * 41 * run, 0, 37 * 41 * run);
      check<std::uint32_t>(
          isa, {{run, 41, 37, 1, 1}, {1, -37 * run, run, 0, 0}, {1, run, 41 * run, 0, 0}},
          37 * 41 * run, 37 * 40 * run, 37 * 41 * run);
      check<std::uint32_t>(
          isa, {{run, 41, 37, 1, 1}, {1, 37 * run, -run, 0, 0}, {1, run, 41 * run, 0, 0}},
          37 * 41 * run, 36 * run, 37 * 41 * run);
    }
    check<std::uint32_t>(
        isa, {{16, 9, 70, 2, 1}, {1, 70 * 16, 16, 9 * 70 * 16, 0}, {1, 16, 9 * 16, 9 * 70 * 16, 0}},
        2 * 9 * 70 * 16, 0, 2 * 9 * 70 * 16);
  }
}

// Rows of every short length, contiguous with each other in the source, in the target, on neither
// side, and backwards. Then rows of which two, four or eight bytes form elements.
TEST(StridedCopy, ShortRows) {
  for (optimized::Isa isa : present_isas()) {
    for (Index run = 1; run <= 300; run += run < 34 ? 1 : 29) {
      for (const auto& [rows, others] : {std::pair<Index, Index>{21, 11}, {3, 20}, {20, 2}}) {
        const Index all = rows * others * run;
        const auto each = [&](const optimized::StridedCopy& move, Index from_count, Index start,
                              Index to_count) {
          check<std::uint8_t>(isa, move, from_count, start, to_count);
          optimized::StridedCopy turned = move;
          for (auto* list : {&turned.extents, &turned.source_strides, &turned.target_strides})
            std::swap((*list)[1], (*list)[2]);
          check<std::uint8_t>(isa, turned, from_count, start, to_count);
        };
        each({{run, rows, others, 1, 1}, {1, others * run, run, 0, 0}, {1, run, rows * run, 0, 0}},
             all, 0, all);
        each({{run, rows, others, 1, 1}, {1, -others * run, run, 0, 0}, {1, run, rows * run, 0, 0}},
             all, (rows - 1) * others * run, all);
        each({{run, rows, others, 1, 1}, {1, 0, run, 0, 0}, {1, run, rows * run, 0, 0}},
             others * run, 0, all);
        const Index row = run + 3;
        each({{run, rows, others, 1, 1}, {1, others * row, row, 0, 0}, {1, row, rows * row, 0, 0}},
             rows * others * row, 3, rows * others * row);
      }
    }
    for (const Index run : {2, 3, 4, 8}) {
      for (const Index gap : {0, 1, 2, 8}) {
        each_type(isa, [&]<class T>(optimized::Isa i) {
          const Index row = run + gap, all = 23 * 19 * row;
          for (const Index start : {0, 1}) {
            check<T>(i, {{run, 23, 19, 1, 1}, {1, 19 * row, row, 0, 0}, {1, row, 23 * row, 0, 0}},
                     all + 1, start, all);
          }
        });
      }
    }
  }
}

// Enough rows to fill half of L3.
TEST(StridedCopy, RowsOfWholeLinesBetweenTheCaches) {
  for (optimized::Isa isa : present_isas()) {
    for (const Index run : {32, 60}) {
      const Index rows = 257, others = 130;
      check<std::uint64_t>(
          isa,
          {{run, rows, others, 1, 1}, {1, others * run, run, 0, 0}, {1, run, rows * run, 0, 0}},
          rows * others * run, 0, rows * others * run);
    }
  }
}

// Parts of a copy larger than the caches: rows of every remainder, and addresses that are not
// multiples of a piece or of four bytes.
TEST(StridedCopy, PastTheCaches) {
  constexpr Index whole = 1 << 24;
  for (optimized::Isa isa : present_isas()) {
    for (Index run : {3, 4, 5, 6, 7, 16, 20, 33, 90, 300, 511, 512}) {
      each_type(isa, [&]<class T>(optimized::Isa i) {
        const Index rows = 19, others = 11, all = rows * others * run;
        for (const Index start : {0, 1, 3}) {
          check<T>(i,
                   {{run, rows, others, 1, 1},
                    {1, others * run, run, 0, 0},
                    {1, run, rows * run, 0, 0},
                    whole},
                   all + start, start, all);
        }
        check<T>(i,
                 {{run, 20, others, 1, 1},
                  {1, others * run, run, 0, 0},
                  {1, run, 20 * run, 0, 0},
                  whole},
                 20 * others * run, 0, 20 * others * run);
        check<T>(i,
                 {{run, rows, others, 2, 1},
                  {1, others * run, run, all, 0},
                  {1, run, rows * run + 3, others * (rows * run + 3), 0},
                  whole},
                 2 * all, 0, 2 * (all + 3 * others));
      });
    }
  }
}

TEST(StridedCopy, LongRows) {
  for (optimized::Isa isa : present_isas()) {
    for (Index length : {1, 3, 7, 15, 16, 17, 31, 63, 64, 65, 511, 512, 3000}) {
      each_type(isa, [&]<class T>(optimized::Isa i) {
        check<T>(i, {{length, 3, 1, 1, 1}, {1, length + 2, 0, 0, 0}, {1, length + 1, 0, 0, 0}},
                 3 * (length + 2), 0, 3 * (length + 1));
      });
    }
  }
}

}  // namespace
}  // namespace touchstone::testing
