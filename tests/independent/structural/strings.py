"""String operators. Bytes that are no UTF-8 are represented as lone surrogates."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tests.independent import arithmetic as a
from tests.independent.indices import box, broadcast, broadcastable, fit
from tests.independent.refusal import LeftOut, Refusal
from tests.independent.tensors import Tensor

UNKNOWN_TO_RE2 = re.compile(r"\(\?(=|!|<=|<!|>|\()|\\[1-9Z]|[*+?}]\+")
ANOTHER_WAY = re.compile(r"\\[pPCQzaK]|\[\[:|\\x\{|\(\?[a-zA-Z]*[U]")


def is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def concat(call: Any) -> list[Any]:
    x, y = call.inputs["X"], call.inputs["Y"]
    call.require("C1", lambda: broadcastable(x.shape, y.shape))
    made = Tensor("string", broadcast(x.shape, y.shape), None)
    for p in box(made.shape):
        made.at[p] = x.at[fit(p, x.shape)] + y.at[fit(p, y.shape)]
    return [made]


def pieces(text: str, delimiter: str, most: int) -> list[str]:
    if delimiter:
        return text.split(delimiter, most)
    return text.strip().split(None, most)


def split(call: Any) -> list[Any]:
    x, delimiter = call.inputs["X"], call.attributes.get("delimiter") or ""
    call.require("C1", lambda: all(map(is_utf8, x.flat())))
    most = call.attributes.get("maxsplit")
    rows = [pieces(text, delimiter, -1 if most is None else most) for text in x.flat()]
    width = max(map(len, rows), default=0)
    texts = [text for row in rows for text in [*row, *[""] * (width - len(row))]]
    return [Tensor("string", (*x.shape, width), texts), Tensor("int64", x.shape, [len(row) for row in rows])]


def cased(text: str, up: bool) -> str:
    """Changes case by Unicode's simple mappings, one character to one character."""
    made = []
    for c in text:
        changed = c.upper() if up else c.lower()
        if len(changed) > 1:
            changed = (c.title() if len(c.title()) == 1 else c) if up else changed[0]
        made.append(changed)
    return "".join(made)


def normalizer(call: Any) -> list[Any]:
    x, action = call.inputs["X"], call.attributes["case_change_action"]
    call.require("C1", lambda: len(x.shape) == 1 or (len(x.shape) == 2 and x.shape[0] == 1))
    call.require("C2", lambda: action in ("LOWER", "UPPER", "NONE"))
    call.require("C3", lambda: all(map(is_utf8, x.flat())))
    exact, stopwords = call.attributes["is_case_sensitive"], call.attributes.get("stopwords") or ()

    def key(text: str) -> str:
        return text if exact else cased(text, False)

    gone = set(map(key, stopwords))
    left = [text for text in x.flat() if key(text) not in gone]
    if action != "NONE":
        left = [cased(text, action == "UPPER") for text in left]
    left = left or [""]
    return [Tensor("string", (len(left),) if len(x.shape) == 1 else (1, len(left)), left)]


def full_match(call: Any) -> list[Any]:
    x, pattern = call.inputs["X"], call.attributes.get("pattern")
    call.require("C1", lambda: pattern is not None)
    call.require("C2", lambda: not UNKNOWN_TO_RE2.search(pattern))
    if ANOTHER_WAY.search(pattern):
        raise LeftOut(f"regex: {pattern}")
    try:
        compiled = re.compile(pattern, re.ASCII)
    except re.error as error:
        raise Refusal(str(error), f"{call.version.name}/C2") from None
    call.require("C3", lambda: all(map(is_utf8, x.flat())))
    return [Tensor("bool", x.shape, [compiled.fullmatch(text) is not None for text in x.flat()])]


# -- n-grams -----------------------------------------------------------------------------------------------------
def tf_idf(call: Any) -> list[Any]:
    x, said = call.inputs["X"], call.attributes.get
    mode, starts, places = said("mode"), said("ngram_counts"), said("ngram_indexes")
    low, high, skips = said("min_gram_length"), said("max_gram_length"), said("max_skip_count")
    texts, numbers, weights = said("pool_strings"), said("pool_int64s"), said("weights")
    call.require("C1", lambda: len(x.shape) in (1, 2))
    call.require("C2", lambda: mode in ("TF", "IDF", "TFIDF"))
    call.require("C3", lambda: (texts is None) != (numbers is None) and (texts is not None) == (x.type == "string"))
    call.require("C4", lambda: 1 <= low <= high <= len(starts) and skips >= 0)
    pool = texts if texts is not None else numbers
    ends = [*starts[1:], len(pool)]

    def whole() -> bool:
        spans = zip(starts, ends, strict=True)
        return starts[0] >= 0 and all(s <= e <= len(pool) and (e - s) % n == 0 for n, (s, e) in enumerate(spans, 1))

    call.require("C5", whole)
    grams = [pool[k : k + n] for n, (s, e) in enumerate(zip(starts, ends, strict=True), 1) for k in range(s, e, n)]
    call.require("C6", lambda: len(places) == len(grams) and all(k >= 0 for k in places))
    call.require("C7", lambda: weights is None or len(weights) == len(places))
    width = max(places, default=-1) + 1
    rows = [x.flat()] if len(x.shape) == 1 else [[x.at[r, k] for k in range(x.shape[1])] for r in range(x.shape[0])]
    made = [scored(row, grams, places, weights, mode, range(low, high + 1), skips, width) for row in rows]
    shape = (width,) if len(x.shape) == 1 else (len(rows), width)
    return [Tensor("float", shape, [value for row in made for value in row])]


def scored(
    row: list[Any], grams: Any, places: Any, weights: Any, mode: str, lengths: range, skips: int, width: int
) -> list[Any]:
    """Counts of each n-gram, weighted by mode; an n-gram of one item has no skips."""
    found: Counter[Any] = Counter()
    for n in lengths:
        for step in range(1, (skips if n > 1 else 0) + 2):
            for start in range(len(row) - (n - 1) * step):
                found[tuple(row[start : start + (n - 1) * step + 1 : step])] += 1
    times: list[int] = [0] * width
    weight: list[Any] = [1] * width
    for k, gram in enumerate(grams):
        times[places[k]] += found[tuple(gram)] if len(gram) in lengths else 0
        if weights is not None:
            weight[places[k]] = weights[k]
    if mode == "TF":
        return list(times)
    return [a.mul(min(t, 1) if mode == "IDF" else t, w) for t, w in zip(times, weight, strict=True)]


WRITTEN = {
    "string_concat": concat, "string_split": split, "string_normalizer": normalizer, "regex_full_match": full_match,
    "tf_idf_vectorizer": tf_idf,
}  # fmt: skip
