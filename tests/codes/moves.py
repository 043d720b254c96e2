"""Data-movement operators, each as its permutation of positions: numpy moves the positions and never reads an element.

A row of MOVES takes a graph, the version, and the name and value of its input, and adds each node's expected output.
The input has the shape SHAPE, whose size is odd, so packed types end in the middle of a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tests.codes.formats import holder
from tests.codes.graphs import Codes, Graph, int64s, tensor_of

SHAPE = (3, 5, 19)
AT = np.arange(3 * 5 * 19).reshape(SHAPE)
ZERO = -1  # the position of a zero, or of an empty string
Move = Callable[[Graph, int, str, Codes], None]
MOVES: dict[str, Move] = {}


def move(row: Move) -> Move:
    MOVES["".join(word.capitalize() for word in row.__name__.split("_"))] = row
    return row


def zero(name: str) -> np.ndarray:
    return np.array([b"", None], object)[:1] if name == "string" else np.zeros(1, holder(name))


def taken(value: Codes, places: np.ndarray) -> Codes:
    """The elements at these positions; ZERO (-1) indexes a zero appended after the last element."""
    flat = np.concatenate([value.codes.ravel(), zero(value.type)])
    return Codes(value.type, flat[places.ravel()].reshape(places.shape))


def gives(graph: Graph, op: str, inputs: Sequence[str], value: Codes, places: np.ndarray, /, **said: object) -> None:
    graph.want(op, inputs, taken(value, places), any_nan=False, **said)


def held_or_said(graph: Graph, since: int, first: int, name: str, values: list[int]) -> tuple[list[str], dict]:
    """Passes a list as an input from version `first` on, else as an attribute."""
    return ([graph.hold(int64s(values))], {}) if since >= first else ([], {name: values})


@move
def identity(graph: Graph, since: int, x: str, value: Codes) -> None:
    gives(graph, "Identity", [x], value, AT)


@move
def constant(graph: Graph, since: int, x: str, value: Codes) -> None:
    gives(graph, "Constant", [], value, AT, value=tensor_of(value))


@move
def constant_of_shape(graph: Graph, since: int, x: str, value: Codes) -> None:
    shape = graph.hold(int64s([5]))
    for place in (0, 1, 22, 284):
        one = tensor_of(Codes(value.type, value.codes.ravel()[place : place + 1]))
        gives(graph, "ConstantOfShape", [shape], value, np.full(5, place), value=one)


@move
def reshape(graph: Graph, since: int, x: str, value: Codes) -> None:
    more, said = held_or_said(graph, since, 5, "shape", [19, 15])
    gives(graph, "Reshape", [x, *more], value, AT.reshape(19, 15), **said)


@move
def flatten(graph: Graph, since: int, x: str, value: Codes) -> None:
    gives(graph, "Flatten", [x], value, AT.reshape(15, 19), axis=2)


@move
def squeeze(graph: Graph, since: int, x: str, value: Codes) -> None:
    """Squeezes an input that has a dimension of 1."""
    one = graph.feed(Codes(value.type, value.codes[:, None]))
    more, said = held_or_said(graph, since, 13, "axes", [1])
    gives(graph, "Squeeze", [one, *more], value, AT, **said)


@move
def unsqueeze(graph: Graph, since: int, x: str, value: Codes) -> None:
    more, said = held_or_said(graph, since, 13, "axes", [0, 3])
    gives(graph, "Unsqueeze", [x, *more], value, AT[None, :, :, None], **said)


@move
def transpose(graph: Graph, since: int, x: str, value: Codes) -> None:
    gives(graph, "Transpose", [x], value, AT.transpose(2, 0, 1), perm=[2, 0, 1])
    gives(graph, "Transpose", [x], value, AT.T)


@move
def concat(graph: Graph, since: int, x: str, value: Codes) -> None:
    for axis in (0, 1, 2):
        gives(graph, "Concat", [x, x], value, np.concatenate([AT, AT], axis), axis=axis)


@move
def split(graph: Graph, since: int, x: str, value: Codes) -> None:
    more, said = held_or_said(graph, since, 13, "split", [7, 1, 11])
    parts = [taken(value, part) for part in np.split(AT, [7, 8], axis=2)]
    graph.want("Split", [x, *more], *parts, any_nan=False, axis=2, **said)


@move
def slice_(graph: Graph, since: int, x: str, value: Codes) -> None:
    starts, ends = [1, 2], [5, 19]
    if since < 10:
        gives(graph, "Slice", [x], value, AT[:, 1:5, 2:19], starts=starts, ends=ends, axes=[1, 2])
        return
    lists = [graph.hold(int64s(row)) for row in (starts, ends, [1, 2], [3, 4])]
    gives(graph, "Slice", [x, *lists], value, AT[:, 1:5:3, 2:19:4])
    back = [graph.hold(int64s(row)) for row in ([-1, -2], [-100, 0], [2, 1], [-3, -1])]
    gives(graph, "Slice", [x, *back], value, AT[:, 3:0:-1, ::-3])


@move
def gather(graph: Graph, since: int, x: str, value: Codes) -> None:
    places = np.array([[4, 0], [3, 3]])
    indices = graph.hold(int64s(places.tolist() if since < 11 else (places - 5).tolist()))
    gives(graph, "Gather", [x, indices], value, np.take(AT, places, axis=1), axis=1)


@move
def gather_elements(graph: Graph, since: int, x: str, value: Codes) -> None:
    places = np.array(AT * 7 % 5)[:, :3]
    gives(graph, "GatherElements", [x, graph.hold(int64s(places))], value, np.take_along_axis(AT, places, 1), axis=1)


@move
def gather_nd(graph: Graph, since: int, x: str, value: Codes) -> None:
    places = np.array([[2, 4], [0, 0], [1, 3]])
    gives(graph, "GatherND", [x, graph.hold(int64s(places))], value, AT[places[:, 0], places[:, 1]])


def scattered(graph: Graph, op: str, x: str, value: Codes) -> None:
    """Scatters into every other element along the last axis the element at its mirrored position."""
    indices = np.broadcast_to(np.arange(0, 19, 2), (3, 5, 10))
    updates = AT[::-1, ::-1, ::-1][:, :, ::2]
    places = AT.copy()
    np.put_along_axis(places, indices, updates, 2)
    inputs = [x, graph.hold(int64s(indices)), graph.feed(taken(value, updates))]
    gives(graph, op, inputs, value, places, axis=2)


@move
def scatter(graph: Graph, since: int, x: str, value: Codes) -> None:
    scattered(graph, "Scatter", x, value)


@move
def scatter_elements(graph: Graph, since: int, x: str, value: Codes) -> None:
    scattered(graph, "ScatterElements", x, value)


@move
def scatter_nd(graph: Graph, since: int, x: str, value: Codes) -> None:
    places = AT.copy()
    places[[2, 0], [1, 4]] = AT[[0, 1], [0, 0]]
    inputs = [x, graph.hold(int64s([[2, 1], [0, 4]])), graph.feed(taken(value, AT[[0, 1], [0, 0]]))]
    gives(graph, "ScatterND", inputs, value, places)


@move
def pad(graph: Graph, since: int, x: str, value: Codes) -> None:
    pads, widths = [0, 2, 1, 1, 0, 3], [(0, 1), (2, 0), (1, 3)]
    if since < 11:
        name = "pads" if since >= 2 else "paddings"
        gives(graph, "Pad", [x], value, np.pad(AT, widths, constant_values=ZERO), **{name: pads})
        return
    held = graph.hold(int64s(pads))
    gives(graph, "Pad", [x, held], value, np.pad(AT, widths, constant_values=ZERO))
    for place in (1, 30, 284):
        fill = graph.feed(taken(value, np.array(place)))
        gives(graph, "Pad", [x, held, fill], value, np.pad(AT, widths, constant_values=place))
    for mode in ("edge", "reflect", *(["wrap"] if since >= 19 else [])):
        gives(graph, "Pad", [x, held], value, np.pad(AT, widths, mode=mode), mode=mode)
    cut = graph.hold(int64s([0, -1, 2, 0, 0, -3]))
    gives(graph, "Pad", [x, cut], value, np.pad(AT[:, 1:, :-3], [(0, 0), (0, 0), (2, 0)], constant_values=ZERO))


@move
def tile(graph: Graph, since: int, x: str, value: Codes) -> None:
    if since >= 6:
        gives(graph, "Tile", [x, graph.hold(int64s([2, 1, 3]))], value, np.tile(AT, (2, 1, 3)))
        return
    counts = [Codes(value.type, ONE_TO_THREE[value.type][k : k + 1]) for k in (2, 1)]
    gives(graph, "Tile", [x, *(graph.feed(one) for one in counts)], value, np.tile(AT, (1, 3, 1)))


ONE_TO_THREE = {  # 0 to 3 as floats: the first version takes counts in the type of the data
    "float": np.array([0, 1, 3, 2], np.float32).view(np.uint32),
    "double": np.array([0, 1, 3, 2], np.float64).view(np.uint64),
    "float16": np.array([0, 1, 3, 2], np.float16).view(np.uint16),
}


@move
def expand(graph: Graph, since: int, x: str, value: Codes) -> None:
    one = graph.feed(taken(value, AT[:, :1]))
    gives(graph, "Expand", [one, graph.hold(int64s([2, 3, 4, 19]))], value, np.broadcast_to(AT[:, :1], (2, 3, 4, 19)))


@move
def where(graph: Graph, since: int, x: str, value: Codes) -> None:
    mirrored = AT[::-1, ::-1, ::-1]
    chosen = AT % 3 == 1
    inputs = [graph.hold(Codes("bool", chosen.astype(np.uint8))), x, graph.feed(taken(value, mirrored))]
    gives(graph, "Where", inputs, value, np.where(chosen, AT, mirrored))


@move
def compress(graph: Graph, since: int, x: str, value: Codes) -> None:
    kept = graph.hold(Codes("bool", np.array([1, 0, 1, 1, 0], np.uint8)))
    gives(graph, "Compress", [x, kept], value, AT[:, [0, 2, 3]], axis=1)


@move
def one_hot(graph: Graph, since: int, x: str, value: Codes) -> None:
    for off, on in ((0, 1), (21, 284), (7, 128)):
        fed = graph.feed(taken(value, np.array([off, on])))
        inputs = [graph.hold(int64s([2, 0, 1])), graph.hold(int64s(3)), fed]
        gives(graph, "OneHot", inputs, value, np.where(np.eye(3, dtype=bool)[[2, 0, 1]], on, off))


@move
def depth_to_space(graph: Graph, since: int, x: str, value: Codes) -> None:
    """Rearranges 4 channels taken from the input's positions."""
    places = AT.ravel()[: 4 * 7 * 3].reshape(1, 4, 7, 3)
    fed = graph.feed(taken(value, places))
    for mode, order in (("DCR", (0, 3, 4, 1, 5, 2)), ("CRD", (0, 1, 4, 2, 5, 3))):
        if since < 11 and mode == "CRD":
            continue
        blocks = places.reshape((1, 2, 2, 1, 7, 3) if mode == "DCR" else (1, 1, 2, 2, 7, 3))
        made = blocks.transpose(order).reshape(1, 1, 14, 6)
        gives(graph, "DepthToSpace", [fed], value, made, blocksize=2, **({"mode": mode} if since >= 11 else {}))


