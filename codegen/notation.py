"""Parses index notation into trees. spec/reference.md documents each construct with an example.

A text is a list of statements, one a line. A deeper indented line continues the one above, unless that one ends with a
colon: then the deeper lines are its block.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, VisitError

from codegen.entry import SpecError, Text

GRAMMAR = r"""
statement: "let" NAME "=" expr                                 -> let
    | "scan" NAME "in" expr ".." expr ":"                      -> scan
    | "when" expr ":" [statement]                              -> when
    | "else" ":" [statement]                                   -> otherwise
    | "use" NAME                                               -> use
    | "run" NAME "=" NAME "(" NAME "," expr ")"                -> through
    | "scatter" NAME "in" "box" "(" expr ")" ["where" either] ":" \
        NAME "[" args "]" (UPDATE | "=") expr                  -> scatter
    | NAME "[" lhs "]" "[" lhs ("," lhs)* "]" "=" expr         -> define_family
    | "seen" NAME "[" lhs ("," lhs)* "]" "=" expr              -> seen
    | NAME "[" lhs ("," lhs)* "]" "=" expr                     -> define
    | NAME "[" "]" "=" expr                                    -> define_scalar
    | "view" "(" NAME "," expr ")" "[" lhs ("," lhs)* "]" "=" expr -> define_view
    | NAME "=" expr                                            -> whole
lhs: NAME "in" expr -> lhs_over | NAME ".." expr? -> lhs_pack | NAME -> lhs_index

?expr: "if" expr "then" expr "else" expr                       -> cond
    | "match" either "{" arm ("," arm)* "}"                    -> match
    | REDUCTION binder ("," binder)* ["where" either] ":" expr -> reduce
    | either
arm: STRING ":" expr | "else" ":" expr -> arm_else
binder: NAME "in" sum_ ".." sum_ -> over_range | NAME "in" "box" "(" expr ")" -> over_box
    | NAME "in" NAME                                           -> over_family
?either: both ("or" both)*
?both: negated ("and" negated)*
?negated: "not" negated -> not_ | comparison
?comparison: sum_ | sum_ COMPARE sum_ -> comparison | sum_ "in" NAME -> member
?sum_: product | sum_ ADD product                              -> binary
?product: unary | product MUL unary                            -> binary
?unary: "-" unary -> negative | postfix
?postfix: atom | postfix "[" args "]"                          -> read
    | "(" postfix "[" args "]" "else" (NONE | expr) ")"        -> read_else
?atom: NUMBER -> number | STRING -> string | NAME -> name
    | NAME "(" [expr ("," expr)*] ")"                          -> call
    | TYPED postfix COMPARE "(" expr ("," expr)* ")"               -> call_typed
    | "[" expr "for" NAME "in" sum_ ".." sum_ ["where" either] "]" -> comprehension
    | "[" [arg ("," arg)*] "]"                                 -> list_
    | "(" expr ")"
