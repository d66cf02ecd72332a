"""What somebody who waits is told of slow work deep inside a call, such as the first reading of a folder."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Listener = Callable[[str], Coroutine[Any, Any, None]]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let what is called in this context, and in tasks and threads that it starts, tell this listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def present_listener() -> Listener | None:
    return _listener.get()