@move
def space_to_depth(graph: Graph, since: int, x: str, value: Codes) -> None:
    places = AT.ravel()[:60].reshape(1, 1, 6, 10)
    made = places.reshape(1, 1, 3, 2, 5, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 4, 3, 5)
    gives(graph, "SpaceToDepth", [graph.feed(taken(value, places))], value, made, blocksize=2)


@move
def reverse_sequence(graph: Graph, since: int, x: str, value: Codes) -> None:
    places = AT.copy()
    for batch, length in enumerate([3, 1, 2, 3, 2]):
        places[:length, batch] = AT[:length, batch][::-1]
    gives(graph, "ReverseSequence", [x, graph.hold(int64s([3, 1, 2, 3, 2]))], value, places)


@move
def trilu(graph: Graph, since: int, x: str, value: Codes) -> None:
    for upper, keep in ((1, np.triu), (0, np.tril)):
        for k in (-1, 0, 4):
            places = np.where(keep(np.ones(SHAPE, bool), k), AT, ZERO)
            gives(graph, "Trilu", [x, graph.hold(int64s(k))], value, places, upper=upper)


@move
def center_crop_pad(graph: Graph, since: int, x: str, value: Codes) -> None:
    places = np.pad(AT[:, 1:4, 8:11], [(1, 1), (0, 0), (0, 0)], constant_values=ZERO)
    gives(graph, "CenterCropPad", [x, graph.hold(int64s([5, 3, 3]))], value, places)


