"""Consumers in bare Debian roots, by the README's own commands: python -m tools.clean_roots [--only NAME ...]

Each block of the README whose language is `sh NAME` runs in a root with nothing but Debian's minimal system. Beside it
are the packages of `make packages` and a model. A root lives in memory; only the minimal system is kept, in
~/.cache/touchstone/roots. Needs the user root and the network.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.python import models

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "build" / "dist"
BASE = Path.home() / ".cache" / "touchstone" / "roots" / "bookworm"
CONSUMERS = ROOT / "tests" / "consumers"
BLOCK = re.compile(r"^```sh (\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Patterns of what each block prints.
SAID = {
    "pip": r"\[\(2, 8, 16, 16\), \(2, 8\)\]",
    "conform": r"onnxruntime on spec: \d+ cases: \d+ pass",
    "apt": r"output 1: 8 elements, sum 28\.15",
    "cmake": r"y: 8 elements, sum 28\.15",
    "fetch": r"y: 8 elements, sum 28\.15",
}
LAST = 12  # lines of each stream that a failure shows
# The host's way into the network, which a bare root lacks.
NETWORK = (
    "etc/apt/sources.list.d",
    "etc/apt/apt.conf.d",
    "usr/share/keyrings",
    "etc/resolv.conf",
    "etc/hosts",
    "etc/pip.conf",
    "etc/ssl/certs/ca-certificates.crt",
)
# Mounts an overlay in a namespace of its own, so that all mounts end with the process.
ENTER = """
set -eu
base=$1 given=$2 script=$3
mount -t tmpfs tmpfs "$given/memory"
mkdir -p "$given/memory/upper" "$given/memory/work" "$given/root"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$given/memory/upper,workdir=$given/memory/work" "$given/root"
cp -r "$given/files" "$given/root/given"
cp -L /etc/ssl/certs/ca-certificates.crt "$given/root/given/host.crt" # packages of the root replace its own
for folder in proc sys dev; do mount --rbind "/$folder" "$given/root/$folder"; done
exec chroot "$given/root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  DEBIAN_FRONTEND=noninteractive PIP_CERT=/given/host.crt SSL_CERT_FILE=/given/host.crt \
  PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
  sh -c "apt-get update -qq && cd /given && set -eux && $script"
"""


def copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, to, dirs_exist_ok=True)
    elif source.exists():
        shutil.copyfile(source.resolve(), to)


def make_base() -> None:
    """Makes the minimal system, unless it is there."""
    if (BASE / "etc" / "debian_version").exists():
        return
    if shutil.which("debootstrap") is None:
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "debootstrap"], check=True)
    new = BASE.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.parent.mkdir(parents=True, exist_ok=True)
    command = ["debootstrap", "--variant=minbase", "bookworm", str(new)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (new / "etc/apt/sources.list").unlink(missing_ok=True)
    for name in NETWORK:
        copy(Path("/") / name, new / name)
    new.rename(BASE)


def blocks() -> dict[str, str]:
    """Returns the README's commands by name."""
    return dict(BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8")))


def consume(script: str) -> subprocess.CompletedProcess[str]:
    """Runs a block in a bare root, where the folder has the packages, a model and the programs of tests/consumers."""
    with tempfile.TemporaryDirectory() as given:
        files = Path(given) / "files"
        for file in [*DIST.glob("*.whl"), *DIST.glob("*.deb"), *DIST.glob("*.tar.gz")]:
            copy(file, files / file.name)
        (files / "model.onnx").write_bytes(models.NETWORK)
        copy(CONSUMERS / "c" / "main.c", files / "main.c")
        for name in ("cpp", "fetched"):
            copy(CONSUMERS / name, files / name)
        (Path(given) / "memory").mkdir()
        command = ["unshare", "--mount", "sh", "-c", ENTER, "enter", str(BASE), given, script]
        return subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.clean_roots", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", metavar="NAME", help=f"of {', '.join(SAID)}")
    wanted = parser.parse_args().only or list(SAID)
    found = blocks()
    if set(found) != set(SAID):
        sys.exit(f"clean_roots: the README has the blocks {sorted(found)}, not {sorted(SAID)}")
    if os.geteuid() != 0:
        sys.exit("clean_roots: mounting and changing the root needs root")
    make_base()
    failed = 0
    for name in wanted:
        done = consume(found[name])
        good = done.returncode == 0 and re.search(SAID[name], done.stdout + done.stderr) is not None
        failed += not good
        lines = done.stdout.strip().splitlines() or ["nothing"]
        print(f"{name}: {'passed' if good else 'failed'}: {lines[-1]}", flush=True)
        if not good:
            last = [*lines[-LAST:], *done.stderr.strip().splitlines()[-LAST:]]
            print(*last, f"exit code {done.returncode}, expected output: {SAID[name]}", sep="\n")
    print(f"{len(wanted) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
