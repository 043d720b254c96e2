"""Plants faults in the product, one at a time; the fuzzer must find and reduce each.

    python -m tests.planted [--only TEXT] [--level op|graph] [--time 180] [--seed 0] [--markdown]

The faults are those of faults.yaml, one of each kind. The program `touchstone` is linked with the fault and runs
`fuzz --target fast` on every operator and idiom. One of a fault's levels must find it within the time, and reduce it to
at most three nodes with extents of at most 4. Exits with 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx

from tests.mutants.faults import ROOT, Fault, Workshop, read_faults

HERE = Path(__file__).parent
MOST_NODES, MOST_EXTENT = 3, 4
PAUSE = 0.3  # seconds between looks at a campaign's state
GRACE = 75  # seconds for the last reductions
SEEDS = 1 << 40  # numbers of a seed's cases


@dataclass(frozen=True)
class Size:
    """The size of a reduced case."""

    nodes: int
    extent: int

    @property
    def is_small(self) -> bool:
        return self.nodes <= MOST_NODES and self.extent <= MOST_EXTENT


@dataclass
class Hunt:
    """One campaign on a program with a fault: when it showed, and its smallest reduced case."""

    fault: Fault
    level: str
    seconds: float | None = None
    cases: int = 0
    size: Size | None = None
    reached_at: float = 0  # seconds until the reduced case
    processor: float = 0
    says: str = ""

    @property
    def reaches(self) -> bool:
        return self.seconds is not None and self.size is not None and self.size.is_small


def extents_of(message: onnx.TypeProto | onnx.TensorProto) -> Iterator[int]:
    if isinstance(message, onnx.TensorProto):
        yield from message.dims
    elif message.HasField("tensor_type"):
        yield from (dim.dim_value for dim in message.tensor_type.shape.dim)


def size_of(folder: Path) -> Size:
    """The nodes of the main graph, and the largest extent of an input, initializer or output of a case."""
    model = onnx.load(folder / "model.onnx")
    extents = [0]
    for value in (*model.graph.input, *model.graph.output):
        extents += extents_of(value.type)
    for tensor in model.graph.initializer:
        extents += extents_of(tensor)
    for file, value in pairs(folder, model):
        if value.type.HasField("tensor_type"):
            tensor = onnx.TensorProto()
            tensor.ParseFromString(file.read_bytes())
            extents += extents_of(tensor)
    return Size(len(model.graph.node), max(extents))


def pairs(folder: Path, model: onnx.ModelProto) -> Iterator[tuple[Path, onnx.ValueInfoProto]]:
    """The data files of a case, each with the value that it holds."""
    for run in sorted(folder.glob("test_data_set_*")):
        for kind, values in (("input", model.graph.input), ("output", model.graph.output)):
            for k, value in enumerate(values):
                if (file := run / f"{kind}_{k}.pb").exists():
                    yield file, value


def state_of(folder: Path) -> dict:
    try:
        return json.loads((folder / "state.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):  # it is being written
        return {}


class Watch:
    """Reads a campaign's state. Findings that the program without the fault shows too are not counted."""

    def __init__(self, hunt: Hunt, folder: Path, is_planted: Callable[[Path], bool]):
        self.hunt, self.folder, self.is_planted = hunt, folder, is_planted
        self.planted: dict[str, bool] = {}

    def own(self, finding: dict) -> bool:
        kept = finding["hash"]
        if kept not in self.planted:
            self.planted[kept] = self.is_planted(self.folder / "findings" / kept)
        return self.planted[kept]

    def look(self) -> None:
        state = state_of(self.folder)
        own = [finding for finding in state.get("findings", []) if self.own(finding)]
        if not own:
            return
        hunt, seconds = self.hunt, state["campaigns"][0]["seconds"]
        if hunt.seconds is None:
            hunt.seconds, hunt.cases = seconds, min(finding["number"] for finding in own) % SEEDS + 1
        if not hunt.reaches and (made := smallest(own, self.folder)) and made[0] != hunt.size:
            hunt.size, hunt.says = made
            hunt.reached_at = seconds


