// Tests of arithmetic, proofs and guards over symbols, with RapidCheck: what the table states holds
// at every size that the guards admit.
#include "reference/shapes/symbols.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace touchstone {
namespace {

TEST(Symbols, EqualExpressionsAreOne) {
  SymbolTable t;
  const SymbolicInteger n = t.symbol("n", 5, 1, INT32_MAX), m = t.symbol("m", 7, 1, INT32_MAX);
  EXPECT_EQ(t.add(n, m), t.add(m, n));
  EXPECT_EQ(t.multiply(t.add(n, 1), m), t.add(t.multiply(m, n), m));
  EXPECT_EQ(t.subtract(t.add(n, m), m), n);
  EXPECT_EQ(t.subtract(n, n), SymbolicInteger(0));
  EXPECT_EQ(t.text(t.add(t.multiply(n, m), t.subtract(3, n))), "-n + n*m + 3");
}

TEST(Symbols, DivisionIsExactWhereItLeavesNothing) {
  SymbolTable t;
  const SymbolicInteger n = t.symbol("n", 5, 1, INT32_MAX), m = t.symbol("m", 7, 1, INT32_MAX);
  EXPECT_EQ(t.floor_div(t.multiply(t.multiply(n, m), 12), t.multiply(m, 4)), t.multiply(n, 3));
  EXPECT_EQ(t.floor_div(t.add(t.multiply(n, 4), 3), 2), t.add(t.multiply(n, 2), 1));
  EXPECT_EQ(t.text(t.floor_div(t.add(n, 1), 2)), "floor((n + 1)/2)");
  EXPECT_TRUE(t.guards().empty());
}

TEST(Symbols, ProofsNeedNoGuard) {
  SymbolTable t;
  const SymbolicInteger n = t.symbol("n", 5, 1, INT32_MAX), m = t.symbol("m", 7, 1, INT32_MAX);
  EXPECT_FALSE(t.less(n, 1));
  EXPECT_TRUE(t.less(0, t.multiply(n, m)));
  EXPECT_FALSE(t.equal(t.multiply(n, 2), 7));  // even
  EXPECT_TRUE(t.less(t.floor_div(n, 2), t.add(n, 1)));
  EXPECT_EQ(t.maximum({n, 1}), n);
  EXPECT_EQ(t.minimum({t.add(n, 3), n}), n);
  EXPECT_TRUE(t.guards().empty());
}

TEST(Symbols, WhatIsNotProvedIsAGuard) {
  SymbolTable t;
  const SymbolicInteger n = t.symbol("n", 5, 1, INT32_MAX), m = t.symbol("m", 5, 1, INT32_MAX);
  EXPECT_FALSE(t.proved(Relation::equal, n, m));
  EXPECT_TRUE(t.equal(n, m));
  ASSERT_EQ(t.guards().size(), 1U);
  EXPECT_EQ(t.normal(n), t.normal(m));
  EXPECT_TRUE(t.hold({{"n", 9}, {"m", 9}}));
  EXPECT_FALSE(t.hold({{"n", 9}, {"m", 8}}));
  EXPECT_TRUE(t.less(n, 100));
  EXPECT_TRUE(t.less(n, 200));  // follows
  EXPECT_EQ(t.guards().size(), 2U);
}

TEST(Symbols, AFrozenTableRecordsNoGuard) {
  SymbolTable t;
  const SymbolicInteger n = t.symbol("n", 5, 1, INT32_MAX);
  const SymbolTable::Frozen frozen(t);
  EXPECT_THROW(t.less(n, 10), Undecided);
  EXPECT_TRUE(t.guards().empty());
}

TEST(Symbols, LongExpressionsAreNamed) {
  SymbolTable t;
  SymbolicInteger sum = 0;
  for (int k = 0; k < 20; ++k)
    sum = t.add(sum, t.symbol("s" + std::to_string(k), k + 1, 1, INT32_MAX));
  const SymbolicInteger name = t.named(sum);
  ASSERT_TRUE(name.polynomial());
  EXPECT_EQ(name.polynomial()->terms.size(), 1U);
  EXPECT_EQ(name.hint(), 210);
  EXPECT_EQ(t.named(sum), name);
}

TEST(Symbols, WhatIsTooLongIsUndecided) {
  SymbolTable t;
  SymbolicInteger a = 0, b = 0;
  for (int k = 0; k < 10; ++k) {
    a = t.add(a, t.symbol("a" + std::to_string(k), k, 0, INT32_MAX));
    b = t.add(b, t.symbol("b" + std::to_string(k), k, 0, INT32_MAX));
  }
  EXPECT_THROW(t.multiply(a, b), Undecided);
  EXPECT_THROW(t.multiply(INT64_MAX, 2), Undecided);
  EXPECT_THROW(t.floor_div(a, 0), Undecided);
}

TEST(Symbols, GuardsAreFew) {
  SymbolTable t;
  int guards = 0;
  try {
    for (; guards < 1000; ++guards)
      t.equal(t.symbol("s" + std::to_string(guards), 3, 0, INT32_MAX), 3);
  } catch (const Undecided&) {
  }
  EXPECT_EQ(guards, 256);
}

TEST(Symbols, NestedDivisionsAreOne) {
  SymbolTable t;
  const SymbolicInteger n = t.symbol("n", 50, 0, INT32_MAX);
  const SymbolicInteger half = t.floor_div(t.add(n, 1), 2);
  EXPECT_EQ(t.text(t.floor_div(t.add(half, 1), 2)), "floor((n + 3)/4)");
  EXPECT_EQ(t.text(t.subtract(half, 1)), "floor((n - 1)/2)");
}

TEST(Symbols, FloatsAreKeptAsTheirOperations) {
  SymbolTable t;
  const SymbolicInteger n = t.symbol("n", 51, 0, 1000);
  const SymbolicReal scaled =
      t.real(RealOperator::multiply, Type::float32, {t.real_of(n, Type::float32), 1.5});
  const SymbolicInteger size = t.integer_of(RealOperator::floor, scaled, Type::float32);
  EXPECT_EQ(size.hint(), 76);
  EXPECT_EQ(t.text(size), "floor((n * 1.5))");
  EXPECT_EQ(t.value(size, {{"n", 3}}), 4);
  EXPECT_EQ(t.integer_of(RealOperator::floor, scaled, Type::float32), size);
}

// A drawn expression over three symbols, beside its value at other sizes.
struct Drawn {
  SymbolTable table;
  std::vector<SymbolicInteger> made;
  std::vector<std::optional<Index>> at;  // of each, at `values`
  SymbolTable::Values values;
};

void draw(Drawn& d) {
  for (const char* name : {"a", "b", "c"}) {
    const Index hint = *rc::gen::inRange<Index>(1, 9);
    d.made.push_back(d.table.symbol(name, hint, 1, INT32_MAX));
    d.values[name] = *rc::gen::inRange<Index>(1, 9);
    d.at.emplace_back(d.values[name]);
  }
  for (const Index constant : {1, 2, 3, 4, 7}) {
    d.made.emplace_back(constant);
    d.at.emplace_back(constant);
  }
  const int steps = *rc::gen::inRange(1, 14);
  for (int k = 0; k < steps; ++k) {
    const auto pick = [&] { return *rc::gen::inRange<std::size_t>(0, d.made.size()); };
    const std::size_t x = pick(), y = pick();
    const SymbolicInteger p = d.made[x], q = d.made[y];
    const std::optional<Index> u = d.at[x], v = d.at[y];
    const int op = *rc::gen::inRange(0, 8);
    SymbolicInteger result = 0;
    std::optional<Index> value;
    const auto floor_div = [](Index n, Index by) {
      return n / by - ((n % by != 0) && ((n < 0) != (by < 0)));
    };
    try {
      switch (op) {
        case 0:
          result = d.table.add(p, q);
          if (u && v) value = *u + *v;
          break;
        case 1:
          result = d.table.subtract(p, q);
          if (u && v) value = *u - *v;
          break;
        case 2:
          result = d.table.multiply(p, q);
          if (u && v) value = *u * *v;
          break;
        case 3:
          if (q.hint() == 0) continue;
          result = d.table.floor_div(p, q);
          if (u && v && *v != 0) value = floor_div(*u, *v);
          break;
        case 4:
          if (q.hint() == 0) continue;
          result = d.table.quotient(p, q);
          if (u && v && *v != 0) value = *u / *v;
          break;
        case 5:
          result = d.table.minimum({p, q});
          if (u && v) value = std::min(*u, *v);
          break;
        case 6:
          result = d.table.maximum({p, q});
          if (u && v) value = std::max(*u, *v);
          break;
        default: {
          const bool less = d.table.less(p, q);
          RC_ASSERT(less == (p.hint() < q.hint()));
          result = less ? p : q;
          if (u && v) value = less ? u : v;  // where the guard holds
        }
      }
    } catch (const Undecided&) {
      continue;
    }
    d.made.push_back(result);
    d.at.push_back(value);
  }
}

RC_GTEST_PROP(Symbols, ValuesAreThoseOfTheOperations, ()) {
  Drawn d;
  draw(d);
  RC_PRE(d.table.hold(d.values));
  for (std::size_t k = 0; k < d.made.size(); ++k) {
    if (!d.at[k]) continue;
    const std::optional<Index> value = d.table.value(d.made[k], d.values);
    if (value) RC_ASSERT(*value == *d.at[k]);
    const std::optional<Index> normal = d.table.value(d.table.normal(d.made[k]), d.values);
    if (value && normal) RC_ASSERT(*normal == *value);
  }
}

RC_GTEST_PROP(Symbols, ProofsHoldAtOtherSizes, ()) {
  Drawn d;
  draw(d);
  RC_PRE(d.table.hold(d.values));
  for (const SymbolicInteger& p : d.made) {
    for (const SymbolicInteger& q : d.made) {
      const auto x = d.table.value(p, d.values), y = d.table.value(q, d.values);
      if (!x || !y) continue;
      try {
        const std::optional<bool> less = d.table.proved(Relation::less, p, q);
        const std::optional<bool> equal = d.table.proved(Relation::equal, p, q);
        if (less) RC_ASSERT(*less == (*x < *y));
        if (equal) RC_ASSERT(*equal == (*x == *y));
      } catch (const Undecided&) {
      }
    }
  }
}

}  // namespace
}  // namespace touchstone
