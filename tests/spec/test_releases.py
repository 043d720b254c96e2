"""releases.yaml names every onnx release with the versions that it introduced, and pins a wheel for each suite."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import onnx
import pytest
import yaml

from codegen.entry import Operator

ROOT = Path(__file__).parents[2]
SUITES = [
    "1.2.1", "1.3.0", "1.4.1", "1.5.0", "1.6.0", "1.7.0", "1.8.1", "1.9.0", "1.10.2", "1.11.0", "1.12.0",
    "1.13.1", "1.14.1", "1.15.0", "1.16.2", "1.17.0", "1.18.0", "1.19.1", "1.20.0", "1.21.0", "1.22.0", "1.23.2",
]  # fmt: skip


@pytest.fixture(scope="module")
def releases() -> list[dict[str, Any]]:
    return yaml.safe_load((ROOT / "spec" / "releases.yaml").read_text(encoding="utf-8"))["releases"]


def minor(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def test_releases_stand_in_order_and_know_only_these_facts(releases: list[dict[str, Any]]) -> None:
    versions = [tuple(int(part) for part in release["version"].split(".")) for release in releases]
    assert versions == sorted(set(versions))
    for release in releases:
        assert {"version", "ir", "opsets"} <= release.keys() <= {"version", "ir", "opsets", "wheel", "sha256", "pinned"}


def test_versions_are_those_of_the_standards_own_table(releases: list[dict[str, Any]]) -> None:
    standard = {minor(row[0]): row for row in onnx.helper.VERSION_TABLE if minor(row[0]) >= (1, 2)}
    assert {minor(release["version"]) for release in releases} == standard.keys()
    for release in releases:
        _, ir, opset, ml, *training = standard[minor(release["version"])]
        says = dict(release["opsets"])
        preview = says.pop("ai.onnx.preview", None)
        assert (release["ir"], says.pop("ai.onnx"), says.pop("ai.onnx.ml")) == (ir, opset, ml), release
        assert list(says.values()) == training, release
        assert preview == (1 if minor(release["version"]) >= (1, 22) else None)


def test_every_suite_has_a_wheel_with_its_hash(releases: list[dict[str, Any]]) -> None:
    wheels = {release["version"]: release for release in releases if "wheel" in release}
    assert list(wheels) == SUITES
    for version, release in wheels.items():
        assert re.fullmatch(rf"onnx-{re.escape(version)}-cp\d+-cp\d+m?-manylinux[\w.]+_x86_64\.whl", release["wheel"])
        assert re.fullmatch("[0-9a-f]{64}", release["sha256"])
    assert len({release["sha256"] for release in wheels.values()}) == len(SUITES)


def test_the_pinned_release_is_the_installed_and_the_required_one(releases: list[dict[str, Any]]) -> None:
    assert [release["version"] for release in releases if release.get("pinned")] == [onnx.__version__]
    assert f"onnx=={onnx.__version__}" in (ROOT / "requirements.txt").read_text(encoding="utf-8").split()


def test_the_newest_release_knows_every_version_of_the_spec(
    releases: list[dict[str, Any]], operators: list[Operator]
) -> None:
    newest: dict[str, int] = {}
    for operator in operators:
        newest[operator.domain] = max(newest.get(operator.domain, 0), operator.versions[0].since)
    assert newest == releases[-1]["opsets"]
