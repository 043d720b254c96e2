"""Runs `make fuzz-bytes`: builds the programs of fuzz/bytes with libFuzzer, runs each for a time, and prints a table.

Each goes on from the inputs in fuzz/corpus and fuzz/found, from the seeds (fuzz/bytes/seeds.py) and from those of
earlier runs in build-fuzz/inputs. An input that ends in a fault stays in build-fuzz/faults, and the exit code is 1.
--keep then writes the smallest inputs that reach all the code reached so far to fuzz/corpus.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CMAKE = ROOT / ".venv" / "bin" / "cmake"
BUILD = ROOT / "build-fuzz"
PROGRAMS = BUILD / "fuzz" / "bytes"
CORPUS = ROOT / "fuzz" / "corpus"
FOUND = ROOT / "fuzz" / "found"
LARGEST = 4096  # bytes of an input
LIMITS = ["-timeout=60", "-rss_limit_mb=2048", "-malloc_limit_mb=256", f"-max_len={LARGEST}"]
STATUS = re.compile(r"#(\d+)\s+\S+\s+cov: (\d+) ft: (\d+) corp: (\d+)/")


@dataclass
class Ran:
    """One run of a target."""

    target: str
    executions: int = 0
    edges: int = 0  # of the program's control flow, reached by any input
    features: int = 0  # edges with their counts, and compared values
    inputs: int = 0
    cpu: float = 0  # seconds
    faults: int = 0


def targets() -> list[str]:
    return sorted(path.stem for path in (ROOT / "fuzz" / "bytes").glob("*.cc") if is_target(path.stem))


def is_target(stem: str) -> bool:
    """True for the sources that target.h declares a function for."""
    header = (ROOT / "fuzz" / "bytes" / "target.h").read_text(encoding="utf-8")
    return re.search(rf"^void {stem}\(Bytes input\);", header, re.MULTILINE) is not None


def environment() -> dict[str, str]:
    leaks = ROOT / "tests" / "leaks.txt"
    return os.environ | {
        "ASAN_OPTIONS": "strict_string_checks=1",
        "LSAN_OPTIONS": f"print_suppressions=0:suppressions={leaks}",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def build(names: list[str]) -> None:
    subprocess.run([CMAKE, "--preset", "fuzz"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    wanted = [f"bytes_{name}" for name in names]
    subprocess.run([CMAKE, "--build", BUILD, "--target", *wanted], cwd=ROOT, check=True)
    subprocess.run([sys.executable, "-m", "fuzz.bytes.seeds", BUILD / "seeds"], cwd=ROOT, check=True)


def folders(target: str) -> list[Path]:
    """The folders of inputs, the one that libFuzzer adds to first."""
    own = BUILD / "inputs" / target
    own.mkdir(parents=True, exist_ok=True)
    others = [CORPUS / target, FOUND / target, BUILD / "seeds" / target]
    return [own, *(folder for folder in others if folder.is_dir())]


def result(target: str, text: str) -> Ran:
    """Reads a log: its last line of status, and the count of executions at its end."""
    ran = Ran(target)
    for found in STATUS.finditer(text):
        ran.executions, ran.edges, ran.features, ran.inputs = map(int, found.groups())
    total = re.search(r"number_of_executed_units: (\d+)", text)
    if total:
        ran.executions = int(total[1])
    return ran


def run(target: str, seconds: float) -> Ran:
    faults = BUILD / "faults" / target
    shutil.rmtree(faults, ignore_errors=True)
    faults.mkdir(parents=True)
    log = BUILD / "faults" / f"{target}.log"
    command = [PROGRAMS / f"bytes_{target}", *LIMITS, f"-max_total_time={max(1, round(seconds))}"]
    command += ["-print_final_stats=1", f"-artifact_prefix={faults}/", *folders(target)]
    with log.open("wb") as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=out, env=environment())
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    ran = result(target, log.read_text(encoding="utf-8", errors="replace"))
    ran.cpu = used.ru_utime + used.ru_stime
    ran.faults = max(len(list(faults.iterdir())), int(process.returncode != 0))
    return ran


def keep(target: str) -> None:
    """Replaces the kept inputs of a target by the smallest that reach as much."""
    new = BUILD / "kept" / target
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    command = [PROGRAMS / f"bytes_{target}", *LIMITS, "-merge=1", new, *folders(target)]
    quiet = subprocess.DEVNULL
    subprocess.run([str(word) for word in command], stdout=quiet, stderr=quiet, env=environment(), check=True)
    shutil.rmtree(CORPUS / target, ignore_errors=True)
    shutil.copytree(new, CORPUS / target)


def table(all_ran: list[Ran]) -> str:
    rows = [("target", "executions", "a second", "edges", "features", "inputs", "faults")]
    for ran in all_ran:
        rate = ran.executions / ran.cpu if ran.cpu else 0
        numbers = (ran.executions, round(rate), ran.edges, ran.features, ran.inputs, ran.faults)
        rows.append((ran.target, *(f"{number:,}" for number in numbers)))
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(text.rjust(w) if k else text.ljust(w) for k, (text, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="of all targets together")
    parser.add_argument("--target", action="append", choices=targets(), help="only these (all by default)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="programs at a time")
    parser.add_argument("--keep", action="store_true", help="write the smallest inputs to fuzz/corpus")
    args = parser.parse_args()
    names = args.target or targets()
    build(names)
    seconds = args.minutes * 60 * min(args.jobs, len(names)) / len(names)
    with ThreadPoolExecutor(args.jobs) as pool:
        all_ran = list(pool.map(lambda name: run(name, seconds), names))
    print(table(all_ran))
    print(f"{sum(ran.executions for ran in all_ran):,} executions; 'a second' is of processor time")
    faulty = [ran.target for ran in all_ran if ran.faults]
    for name in faulty:
        print(f"fault of {name}: {BUILD / 'faults' / name}, told in {name}.log beside it")
    if args.keep and not faulty:
        for name in names:
            keep(name)
    return int(bool(faulty))


if __name__ == "__main__":
    sys.exit(main())
