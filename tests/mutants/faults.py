"""Injected faults in our own C++. A fault records a file, a text in it, its replacement, and the test that must fail.

A fault is applied to a copy of its file, and the files that include it are compiled again. A program with the test's
own file is linked, with the new objects before the build's own libraries. The source tree and its build are unchanged.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300  # for a test, which may never end
EFFORT = "-O0"  # of the compiler, which takes most of a fault's time
TEST = re.compile(r"^(?:TEST(?:_F|_P)?|RC_GTEST_PROP)\((\w+),\s*(\w+)[,)]", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    file: str  # relative to the root
    says: str
    old: str
    new: str
    test: str  # Suite.Name

    @property
    def made(self) -> str:
        """The whole file with the fault applied."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        first, last = self.span_in(text)
        return text[:first] + self.new + text[last:]

    def span_in(self, text: str) -> tuple[int, int]:
        """Returns the range of `old`, ignoring whitespace, which the formatter changes."""
        places = [at for at, letter in enumerate(text) if not letter.isspace()]
        squeezed, wanted = "".join(text[at] for at in places), "".join(self.old.split())
        if squeezed.count(wanted) != 1:
            raise ValueError(f"{self.file}: '{self.old}' occurs {squeezed.count(wanted)} times, and must occur once")
        first = squeezed.index(wanted)
        return places[first], places[first + len(wanted) - 1] + 1


def read_faults(folder: Path) -> list[Fault]:
    files = sorted(folder.glob("faults*.yaml"))
    rows = [row for file in files for row in yaml.safe_load(file.read_text(encoding="utf-8"))]
    return [Fault(of["file"], **one) for of in rows for one in of["faults"]]


def where_tests_are(folders: tuple[str, ...]) -> dict[str, str]:
    """Test -> the file that contains it."""
    files = sorted(f for folder in folders for f in (ROOT / folder).rglob("*_test.cc"))
    return {
        f"{suite}.{name}": str(file.relative_to(ROOT))
        for file in files
        for suite, name in TEST.findall(file.read_text(encoding="utf-8"))
    }


@dataclass(frozen=True)
class Unit:
    """The object file of one compiler call in the build."""

    source: Path  # a file of ours, or a unity source of CMake's that includes several
    command: tuple[str, ...]
    output: str
    target: str  # "judge_test", "touchstone_judge"

    def parts(self, build: Path) -> dict[str, str]:
        """Our files, relative to the root -> the name in the source: "", or the name that CMake's unity source
        includes.
        """
        if self.source.is_relative_to(ROOT) and not self.source.is_relative_to(build):
            return {str(self.source.relative_to(ROOT)): ""}
        if "/Unity/" not in str(self.source):
            return {}
        found = {}
        for name in INCLUDE.findall(self.source.read_text(encoding="utf-8")):
            full = next((f for f in (self.source.parent / name, build / name, ROOT / name) if f.exists()), None)
            if full and full.resolve().is_relative_to(ROOT):
                found[str(full.resolve().relative_to(ROOT))] = name
        return found


