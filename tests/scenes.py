"""What tests of several files set up alike."""

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import pytest
from skillstill.runtime import Runtime
from skillstill.types import Message, Model, ModelSpec

ROOT = Path(__file__).parents[1]
SHOP = Path(__file__).parent / "fixtures" / "shop"
UNTRAINED = Path(__file__).parent / "fixtures" / "untrained" / "registry.json"
HANGS = 300  # seconds: a test that waits longer waits for ever, on the slowest machine; nothing is measured by it
Scripted = Callable[[Iterable[Message | str | Exception]], Runtime]


def bundled_and(*names: str) -> list[str]:
    """The names of the bundled subagents and these, sorted."""
    return sorted(["explore", "logs", "tables", *names])


def tools_with(*names: str) -> list[str]:
    """The tools that a client is offered for the bundled subagents and these."""
    return [*bundled_and(*names), "feedback"]


class ScriptedModels:
    """Leases the same scripted model again and again, and remembers what was asked for."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.specs: list[ModelSpec] = []

    def lease(self, spec: ModelSpec) -> AbstractAsyncContextManager[Model]:
        self.specs.append(spec)
        return nullcontext(self.model)

    def label(self, spec: ModelSpec) -> str:
        return spec.base.source


def move_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the user's home be this folder."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(folder if name == "HOME" else folder / name.lower()))


def write(root: Path, files: dict[str, str]) -> Path:
    """A tree of files by name and text; its root."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root
