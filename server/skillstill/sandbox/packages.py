"""Packages that a skill names, for the Python inside a sandbox. Only wheels: no code of a package runs on the host.

A set of packages is installed once for each version of Python, into a folder of the cache that is named by the hash of
both. Drivers bind the folder read-only. `lock.txt` in it says what was installed beside what was named, with hashes.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from packaging.requirements import InvalidRequirement, Requirement

from skillstill.errors import SandboxError
from skillstill.util.storage import cache_folder, write_atomically

FOLDER = "/opt/packages"  # where they are inside, on PYTHONPATH; their programs are in its bin/
LOCK = "lock.txt"
LAYOUT = 1  # of the folder; one more if it changes
NEWEST_GLIBC, OLDEST_GLIBC = 36, 5  # 2.36 is Debian 12's, which the image is made of; there are no wheels below 2.5
PATIENCE = 600  # seconds for an installation


async def installed(packages: Sequence[str], python: str) -> Path:
    """Return the folder of these packages (`pytest==8.4.2`) for a version of Python (`3.11`).

    The first time it takes as long as fetching them. Raise SandboxError if one is not pinned or cannot be had.
    """
    if not python:
        raise SandboxError("packages need the version of the Python inside: an image says it by skillstill.python=3.11")
    pins = sorted({_pin(package) for package in packages})
    key = hashlib.sha256(json.dumps([LAYOUT, pins, python, platform.machine()]).encode()).hexdigest()[:16]
    folder = cache_folder() / "packages" / key
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as stage:
            made = Path(stage, "made")
            await _install(pins, python, made, Path(stage, "report.json"))
            with suppress(OSError):  # another process was first
                made.rename(folder)
    return folder


def _pin(text: str) -> str:
    """Return a requirement in one spelling. Raise SandboxError if it is not exactly one version of a package."""
    try:
        one = Requirement(text)
    except InvalidRequirement as error:
        raise SandboxError(f"{text!r} names no package: {error}") from error
    versions = [specifier for specifier in one.specifier if specifier.operator == "==" and "*" not in specifier.version]
    if len(one.specifier) != 1 or not versions or one.url or one.marker:
        raise SandboxError(f"{text!r} names no single version of a package: write it like pytest==8.4.2")
    extras = f"[{','.join(sorted(one.extras))}]" if one.extras else ""
    return f"{one.name.lower()}{extras}=={versions[0].version}"


async def _install(pins: Sequence[str], python: str, folder: Path, report: Path) -> None:
    command = [
        sys.executable,
        "-P",  # the current folder may be somebody else's code, which must not be imported
        *("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"),
        *("--only-binary", ":all:", "--implementation", "cp", "--python-version", python, *_platforms()),
        *("--target", str(folder), "--report", str(report), "--", *pins),
    ]
    try:
        with anyio.fail_after(PATIENCE):
            await anyio.run_process(command, stdin=subprocess.DEVNULL, cwd=folder.parent)
    except subprocess.CalledProcessError as error:
        raise SandboxError(f"{', '.join(pins)} cannot be installed for Python {python}: {_reason(error)}") from error
    except (OSError, TimeoutError) as error:
        raise SandboxError(f"pip did not install {', '.join(pins)}: {error or 'it takes too long'}") from error
    for program in folder.glob("bin/*"):
        _let_find_python(program)
    write_atomically(folder / LOCK, _lock(json.loads(report.read_bytes())), mode=0o644)


def _platforms() -> Iterator[str]:
    """Yield pip's options for wheels that run in the image and on this machine."""
    with suppress(ValueError, OSError):
        newest = min(NEWEST_GLIBC, int((os.confstr("CS_GNU_LIBC_VERSION") or "").rpartition(".")[2]))
        for minor in range(newest, OLDEST_GLIBC - 1, -1):
            yield from ("--platform", f"manylinux_2_{minor}_{platform.machine()}")
    yield from ("--platform", f"manylinux2014_{platform.machine()}")


def _let_find_python(program: Path) -> None:
    """Let a script run with the Python inside, not with the one that pip ran with."""
    content = program.read_bytes()
    if content.startswith(b"#!"):
        program.write_bytes(re.sub(rb"\A#!.*", b"#!/usr/bin/env python3", content))


def _lock(report: dict[str, Any]) -> str:
    """Return a line for each installed package, which pip reads as a file of requirements."""
    return "".join(
        f"{one['metadata']['name']}=={one['metadata']['version']} "
        f"--hash=sha256:{one['download_info']['archive_info']['hashes']['sha256']}\n"
        for one in report["install"]
    )


def _reason(error: subprocess.CalledProcessError) -> str:
    lines = (error.stderr or b"").decode(errors="replace").strip().splitlines()
    return next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else str(error))