@move
def upsample(graph: Graph, since: int, x: str, value: Codes) -> None:
    if since == 1:
        fed = graph.feed(taken(value, AT[None]))
        gives(graph, "Upsample", [fed], value, AT[None].repeat(2, 2).repeat(3, 3), height_scale=2.0, width_scale=3.0)
        return
    scaled(graph, "Upsample", x, value, said=since < 9)


def scaled(graph: Graph, op: str, x: str, value: Codes, said: bool = False, **more: object) -> None:
    scales = np.array([1, 2, 3], np.float32)
    if said:
        gives(graph, op, [x], value, AT.repeat(2, 1).repeat(3, 2), scales=scales.tolist(), **more)
        return
    inputs = [x, graph.hold(Codes("float", scales.view(np.uint32)))]
    if op == "Resize" and more:
        inputs.insert(1, graph.hold(Codes("float", np.zeros(0, np.uint32))))
    gives(graph, op, inputs, value, AT.repeat(2, 1).repeat(3, 2), **more)


@move
def resize(graph: Graph, since: int, x: str, value: Codes) -> None:
    if since < 11:
        scaled(graph, "Resize", x, value)
    else:
        scaled(graph, "Resize", x, value, coordinate_transformation_mode="asymmetric", nearest_mode="floor")


@move
def dropout(graph: Graph, since: int, x: str, value: Codes) -> None:
    """Dropout at inference, which is the identity."""
    gives(graph, "Dropout", [x], value, AT, is_test=1 if since < 7 else None)


MOVES["Slice"] = MOVES.pop("Slice_", slice_)
MOVES["GatherND"], MOVES["ScatterND"] = MOVES.pop("GatherNd"), MOVES.pop("ScatterNd")
