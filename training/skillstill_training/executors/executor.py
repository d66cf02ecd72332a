"""Who does the work on many items: this process alone, or the workers of a cluster.

A stage maps a piece of work over its items with `util.tasks.each`, and stores each result itself. Where an item is
worked on is all that an executor decides, so a stage goes on from the same files whoever worked before.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from skillstill.errors import StageError

from skillstill_training.executors.parcels import Packer

Name = TypeVar("Name", bound=str)
Item = TypeVar("Item")
Result = TypeVar("Result")
Asked = TypeVar("Asked", contravariant=True)
Made = TypeVar("Made", covariant=True)
Work = Callable[[Item, Path], Awaitable[Result]]  # what an item comes to in a workspace; it depends on nothing else


class Job(Protocol[Asked, Made]):
    """A piece of work as a value that travels: it starts in any process that has our code."""

    def start(self) -> Work[Asked, Made]: ...


class Executor(Protocol):
    """`label` says in the description of a machine who worked on it, after a comma."""

    @property
    def label(self) -> str: ...

    def at_once(self, alone: int) -> int:
        """Return how many items are worked on at the same time, if `alone` of them suit one process."""
        ...

    def distribute(self, work: Work[Item, Result], job: Callable[[Packer], Job[Item, Result]]) -> Work[Item, Result]:
        """Return the work as this executor does it. `job` makes the same work travel."""
        ...


@dataclass(frozen=True, slots=True)
class Distributed(Generic[Name, Item, Result]):
    """An arm or a teacher whose items an executor works on. `name`, `label` and `key` are those of the original."""

    name: Name
    work: Work[Item, Result]
    label: str = ""
    key: str = ""

    async def solve(self, item: Item, root: Path) -> Result:
        return await self.work(item, root)


@dataclass(frozen=True, slots=True)
class InProcess:
    """This process."""

    label: str = ""

    def at_once(self, alone: int) -> int:
        return alone

    def distribute(self, work: Work[Item, Result], job: Callable[[Packer], Job[Item, Result]]) -> Work[Item, Result]:
        return work


IN_PROCESS = InProcess()


def check_same_code(sent: str, found: str) -> None:
    """Raise StageError if a worker's code would do other work than the code that sent it."""
    if sent != found:
        raise StageError("this worker has another version of skillstill or of its tools: install the same one")
