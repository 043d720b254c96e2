"""Compiles batches of kernels and runs them in the runner.

A mutant may crash the runner or never end. The runner's output identifies it, and the rest continues in a new process.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.mutants.emit import Mutant, write_batch

MAX, MAX_FAITHFUL = 1000, 20  # cases that a mutant and a faithful variant run
SECONDS = 5  # CPU time for a case: they are small
MEGABYTES = 3000
REASSOCIATE = "-O3 -march=native -fno-signed-zeros -fno-trapping-math -fassociative-math -ffp-contract=fast"
ORDERS = {  # faithful orders of the same terms, and the compiler's own reordering and fusing
    "reversed": "-O1 -DTOUCHSTONE_ORDER=reversed",
    "pairwise": "-O1 -DTOUCHSTONE_ORDER=pairwise",
    "lanes": "-O1 -DTOUCHSTONE_ORDER=lanes",
    "reassociated": f"{REASSOCIATE} -DTOUCHSTONE_PLAIN",
}


@dataclass
class Shown:
    """The results of one kernel: one row for each judged case."""

    name: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    cases: int = 0  # that it ran

    @property
    def refused(self) -> bool:
        return any(row["refused"] for row in self.rows)

    @property
    def row(self) -> dict[str, Any]:
        return {"name": self.name, "refused": self.refused, "cases": self.cases, "judged": self.rows}


class Runner:
    def __init__(self, root: Path, build: Path, out: Path):
        self.root, self.out = root, out
        self.binary = build / "tests" / "mutants" / "run_mutants"
        self.compiler = self.options_of(build)
        out.mkdir(parents=True, exist_ok=True)

    def options_of(self, build: Path) -> list[str]:
        """The build's compiler options for kernels, without outputs and optimization level, since small kernels run
        once.
        """
        for row in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
            if row["file"].endswith("reference/interpreter.cc"):
                words = shlex.split(row["command"])
                kept = [w for w in words[: words.index("-o")] if not w.startswith("-O") and w != "-DNDEBUG"]
                return [*kept, "-w", "-g0"]
        raise FileNotFoundError("compile_commands.json does not say how the interpreter is compiled")

    def run(
        self, batches: list[list[Mutant]], variant: str = "mutants", flags: str = "-O0", faithful: bool = False
    ) -> list[Shown]:
        folder = self.out / variant
        shutil.rmtree(folder, ignore_errors=True)
        options = [*self.compiler, *flags.split(), "-fPIC"]
        folder.mkdir(parents=True)
        (folder / "start.h").write_text(
            '#include "reference/kernel.h"\n#include "reference/registry.h"\n#include "tests/mutants/orders.h"\n',
            encoding="utf-8",
        )
        subprocess.run([*options, "-x", "c++-header", folder / "start.h", "-o", folder / "start.h.gch"], check=True)
        with ThreadPoolExecutor(2) as pool:
            parts = pool.map(
                lambda numbered: self.batch(
                    numbered[1], folder / f"{numbered[0]:03}", [*options, "-include", folder / "start.h"], faithful
                ),
                enumerate(batches),
            )
            return [one for part in parts for one in part]

    def batch(self, mutants: list[Mutant], folder: Path, options: list[Any], faithful: bool) -> list[Shown]:
        mutants = list(mutants)
        library = folder / "batch.so"
        while mutants:
            file = write_batch(mutants, folder)
            made = subprocess.run(
                [*options, "-I", folder, "-shared", file, "-o", library], capture_output=True, text=True
            )
            if made.returncode == 0:
                break
            faulty = set(re.findall(r"([A-Za-z0-9_]+_(?:m\d+|faithful))\b", "\n".join(blamed(made.stderr))))
            if not faulty:
                raise RuntimeError(f"{file}: {made.stderr[:2000]}")
            # no program: the sorts fit, but the C++ types do not
            mutants = [m for m in mutants if m.name not in faulty]
        return self.shown(mutants, library, faithful)

    def shown(self, mutants: list[Mutant], library: Path, faithful: bool) -> list[Shown]:
        found: list[Shown] = []
        left, most = list(mutants), MAX_FAITHFUL if faithful else MAX
        while left:
            plan = "".join(
                json.dumps(
                    {
                        "name": m.name,
                        "opset": m.opset,
                        "cases": [[c.place, m.entries.get((c.op, c.since), "")] for c in m.cases],
                        "most": most,
                        "faithful": faithful,
                    }
                )
                + "\n"
                for m in left
            )
            done = subprocess.run(
                [self.binary, library, str(SECONDS), str(MEGABYTES)], input=plan, capture_output=True, text=True
            )
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            for row in rows:
                if "begins" in row:
                    found.append(Shown(row["begins"]))
                elif "ends" in row:
                    found[-1].cases = row["cases"]
                else:
                    found[-1].rows.append(row)
            if done.returncode == 0:
                break
            if done.returncode > 0:
                raise RuntimeError(done.stderr)
            how = "timeout" if -done.returncode == signal.SIGPROF else "crash"
            found[-1].rows.append({"verdict": how, "refused": True})
            names = [m.name for m in left]
            left = left[names.index(found[-1].name) + 1 :]
        return found


def blamed(errors: str) -> list[str]:
    """The compiler's lines that name the file of an error, and the instantiations that lead to it."""
    return [
        line
        for line in errors.splitlines()
        if "error:" in line or "required from" in line or "In instantiation" in line
    ]
