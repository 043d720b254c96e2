"""Sides of a definition. Where kernels are compiled to be counted (make coverage), each condition of the spec goes
through a function of its own, and gcov counts the two lines in which that says true or false."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.notation import Expr


@dataclass(frozen=True)
class Side:
    number: int
    path: str
    line: int
    node: int  # tells apart the conditions of a line
    what: str  # if, rule, or arm: one that need not say false
    text: str

    def __str__(self) -> str:
        return f'//#side {self.number} {self.line} "{self.path}" {self.node} {self.what} {" ".join(self.text.split())}'


class Sides:
    """Of one kernel. Unless they are counted, the C++ is as if this were not here."""

    def __init__(self, counted: bool = False):
        self.counted = counted
        self.found: dict[tuple[str, int, int], Side] = {}

    def asked(self, e: Expr, test: str, what: str = "if", nth: int = 0) -> str:
        """The C++ of a condition that `e` asks; of several, the nth."""
        if not self.counted:
            return test
        path, line, node = e.place
        place = (path, line, node * 100 + nth)
        side = self.found.setdefault(place, Side(len(self.found), *place, what, test))
        return f"side_{side.number}({test})"

    def chosen(self, e: Expr, test: str, yes: str, no: str) -> str:
        """One of two elements: on native numbers a choice by ?: is the same as select."""
        return f"({self.asked(e, test)} ? {yes} : {no})" if self.counted else f"select({test}, {yes}, {no})"

    def read(self, e: Expr, inside: str, text: str) -> str:
        """A read that says what stands for an element outside."""
        return f"((void){self.asked(e, inside)}, {text})" if self.counted else text
