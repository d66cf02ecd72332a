"""Asynchronous work for callers that are not, and that may run inside of an event loop which they keep waiting."""

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Done = TypeVar("Done")


def in_own_loop(work: Callable[..., Awaitable[Done]], *arguments: object) -> Done:
    """Return what the work returns, done in an event loop of a thread of its own. Raise what it raises."""
    import anyio  # the command line is there before it

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, work, *arguments).result()
