"""Which file a base is loaded from: the measured one, or another one that behaves alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import BaseError, ModelError, OtherFile
from skillstill.models.hub import hub_endpoint
from skillstill.models.sources import locate
from skillstill.types import BaseBehaviour, ModelFile


@dataclass(frozen=True, slots=True)
class LocatedBase:
    """A base on this machine. `warning` is one sentence if it is not the measured file, else empty."""

    path: Path
    sha256: str
    warning: str = ""


def locate_base(base: ModelFile, measured: BaseBehaviour | None, *, offline: bool = False) -> LocatedBase:
    """Return the measured file, or another one in its place that behaves as was measured.

    Without a measured behaviour, no other file will do. Raise BaseError.
    """
    try:
        return LocatedBase(locate(base, offline=offline), base.sha256)
    except OtherFile as other:
        if measured is None:
            raise
        return _stand_in(base, measured, other)


@contextmanager
def embedded_extra() -> Iterator[None]:
    """Raise BaseError if what runs a model on this machine is not installed and would be imported inside."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BaseError(
            f"no model runs on this machine without {error.name}: type `pip install 'skillstill[embedded]'`, or "
            "name a server with --endpoint"
        ) from error


def _stand_in(base: ModelFile, measured: BaseBehaviour, other: OtherFile) -> LocatedBase:
    """Return the other file if it behaves alike. Raise BaseError."""
    with embedded_extra():
        from skillstill.models.likeness import find_likeness  # with llama.cpp, which takes most of a second
    try:
        found = find_likeness(measured, base.sha256, other.path, other.sha256)
    except ModelError as error:
        raise BaseError(_refusal(base, other, str(error))) from other
    if found.difference:
        raise BaseError(_refusal(base, other, found.difference)) from other
    locate(ModelFile(source=f"file:{other.path}", sha256=other.sha256))  # remembers its hash for the next run
    return LocatedBase(
        other.path,
        other.sha256,
        "This base is another file than the one that the release was measured with; it behaves alike "
        f"(largest divergence {found.divergence:.3f} nats).",
    )


def _refusal(base: ModelFile, other: OtherFile, difference: str) -> str:
    """Say how the file differs and where the measured one is. A hub may send the same file again."""
    hub = f"; if {hub_endpoint()} sends the same again, set HF_ENDPOINT to a hub that has the measured file"
    return (
        f"{other.path} is not the measured base (expected sha256 {base.sha256[:12]}…, found {other.sha256[:12]}…) and "
        f"another model: {difference}; the measured file is {base.source}: "
        f"{other.remedy}{hub if base.source.startswith('hf:') else ''}"
    )
