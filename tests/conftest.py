"""Every test: a home of its own, no network but loopback, the scenes that many tests share."""

import signal
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from skillstill.models.scripted import ScriptedModel
from skillstill.runtime import Runtime
from skillstill.skills.registry import ENVIRONMENT, Registry
from skillstill.types import Message

from tests.scenes import SHOP, UNTRAINED, Scripted, ScriptedModels, move_home

# Started in the background by a shell, a program ignores interrupts, and so would all programs that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home, empty."""
    folder = tmp_path_factory.mktemp("home")
    move_home(folder, monkeypatch)
    names = "OFFLINE ENDPOINT ENDPOINT_KEY GPU_LAYERS THREADS FORM SANDBOX TOKEN TOKEN_FILE"
    for name in names.split():
        monkeypatch.delenv(f"SKILLSTILL_{name}", raising=False)
    return folder


@pytest.fixture(autouse=True)
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our skills as they are before any release: what a scripted model says is then nobody's calibrated confidence."""
    monkeypatch.setenv(ENVIRONMENT, str(UNTRAINED))


@pytest.fixture
def as_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the bundled registry in its place."""
    monkeypatch.delenv(ENVIRONMENT)


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anywhere else fails the test that tries it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in {"127.0.0.1", "::1", "localhost"}:
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def shop() -> Path:
    """A small tree of sources in several languages; read only."""
    return SHOP


@pytest.fixture
def scripted() -> Scripted:
    """A runtime over our untrained skills whose model says these turns."""

    def runtime(turns: Iterable[Message | str | Exception]) -> Runtime:
        return Runtime(Registry(), ScriptedModels(ScriptedModel(turns)))

    return runtime
