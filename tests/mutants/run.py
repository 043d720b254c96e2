"""Compiles batches of kernels and runs them in the runner, which dies now and then: a mutant reads where it should not, or
never ends. Then it is known who did it, and the rest goes on in a new process."""

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

MOST, MOST_HONEST = 1000, 20  # cases that a mutant, an honest variant is shown
SECONDS = 5  # of computing for a case: they are small
MEGABYTES = 3000
REASSOCIATE = "-O3 -march=native -fno-signed-zeros -fno-trapping-math -fassociative-math -ffp-contract=fast"
ORDERS = {  # honest ways of adding the same terms, and the compiler's own way of reordering and fusing
    "reversed": "-O1 -DTOUCHSTONE_ORDER=reversed",
    "pairwise": "-O1 -DTOUCHSTONE_ORDER=pairwise",
    "lanes": "-O1 -DTOUCHSTONE_ORDER=lanes",
    "reassociated": f"{REASSOCIATE} -DTOUCHSTONE_PLAIN",
}


@dataclass
class Shown:
    """What became of one kernel: a row a case that was judged."""

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
        """How the build compiles kernels, but for its outputs and its effort: small kernels run once."""
        for row in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
            if row["file"].endswith("reference/interpreter.cc"):
                words = shlex.split(row["command"])
                kept = [w for w in words[: words.index("-o")] if not w.startswith("-O") and w != "-DNDEBUG"]
                return [*kept, "-w", "-g0"]
        raise FileNotFoundError("compile_commands.json does not say how the interpreter is compiled")

    def run(
        self, batches: list[list[Mutant]], variant: str = "mutants", flags: str = "-O0", honest: bool = False
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
                    numbered[1], folder / f"{numbered[0]:03}", [*options, "-include", folder / "start.h"], honest
                ),
                enumerate(batches),
            )
            return [one for part in parts for one in part]

    def batch(self, mutants: list[Mutant], folder: Path, options: list[Any], honest: bool) -> list[Shown]:
        mutants = list(mutants)
        library = folder / "batch.so"
        while mutants:
            file = write_batch(mutants, folder)
            made = subprocess.run(
                [*options, "-I", folder, "-shared", file, "-o", library], capture_output=True, text=True
            )
            if made.returncode == 0:
                break
            faulty = set(re.findall(r"([A-Za-z0-9_]+_(?:m\d+|honest))\b", "\n".join(blamed(made.stderr))))
            if not faulty:
                raise RuntimeError(f"{file}: {made.stderr[:2000]}")
            mutants = [m for m in mutants if m.name not in faulty]  # no program: the sorts fitted, the types do not
        return self.shown(mutants, library, honest)

    def shown(self, mutants: list[Mutant], library: Path, honest: bool) -> list[Shown]:
        found: list[Shown] = []
        left, most = list(mutants), MOST_HONEST if honest else MOST
        while left:
            plan = "".join(
                json.dumps(
                    {
                        "name": m.name,
                        "opset": m.opset,
                        "cases": [[c.place, m.entries.get((c.op, c.since), "")] for c in m.cases],
                        "most": most,
                        "honest": honest,
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
    """The lines of the compiler that say in which file an error is, and from where it was reached."""
    return [
        line
        for line in errors.splitlines()
        if "error:" in line or "required from" in line or "In instantiation" in line
    ]