def smallest(findings: list[dict], folder: Path) -> tuple[Size, str] | None:
    """The smallest reduced case; a finding without a folder of its own was reduced to itself."""
    found = []
    for finding in findings:
        kept = folder / "findings" / finding["hash"]
        kept = kept / "reduced" if (kept / "reduced" / "model.onnx").exists() else kept
        if finding["reduced"] and (kept / "model.onnx").exists():
            found.append((size_of(kept), finding["reduced"]))
    return min(found, key=lambda one: (not one[0].is_small, one[0].nodes, one[0].extent), default=None)


def is_right(program: Path, case: Path) -> bool:
    words = [program, "reduce", case, "--target", "fast", "--time", "1ms"]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr[-2000:])
    return done.returncode == 0


def hunted(programs: tuple[Path, Path], hunt: Hunt, folder: Path, limit: int, seed: int) -> Hunt:
    """Runs a campaign on the second program until it reaches the line; the first is the plain one."""
    words = ["fuzz", "--target", "fast", "--level", hunt.level, "--seed", seed, "--time", f"{limit}s", "--dir", folder]
    watch = Watch(hunt, folder, lambda case: is_right(programs[0], case))
    shutil.rmtree(folder, ignore_errors=True)
    log = folder.parent / f"{folder.name}.log"
    before = processor_seconds()
    with log.open("w") as said:
        campaign = subprocess.Popen([programs[1], *map(str, words)], stdout=said, stderr=said, env=environment())
    end = time.monotonic() + limit + GRACE
    while campaign.poll() is None and not hunt.reaches and time.monotonic() < end:
        time.sleep(PAUSE)
        watch.look()
    if campaign.poll() is None:
        campaign.send_signal(signal.SIGINT)
    if campaign.wait() not in (0, 1, 130):
        raise RuntimeError(log.read_text(encoding="utf-8")[-2000:])
    watch.look()
    hunt.processor = processor_seconds() - before
    return hunt


def processor_seconds() -> float:
    used = os.times()
    return used.children_user + used.children_system


def environment() -> dict[str, str]:
    return os.environ | {"TOUCHSTONE_DATA": str(ROOT)}


def text_of(hunt: Hunt, markdown: bool) -> str:
    found = "not found" if hunt.seconds is None else f"{hunt.seconds:.0f} s, {hunt.cases:,} cases"
    reduced = "-" if hunt.size is None else f"{hunt.size.nodes}, {hunt.size.extent}"
    case = hunt.says if len(hunt.says) < 100 else hunt.says[:97] + "..."
    if markdown:
        kind = hunt.fault.says.partition(":")[0]
        return f"| {kind} | `{hunt.level}` | {found} | {hunt.processor:.0f} | {reduced} | `{case}` |"
    line = "" if hunt.reaches else "error: "
    return f"{line}{hunt.level}: {hunt.fault.says}: {found}; reduced to {reduced} ({hunt.reached_at:.0f} s): {case}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="faults whose file or sentence holds this")
    parser.add_argument("--level", default="", help="this level alone")
    parser.add_argument("--time", type=int, default=180, metavar="SECONDS", help="of a campaign")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--markdown", action="store_true", help="rows of the table of docs/fuzzing.md")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "planted")
    args = parser.parse_args()
    faults = [f for f in read_faults(HERE) if args.only in f"{f.file} {f.says}"]
    plain = args.build.resolve() / "touchstone"
    workshop = Workshop(args.build, args.out, (), jobs=1)
    missed = 0
    for number, fault in enumerate(faults):
        folder = workshop.out / f"{number:02}"
        program = workshop.program_with("touchstone", fault, folder)
        hunts = []
        for level in fault.test.split():
            if args.level in ("", level):
                hunt = Hunt(fault, level)
                hunts.append(hunted((plain, program), hunt, folder / level, args.time, args.seed))
                print(text_of(hunts[-1], args.markdown), flush=True)
        missed += not any(hunt.reaches for hunt in hunts)
        program.unlink()
    print(f"{len(faults)} faults, {missed} of them missed", file=sys.stderr)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
