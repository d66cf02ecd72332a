"""Which of several sizes of a subagent this machine runs: the best of those that are here and fit."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillstill.errors import BaseError
from skillstill.models.sources import present_file

if TYPE_CHECKING:
    from skillstill.skills.registry import ListedEntry, Measured

ROOM = 1.5  # times the base's file: its weights, the form in which they are served, the context of a run
SLOWEST = 15.0  # seconds that a question may take on average where it was measured


@dataclass(frozen=True, slots=True)
class SizeChoice:
    """The chosen size; `why` says what speaks against each larger one, empty if nothing does or there is none."""

    listed: "ListedEntry"
    why: tuple[str, ...] = ()


def best_size(sizes: Sequence["ListedEntry"]) -> SizeChoice:
    """Return the size with the best figures among the default, which comes first, and those that can run here."""
    default, *larger = sizes
    against = {one.entry.label: drawback(one) for one in larger}
    best = max((default, *(one for one in larger if not against[one.entry.label])), key=_quality)
    return SizeChoice(best, tuple(f"{label}: {why}" for label, why in against.items() if why))


def drawback(listed: "ListedEntry") -> str:
    """Return why this machine does not run a size by itself; empty if it does."""
    entry = listed.entry
    try:
        needed = ROOM * present_file(entry.base).stat().st_size
    except (BaseError, OSError):
        return f"its base is not here: type `skillstill pull {entry.label}`"
    if needed > (free := free_memory()):
        return f"it needs some {needed / 1e6:,.0f} MB of memory, {free / 1e6:,.0f} are free"
    if entry.measured and (seconds := _seconds(entry.measured)) > SLOWEST:
        return f"it takes {seconds:.0f} s a question: name it as {entry.label}"
    return ""


def free_memory() -> int:
    """Return the bytes of memory that programs can still get; all there is, if the system does not tell."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text("ascii"), re.MULTILINE)
    except OSError:
        found = None
    return int(found[1]) * 1024 if found else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _seconds(measured: "Measured") -> float:
    return measured.field.seconds if measured.field else measured.seconds


def _quality(listed: "ListedEntry") -> tuple[float, float]:
    """Return the share of field questions that were answered or handed back rightly, then that of made ones."""
    measured = listed.entry.measured
    if measured is None:
        return (0.0, 0.0)
    return (measured.field.share if measured.field else 0.0, measured.success)
