"""Operations of the notation on elements of each type.

Integers are modulo 2^n; floats are exact until they are stored.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from tests.independent import arithmetic as a
from tests.independent import formats
from tests.independent.formats import INFINITY, Format, towards_zero
from tests.independent.refusal import Refusal


class Floats:
    """Real numbers, and elements of every float type."""

    add, sub, mul, div, neg = map(staticmethod, (a.add, a.sub, a.mul, a.div, a.neg))
    minimum, maximum, abs, sign = map(staticmethod, (a.minimum, a.maximum, a.absolute, a.sign))
    floor, ceil, round_even, fmod = map(staticmethod, (a.floor, a.ceil, a.round_even, a.fmod))
    exp, log, sqrt, pow = map(staticmethod, (a.exp, a.log, a.sqrt, a.power))
    sin, cos, tan, asin, acos, atan = map(staticmethod, (a.sin, a.cos, a.tan, a.asin, a.acos, a.atan))
    sinh, cosh, tanh, asinh, acosh, atanh = map(staticmethod, (a.sinh, a.cosh, a.tanh, a.asinh, a.acosh, a.atanh))
    erf, sigmoid, softplus = map(staticmethod, (a.erf, a.sigmoid, a.softplus))
    reciprocal, hypot = map(staticmethod, (a.reciprocal, a.hypot))
    sum, prod = map(staticmethod, (a.total, a.prod))

    def __init__(self, form: Format | None = None):
        self.form = form
        if form and not form.zero:  # a zero that a definition writes is the smallest number, as in a cast
            least = formats.decode(form.name, 0)
            self.of = self.keep = lambda value: least if value == 0 else value

    @staticmethod
    def of(value: Any) -> Any:
        return int(value) if value.__class__ is bool else value

    keep = of

    def divide(self, x: Any, y: Any) -> Any:
        return a.div(x, y)

    def max(self, values: Iterable[Any]) -> Any:
        return functools.reduce(a.maximum, values, -INFINITY)

    def min(self, values: Iterable[Any]) -> Any:
        return functools.reduce(a.minimum, values, INFINITY)

    def lowest(self) -> Any:
        return -self.form.largest if self.form.signed else 0

    def highest(self) -> Any:
        return self.form.largest


class Integers:
    """Integers: every type but uint64 computes in signed 64 bits; storing wraps to the width of the type."""

    def __init__(self, form: Format, kept: Integers | None = None):
        self.form, self.bits = form, form.bits
        self.mask, self.top = (1 << form.bits) - 1, (1 << (form.bits - 1)) if form.signed else 0
        self.keep = kept.of if kept else self.of

    def of(self, value: Any) -> int:
        if value.__class__ is float:
            return 0
        if value.__class__ is not int:
            value = towards_zero(value) if value.__class__ is not bool else int(value)
        value &= self.mask
        return value - (self.mask + 1) if value & self.top else value

    def lowest(self) -> int:
        return self.form.lowest_integer

    def highest(self) -> int:
        return self.form.highest_integer

    def add(self, x: int, y: int) -> int:
        return self.of(x + y)

    def sub(self, x: int, y: int) -> int:
        return self.of(x - y)

    def mul(self, x: int, y: int) -> int:
        return self.of(x * y)

    def neg(self, x: int) -> int:
        return self.of(-x)

    def div(self, x: int, y: int) -> int:
        if y == 0:
            raise Refusal("an integer is divided by zero")
        return self.of(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))

    divide = div

    def abs(self, x: int) -> int:
        return self.of(abs(x))

    def sign(self, x: int) -> int:
        return (x > 0) - (x < 0)

    def fmod(self, x: int, y: int) -> int:
        return self.of(x - self.div(x, y) * y)

    def mod_floor(self, x: int, y: int) -> int:
        if y == 0:
            raise Refusal("an integer is divided by zero")
        return x % y

    def pow(self, x: int, y: Any) -> Any:
        if y.__class__ is not int:
            return a.power(x, y)
        if y >= 0:
            return self.of(pow(x, y, self.mask + 1))
        if x == 0:
            raise Refusal("zero is raised to a negative power")
        return x ** (y & 1) if x in (1, -1) else 0

    def bit_and(self, x: int, y: int) -> int:
        return self.of(x & y)

    def bit_or(self, x: int, y: int) -> int:
        return self.of(x | y)

    def bit_xor(self, x: int, y: int) -> int:
        return self.of(x ^ y)

    def bit_not(self, x: int) -> int:
        return self.of(~x)

    def shift_left(self, x: int, n: int) -> int:
        return self.of(x << n) if 0 <= n < self.bits else 0

    def shift_right(self, x: int, n: int) -> int:
        return x >> n if 0 <= n < self.bits else 0

    floor = ceil = round_even = staticmethod(lambda x: x)
    maximum, minimum = staticmethod(max), staticmethod(min)

    def sum(self, values: Iterable[int]) -> int:
        return self.of(sum(values))

    def prod(self, values: Iterable[int]) -> int:
        return functools.reduce(self.mul, values, 1)

    def max(self, values: Iterable[int]) -> int:
        return max(values, default=self.lowest())

    def min(self, values: Iterable[int]) -> int:
        return min(values, default=self.highest())


class Booleans:
    @staticmethod
    def of(value: Any) -> bool:
        return value != 0

    keep = of
    max = sum = staticmethod(any)
    min = prod = staticmethod(all)
    maximum, minimum = staticmethod(max), staticmethod(min)

    def lowest(self) -> bool:
        return False

    def highest(self) -> bool:
        return True


class Strings:
    @staticmethod
    def of(value: Any) -> str:
        """The default of a guarded read (0) is the empty string."""
        return value if isinstance(value, str) else ""

    keep = of


class Complexes:
    @staticmethod
    def of(value: Any) -> Any:
        return value if isinstance(value, tuple) else (value, 0)

    keep = of

    @staticmethod
    def sum(values: Iterable[tuple[Any, Any]]) -> tuple[Any, Any]:
        both = list(values)
        return a.total(real for real, _ in both), a.total(imaginary for _, imaginary in both)


REALS = Floats()


@functools.cache
def of_type(name: str) -> Any:
    form = formats.FORMATS.get(name)
    if form is None:
        return None
    if form.kind == "integer":
        return wide_integers(form)
    return {"bool": Booleans, "string": Strings, "complex": Complexes, "float": lambda: Floats(form)}[form.kind]()


def wide_integers(form: Format) -> Integers:
    kept = Integers(form)
    if form.bits == 64:
        return kept
    made = Integers(formats.FORMATS["int64"], kept)
    made.form = form
    return made


CLASSES = {
    "integers": lambda f: f.kind == "integer", "floats": lambda f: f.kind == "float",
    "strings": lambda f: f.kind == "string",
    "signed": lambda f: f.kind == "integer" and f.signed, "unsigned": lambda f: f.kind == "integer" and not f.signed,
    "booleans": lambda f: f.kind == "bool", "complexes": lambda f: f.kind == "complex",
    "numbers": lambda f: f.kind in ("integer", "float"),
}  # fmt: skip


def is_one_of(name: str | None, group: str) -> bool:
    return name in formats.FORMATS and CLASSES[group](formats.FORMATS[name])


PARTS = {"complex64": "float", "complex128": "double"}


def bits(value: Any, source: str, target: str) -> Any:
    """The element of `target` with the same bits; the real part of a complex number has the lower half."""
    if source in PARTS:
        part = PARTS[source]
        real, imaginary = (formats.encode(part, each) for each in value)
        code = imaginary << formats.FORMATS[part].bits | real
    else:
        code = formats.encode(source, value)
    if target not in PARTS:
        return formats.decode(target, code)
    half = formats.FORMATS[PARTS[target]].bits
    return tuple(formats.decode(PARTS[target], each) for each in (code & ((1 << half) - 1), code >> half))
