"""The planted faults match the present sources, and a campaign's state gives the figures that the table shows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from tests.mutants.faults import ROOT, read_faults
from tests.planted.__main__ import HERE, Hunt, Size, Watch, size_of

KINDS = {
    "vector tail", "broadcast", "epsilon", "wrong axis", "pad by one", "a size sampled and taken for a fact",
    "a buffer reused while live", "a stale plan at the second size", "a pass that drops a second consumer",
    "int8 saturation", "NaN in a max", "a Loop body's shape",
}  # fmt: skip


def test_each_kind_has_a_fault_in_a_text_that_occurs_once() -> None:
    faults = read_faults(HERE)
    assert {fault.says.partition(":")[0] for fault in faults} == KINDS
    assert len(faults) == len(KINDS)
    for fault in faults:
        assert fault.file.endswith(".cc"), fault  # a header would compile more than one unit
        assert fault.made != (ROOT / fault.file).read_text(encoding="utf-8"), fault
        assert fault.test in ("op graph", "graph"), fault


def write_case(folder: Path, sizes: tuple[int, ...]) -> None:
    dims = ", ".join("abc"[k] for k in range(len(sizes)))
    text = (
        f'<ir_version: 8, opset_import: ["": 13]> g (float[{dims}] x) => (float[{dims}] y) {{ t = Neg(x) y = Abs(t) }}'
    )
    (folder / "test_data_set_0").mkdir(parents=True)
    onnx.save(onnx.parser.parse_model(text), folder / "model.onnx")
    tensor = numpy_helper.from_array(np.zeros(sizes, np.float32))
    (folder / "test_data_set_0" / "input_0.pb").write_bytes(tensor.SerializeToString())


def test_the_size_of_a_case_counts_what_is_fed(tmp_path: Path) -> None:
    write_case(tmp_path, (2, 5))
    assert size_of(tmp_path) == Size(2, 5)
    assert not Size(2, 5).is_small
    assert not Size(4, 1).is_small
    assert Size(3, 4).is_small


def write_state(folder: Path, seconds: float, *reduced: str) -> None:
    findings = [{"hash": f"h{k}", "number": (3 << 40) + 7 + k, "reduced": text} for k, text in enumerate(reduced)]
    state = {"campaigns": [{"seconds": seconds}], "findings": findings}
    (folder / "state.json").write_text(json.dumps(state), encoding="utf-8")


def test_a_hunt_ends_at_a_small_case_that_the_plain_program_gets_right(tmp_path: Path) -> None:
    hunt = Hunt(read_faults(HERE)[0], "op")
    watch = Watch(hunt, tmp_path, lambda case: case.name != "h0")
    watch.look()  # no state yet
    (tmp_path / "state.json").write_text('{"campaigns": [', encoding="utf-8")
    watch.look()
    write_case(tmp_path / "findings" / "h0", (1,))
    write_state(tmp_path, 1, "wrong before")
    watch.look()
    assert (hunt.seconds, hunt.size) == (None, None)
    write_state(tmp_path, 2, "wrong before", "")
    watch.look()
    assert (hunt.seconds, hunt.cases, hunt.size) == (2, 9, None)
    write_case(tmp_path / "findings" / "h1", (9,))
    write_case(tmp_path / "findings" / "h1" / "reduced", (3, 5))
    write_state(tmp_path, 3, "wrong before", "large")
    watch.look()
    assert (hunt.size, hunt.says, hunt.reaches) == (Size(2, 5), "large", False)
    write_case(tmp_path / "findings" / "h2", (4,))
    write_state(tmp_path, 4, "wrong before", "large", "small")
    watch.look()
    assert (hunt.seconds, hunt.size, hunt.says, hunt.reached_at) == (2, Size(2, 4), "small", 4)
    assert hunt.reaches
