"""Writes expressions of the notation as C++, keeping the names of the notation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from codegen import builtins as b
from codegen.builtins import BOOL, INDEX, INDICES, PREDICATE, REAL, REALS, TEXT, TEXTS, TYPE, Sort
from codegen.entry import SpecError, Version
from codegen.notation import Expr
from codegen.sides import Sides
from codegen.sorts import Meaning

CPP_TYPES = {
    "float": "float", "double": "double", "float16": "Float16", "bfloat16": "BFloat16", "int8": "std::int8_t",
    "int16": "std::int16_t", "int32": "std::int32_t", "int64": "std::int64_t", "uint8": "std::uint8_t",
    "uint16": "std::uint16_t", "uint32": "std::uint32_t", "uint64": "std::uint64_t", "bool": "bool",
    "string": "std::string", "complex64": "std::complex<float>", "complex128": "std::complex<double>",
    "float8e4m3fn": "Float8E4M3FN", "float8e4m3fnuz": "Float8E4M3FNUZ", "float8e5m2": "Float8E5M2",
    "float8e5m2fnuz": "Float8E5M2FNUZ", "float8e8m0": "Float8E8M0", "float6e2m3": "Float6E2M3",
    "float6e3m2": "Float6E3M2", "float4e2m1": "Float4E2M1", "uint4": "UInt4", "int4": "Int4", "uint2": "UInt2",
    "int2": "Int2",
}  # fmt: skip
ENUMERATORS = {"float": "float32", "double": "float64", "bool": "boolean"}
TRAITS = {
    "integers": "is_integer_element<{}>", "floats": "is_float_element<{}>", "signed": "is_signed_element<{}>",
    "unsigned": "(is_integer_element<{0}> && !is_signed_element<{0}>)", "strings": "std::is_same_v<{}, std::string>",
    "booleans": "std::is_same_v<{}, bool>", "numbers": "(is_integer_element<{0}> || is_float_element<{0}>)",
    "complexes": "is_complex_element<{}>",
}  # fmt: skip
KEYWORDS = {
    "and", "or", "not", "if", "else", "for", "while", "do", "switch", "case", "default", "return", "const", "auto",
    "bool", "int", "float", "double", "char", "long", "short", "signed", "unsigned", "void", "template", "typename",
    "class", "struct", "union", "enum", "namespace", "using", "static", "new", "delete", "this", "operator", "true",
    "false", "xor", "row", "at", "x", "inner", "strip", "some", "all", "best", "spot", "tally", "truth", "type", "R",
    "Q", "S", "Compute", "item", "join", "each", "collect", "select", "rows", "store", "load", "put", "less", "equal",
    "both", "either", "negate", "constant", "from_index", "facts", "plan", "bind", "call", "values", "output_shape",
    "add", "subtract", "multiply", "negative", "row_kernel", "scratch", "operand_span", "predicate",
}  # fmt: skip
COLLIDING = KEYWORDS | set(b.BUILTINS)
# Checked index arithmetic: an overflow raises an error that names the operation (core/checked.h, reference/lists.h).
CHECKED = {"+": "add", "-": "subtract", "*": "multiply", "/": "quotient", "%": "remainder"}


def cpp_name(name: str) -> str:
    return name + "_" if name in COLLIDING or name.endswith("_shape") else name


def enumerator(of: str) -> str:
    return "Type::" + ENUMERATORS.get(of, of)


def element_type(of: str, meaning: Meaning) -> str:
    """Returns the C++ element type of a constraint (a template parameter) or of a concrete type."""
    if of.startswith("@"):  # a tensor attribute has the type of the first output
        of = meaning.version.outputs[0].type
    if of in meaning.version.types:
        return of
    if of.startswith("#"):
        return "IndexIn<T_>"
    return CPP_TYPES[of]


def as_sort(e: Expr, read: str) -> str:
    """Wraps a read of an index buffer as an index, which checks overflow; a plain int64 computes modulo 2^64."""
    return f"as_index({read})" if e.sort == INDEX else read


def checked(operator: str, a: str, c: str) -> str:
    """Returns C++ of one checked operation on indices."""
    return f"{CHECKED[operator]}({a}, {c})"


def constraints(e: Expr) -> set[str]:
    """Returns the type constraints of the elements from which an element is computed."""
    parts = e.args[1:] if e.value == "select" else e.args
    inner = [a for a in parts if a.sort.kind == "element"] if e.kind != "read" and e.value != "convert<>" else []
    return set().union(*map(constraints, inner)) if inner else {e.sort.of}


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


@dataclass
class Cpp:
    """Writer of expressions. `at_call`: for the plan's constructor, where inputs are descriptions; in a kernel they are
    views. `read` may supply the C++ of a read of an element, by a reader made before the loop."""

    meaning: Meaning
    at_call: bool
    main: str = "T"  # element type that reals are converted to
    read: Callable[[Expr], str | None] = lambda e: None
    names: dict[str, str] = field(default_factory=dict)  # free name -> its C++ name here, if different
    used: set[str] = field(default_factory=set)  # given_X and wanted_X members that are used
    sides: Sides = field(default_factory=Sides)
    widest: str = ""  # C++ type of a whole value whose elements have several types, while it is written

    @property
    def version(self) -> Version:
        return self.meaning.version

    @property
    def real(self) -> str:
        return "R" if self.at_call else "Q"

    def fail(self, e: Expr, message: str) -> SpecError:
        return SpecError(self.version.path, e.line, f"{self.version.name}: {message}")

    def compute(self, sort: Sort) -> str:
        return self.real if sort.kind == "real" else self.widest or f"Compute<{element_type(sort.of, self.meaning)}>"

    def __call__(self, e: Expr) -> str:
        if (answer := self.read(e)) is None:
            return getattr(self, "_" + e.kind)(e)
        return f"{self.widest}({answer})" if self.widest and e.sort.kind == "element" else answer

    def list(self, parts: list[Expr]) -> str:
        return ", ".join(self(p) for p in parts)

    def stored(self, text: str, e: Expr, sort: Sort) -> str:
        """Returns `text`, the C++ of `e`, cast to the compute type of `sort` if `e` computes in another type."""
        if e.sort.kind != "element" or {element_type(of, self.meaning) for of in constraints(e)} <= {
            element_type(sort.of, self.meaning)
        }:
            return text
        return f"static_cast<{self.compute(sort)}>({text})"

    def summand(self, e: Expr) -> str:
        """Returns a term of a sum. Its products are rounded as the sum is, not as the elements are."""
        if e.kind == "binary" and e.value == "*" and e.sort.kind in ("element", "real") and self.read(e) is None:
            return f"product_in_sum({self.summand(e.args[0])}, {self.summand(e.args[1])})"
        return self(e)

    def _number(self, e: Expr) -> str:
        return f"Index{{{e.value}}}"

    def _real(self, e: Expr) -> str:
        return f"constant<{self.real}>({e.value})"

    def _string(self, e: Expr) -> str:
        return quoted(e.value)

    def _name(self, e: Expr) -> str:
        if e.value in self.names:
            return self.names[e.value]
        if e.value in ("true", "false"):
            return e.value
        if e.value in self.version.types and e.sort == TYPE:
            return f"type_{e.value}"
        if e.sort == TYPE and e.value in CPP_TYPES:
            return enumerator(e.value)
        if e.sort == REAL and not e.free and not self.at_call:
            return f"Q({cpp_name(e.value)})"
        if e.sort.kind == "family" and self.at_call:
            return cpp_name(e.value)
        return cpp_name(e.value)

    # -- arithmetic ----------------------------------------------------------------------------------------------
    def _coerce(self, e: Expr) -> str:
        inner = e.args[0]
        to = self.compute(e.sort)
        if inner.sort == INDEX:
            if inner.kind == "number":
                return f"constant<{to}>({inner.value})"
            if e.sort == REAL:
                return f"real<{to}>({self(inner)})"
            return f"from_index<{to}>({self(inner)})"
        if inner.kind == "real":
            return f"constant<{to}>({inner.value})"
        return f"from_real<{to}>({self(inner)})"

    def _scalar(self, e: Expr) -> str:
        return f"{cpp_name(e.value)}_value"

    def _let(self, e: Expr) -> str:
        return self(e.args[0])

    def _negative(self, e: Expr) -> str:
        inner = e.args[0]
        if e.sort not in (INDEX, INDICES):
            return f"-{self(inner)}"
        return f"Index{{-{inner.value}}}" if inner.kind == "number" else f"negative({self(inner)})"

    def _binary(self, e: Expr) -> str:
        a, c = self(e.args[0]), self(e.args[1])
        if e.sort == INDEX or (e.sort == INDICES and e.value in "/%"):
            return checked(e.value, a, c)
        if e.sort == REALS:
            raise self.fail(e, "lists of reals are written by [.. for k in ..]")
        return f"({a} {e.value} {c})"

    def _compare(self, e: Expr) -> str:
        a, c = self(e.args[0]), self(e.args[1])
        kind = e.args[0].sort.kind
        if kind not in ("element", "real"):
            return f"({a} {e.value} {c})"
        written = {
            "<": f"less({a}, {c})", ">": f"less({c}, {a})", "<=": f"less_equal({a}, {c})",
            ">=": f"less_equal({c}, {a})", "==": f"equal({a}, {c})", "!=": f"negate(equal({a}, {c}))",
        }[e.value]  # fmt: skip
        return f"surely({written})" if e.sort == BOOL else written

    def _logic(self, e: Expr) -> str:
        a, c = self(e.args[0]), self(e.args[1])
        if e.sort == BOOL:
            return f"({a} {'&&' if e.value == 'and' else '||'} {c})"
        return f"{'both' if e.value == 'and' else 'either'}({a}, {c})"

    def _not(self, e: Expr) -> str:
        return f"!{self(e.args[0])}" if e.sort == BOOL else f"negate({self(e.args[0])})"

    def _member(self, e: Expr) -> str:
        if e.args[0].value not in self.version.types:  # a type named by a let, not a constraint: known only at run time
            return f"is_one_of_{e.value}({self(e.args[0])})"
        return TRAITS[e.value].format(element_type(e.args[0].value, self.meaning))

    def _cond(self, e: Expr) -> str:
        test, a, c = (self(x) for x in e.args)
        if e.args[0].sort == BOOL:
            if e.sort == TEXT:
                a, c = f"std::string({a})", f"std::string({c})"
            return f"({self.sides.asked(e, test)} ? {a} : {c})"
        return self.sides.chosen(e, test, a, c)

    def _match(self, e: Expr) -> str:
        subject = self(e.args[0])
        out = ""
        last = None
        for k, (key, arm) in enumerate(e.value):
            if key is None:
                last = self(arm)
            else:
                out += f"{self.sides.asked(e, f'{subject} == {quoted(key)}', 'arm', k)} ? {self(arm)} : "
        if last is None:
            kinds = {INDEX: "Index", INDICES: "IndexVector", REALS: f"std::vector<{self.real}>", BOOL: "bool"}
            last = f"unknown_choice<{kinds.get(e.sort) or self.compute(e.sort)}>({subject})"
        return f"({out}{last})"

    # -- lists ---------------------------------------------------------------------------------------------------
    def _splice(self, e: Expr) -> str:
        return self(e.args[0])

    def _replace(self, e: Expr) -> str:
        return f"replaced({self.list(e.args)})"

    def _list(self, e: Expr) -> str:
        if e.sort == REALS:
            return f"list_of<{self.real}>({self.list(e.args)})"
        if e.sort == TEXTS:
            parts = [f"std::string({self(a)})" if a.kind == "string" else self(a) for a in e.args]
            return f"list_of<std::string>({', '.join(parts)})"
        return f"join({self.list(e.args)})"

    def _comprehension(self, e: Expr) -> str:
        body, low, high, *where = e.args
        name = cpp_name(e.value)
        function = {REALS: f"collect_list<{self.real}>", TEXTS: "collect_list<std::string>"}.get(e.sort, "collect")
        result = " -> std::string" if e.sort == TEXTS else ""
        test = f", [&](Index {name}) {{ return {self.sides.asked(where[0], self(where[0]))}; }}" if where else ""
        return f"{function}({self(low)}, {self(high)}, [&](Index {name}){result} {{ return {self(body)}; }}{test})"

    # -- reads ---------------------------------------------------------------------------------------------------
    def _read(self, e: Expr) -> str:
        base, *args = e.args
        if base.sort.kind in b.ITEM_OF:
            text = f"item({self(base)}, {self(args[0])})"
            return f"Q({text})" if base.sort == REALS and not base.free and not self.at_call else text
        if base.sort.kind == "family":
            return f"item({self(base)}, {self(args[0])})"
        if self.at_call:
            raise self.fail(e, "an element is read where only shapes and small values are known")
        at = self.spot(args)
        if e.value and e.value["else"] is not None:
            read = f"{self(base)}.read({at}, {self(e.value['else'])})"
            return as_sort(e, self.sides.read(e, f"{self(base)}.holds({at})", read))
        if e.value:
            raise self.fail(e, "'else none' leaves a term out of a reduction, so it stands in one")
        return as_sort(e, f"{self(base)}.read({at})")

    def spot(self, args: list[Expr]) -> str:
        """Returns the point named by the indices of a read."""
        if len(args) == 1 and args[0].sort == INDICES:
            return self(args[0].args[0]) if args[0].kind == "splice" else self(args[0])
        return f"join({self.list(args)})"

    # -- reductions inside an expression ---------------------------------------------------------------------------
    def _reduce(self, e: Expr) -> str:
        op = e.value["op"]
        binders, where, body = e.value["binders"], e.value["where"], e.args[0]
        test = f"if ({self.sides.asked(where, self(where))}) " if where else ""
        if where is not None and where.sort == PREDICATE:
            raise self.fail(e, "'where' asks about indices; use select for elements")
        if body.kind == "read" and body.value and body.value["else"] is None and op not in ("any", "all", "count"):
            at = self.spot(body.args[1:])
            test += f"if (const auto spot = {at}; {self.sides.asked(body, f'{self(body.args[0])}.holds(spot)')}) "
            term = f"{self(body.args[0])}.read(spot)"
        else:
            term = self.summand(body) if op == "sum" else self(body)
        loops = "".join(self.loop(binder) for binder in binders)
        if op == "count":
            return f"[&] {{ Index tally = 0; {loops}{test}if ({term}) ++tally; return tally; }}()"
        if op in ("any", "all"):
            start, rule = ("false", "either") if op == "any" else ("true", "both")
            kind = "bool" if body.sort == BOOL else "Predicate<T_>"
            return f"[&] {{ {kind} truth = {start}; {loops}{test}truth = {rule}(truth, {term}); return truth; }}()"
        if op in b.ARG_REDUCTIONS:
            kind = "IndexVector" if binders[0]["kind"] == "box" else "Index"
            element = self.compute(body.sort)
            start = f"best.at = IndexVector({self(binders[0]['shape'])}.size(), 0); " if kind == "IndexVector" else ""
            return (
                f"[&] {{ {b.ARG_REDUCTIONS[op]}<{element}, {kind}> best; {start}{loops}{test}"
                f"best.add({term}, {cpp_name(binders[0]['name'])}); return best.at; }}()"
            )
        if body.sort == INDEX:
            step = {
                "sum": "tally = add(tally, {0})",
                "prod": "tally = multiply(tally, {0})",
                "max": "tally = max(tally, {0})",
                "min": "tally = min(tally, {0})",
            }[op]
            start = {"sum": "0", "prod": "1", "max": "INT64_MIN", "min": "INT64_MAX"}[op]
            return f"[&] {{ Index tally = {start}; {loops}{test}{step.format(term)}; return tally; }}()"
        return (
            f"[&] {{ {b.accumulator(op, body)}<{self.compute(body.sort)}> total; "
            f"{loops}{test}total.add({self.stored(term, body, body.sort)}); "
            f"return total.get(); }}()"
        )

    def loop(self, binder: dict) -> str:
        name = cpp_name(binder["name"])
        if binder["kind"] == "range":
            return f"for (const Index {name} : Steps({self(binder['low'])}, {self(binder['high'])})) "
        if binder["kind"] == "box":
            return f"for (const IndexVector& {name} : box({self(binder['shape'])})) "
        return f"for (const auto& {name} : {cpp_name(binder['family'])}) "

    def _call(self, e: Expr) -> str:
        name = e.value
        if name in ("given", "wanted"):
            self.used.add(f"{name}_{e.args[0].value}")
            return f"{name}_{e.args[0].value}"
        if name in ("lowest", "highest"):
            return f"{name}<{e.args[0].value}>(type_{e.args[0].value})"
        if name == "convert<>":
            *parts, target = e.args
            if target.kind != "name":
                raise self.fail(
                    e, "a conversion to a type that is known only at a call stands alone: y[i] = convert<..>(x[i])"
                )
            known = target.value not in self.version.types  # a concrete element type, such as double
            to, code = (
                (CPP_TYPES[target.value], enumerator(target.value)) if known else (target.value, f"type_{target.value}")
            )
            return f"convert_element<{to}>({self.list(parts[:1])}, {code}{self.tail(parts[1:])})"
        if name == "bits<>":
            raise self.fail(e, "the same bits as another type stand alone: y[i] = bits<type(to)>(x[i])")
        if name == "round_to<>":
            return f"round_number({self(e.args[0])}, {self(e.args[1])})"
        if name == "value":
            return f"reals<R>({self(e.args[0])})" if e.sort == REALS else f"values({self(e.args[0])})"
        if name == "reals":
            return f"reals<R>({self(e.args[0])})"
        if name == "size" and e.args[0].sort.kind == "family" and self.version.output(e.args[0].value):
            return f"{e.args[0].value}_count"
        if name == "type":
            return f"{self(e.args[0])}.type" if e.args[0].sort.kind == "tensor" else f"type_called({self(e.args[0])})"
        if name == "real":
            if e.args[0].sort == REAL:
                return self(e.args[0])
            function = "real" if e.args[0].sort == INDEX else "to_real"
            return f"{function}<{self.real}>({self(e.args[0])})"
        if name == "independent":
            return self.summand(e.args[0])
        if name in ("floor_index", "ceil_index") and self.at_call:
            return f"{name.replace('index', 'now')}({self(e.args[0])})"
        if name in ("cos_of_turn", "sin_of_turn"):
            return f"{name}<{self.real}>({self.list(e.args)})"
        if name == "index":
            return f"checked_index({self.list(e.args)})" if len(e.args) == 2 else f"plain_index({self(e.args[0])})"
        if name in ("min", "max", "clamp") and e.sort.kind in ("real", "element"):
            parts = [self(p) if p.sort == e.sort else self._coerce(Expr("coerce", [p], sort=e.sort)) for p in e.args]
            if name == "clamp":
                return f"prim::minimum(prim::maximum({parts[0]}, {parts[1]}), {parts[2]})"
            joined = parts[0]
            for part in parts[1:]:
                joined = f"prim::{name}imum({joined}, {part})"
            return joined
        if name in b.BUILTINS:
            return f"{name}({self.list(e.args)})"
        return f"prim::{name}({self.list(e.args)})"

    def tail(self, parts: list[Expr]) -> str:
        return "".join(", " + self(p) for p in parts)


# C++ member type in a plan for each sort.
MEMBER_TYPES = {INDEX: "Index", REAL: "R", BOOL: "bool", TEXT: "std::string", TYPE: "Type", INDICES: "IndexVector",
                REALS: "std::vector<R>", TEXTS: "std::vector<std::string>"}  # fmt: skip