class Workshop:
    """Builds faults and runs their tests, in a folder of its own."""

    def __init__(self, build: Path, out: Path, folders: tuple[str, ...], jobs: int):
        self.build, self.out, self.jobs = build.resolve(), out.resolve(), jobs
        self.plain, self.lock = self.out / "plain", threading.Lock()
        shutil.rmtree(self.out, ignore_errors=True)
        self.plain.mkdir(parents=True)
        self.tests = where_tests_are(folders)
        rows = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
        self.units = [
            Unit(Path(row["file"]), tuple(shlex.split(row["command"])), row["output"], match[1])
            for row in rows
            if (match := re.search(r"CMakeFiles/(\w+)\.dir/", row["output"]))
        ]
        self.parts = {unit: unit.parts(self.build) for unit in self.units}
        self.links: dict[str, list[str]] = {}
        cache = (self.build / "CMakeCache.txt").read_text(encoding="utf-8")
        self.ninja = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.*)$", cache, re.MULTILINE)[1]

    def unit_of(self, test: str) -> Unit:
        return next(unit for unit in self.units if self.tests[test] in self.parts[unit])

    def units_with(self, file: str) -> list[Unit]:
        """The units that contain the file; for a header, those of its folder's library that include it."""
        own = [unit for unit in self.units if file in self.parts[unit]]
        if own:
            return own
        folder = Path(file).parent
        near = {u.target for u in self.units if not u.target.endswith(("_test", "_probe"))}
        near -= {u.target for u in self.units for part in self.parts[u] if Path(part).parent != folder}
        return [unit for unit in self.units if unit.target in near and file in self.included(unit)]

    def included(self, unit: Unit) -> set[str]:
        """Our headers that the unit was compiled with."""
        output = unit.output.removeprefix(f"{self.build}/")
        command = [self.ninja, "-C", str(self.build), "-t", "deps", output]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        full = [(self.build / line.strip()).resolve() for line in said[1:] if line.startswith("    ")]
        return {str(file.relative_to(ROOT)) for file in full if file.is_relative_to(ROOT)}

    def link_of(self, program: str) -> list[str]:
        if program not in self.links:
            command = [self.ninja, "-C", str(self.build), "-t", "commands", program]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
            words = shlex.split(said[-1])
            if words[:2] == [":", "&&"]:
                words = words[2 : words.index("&&", 2)]
            self.links[program] = words
        return self.links[program]

    def compiled(self, unit: Unit, part: str, folder: Path, fault: Fault | None) -> Path:
        """Compiles one of the unit's files alone. Files without a fault are compiled once."""
        made = folder / f"{unit.target}_{Path(part).stem}.o"
        if fault is None and made.exists():
            return made
        scratch = folder / part
        source = scratch if fault and fault.file == part else ROOT / part
        words = [word for word in unit.command if not re.fullmatch(r"-O[\ds]|-g\w*", word)]
        words[words.index("-o") + 1] = str(made)
        words[words.index("-c") + 1] = str(source)
        first = next(k for k, word in enumerate(words) if word.startswith("-"))
        words[first:first] = [*(["-I", str(folder)] if fault else []), "-w", EFFORT]
        run(words, self.build)
        return made

    def unit_object(self, unit: Unit, fault: Fault, folder: Path) -> Path:
        """Compiles a whole unit with the fault, by the build's own options."""
        source = folder / f"{unit.target}_{unit.source.stem}.cc"
        text = unit.source.read_text(encoding="utf-8")
        for part, name in unit.parts(self.build).items():
            place = folder / part if part == fault.file else ROOT / part
            text = text.replace(f'#include "{name}"', f'#include "{place}"') if name else f'#include "{place}"\n'
        source.write_text(text, encoding="utf-8")
        words = list(unit.command)
        words[words.index("-o") + 1] = str(source.with_suffix(".o"))
        words[words.index("-c") + 1] = str(source)
        words[1:1] = ["-w", "-I", str(folder)]
        run(words, self.build)
        return source.with_suffix(".o")

    def program_with(self, program: str, fault: Fault, folder: Path) -> Path:
        """Links a whole program of the build with the fault, at the build's own speed."""
        write_made(fault, folder)
        objects = [self.unit_object(unit, fault, folder) for unit in self.units_with(fault.file)]
        return self.linked(program, objects, folder, keeps_own=True)

    def objects(self, fault: Fault, folder: Path) -> list[Path]:
        """Compiles all files of the units that contain the fault, and the file of its test."""
        header = not any(fault.file in self.parts[unit] for unit in self.units)
        wanted = [(unit, part) for unit in self.units_with(fault.file) for part in self.parts[unit]]
        wanted.append((self.unit_of(fault.test), self.tests[fault.test]))
        found = []
        for unit, part in wanted:
            touched = header or part == fault.file
            with self.lock if not touched else contextlib.nullcontext():
                found.append(self.compiled(unit, part, folder if touched else self.plain, fault if touched else None))
        return found

    def linked(self, program: str, objects: list[Path], folder: Path, keeps_own: bool = False) -> Path:
        """Links a program with these objects in place of its own, or beside them; the linker prefers the objects before
        a library that defines the same symbols.
        """
        own = f"/{program}.dir/"
        words = [w for w in self.link_of(program) if keeps_own or not (w.endswith(".o") and own in w)]
        made = folder / program
        words[words.index("-o") + 1] = str(made)
        place = next(k for k, word in enumerate(words) if word.endswith(".a"))
        words[place:place] = [str(o) for o in objects]
        run(words, self.build)
        return made

    def red(self, program: Path, names: str) -> list[str]:
        """The tests that fail, including one that crashes or does not end."""
        environment = os.environ | {
            "TOUCHSTONE_SOURCE": str(ROOT), "TOUCHSTONE_BUILD": str(self.build),
            "TOUCHSTONE_GENERATED": str(ROOT / "generated"), "GTEST_COLOR": "no",
        }  # fmt: skip
        try:
            done = subprocess.run(
                [program, f"--gtest_filter={names}"], env=environment, timeout=SECONDS, capture_output=True, text=True
            )
            said, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            said, code = (late.stdout or b"").decode(), -1
        failed = re.findall(r"^\[  FAILED  \] (\w+\.\w+)", said, re.MULTILINE)
        begun = re.findall(r"^\[ RUN      \] (\w+\.\w+)", said, re.MULTILINE)
        if code != 0 and not failed and begun:
            failed = begun[-1:]
        return sorted(set(failed))

    def outcome(self, fault: Fault, number: int) -> tuple[Fault, list[str]]:
        """The tests that fail: the named one or, if it passes, any others of its file."""
        folder = self.out / f"{number:03}"
        write_made(fault, folder)
        made = self.linked(self.unit_of(fault.test).target, self.objects(fault, folder), folder)
        red = self.red(made, fault.test) or self.red(made, "*")
        shutil.rmtree(folder)
        return fault, red

    def outcome_of_programs(self, fault: Fault, number: int) -> tuple[Fault, list[str]] | None:
        """The outcome, or None if the fault does not compile."""
        try:
            return self.outcome(fault, number)
        except NoProgram:
            return None

    def outcomes(
        self, faults: list[Fault], skips_what_does_not_compile: bool = False
    ) -> Iterator[tuple[Fault, list[str]]]:
        one = self.outcome_of_programs if skips_what_does_not_compile else self.outcome
        with ThreadPoolExecutor(self.jobs) as pool:
            yield from (made for made in pool.map(one, faults, range(len(faults))) if made)


