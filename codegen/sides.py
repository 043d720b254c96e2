"""Instruments conditions of a definition for branch coverage (make coverage).

Each condition of the spec calls a function of its own with one line per outcome, so that gcov counts both.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.notation import Expr


@dataclass(frozen=True)
class Side:
    number: int
    path: str
    line: int
    node: int  # distinguishes the conditions of a line
    what: str  # if, rule, or arm (which need not be false)
    text: str

    def __str__(self) -> str:
        return f'//#side {self.number} {self.line} "{self.path}" {self.node} {self.what} {" ".join(self.text.split())}'


class Sides:
    """Conditions of one kernel. Unless `counted` is set, the C++ is written without instrumentation."""

    def __init__(self, counted: bool = False):
        self.counted = counted
        self.found: dict[tuple[str, int, int], Side] = {}

    def asked(self, e: Expr, test: str, what: str = "if", nth: int = 0) -> str:
        """Returns the C++ of a condition of `e`, instrumented if counted; `nth` distinguishes several of one node."""
        if not self.counted:
            return test
        path, line, node = e.place
        place = (path, line, node * 100 + nth)
        side = self.found.setdefault(place, Side(len(self.found), *place, what, test))
        return f"side_{side.number}({test})"

    def chosen(self, e: Expr, test: str, yes: str, no: str) -> str:
        """Chooses one of two elements: on native numbers ?: is equivalent to select."""
        return f"({self.asked(e, test)} ? {yes} : {no})" if self.counted else f"select({test}, {yes}, {no})"

    def read(self, e: Expr, inside: str, text: str) -> str:
        """Returns a read that has a value for elements outside, with its bounds test instrumented."""
        return f"((void){self.asked(e, inside)}, {text})" if self.counted else text
