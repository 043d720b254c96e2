"""Data of one run: sums over judged nodes, and distances between outputs."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tools.real_models.scenarios import Arrays

PASSES = ("exact", "within", "in-set", "profile")
NEITHER = ("open", "unsupported", "mistrusted", "not-judged", "harness")


@dataclass
class Judged:
    """Judgements of all nodes of a run, each on the inputs that the runtime itself computed."""

    runtime: str
    verdicts: dict[str, int] = field(default_factory=dict)
    elements: int = 0  # size of all outputs
    looked_at: int = 0  # all of an output, or a sample if a node is large
    judged: int = 0  # examined elements with a bound; the rest is open
    sampled: int = 0  # nodes judged by a sample
    resolutions: list[float] = field(default_factory=list)
    utilisation: float = 0.0
    where: str = ""
    guilty: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)  # nodes without a judgement, with the reason

    @property
    def nodes(self) -> int:
        return sum(count for verdict, count in self.verdicts.items() if verdict != "not-judged")

    @property
    def failed(self) -> int:
        return sum(count for verdict, count in self.verdicts.items() if verdict not in (*PASSES, *NEITHER))

    @property
    def resolution(self) -> float | None:
        return statistics.median(self.resolutions) if self.resolutions else None

    @property
    def share(self) -> float:
        return self.judged / self.looked_at if self.looked_at else 0.0

    def add(self, blame: dict[str, Any], step: str) -> None:
        counts = Counter(self.verdicts)
        for node in blame["nodes"]:
            verdict = node["verdict"].split("(")[0]
            counts[verdict] += 1
            self.sampled += any(map(is_sample, node["outputs"]))
            place = f"{step}{node['path'] or 'main graph'}, node {node['index']} ({node['op']})"
            if verdict not in (*PASSES, *NEITHER):
                self.guilty.append(f"{place}: {verdict}: {node['detail']}")
            elif verdict in NEITHER:
                self.unjudged.append(f"{place}: {verdict}: {node['detail']}")
            for output in node["outputs"]:
                self.elements += output["elements"]
                if output["resolution"]:
                    self.resolutions.append(output["resolution"])
                used = output["utilisation"]
                if used is not None and output["judged"] and used > self.utilisation:
                    self.utilisation, self.where = used, place
        self.verdicts = dict(counts)
        self.looked_at += blame["elements"]
        self.judged += blame["judged"]

    def as_json(self) -> dict[str, Any]:
        row = asdict(self)
        del row["resolutions"]
        return row | {
            "nodes": self.nodes,
            "failed": self.failed,
            "share": self.share,
            "resolution_median": self.resolution,
        }


def is_sample(output: dict[str, Any]) -> bool:
    return 0 < output["judged"] + output["open"] < output["elements"]


@dataclass
class Distance:
    """Distance between the final outputs of two runtimes. No verdict: over a whole model bounds explode."""

    output: str
    elements: int
    most: float  # the largest difference of two elements
    scale: float  # the largest element
    where: int  # index of the largest difference

    @property
    def text(self) -> str:
        return "equal bit for bit" if self.most == 0 else f"{self.most:.3g} apart at most, of {self.scale:.3g}"


def distances(left: Arrays, right: Arrays, step: str = "") -> list[Distance]:
    rows = []
    for name, ours in left.items():
        theirs = right[name]
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            raise ValueError(f"output '{name}' is {ours.dtype}{ours.shape} here and {theirs.dtype}{theirs.shape} there")
        apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).ravel()
        apart = np.where(np.isnan(apart), np.inf, apart)
        scale = float(np.max(np.abs(ours), initial=0.0))
        most = float(apart.max(initial=0.0))
        rows.append(Distance(step + name, ours.size, most, scale, int(apart.argmax()) if ours.size else -1))
    return rows


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


@dataclass
class ModelRun:
    """Results of one scenario, as far as it ran."""

    name: str
    about: str
    model: str = ""
    steps: int = 0
    inlined: int = 0
    nodes: int = 0  # nodes of the flat model, per step
    flat_equal: list[str] = field(default_factory=list)  # runtimes that give the same bits on the flat model
    judged: list[Judged] = field(default_factory=list)
    distances: list[Distance] = field(default_factory=list)
    reference_seconds: float = 0.0  # CPU seconds of the slowest step, including the load
    allowed_seconds: float | None = None  # of a step at rest: shown, and no failure, since machines differ
    onnxruntime_seconds: float = 0.0  # the slowest step on one thread, the run alone
    error: str = ""
    code: int = 0

    def agrees(self, who: str) -> None:
        if who not in self.flat_equal:
            self.flat_equal.append(who)

    @property
    def our_fault(self) -> bool:
        """True if the judge itself failed: no verdict on a runtime, and no clean run either."""
        return any(one.verdicts.get("harness", 0) for one in self.judged)

    @property
    def ours_failed(self) -> list[str]:
        """Returns the failures of our runtime."""
        return [guilty for one in self.judged[:1] for guilty in one.guilty]

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"judged": [one.as_json() for one in self.judged], "ours_failed": self.ours_failed}
