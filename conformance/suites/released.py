"""Makes suites of older releases, whose wheels contain the cases as files. spec/releases.yaml pins the wheels by
hash."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import yaml

from conformance.suites.folders import ATOL, RTOL, CaseFacts, write_facts
from conformance.suites.light import FOLDER, write_light_case

RELEASES = Path(__file__).resolve().parents[2] / "spec" / "releases.yaml"
DATA = "onnx/backend/test/data/"
PLATFORMS = (
    "manylinux1_x86_64",
    "manylinux2010_x86_64",
    "manylinux_2_12_x86_64",
    "manylinux2014_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux_2_27_x86_64",
    "manylinux_2_28_x86_64",
)
PYTHONS = ("3.6", "3.8", "3.10", "3.12")  # no release has wheels for all of them


class SuiteError(Exception):
    """Failure that a user can fix: an unknown release, no network, or a wheel other than the pinned one."""


def suites_of(releases: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Returns version -> its row, for every release whose wheel is pinned."""
    return {str(row["version"]): row for row in releases["releases"] if "wheel" in row}


def releases_with_suites() -> list[str]:
    """Returns the releases with a suite, oldest first."""
    return list(suites_of(yaml.safe_load(RELEASES.read_text())))


def pinned_wheel(version: str) -> dict[str, str]:
    suites = suites_of(yaml.safe_load(RELEASES.read_text()))
    if version not in suites:
        raise SuiteError(f"no suite of onnx {version}; spec/releases.yaml knows {' '.join(suites)}")
    return suites[version]


def fetch_wheel(version: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--implementation", "cp", "--disable-pip-version-check", "--dest", str(folder)]
    for platform in PLATFORMS:
        command += ["--platform", platform]
    wheel = pinned_wheel(version)
    said = ""
    for python in PYTHONS:
        done = subprocess.run(
            [*command, "--python-version", python, f"onnx=={version}"], capture_output=True, text=True, check=False
        )
        said = done.stderr.strip() or said
        found = folder / wheel["wheel"]
        if found.is_file():
            digest = hashlib.sha256(found.read_bytes()).hexdigest()
            if digest != wheel["sha256"]:
                raise SuiteError(f"{found.name} has sha256 {digest}, spec/releases.yaml pins {wheel['sha256']}")
            return found
    raise SuiteError(f"pip did not bring {wheel['wheel']}: {said}")


def tolerance(folder: Path) -> dict[str, float]:
    facts = folder / "data.json"
    data = json.loads(facts.read_text()) if facts.is_file() else {}
    return {"rtol": data.get("rtol", RTOL), "atol": data.get("atol", ATOL)}


def copy_cases(root: Path, data: Path, version: str) -> None:
    """Copies all cases. Folders with a model are cases; `data.json` with a URL is one only if the wheel contains its
    target."""
    for folder in sorted(path for path in data.glob("*/*") if path.is_dir()):
        kind, name = folder.parent.name, folder.name
        source = f"onnx {version}, {DATA}{kind}/{name}"
        facts = CaseFacts(name, kind, source, **tolerance(folder))
        if (folder / "model.onnx").is_file():
            shutil.copytree(folder, root / kind / name, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
            write_facts(root / kind / name, facts)
        elif (folder / "data.json").is_file():
            url = json.loads((folder / "data.json").read_text()).get("url", "")
            if url.startswith(FOLDER):
                write_light_case(root, facts, data / "light" / url.removeprefix(FOLDER))


def make(root: Path, version: str) -> None:
    with tempfile.TemporaryDirectory(prefix="touchstone-wheel-") as scratch:
        pinned_wheel(version)
        wheel = fetch_wheel(version, Path(scratch))
        with zipfile.ZipFile(wheel) as archive:
            members = [name for name in archive.namelist() if name.startswith(DATA) and ".." not in name.split("/")]
            archive.extractall(scratch, members)
        copy_cases(root, Path(scratch) / DATA, version)
