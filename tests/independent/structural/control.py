"""If, Loop, Scan and SequenceMap: their bodies are graphs that read values of the enclosing graph."""

from __future__ import annotations

from typing import Any

from tests.independent.graph import spelled
from tests.independent.indices import box
from tests.independent.indices import count as count_of
from tests.independent.refusal import LeftOut, Refusal
from tests.independent.tensors import Sequence, Tensor, type_text


def if_(call: Any) -> list[Any]:
    branch = call.attributes["then_branch" if call.inputs["cond"].only else "else_branch"]
    return [call.graph.body(branch, [])]


def stacked(tensors: list[Tensor], axis: int = 0) -> Tensor:
    """Stacks tensors of one shape along a new dimension."""
    shape = tensors[0].shape
    if any(t.shape != shape for t in tensors):
        raise Refusal("the steps give tensors of different shapes")
    made = Tensor(tensors[0].type, (*shape[:axis], len(tensors), *shape[axis:]))
    for k, t in enumerate(tensors):
        for p, value in t.at.items():
            made.at[(*p[:axis], k, *p[axis:])] = value
    return made


def gathered(tensors: list[Tensor], port: Any) -> Tensor:
    if tensors:
        return stacked(tensors)
    like = declared(port)
    return Tensor(like.type, (0, *like.shape), [])


def loop(call: Any) -> list[Any]:
    body, trips, condition = call.attributes["body"], call.inputs["M"], call.inputs["cond"]
    carried = list(call.inputs["v_initial"])
    most = None if trips is None else trips.only
    goes_on = True if condition is None else condition.only
    scanned: list[list[Tensor]] = [[] for _ in range(len(body.output) - 1 - len(carried))]
    k = 0
    while goes_on and (most is None or k < most):
        if k > 10_000:
            raise LeftOut("size: a loop of over 10000 steps")
        given = [Tensor("int64", (), [k]), Tensor("bool", (), [goes_on]), *carried]
        flag, *made = call.graph.body(body, given)
        goes_on, carried = flag.only, made[: len(carried)]
        for tensors, one in zip(scanned, made[len(carried) :], strict=True):
            tensors.append(one)
        k += 1
    ports = body.output[1 + len(carried) :]
    return [[*carried, *(gathered(tensors, port) for tensors, port in zip(scanned, ports, strict=True))]]


def taken(tensor: Tensor, axis: int, k: int) -> Tensor:
    shape = (*tensor.shape[:axis], *tensor.shape[axis + 1 :])
    return Tensor(tensor.type, shape, [tensor.at[(*p[:axis], k, *p[axis:])] for p in box(shape)])


def scan(call: Any) -> list[Any]:
    body, count = call.attributes["body"], call.attributes["num_scan_inputs"]
    if call.version.since == 8:
        return scan_batched(call, body, count)
    given = call.inputs["initial_state_and_scan_inputs"]
    states, inputs = list(given[: len(given) - count]), given[len(given) - count :]
    outputs = len(body.output) - len(states)
    said = call.attributes.get
    axes = [axis % len(t.shape) for axis, t in zip(said("scan_input_axes") or (0,) * count, inputs, strict=True)]
    directions = said("scan_input_directions") or (0,) * count
    lengths = {t.shape[axis] for t, axis in zip(inputs, axes, strict=True)}
    if len(lengths) != 1:
        raise Refusal("scan inputs have different lengths")
    (steps,) = lengths
    states, scanned = run_steps(call, body, states, inputs, axes, directions, steps, outputs)
    made = []
    for k, tensors in enumerate(scanned):
        if not tensors:
            made.append(gathered([], body.output[len(states) + k]))
            continue
        if (said("scan_output_directions") or (0,) * outputs)[k]:
            tensors.reverse()
        rank = len(tensors[0].shape) + 1
        made.append(stacked(tensors, (said("scan_output_axes") or (0,) * outputs)[k] % rank))
    return [[*states, *made]]


def run_steps(
    call: Any, body: Any, states: Any, inputs: Any, axes: Any, directions: Any, steps: int, outputs: int
) -> Any:
    scanned: list[list[Tensor]] = [[] for _ in range(outputs)]
    for t in range(steps):
        places = [steps - 1 - t if backward else t for backward in directions]
        rows = [taken(x, axis, k) for x, axis, k in zip(inputs, axes, places, strict=True)]
        made = call.graph.body(body, [*states, *rows])
        states = made[: len(states)]
        for tensors, one in zip(scanned, made[len(states) :], strict=True):
            tensors.append(one)
    return states, scanned


def scan_batched(call: Any, body: Any, count: int) -> list[Any]:
    """Scan-8: a leading batch dimension with one sequence length per row; outputs past that length are zero."""
    given, lengths = call.inputs["initial_state_and_scan_inputs"], call.inputs["sequence_lens"]
    states, inputs = given[: len(given) - count], given[len(given) - count :]
    outputs, steps = len(body.output) - len(states), inputs[0].shape[1]
    directions = call.attributes.get("directions") or (0,) * count
    rows = []
    for b in range(inputs[0].shape[0]):
        own = steps if lengths is None else lengths.flat()[b]
        if not 0 <= own <= steps:
            raise Refusal("a sequence is longer than its inputs")
        first, parts = [taken(s, 0, b) for s in states], [taken(x, 0, b) for x in inputs]
        last, scanned = run_steps(call, body, first, parts, [0] * count, directions, own, outputs)
        made = []
        for k, tensors in enumerate(scanned):
            like = tensors[0] if tensors else declared(body.output[len(states) + k])
            made.append(padded(like, tensors, steps))
        rows.append([*last, *made])
    return [[stacked(list(tensors)) for tensors in zip(*rows, strict=True)]]


def padded(like: Tensor, tensors: list[Tensor], steps: int) -> Tensor:
    zero = {"string": "", "bool": False}.get(like.type, 0)
    blank = Tensor(like.type, like.shape, [zero] * count_of(like.shape))
    if steps == 0:
        return Tensor(like.type, (0, *like.shape), [])
    return stacked([*tensors, *([blank] * (steps - len(tensors)))])


def declared(port: Any) -> Tensor:
    """A tensor of zeros with the type and shape that a body declares for its output; an undeclared extent is 0."""
    type_ = spelled(port.type)
    shape = tuple(d.dim_value for d in port.type.tensor_type.shape.dim)
    zero = {"string": "", "bool": False}.get(type_, 0)
    return Tensor(type_, shape, [zero] * count_of(shape))


def sequence_map(call: Any) -> list[Any]:
    body, first, more = call.attributes["body"], call.inputs["input_sequence"], call.inputs["additional_inputs"]
    call.require("C1", lambda: len(body.input) == 1 + len(more) and len(call.node.output) <= len(body.output))
    call.require("C2", lambda: all(len(s) == len(first) for s in more if isinstance(s, Sequence)))
    made: list[list[Any]] = [[] for _ in body.output]
    for k, one in enumerate(first):
        beside = [s[k] if isinstance(s, Sequence) else s for s in more]
        for values, value in zip(made, call.graph.body(body, [one, *beside]), strict=True):
            values.append(value)
    call.require("C3", lambda: all(len({type_text(v) for v in values}) <= 1 for values in made))
    if not first:
        raise LeftOut("type: a sequence map of no element")
    return [[Sequence(type_text(values[0]), values) for values in made]]


WRITTEN = {"if": if_, "loop": loop, "scan": scan, "sequence_map": sequence_map}
