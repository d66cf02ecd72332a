"""What a benchmark is: questions about folders, with gold and a scorer. Nobody of this project wrote the questions."""

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

from pydantic import JsonValue
from skillstill.types import Frozen

from skillstill_training.benchmarks.pinned import Pinned
from skillstill_training.util.hashes import drawn

STANDARD = 200  # tasks of a benchmark's standard run at most: an interval of about 7 points either way
Item = TypeVar("Item")


class Task(Frozen):
    """One question of a benchmark.

    id        NAME/PART/NUMBER, such as `geography/test/17`
    folder    the workspace: a folder on this machine
    skill     explore, logs or tables
    gold      whatever the benchmark's scorer needs
    """

    id: str
    prompt: str
    folder: str
    skill: str
    gold: JsonValue


class Benchmark(Protocol):
    """A set of tasks with its scorer. `version` is the commit, and the hash of the files that tasks are read from."""

    name: str
    skill: str
    licence: str
    version: str

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks of the standard run in a fixed order. Fetch what each needs. Raise WorkspaceSourceError."""
        ...

    def score(self, task: Task, answer: str) -> float:
        """Return what an answer is worth, from 0 to 1. An empty answer and a hand-over are worth 0."""
        ...


class PinnedBenchmark(Benchmark, Protocol):
    """A benchmark that also says where its folders come from."""

    def sources(self) -> tuple[Pinned, ...]: ...


def standard(items: Mapping[str, Item]) -> Iterator[tuple[str, Item]]:
    """Yield at most STANDARD items with their ids, drawn and ordered by the hashes of the ids."""
    return ((id, items[id]) for id in sorted(items, key=drawn)[:STANDARD])
