"""Translates expressions of the notation to Python source.

Prefixes of generated names: t_ a tensor, x_ an index or a scan variable, c_ a let that is evaluated once a call, a_ an
attribute. O holds the operations on elements of each type (elements.py), R the functions of runtime.py.
"""

from __future__ import annotations

from typing import Any

from codegen.builtins import INDEX, INDICES, REAL, REALS, TYPE, Sort
from codegen.notation import Expr
from codegen.sorts import Meaning
from tests.independent.formats import FORMATS, is_float

LISTS = (INDICES, REALS)
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
ON_INDICES = {"+": "add", "-": "subtract", "*": "multiply", "/": "quotient", "%": "remainder"}
OF_LISTS = {"+": "add_reals", "-": "sub_reals", "*": "mul_reals", "/": "div_reals"}
SMALLEST = {"min": "least", "max": "largest", "clamp": "clamp"}
FUNCTIONS = (
    "replaced pick head tail part placed without unsqueezed repeat position distinct is_permutation "
    "broadcastable ravel unravel locate subscripts wrap mod reflect ceil_div floor_div floor_index ceil_index "
    "fraction cos_of_turn sin_of_turn steps positions lower count broadcast contains ends"
).split()


class Unknown(Exception):
    """Raised for a construct that this translator does not know; the message names it."""


