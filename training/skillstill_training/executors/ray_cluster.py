"""A Ray cluster as an executor: an item is a task on one of its workers, and done again if that worker dies."""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from skillstill.errors import StageError

from skillstill_training.executors.executor import IN_PROCESS, Executor, Item, Job, Result, Work
from skillstill_training.executors.parcels import Packer, Parcel, pack, parcel_hash
from skillstill_training.executors.worker import work_on

RETRIES = 3  # of an item whose worker dies: more than bad luck, and an item that kills each worker ends the stage
AHEAD = 2  # items for each worker: the next one is there when one is done
LOCAL, AUTO = "local", "auto"


class Cluster:
    """The workers of the cluster that this process is connected to, one for each processor. Not for two threads."""

    def __init__(self, ray: Any, *, shares_files: bool) -> None:
        self.ray, self._shares_files = ray, shares_files
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._node = "" if ray.util.client.ray.is_connected() else ray.get_runtime_context().get_node_id()
        self._parcels: dict[Path, Parcel] = {}
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES)(work_on)

    @property
    def label(self) -> str:
        return f", {self.workers} workers of a Ray cluster at once"

    def at_once(self, alone: int) -> int:
        return AHEAD * self.workers

    def distribute(self, work: Work[Item, Result], job: Callable[[Packer], Job[Item, Result]]) -> Work[Item, Result]:
        sent = self.ray.put(job(self._parcel))

        async def remote(item: Item, root: Path) -> Result:
            result: Result = await self._result(sent.hex(), sent, item, self._parcel(root))
            return result

        return remote

    async def _result(self, *task: Any) -> Any:
        """Return what a worker made of an item. Raise StageError."""
        try:
            return await asyncio.wrap_future(self._task.remote(*task).future())
        except self.ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, StageError):
                raise StageError(str(error.cause)) from None
            raise
        except self.ray.exceptions.RayError as error:
            raise StageError(
                f"the cluster gave an item up after {RETRIES + 1} attempts: {str(error).splitlines()[0]}; what is done "
                "so far is kept: type the same command again"
            ) from error

    def _parcel(self, path: Path) -> Parcel:
        path = path.absolute()
        if path not in self._parcels:
            self._parcels[path] = Parcel(path, self._node) if self._shares_files else self._packed(path)
        return self._parcels[path]

    def _packed(self, path: Path) -> Parcel:
        packed = pack(path)
        return Parcel(path, self._node, parcel_hash(packed), self.ray.put(packed))


@contextmanager
def executor_at(address: str) -> Iterator[Executor]:
    """Return the cluster at an address, as long as the context lasts; this process if the address is empty.

    `local` starts a cluster on this machine and ends it. Raise StageError.
    """
    if not address:
        yield IN_PROCESS
        return
    ray = _import_ray()
    with TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as sessions:
        try:
            _connect(ray, address, sessions)
            yield Cluster(ray, shares_files=address == LOCAL)
        finally:
            ray.shutdown()


def _import_ray() -> Any:
    """Raise StageError if the extra is not installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    try:
        import ray  # optional, and two seconds
        import ray.exceptions
        import ray.util.client
    except ImportError as error:
        raise StageError(f"--ray needs {error.name}: type `pip install 'skillstill[ray]'`") from error
    return ray


def _connect(ray: Any, address: str, sessions: str) -> None:
    """Raise StageError if nobody answers there."""
    quiet = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == LOCAL:
            processors = len(os.sched_getaffinity(0))
            ray.init(num_cpus=processors, include_dashboard=False, _temp_dir=sessions, **quiet)
        else:
            _knock(address)
            ray.init(address=address, **quiet)
    except (OSError, ValueError, RuntimeError) as error:  # a ConnectionError is an OSError
        raise StageError(
            f"no Ray cluster answers at {address} ({str(error).splitlines()[0]}): start one with `ray start --head`, "
            "or say --ray local"
        ) from error


def _knock(address: str) -> None:
    """Raise OSError and ValueError if nobody listens there: Ray itself would try for minutes."""
    if address != AUTO:
        host, _, port = address.removeprefix("ray://").rpartition(":")
        socket.create_connection((host, int(port)), timeout=5).close()
