"""The house keeps its rules; and each rule finds a breach that is planted for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house import rules, words
from tests.house.definitions import defined_twice, other_namespaces

Rule = Callable[[rules.Files], list[str]]
ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def files() -> rules.Files:
    return rules.project_files(ROOT)


@functools.cache
def known() -> dict[str, set[int]]:
    return rules.operators(ROOT)


def operator_names(given: rules.Files) -> list[str]:
    return rules.operator_names(given, known())


RULES = [
    operator_names,
    rules.include_direction,
    rules.length,
    rules.opening,
    rules.opens,
    rules.prints,
    rules.tolerances,
    rules.outside,
    defined_twice,
    other_namespaces,
    words.comment_openings,
    words.long_sentences,
    words.retired_words,
]

PLANTED = [
    (operator_names, "core/a.cc", 'bool is = op == "Softmax";'),
    (operator_names, "core/a.cc", 'f(R"(x)", "Clip");'),
    (operator_names, "codegen/a.py", "if op == 'Conv':\n    pass\n"),
    (operator_names, "codegen/templates/a.j2", '{% if op == "Conv" %}'),
    (operator_names, "optimized/a.cc", "clip_13(x);"),
    (operator_names, "optimized/a.cc", "reduce_mean_18(x);"),
    (operator_names, "conformance/a.cc", 'op == "Loop";'),
    (rules.include_direction, "core/a.h", '#include "model/graph.h"'),
    (rules.include_direction, "model/a.cc", ' # include "reference/call.h"'),
    (rules.include_direction, "reference/a_test.cc", '#include "conformance/judge/judge.h"'),
    (rules.include_direction, "backends/cpu/a.cc", '#include "model/graph.h"'),
    (rules.include_direction, "backends/a.h", '#include "optimized/plan/step.h"'),
    (rules.include_direction, "reference/a.cc", '#include "backends/device.h"'),
    (rules.include_direction, "optimized/a.cc", '#include "backends/opencl/device.h"'),
    (rules.include_direction, "core/a.cc", '#include "../model/graph.h"'),
    (words.comment_openings, "core/a.h", "// What is there.\n"),
    (words.comment_openings, "core/a.h", "int a;  // of what, it is not said\nint b;  // Where it stands\n"),
    (words.comment_openings, "codegen/a.py", 'def f() -> None:\n    """Whether it is so."""\n'),
    (words.comment_openings, "codegen/templates/a.j2", "{# How it is written #}"),
    (words.comment_openings, "docs/a.md", "# Where it is\n"),
    (words.retired_words, "core/a.h", "class ShapeSurvey;\n"),
    (words.retired_words, "core/a.cc", 'fail("the slips are many");\n'),
    (words.retired_words, "optimized/nests/a.h", "\n"),
    (words.retired_words, "docs/a.md", "# Of honest sums\n"),
    (words.retired_words, "codegen/a.py", "# The contender waits.\n"),
    (words.long_sentences, "core/a.h", "// " + "word " * 13 + "\n// " + "word " * 13 + "\n"),
    (defined_twice, "core/a.h", "namespace touchstone {\nstruct A {};\nenum class A { b };\n}"),
    (other_namespaces, "fuzz/a.h", "namespace touchstone {\nstruct A {};\n}"),
    (other_namespaces, "conformance/judge/a.h", "namespace touchstone::conformance {\nstruct A {};\n}"),
    (rules.length, "core/a.cc", "\n" * 401),
    (rules.opening, "core/a.h", "#pragma once\n"),
    (rules.opening, "codegen/a.py", "import os\n"),
    (rules.opens, "model/a.cc", "auto d = ::open(path, 0);"),
    (rules.opens, "model/a.cc", "#include <fcntl.h>\nint d = open(path, 0);"),
    (rules.opens, "model/a.cc", "std::ifstream in(path);"),
    (rules.opens, "tools/a.cc", "FILE* f = fopen(path, mode);"),
    (rules.opens, "tools/a.cc", "int d = openat(folder, path, 0);"),
    (rules.prints, "model/a.cc", "std::cerr << 1;"),
    (rules.prints, "core/a.cc", "fprintf(stderr, x);"),
    (rules.tolerances, "core/a_test.cc", "EXPECT_NEAR(a, b, 1e-3);"),
    (rules.tolerances, "tests/a.py", "np.testing.assert_allclose(a, b)"),
    (rules.outside, "docs/a.md", "see ../shared" + "/design"),
]

INNOCENT = [
    (operator_names, "core/a.cc", '// "Softmax" is no literal here, nor is clip_13\nf("Softmax of it", clip_99);'),
    (operator_names, "model/a.cc", 'op == "Loop";'),
    (operator_names, "model/check_test.cc", 'node("Add");'),
    (operator_names, "core/a.cc", "const Index n = 1'000'000; // 'Add'\n"),
    (rules.include_direction, "conformance/a.cc", '#include "core/tensor.h"\n#include "reference/call.h"'),
    (rules.include_direction, "optimized/a.cc", '#include "backends/device.h"'),
    (rules.include_direction, "backends/opencl/a.cc", '#include "core/error.h"\n#include "backends/view.h"'),
    (other_namespaces, "fuzz/a.h", "namespace touchstone {\nclass A;\n}\nnamespace touchstone::fuzz {\n"),
    (rules.length, "core/a.cc", "\n" * 400),
    (rules.opens, "model/a.cc", '// ::open(x)\nModel::open(x); file.open(x); open(scope); reopen(x); say("open(");'),
    (rules.opens, "core/files.cc", "::open(path, 0);"),
    (rules.prints, "tools/a.cc", "fmt::print(x);"),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps(rule: Rule) -> None:
    breaches = rule(files())
    assert not breaches, "\n" + "\n".join(breaches)


@pytest.mark.parametrize(("rule", "path", "text"), PLANTED)
def test_a_planted_breach_is_found(rule: Rule, path: str, text: str) -> None:
    assert rule({path: text})


@pytest.mark.parametrize(("rule", "path", "text"), INNOCENT)
def test_an_innocent_line_is_not(rule: Rule, path: str, text: str) -> None:
    assert not rule({path: text})


def test_there_is_something_to_hold() -> None:
    assert len(known()) == 227
    assert len([path for path in files() if path.endswith(rules.CODE)]) > 50
