"""Runs one scenario from feeds to results: run, flatten, run on all runtimes, judge every node, compare outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx

from conformance.suites.models import model_file
from tools.real_models.flatten import Flat, Taps, flatten
from tools.real_models.results import Judged, ModelRun, distances, same_bits
from tools.real_models.runtimes import OnnxRuntime, Reference, RunError, read_array, write_feeds
from tools.real_models.scenarios import Arrays, Scenario

REFERENCE, PEER = 0, 1  # indices in ModelRun.judged


@dataclass
class FlatFile:
    flat: Flat
    file: Path


@dataclass
class Bench:
    """Runs one scenario. Fills `found` as it proceeds, so that results before a failure are kept."""

    scenario: Scenario
    reference: Reference
    peer: OnnxRuntime
    scratch: Path
    found: ModelRun
    say: Callable[[str], None]

    def run(self) -> None:
        scenario, found = self.scenario, self.found
        model = model_file(scenario.name, self.say)
        found.model = str(model)
        found.allowed_seconds = scenario.seconds
        found.judged = [Judged("reference"), Judged("ONNX Runtime")]
        carried = {"ours": scenario.start, "theirs": scenario.start}
        for step in range(scenario.steps):
            label = f"step {step + 1}, " if scenario.steps > 1 else ""
            folder = self.scratch / scenario.name / str(step)
            feeds = scenario.feeds(step)
            ours, flat = self.our_step(model, feeds | carried["ours"], folder / "reference", label)
            theirs = self.their_step(model, flat, feeds | carried["theirs"], folder / "peer", label)
            found.distances += distances(ours, theirs, label)
            for side, outputs in (("ours", ours), ("theirs", theirs)):
                carried[side] = {to: outputs[name] for name, to in scenario.carry.items()}
            found.steps += 1

    def our_step(self, model: Path, feeds: Arrays, folder: Path, label: str) -> tuple[Arrays, FlatFile]:
        files = write_feeds(folder / "feeds", feeds)
        self.say(f"  {label}reference: every node")
        outputs, seconds = self.reference.run(model, files, folder / "tapped", folder / "taps", one_core=True)
        if self.scenario.seconds is not None:
            self.say(f"  {label}reference: once more without taps, on one core")
            again, seconds = self.reference.run(model, files, folder / "timed", one_core=True)
            require_same(again, outputs, "the reference's second run")
        self.found.reference_seconds = max(self.found.reference_seconds, seconds)

        taps = Taps.read(folder / "taps")
        flat = FlatFile(flatten(onnx.load(model), taps), folder / "flat.onnx")
        onnx.save(flat.flat.model, flat.file)
        self.found.inlined, self.found.nodes = flat.flat.inlined, len(flat.flat.places)
        if flat.flat.inlined:  # otherwise it is the same model
            self.check_flat(flat, files, taps, folder / "flat")
        self.say(f"  {label}judging the reference's nodes")
        blame = self.reference.judge(model, taps.folder, folder / "judged.json", self.scenario.sample_above)
        self.found.judged[REFERENCE].add(blame, label)
        return outputs, flat

    def check_flat(self, flat: FlatFile, files: dict[str, Path], taps: Taps, folder: Path) -> None:
        """Checks that on the reference every value of the flat model has the bits of the tapped run."""
        values, _ = self.reference.run(flat.file, files, folder)
        for node, place in zip(flat.flat.model.graph.node, flat.flat.places, strict=True):
            for name, file in zip(node.output, taps.files[place], strict=True):
                if name:
                    require_same({name: values[name]}, {name: read_array(taps.folder / file)}, "the flat model")
        self.found.agrees("reference, every value")

    def their_step(self, model: Path, flat: FlatFile, feeds: Arrays, folder: Path, label: str) -> Arrays:
        files = write_feeds(folder / "feeds", feeds)
        self.say(f"  {label}ONNX Runtime: as users run it, and every node")
        outputs, seconds = self.peer.run(model, files, folder / "optimised", optimise=True)
        plain, _ = self.peer.run(model, files, folder / "plain", optimise=False)
        values, _ = self.peer.run(flat.file, files, folder / "flat", optimise=False)
        self.found.onnxruntime_seconds = max(self.found.onnxruntime_seconds, seconds)
        self.found.judged[PEER].runtime = self.peer.version
        laid = {name: values[value] for name, value in flat.flat.outputs.items()}
        if all(same_bits(plain[name], laid[name]) for name in laid):
            self.found.agrees(f"{self.peer.version}, outputs")
        else:
            worst = max(distances(plain, laid), key=lambda row: row.most)
            self.found.agrees(f"{self.peer.version} not: {label}'{worst.output}' is {worst.text}")
        self.say(f"  {label}judging ONNX Runtime's nodes")
        blame = self.reference.judge(flat.file, folder / "flat", folder / "judged.json", self.scenario.sample_above)
        self.found.judged[PEER].add(blame, label)
        return outputs


def require_same(left: Arrays, right: Arrays, what: str) -> None:
    for name, value in left.items():
        if not same_bits(value, right[name]):
            raise RunError(f"{what} gives another '{name}' than the model as it is", 70)
