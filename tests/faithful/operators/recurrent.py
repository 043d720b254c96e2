"""Recurrent networks: a matmul for each gate, one for all gates, or one for input and state together."""

from __future__ import annotations

import numpy as np

from tests.faithful.arithmetic import Arithmetic
from tests.faithful.registry import Node, Outputs, computes, form_of


class Gates:
    """Gate pre-activations of one direction, in the variant's formula; weights are stored as rows, gate by gate."""

    def __init__(self, a: Arithmetic, form: str, w: np.ndarray, r: np.ndarray, b: np.ndarray | None):
        self.a, self.form, self.w, self.r = a, form, w, r
        rows = w.shape[0]
        both = np.zeros(2 * rows, a.number) if b is None else b
        self.of_input, self.of_state = both[:rows], both[rows:]

    def __call__(self, x: np.ndarray, h: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        a, w, r = self.a, self.w[rows], self.r[rows]
        if self.form == "fused":  # one matmul of [x, h], which starts from the sum of both biases
            seen = np.concatenate([x, h], axis=-1)
            return a.matmul(seen, np.concatenate([w, r], axis=-1).T, self.of_input[rows] + self.of_state[rows])
        if self.form == "biases_together":
            return a.matmul(x, w.T) + a.matmul(h, r.T) + (self.of_input[rows] + self.of_state[rows])
        return (a.matmul(x, w.T) + self.of_input[rows]) + (a.matmul(h, r.T) + self.of_state[rows])


def ordered(node: Node, x: np.ndarray) -> list[int]:
    return list(range(x.shape[0]))[:: -1 if node.direction == "reverse" else 1]


def first_state(a: Arithmetic, x: np.ndarray, hidden: int, given: np.ndarray | None) -> np.ndarray:
    return a.read(given)[0] if given is not None else np.zeros((x.shape[1], hidden), a.number)


def outputs(a: Arithmetic, node: Node, states: dict[int, np.ndarray], last: list[np.ndarray]) -> Outputs:
    every = np.stack([states[t] for t in sorted(states)])[:, None]
    made = [every, *(each[None] for each in last)]
    return tuple(a.stored(each) for each in made[: node.wanted])


FORMS = "apart fused biases_together"


@computes("RNN", forms=FORMS, sums=True, functions=True)
def rnn(a: Arithmetic, node: Node, x: np.ndarray, w: np.ndarray, r: np.ndarray, b: np.ndarray | None = None,
        lengths: np.ndarray | None = None, initial_h: np.ndarray | None = None) -> Outputs:  # fmt: skip
    x, bias = a.read(x), None if b is None else a.read(b)[0]
    gates = Gates(a, form_of(a, node), a.read(w)[0], a.read(r)[0], bias)
    h, states = first_state(a, x, node.hidden_size, initial_h), {}
    for t in ordered(node, x):
        h = states[t] = a.tanh(gates(x[t], h))
    return outputs(a, node, states, [h])


@computes("GRU", forms=FORMS, sums=True, functions=True)
def gru(a: Arithmetic, node: Node, x: np.ndarray, w: np.ndarray, r: np.ndarray, b: np.ndarray | None = None,
        lengths: np.ndarray | None = None, initial_h: np.ndarray | None = None) -> Outputs:  # fmt: skip
    x, n = a.read(x), node.hidden_size
    w, r = a.read(w)[0], a.read(r)[0]
    bias = np.zeros(6 * n, a.number) if b is None else a.read(b)[0]
    gates = Gates(a, form_of(a, node), w, r, bias)
    h, states = first_state(a, x, n, initial_h), {}
    for t in ordered(node, x):
        both = gates(x[t], h, slice(0, 2 * n))
        update, reset = a.sigmoid(both[:, :n]), a.sigmoid(both[:, n:])
        if node.linear_before_reset:
            carried = reset * (a.matmul(h, r[2 * n :].T) + bias[5 * n :])
            fresh = a.tanh(a.matmul(x[t], w[2 * n :].T) + bias[2 * n : 3 * n] + carried)
        else:
            fresh = a.tanh(gates(x[t], reset * h, slice(2 * n, 3 * n)))
        if gates.form == "biases_together":
            h = fresh + update * (h - fresh)
        else:
            h = a.add_product(1 - update, fresh, update * h)
        states[t] = h
    return outputs(a, node, states, [h])


@computes("LSTM", forms=FORMS, sums=True, functions=True)
def lstm(a: Arithmetic, node: Node, x: np.ndarray, w: np.ndarray, r: np.ndarray, b: np.ndarray | None = None,
         lengths: np.ndarray | None = None, initial_h: np.ndarray | None = None,
         initial_c: np.ndarray | None = None) -> Outputs:  # fmt: skip
    x, bias = a.read(x), None if b is None else a.read(b)[0]
    gates = Gates(a, form_of(a, node), a.read(w)[0], a.read(r)[0], bias)
    n = node.hidden_size
    h, c, states = first_state(a, x, n, initial_h), first_state(a, x, n, initial_c), {}
    for t in ordered(node, x):
        enter, leave, keep, fresh = np.split(gates(x[t], h), 4, axis=-1)
        c = a.add_product(a.sigmoid(keep), c, a.sigmoid(enter) * a.tanh(fresh))
        h = states[t] = a.sigmoid(leave) * a.tanh(c)
    return outputs(a, node, states, [h, c])
