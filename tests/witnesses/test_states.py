"""Stateful operators against the standard's evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from tests.witnesses.asking import Asked, agree, seeded


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize(("past", "by_element", "rates"), [(True, False, 2), (False, True, 1)])
def test_linear_attention(rule: str, past: bool, by_element: bool, rates: int) -> None:
    batch, steps, heads, shared, depth, width = 2, 5, 4, 2, 3, 4
    gates = seeded(batch, steps, shared * (depth if by_element else 1), seed=4, low=-2, high=0)
    inputs = {
        "query": seeded(batch, steps, heads * depth, seed=1),
        "key": seeded(batch, steps, shared * depth, seed=2),
        "value": seeded(batch, steps, shared * width, seed=3),
        "past_state": seeded(batch, shared, depth, width, seed=6) if past else None,
        "decay": gates if "gated" in rule else None,
        "beta": seeded(batch, steps, rates, seed=5, low=0) if "delta" in rule else None,
    }
    asked = Asked("LinearAttention", 27, inputs, 2, update_rule=rule, q_num_heads=heads, kv_num_heads=shared)
    agree(asked, asked.evaluator())


@pytest.mark.parametrize("activation", ["none", "silu", "swish"])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("width", [1, 4, 9])
def test_causal_convolutions(width: int, given: bool, activation: str) -> None:
    inputs = {
        "input": seeded(2, 3, 6, seed=1),
        "weight": seeded(3, 1, width, seed=2),
        "bias": seeded(3, seed=3) if given else None,
        "past_state": seeded(2, 3, width - 1, seed=4) if given else None,
    }
    asked = Asked("CausalConvWithState", 27, inputs, 2, activation=activation)
    agree(asked, asked.evaluator())


def test_a_state_goes_on_where_it_was_left() -> None:
    """Two halves of a sequence, the second from the state of the first, equal the whole."""
    sequence, weight = seeded(1, 2, 10, seed=1), seeded(2, 1, 4, seed=2)
    whole = Asked("CausalConvWithState", 27, {"input": sequence, "weight": weight}, 2).ours()
    first = Asked("CausalConvWithState", 27, {"input": sequence[:, :, :3], "weight": weight}, 2).ours()
    rest = {"input": sequence[:, :, 3:], "weight": weight, "bias": None, "past_state": first[1]}
    second = Asked("CausalConvWithState", 27, rest, 2).ours()
    assert (np.concatenate([first[0], second[0]], axis=2) == whole[0]).all()
    assert (second[1] == whole[1]).all()