class Translator:
    def __init__(self, meaning: Meaning):
        self.m, self.v = meaning, meaning.version
        self.lets = {s.name for s in meaning.lets}
        self.aliases = {n for n, symbol in meaning.symbols.items() if symbol.role == "alias"}
        self.attributes = {a.name for a in self.v.attributes}
        self.constants: list[str] = []
        self.guards: list[list[str]] = []  # for each enclosing reduction: the guarded reads that skip a term
        self.count = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # -- names ---------------------------------------------------------------------------------------------------
    def tensor(self, name: str) -> str:
        return f"t_{name}()" if name in self.aliases else f"t_{name}"

    def type_of(self, name: str) -> str:
        return f"types[{name!r}]" if name in self.v.types else repr(name)

    def elements(self, sort: Sort) -> str:
        """The object that implements operations on elements of a sort."""
        if sort.kind != "element":
            return "REALS"
        if sort.of.startswith("@"):
            return f"R.elements_of(a_{sort.of[1:]})"
        return f"O[{sort.of!r}]"

    def __call__(self, e: Expr) -> str:
        return getattr(self, f"_{e.kind}")(e)

    def _name(self, e: Expr) -> str:
        name = e.value
        if e.free and name in e.free and e.sort.kind not in ("tensor", "family"):
            return f"x_{name}"
        if e.sort.kind in ("tensor", "family"):
            return f"a_{name}" if name in self.attributes else self.tensor(name)
        if name in self.lets:
            return f"c_{name}()"
        if name in self.attributes:
            return f"a_{name}"
        if e.sort == TYPE:
            return self.type_of(name)
        if name in ("true", "false"):
            return name.capitalize()
        raise Unknown(f"name {name} of {e.sort}")

    def _number(self, e: Expr) -> str:
        return str(int(e.value))

    def _real(self, e: Expr) -> str:
        if e.value not in self.constants:
            self.constants.append(e.value)
        return f"K[{self.constants.index(e.value)}]"

    def _string(self, e: Expr) -> str:
        return repr(e.value)

    def _let(self, e: Expr) -> str:
        return self(e.args[0])

    def _scalar(self, e: Expr) -> str:
        name = e.value
        if name in self.attributes:
            return f"R.only(a_{name})"
        default = self.m.defaults.get(name)
        return f"(t_{name}.only if t_{name} is not ABSENT else {self(default) if default else 'R.missing()'})"

    def _coerce(self, e: Expr) -> str:
        inner = self(e.args[0])
        return inner if e.sort == REAL else f"{self.elements(e.sort)}.of({inner})"

    # -- arithmetic ----------------------------------------------------------------------------------------------
    def _negative(self, e: Expr) -> str:
        inner = self(e.args[0])
        if e.sort == INDEX:
            return f"(-{inner})"
        return f"R.negative({inner})" if e.sort == INDICES else f"{self.elements(e.sort)}.neg({inner})"

    def _binary(self, e: Expr) -> str:
        a, c = self(e.args[0]), self(e.args[1])
        if e.sort == INDEX and e.value in "+-*":
            return f"({a} {e.value} {c})"
        if e.sort in (INDEX, INDICES):
            return f"R.{ON_INDICES[e.value]}({a}, {c})"
        if e.sort == REALS:
            return f"R.{OF_LISTS[e.value]}({a}, {c})"
        if e.value not in ARITHMETIC:
            raise Unknown(f"{e.value} of {e.sort}")
        return f"{self.elements(e.sort)}.{ARITHMETIC[e.value]}({a}, {c})"

    def _compare(self, e: Expr) -> str:
        return f"({self(e.args[0])} {e.value} {self(e.args[1])})"

    def _logic(self, e: Expr) -> str:
        return f"({self(e.args[0])} {e.value} {self(e.args[1])})"

    def _not(self, e: Expr) -> str:
        return f"(not {self(e.args[0])})"

    def _member(self, e: Expr) -> str:
        return f"R.is_one_of({self(e.args[0])}, {e.value!r})"

    def _cond(self, e: Expr) -> str:
        test, a, c = map(self, e.args)
        return f"({a} if {test} else {c})"

    def _match(self, e: Expr) -> str:
        subject, last, arms = self(e.args[0]), "", []
        for key, arm in e.value:
            if key is None:
                last = self(arm)
            else:
                arms.append(f"{self(arm)} if {subject} == {key!r} else ")
        return f"({''.join(arms)}{last or f'R.no_choice({subject})'})"

    # -- lists ---------------------------------------------------------------------------------------------------
    def _splice(self, e: Expr) -> str:
        return f"*{self(e.args[0])}"

    def _replace(self, e: Expr) -> str:
        return f"R.replaced({', '.join(map(self, e.args))})"

    def _list(self, e: Expr) -> str:
        return self.tuple(e.args)

    def tuple(self, parts: list[Expr]) -> str:
        if len(parts) == 1 and parts[0].kind == "splice":
            return self(parts[0].args[0])
        inner = [f"*{self(p)}" if p.kind != "splice" and p.sort in LISTS else self(p) for p in parts]
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"

    def _comprehension(self, e: Expr) -> str:
        body, low, high, *where = e.args
        test = f" if {self(where[0])}" if where else ""
        return f"tuple([{self(body)} for x_{e.value} in range({self(low)}, {self(high)}){test}])"

    # -- reads and reductions --------------------------------------------------------------------------------------
    def _read(self, e: Expr) -> str:
        base, *args = e.args
        if base.sort.kind not in ("tensor",):
            return f"R.item({self(base)}, {self(args[0])})"
        at, source = self.spot(args), self(base)
        if e.value is None:
            return f"{source}.read({at})"
        if e.value["else"] is None:
            name = self.fresh("q")
            self.guards[-1].append(f" for {name} in ({at},) if {name} in {source}.at")
            return f"{source}.at[{name}]"
        name = self.fresh("p")
        return f"({source}.at[{name}] if ({name} := {at}) in {source}.at else {self(e.value['else'])})"

    def spot(self, args: list[Expr]) -> str:
        if len(args) == 1 and args[0].sort == INDICES:
            return self(args[0].args[0]) if args[0].kind == "splice" else self(args[0])
        return self.tuple(args)

    def loops(self, binders: list[dict[str, Any]]) -> str:
        made = ""
        for one in binders:
            name = f"x_{one['name']}"
            if one["kind"] == "range":
                made += f" for {name} in range({self(one['low'])}, {self(one['high'])})"
            elif one["kind"] == "box":
                made += f" for {name} in R.box({self(one['shape'])})"
            else:
                made += f" for t_{one['name']} in t_{one['family']}"
        return made

    def _reduce(self, e: Expr) -> str:
        op, where, body = e.value["op"], e.value["where"], e.args[0]
        loops = self.loops(e.value["binders"])
        if where is not None:
            loops += f" if {self(where)}"
        self.guards.append([])
        term = self(body)
        loops += "".join(self.guards.pop())
        if op in ("any", "all"):
            return f"{op}(({term}){loops})"
        if op == "count":
            return f"sum(1{loops} if {term})" if loops else "0"
        if op in ("argmax", "argmin"):
            return f"R.{op}(({term}, x_{e.value['binders'][0]['name']}){loops})"
        if body.sort == INDEX:
            return f"R.{op}_of_indices({term}{loops})"
        return f"{self.elements(body.sort)}.{op}({term}{loops})"

    # -- functions -----------------------------------------------------------------------------------------------
    def _call(self, e: Expr) -> str:
        name, args = e.value, e.args
        special = getattr(self, f"call_{name.replace('<>', '_typed')}", None)
        if special:
            return special(*args)
        if name in SMALLEST:
            return self.smallest(e)
        if name in FUNCTIONS:
            return f"R.{name}({', '.join(map(self, args))})"
        return f"{self.elements(e.sort)}.{name}({', '.join(map(self, args))})"

    def smallest(self, e: Expr) -> str:
        parts = [self(a) for a in e.args]
        if e.sort.kind not in ("real", "element"):
            return f"R.{SMALLEST[e.value]}({', '.join(parts)})"
        made, of = parts[0], self.elements(e.sort)
        if e.sort.kind == "element":
            parts = [p if a.sort.kind == "element" else f"{of}.of({p})" for p, a in zip(parts, e.args, strict=True)]
            made = parts[0]
        if e.value == "clamp":
            return f"{of}.minimum({of}.maximum({parts[0]}, {parts[1]}), {parts[2]})"
        for one in parts[1:]:
            made = f"{of}.{e.value}imum({made}, {one})"
        return made

    def call_given(self, e: Expr) -> str:
        return f"call.given({e.value!r})"

    def call_wanted(self, e: Expr) -> str:
        return f"call.wanted({e.value!r})"

    def call_lowest(self, e: Expr) -> str:
        return f"O[{e.value!r}].lowest()"

    def call_highest(self, e: Expr) -> str:
        return f"O[{e.value!r}].highest()"

    def call_shape(self, e: Expr) -> str:
        return f"R.shape({self(e)})"

    def call_rank(self, e: Expr) -> str:
        return f"len(R.shape({self(e)}))"

    def call_dim(self, e: Expr, k: Expr) -> str:
        return f"R.dim({self(e)}, {self(k)})"

    def call_value(self, e: Expr) -> str:
        return f"R.value({self(e)}, {not self.holds_floats(e)})"

    def holds_floats(self, e: Expr) -> bool:
        """True if a small input is read as a list of reals; if its type may also be an integer, fractions are
        truncated.
        """
        allowed = self.v.types.get(e.sort.of, [e.sort.of])
        return all(is_float(t) for t in allowed if t in FORMATS)

    def call_reals(self, e: Expr) -> str:
        return f"R.value({self(e)}, False)"

    def call_type(self, e: Expr) -> str:
        return f"R.type_of({self(e)})"

    def call_view(self, e: Expr, shape: Expr) -> str:
        return f"R.view({self(e)}, {self(shape)})"

    def call_permuted(self, e: Expr, order: Expr) -> str:
        return f"R.permuted({self(e)}, {self(order)})"

    def call_size(self, e: Expr) -> str:
        if e.sort.kind == "family" and self.v.output(e.value):
            return f"call.count({e.value!r})"
        return f"len({self(e)})"

    def call_total(self, e: Expr) -> str:
        return f"sum({self(e)})"

    def call_fit(self, point: Expr, operand: Expr, *behind: Expr) -> str:
        more = f", {self(behind[0])}" if behind else ""
        return f"R.fit({self(point)}, {self(operand)}.shape{more})"

    def call_fit_from(self, point: Expr, operand: Expr, axis: Expr) -> str:
        return f"R.fit_from({self(point)}, {self(operand)}.shape, {self(axis)})"

    def call_real(self, e: Expr) -> str:
        return f"R.real({self(e)})"

    def call_index(self, e: Expr, *n: Expr) -> str:
        return f"R.index({self(e)}{''.join(', ' + self(x) for x in n)})"

    def call_within(self, e: Expr, n: Expr) -> str:
        return f"R.within({self(e)}, {self(n)})"

    def call_up_to(self, e: Expr) -> str:
        return self(e)

    call_down_to = call_up_to

    def call_is_nan(self, e: Expr) -> str:
        return f"R.is_nan({self(e)})"

    def call_is_inf(self, e: Expr) -> str:
        return f"R.is_inf({self(e)})"

    def call_activate(self, name: Expr, x: Expr, alpha: Expr, beta: Expr) -> str:
        return f"R.activate({', '.join(map(self, (name, x, alpha, beta)))})"

    def source_type(self, e: Expr) -> str:
        if e.sort.kind == "element" and not e.sort.of.startswith("@"):
            return self.type_of(e.sort.of)
        return "None"

    def call_convert_typed(self, e: Expr, *rest: Expr) -> str:
        *more, target = rest
        return f"R.convert({self(e)}, {self.source_type(e)}, {self(target)}{''.join(', ' + self(m) for m in more)})"

    def call_bits_typed(self, e: Expr, target: Expr) -> str:
        return f"R.bits({self(e)}, {self.source_type(e)}, {self(target)})"

    def call_round_to_typed(self, e: Expr, target: Expr) -> str:
        return f"R.round_to({self(e)}, {self(target)})"
