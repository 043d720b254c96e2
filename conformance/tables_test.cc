// Tests the printed tables of a run.
#include "conformance/tables.h"

#include <gtest/gtest.h>

namespace touchstone::conformance {
namespace {

CaseResult judged(const std::string& kind, const std::string& verdict, JudgedNode node,
                  double utilisation) {
  return {"case", kind, "pass", verdict, utilisation, "", node};
}

const std::vector<CaseResult> rows_of_cases = {
    judged("node", "within(0.5)", {"Exp-13", "elementwise", "float", 90, 0, 0x1p-20}, 0.5),
    judged("node", "within(0.25)", {"Exp-13", "elementwise", "float", 10, 10, 0x1p-22}, 0.25),
    judged("node", "exact", {"Add-14", "elementwise", "int64", 5, 0, 0}, 0),
    {"light", "real", "pass", "open", {}, "", {}},
    judged("node", "wrong-value", {"Exp-13", "elementwise", "float", 1, 0, 0x1p-20}, 1e9),
};

TEST(Tables, VerdictsStandByKindAndForm) {
  EXPECT_EQ(verdict_table(rows_of_cases),
            "  kind, form          cases  exact  open  within  wrong-value\n"
            "  node                    4      1             2            1\n"
            "    elementwise           4      1             2            1\n"
            "  real                    1            1\n"
            "    (no single node)      1            1\n");
}

TEST(Tables, TheReleaseBeforeAKindIsNoKind) {
  EXPECT_EQ(verdict_table({{"old", "1.2.1/node", "pass", "open", {}, "", {}},
                           {"new", "node", "pass", "open", {}, "", {}}}),
            "  kind, form          cases  open\n"
            "  node                    2     2\n"
            "    (no single node)      2     2\n");
}

TEST(Tables, OneLineSaysHowSharp) {
  EXPECT_EQ(sharpness_line(rows_of_cases),
            "3 cases of one float node: 9.90 % of 101 elements open, median resolution 2^-20.0, "
            "utilisation 0.5, at most 0.5");
  EXPECT_EQ(sharpness_line({rows_of_cases[2], rows_of_cases[3]}), "");
}

TEST(Tables, SharpnessIsThatOfFloats) {
  EXPECT_EQ(sharpness_table(rows_of_cases),
            "  form, type          cases  elements    open  resolution  utilisation  largest\n"
            "  elementwise, float      3       101  9.90 %     9.5e-07          0.5      0.5\n"
            "  all floats              3       101  9.90 %     9.5e-07          0.5      0.5\n");
  EXPECT_EQ(sharpness_table({rows_of_cases[2], rows_of_cases[3]}), "");
}

TEST(Tables, WhatRanFastIsCountedByOperator) {
  std::vector<CaseResult> ran(5, rows_of_cases[0]);
  ran[0].ran = ran[1].ran = ran[2].ran = "fast";
  ran[3].ran = "reference";  // and the last one's target does not report kernels
  ran[0].subject.op = "Exp";
  for (const std::size_t k : {1U, 2U, 3U}) ran[k].subject.op = "Softmax";
  EXPECT_EQ(share_line(ran),
            "3 of 4 cases of one node that reads float32 ran it on fast kernels: 75.0 %");
  EXPECT_EQ(share_table(ran),
            "  operator, float32  cases  fast  view  folded  reference\n"
            "  Softmax                3     2     0       0          1\n"
            "  Exp                    1     1     0       0          0\n"
            "  all                    4     3     0       0          1\n");
  ran[1].ran = "view";
  ran[2].ran = "folded";
  EXPECT_EQ(share_line(ran),
            "1 of 4 cases of one node that reads float32 ran it on fast kernels: 25.0 %; 2 needed "
            "none (1 views, 1 folded)");
  EXPECT_EQ(share_line(rows_of_cases), "");
  EXPECT_EQ(share_table(rows_of_cases), "");
}

TEST(Tables, KernelsAreCountedByClass) {
  std::vector<CaseResult> ran(3, rows_of_cases[0]);
  ran[0].kernels = {"matmul", "pointwise"};
  ran[1].kernels = {"matmul"};
  EXPECT_EQ(kernel_line(ran), "2 matmul, 1 pointwise");
  EXPECT_EQ(kernel_line(rows_of_cases), "");
}

}  // namespace
}  // namespace touchstone::conformance