class NoProgram(RuntimeError):
    pass


def write_made(fault: Fault, folder: Path) -> None:
    (folder / fault.file).parent.mkdir(parents=True, exist_ok=True)
    (folder / fault.file).write_text(fault.made, encoding="utf-8")


def run(words: list[str], where: Path) -> None:
    done = subprocess.run(words, cwd=where, capture_output=True, text=True)
    if done.returncode != 0:
        raise NoProgram(f"{shlex.join(words)}\n{done.stderr[-3000:]}")


def campaign(title: str, faults: list[Fault], folders: tuple[str, ...], build: Path, out: Path, jobs: int) -> int:
    """Prints the tests that fail for each fault. Returns 1 if the named test does not detect its fault.

    Without a fault every test passes, which make test checks.
    """
    workshop = Workshop(build, out, folders, jobs)
    code = 0
    for fault, red in workshop.outcomes(faults):
        seen = fault.test in red
        if seen:
            print(f"{fault.test}: {fault.file}: {fault.says}", flush=True)
        else:
            others = f"{', '.join(red)} instead" if red else "every test stays green"
            print(f"error: {fault.file}: {fault.says}: {fault.test} does not see it, {others}", flush=True)
        code = code if seen else 1
    print(f"{title}: {len(faults)} faults")
    return code