args: [arg ("," arg)*]
arg: expr ".." -> splice | expr "with" sum_ "=" expr -> replace | expr
REDUCTION.3: /(sum|prod|max|min|any|all|count|argmax|argmin|first)(?=\s+[A-Za-z_]\w*\s+in\b)/
TYPED.3: /(convert|round_to|bits)</
UPDATE.3: /(sum|prod|max|min)=(?!=)/
NONE.3: "none"
COMPARE: "<=" | ">=" | "==" | "!=" | "<" | ">"
ADD: "+" | "-"
MUL: "*" | "/" | "%"
STRING: /"[^"\n]*"/
NAME: /(?!(if|then|else|in|let|with|box|where|for|match|and|or|not|when|scan|seen|scatter|use|none)\b)[A-Za-z_]\w*/
NUMBER: /\d+(\.\d+)?([eE][-+]?\d+)?/
%ignore /[ \t\n]+/
"""


@dataclass
class Expr:
    """Node of an expression. The checker (codegen/sorts.py) fills in `sort` and `free`."""

    kind: str
    args: list[Any] = field(default_factory=list)
    value: Any = None
    line: int = 0
    sort: Any = None
    free: Any = None  # a frozenset of names
    text: str = ""
    place: tuple[str, int, int] = field(default=("", 0, 0), compare=False)  # path, line, number in that text


@dataclass
class Lhs:
    kind: str  # over (the whole pack, with its shape), pack, index
    name: str
    size: Expr | None = None


@dataclass
class Statement:
    kind: str  # let define whole scan when otherwise seen scatter use through
    name: str = ""
    lhs: list[Lhs] = field(default_factory=list)
    value: Expr | None = None
    view: Expr | None = None  # define through a view: the shape
    low: Expr | None = None  # scan
    high: Expr | None = None
    block: list[Statement] = field(default_factory=list)
    family: str = ""  # define: the name of the index over the tensors of a variadic output
    binder: str = ""  # scatter: the index that runs over the box `low`, where `high` holds
    at: list[Expr] = field(default_factory=list)  # scatter: the point that is updated
    source: str = ""  # through: the buffer that the graph `family` receives, with type `value`
    update: str = ""  # scatter: sum, prod, max, min; empty: the last update wins
    line: int = 0
    path: str = ""  # path of the text that contains it
    order: int = 0  # position in the order of checking
    text: str = ""


class _Build(Transformer):
    """Converts Lark's tree to Expr and Statement."""

    def __init__(self, path: str, line: int):
        super().__init__()
        self.path, self.line = path, line
        self.count = 0

    def make(self, kind: str, args: list[Any], value: Any = None) -> Expr:
        self.count += 1
        return Expr(kind, args, value, self.line, place=(self.path, self.line, self.count))

    def number(self, c: Any):
        text = str(c[0])
        return self.make("number" if text.isdigit() else "real", [], text)

    def string(self, c: Any):
        return self.make("string", [], str(c[0])[1:-1])

    def name(self, c: Any):
        return self.make("name", [], str(c[0]))

    def call(self, c: Any):
        return self.make("call", [x for x in c[1:] if x is not None], str(c[0]))

    def call_typed(self, c: Any):
        return self.make("call", [*c[3:], c[1]], str(c[0]) + ">")

    def cond(self, c: Any):
        return self.make("cond", list(c))

    def match(self, c: Any):
        return self.make("match", [c[0]], [(k, v) for k, v in c[1:]])

    def arm(self, c: Any):
        return (str(c[0])[1:-1], c[1])

    def arm_else(self, c: Any):
        return (None, c[0])

    def reduce(self, c: Any):
        *binders, where, body = c[1:]
        return self.make("reduce", [body], {"op": str(c[0]), "binders": binders, "where": where})

    def over_range(self, c: Any):
        return {"kind": "range", "name": str(c[0]), "low": c[1], "high": c[2]}

    def over_box(self, c: Any):
        return {"kind": "box", "name": str(c[0]), "shape": c[1]}

    def over_family(self, c: Any):
        return {"kind": "family", "name": str(c[0]), "family": str(c[1])}

    def either(self, c: Any):
        return functools.reduce(lambda a, b: self.make("logic", [a, b], "or"), c)

    def both(self, c: Any):
        return functools.reduce(lambda a, b: self.make("logic", [a, b], "and"), c)

    def not_(self, c: Any):
        return self.make("not", list(c))

    def comparison(self, c: Any):
        return self.make("compare", [c[0], c[2]], str(c[1]))

    def member(self, c: Any):
        return self.make("member", [c[0]], str(c[1]))

    def binary(self, c: Any):
        return self.make("binary", [c[0], c[2]], str(c[1]))

    def negative(self, c: Any):
        return self.make("negative", list(c))

    def read(self, c: Any):
        return self.make("read", [c[0], *c[1]])

    def read_else(self, c: Any):
        other = None if isinstance(c[2], Token) else c[2]
        return self.make("read", [c[0], *c[1]], {"else": other})

    def args(self, c: Any):
        return [x for x in c if x is not None]

    def splice(self, c: Any):
        return self.make("splice", list(c))

    def replace(self, c: Any):
        return self.make("replace", list(c))

    def arg(self, c: Any):
        return c[0]

    def comprehension(self, c: Any):
        return self.make("comprehension", [c[0], c[2], c[3], *([c[4]] if c[4] is not None else [])], str(c[1]))

    def list_(self, c: Any):
        return self.make("list", [x for x in c if x is not None])

    def lhs_over(self, c: Any):
        return Lhs("over", str(c[0]), c[1])

    def lhs_pack(self, c: Any):
        return Lhs("pack", str(c[0]), c[1] if len(c) > 1 else None)

    def lhs_index(self, c: Any):
        return Lhs("index", str(c[0]))

    def let(self, c: Any):
        return Statement("let", str(c[0]), value=c[1], line=self.line)

    def whole(self, c: Any):
        return Statement("whole", str(c[0]), value=c[1], line=self.line)

    def define(self, c: Any):
        return Statement("define", str(c[0]), list(c[1:-1]), c[-1], line=self.line)

    def define_scalar(self, c: Any):
        return Statement("define", str(c[0]), [], c[1], line=self.line)

    def seen(self, c: Any):
        return Statement("seen", str(c[0]), list(c[1:-1]), c[-1], line=self.line)

    def define_view(self, c: Any):
        return Statement("define", str(c[0]), list(c[2:-1]), c[-1], view=c[1], line=self.line)

    def use(self, c: Any):
        return Statement("use", str(c[0]), line=self.line)

    def through(self, c: Any):
        name, graph, source, element = c
        return Statement("through", str(name), value=element, family=str(graph), source=str(source), line=self.line)

    def scatter(self, c: Any):
        binder, box, where, name, at, *update, value = c
        return Statement("scatter", str(name), value=value, low=box, high=where, binder=str(binder), at=at,
                         update=str(update[0])[:-1] if update else "", line=self.line)  # fmt: skip

    def define_family(self, c: Any):
        return Statement("define", str(c[0]), list(c[2:-1]), c[-1], family=c[1].name, line=self.line)

    def scan(self, c: Any):
        return Statement("scan", str(c[0]), low=c[1], high=c[2], line=self.line)

    def when(self, c: Any):
        return Statement("when", value=c[0], block=[c[1]] if c[1] else [], line=self.line)

    def otherwise(self, c: Any):
        return Statement("otherwise", block=[c[0]] if c[0] else [], line=self.line)


