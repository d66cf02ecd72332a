"""Several tasks at once, whose error reaches a person as one sentence."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio
from skillstill.errors import BudgetSpent, SkillstillError

Item = TypeVar("Item")


async def each(items: Iterable[Item], work: Callable[[Item], Awaitable[None]], at_once: int) -> None:
    """Do the work on each item, so many at once. The first error stops the others; BudgetSpent lets them end first."""
    pending = iter(items)
    spent: list[BudgetSpent] = []

    async def worker(items: Iterator[Item]) -> None:
        try:
            for item in items:
                await work(item)
        except BudgetSpent as error:
            spent.append(error)

    with one_error():
        async with anyio.create_task_group() as group:
            for _ in range(at_once):
                group.start_soon(worker, pending)
    if spent:
        raise spent[0]


@contextmanager
def one_error() -> Iterator[None]:
    """Raise, of the errors of a task group, the first that is ours, by itself."""
    try:
        yield
    except BaseExceptionGroup as group:
        if ours := group.subgroup(SkillstillError):
            raise _first(ours) from group
        raise


def _first(group: BaseExceptionGroup[SkillstillError]) -> SkillstillError:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, SkillstillError)
    return error
