"""Operators that a program adds to those of the standard, by functions in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from touchstone import _native, values
from touchstone.errors import Error


@dataclass(frozen=True)
class Parameter:
    """An input or output of an operator.

    types     those that it may have: ("tensor(float)", "tensor(double)"); none: every tensor type.
    same      a word: parameters with it have the same type in a node.
    variadic  any number of values; the last parameter alone may be.
    """

    name: str
    types: Sequence[str] = ()
    same: str = ""
    optional: bool = False
    variadic: bool = False


def _parameters(what: str, given: Sequence[str | Parameter]) -> list[Parameter]:
    if isinstance(given, str | Parameter):
        raise Error("usage", f"the {what}s of an operator are a list, not {given!r}")
    made = []
    for number, each in enumerate(given):
        if isinstance(each, str):
            each = Parameter(f"{what}_{number}", (each,))
        if not isinstance(each, Parameter):
            raise Error("usage", f"an {what} of an operator is a type's name or a Parameter, not {each!r}")
        made.append(each)
    return made


def _native_of(each: Parameter) -> _native.Parameter:
    return _native.Parameter(each.name, list(each.types), each.same, each.optional, each.variadic)


def _at(parameters: Sequence[Parameter], number: int) -> Parameter:
    return parameters[min(number, len(parameters) - 1)]


class _Call:
    """Converts between the native values of a node and the arrays of the function."""

    def __init__(self, function: Callable[..., Any], inputs: Sequence[Parameter], outputs: Sequence[Parameter]):
        self.function, self.inputs, self.outputs = function, inputs, outputs

    def __call__(
        self, given: list[_native.Value | None], attributes: dict[str, Any], count: int
    ) -> list[_native.Value | None]:
        arguments = [None if value is None else values.taken(value) for value in given]
        named = {name: values.taken(at) if isinstance(at, _native.Value) else at for name, at in attributes.items()}
        made = self.function(*arguments, **named)
        made = made if isinstance(made, tuple) else (made,)
        if len(made) < count:
            raise Error("usage", f"the operator's function returned {len(made)} outputs of {count}")
        return [self._converted(number, value, given) for number, value in enumerate(made[:count])]

    def _converted(self, number: int, value: Any, given: list[_native.Value | None]) -> _native.Value | None:
        if value is None:
            return None
        declared = self._type(_at(self.outputs, number), given)
        if declared is None:
            return values.tensor(np.asarray(value))
        return values.feed(f"output {number}", value, _native.ValueType.parse(declared))

    def _type(self, output: Parameter, given: list[_native.Value | None]) -> str | None:
        """Returns the type that an output has, None if it has several."""
        if len(output.types) == 1:
            return output.types[0]
        for number, value in enumerate(given):
            if value is not None and output.same and _at(self.inputs, number).same == output.same:
                return str(value.type)
        return None


def add(
    operators: _native.Operators,
    domain: str,
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[str | Parameter],
    outputs: Sequence[str | Parameter],
    version: int,
    infer: Callable[..., Any] | None,
) -> None:
    if not callable(function) or not (infer is None or callable(infer)):
        raise Error("usage", f"the functions of the operator '{domain}.{name}' are callable")
    ins, outs = _parameters("input", inputs), _parameters("output", outputs)
    operators.add(
        domain,
        name,
        version,
        [_native_of(each) for each in ins],
        [_native_of(each) for each in outs],
        _Call(function, ins, outs),
        None if infer is None else lambda given, attributes: list(infer(given, attributes)),
    )
