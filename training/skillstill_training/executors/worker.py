"""What runs in a worker of the cluster: one item after the other, with what the job needs loaded once."""

import asyncio
import os
import socket
from functools import lru_cache
from typing import Any

from skillstill.errors import SkillstillError, StageError

from skillstill_training.executors.parcels import Parcel


def work_on(name: str, job: Any, item: Any, root: Parcel) -> Any:
    """Return the result of one item. The job with this `name` starts with its first item.

    Raise StageError for any error of ours: not each of them can travel.
    """
    try:
        return _runner().run(_started(_Named(name, job))(item, root.place()))
    except SkillstillError as error:
        raise StageError(f"{error} (worker {os.getpid()} on {socket.gethostname()})") from None


class _Named:
    """A job that is the same one if it has the same name."""

    def __init__(self, name: str, job: Any) -> None:
        self.name, self.job = name, job

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Named) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


@lru_cache(maxsize=1)  # the models of one job are as much as a worker holds
def _started(named: _Named) -> Any:
    return named.job.start()


@lru_cache(maxsize=1)
def _runner() -> "asyncio.Runner":
    """Return one event loop for all items: a model that is loaded once belongs to its loop."""
    return asyncio.Runner()