@functools.lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", start=["statement", "expr"], maybe_placeholders=True)


@functools.cache
def _tree(text: str, start: str):
    return _parser().parse(text, start=start)


def _parse(text: str, path: str, line: int, start: str):
    try:
        made = _Build(path, line).transform(_tree(text, start))
    except UnexpectedInput as error:
        near = text[max(0, (error.pos_in_stream or 0) - 20) :][:50]
        raise SpecError(path, line, f"not in the notation, near '{near}'") from None
    except VisitError as error:
        raise SpecError(path, line, f"{error.orig_exc}") from None
    made.text = " ".join(text.split())
    return made


def parse_expression(text: Text) -> Expr:
    return _parse(text.text, text.path, text.line, "expr")


def parse_statements(text: Text) -> list[Statement]:
    """Parses a `semantics:` text into statements with nested blocks."""
    rows: list[tuple[int, int, str]] = []  # indent, line, text
    for number, raw in enumerate(text.text.split("\n")):
        stripped = raw.split("#")[0].rstrip()
        if not stripped.strip():
            continue
        indent = len(stripped) - len(stripped.lstrip())
        if rows and indent > rows[-1][0] and not rows[-1][2].endswith(":"):
            rows[-1] = (rows[-1][0], rows[-1][1], rows[-1][2] + "\n" + stripped.strip())
        else:
            rows.append((indent, text.line + number, stripped.strip()))
    made, rest = _nest(rows, text.path, -1)
    if rest:
        raise SpecError(text.path, rest[0][1], "this line is indented as nothing above it is")
    return made


def _nest(
    rows: list[tuple[int, int, str]], path: str, above: int
) -> tuple[list[Statement], list[tuple[int, int, str]]]:
    made: list[Statement] = []
    while rows and rows[0][0] > above:
        indent, line, text = rows[0]
        statement = _parse(text, path, line, "statement")
        rows = rows[1:]
        if text.endswith(":"):
            statement.block, rows = _nest(rows, path, indent)
            if not statement.block:
                raise SpecError(path, line, "a line that ends with a colon needs a block below it")
        statement.path = path
        for inner in statement.block:
            inner.path = path
            inner.line = inner.line or line
            inner.text = inner.text or statement.text.split(":", 1)[-1].strip()
        made.append(statement)
    return made, rows
