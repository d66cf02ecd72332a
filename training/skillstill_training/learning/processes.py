"""One training by several processes of this machine, each of which takes its share of every step.

The processes meet as torchrun's do: by gloo on processors, by nccl on GPUs, one GPU each. Rank 0 writes the checkpoints
and says how it goes. If one dies, all end, and the same command goes on from the last checkpoint.
"""

import multiprocessing
import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillstill.errors import SkillstillError, StageError
from skillstill.models.engine import free_cores

from skillstill_training.learning.checkpoints import whole_checkpoints
from skillstill_training.learning.rows import TrainingRow
from skillstill_training.learning.student import student_folder
from skillstill_training.learning.tuning import OnLog, bfloat16_pays, tune
from skillstill_training.run.recipe import Precision, TrainConfig

POLL = 0.1  # seconds between looks at what rank 0 says


@dataclass(frozen=True, slots=True)
class Order:
    """What each process is told: its part differs by its rank alone."""

    processes: int
    port: int
    threads: int
    rows: Sequence[TrainingRow]
    base: Path
    target: Path
    plan: TrainConfig
    seed: int


def tune_together(
    processes: int, rows: Sequence[TrainingRow], base: Path, target: Path, plan: TrainConfig, seed: int, on_log: OnLog
) -> None:
    """Train as `tune` does, and leave the same checkpoints. Raise StageError."""
    from torch.multiprocessing import get_context, start_processes
    from torch.multiprocessing.spawn import ProcessException

    student_folder(base)  # converted once, not by each
    whole_checkpoints(target)  # a torn one is removed before anybody reads it
    precise = plan.model_copy(update={"precision": _precision(plan)})
    threads = max(1, free_cores() // processes)
    order = Order(processes, _free_port(), threads, rows, base, target, precise, seed)
    said = get_context("spawn").SimpleQueue()
    running = start_processes(_take_part, (order, said), nprocs=processes, join=False)
    try:
        while not running.join(timeout=POLL):
            _pass_on(said, on_log)
        _pass_on(said, on_log)
    except ProcessException as error:
        _pass_on(said, on_log)
        raise StageError(
            f"a training process ended: {str(error).strip().splitlines()[-1]}; type the same command again to go on "
            "from the last checkpoint"
        ) from error


def _take_part(rank: int, order: Order, said: Any) -> None:
    """Do the part of one process. Its environment is what torchrun would give it."""
    import torch

    threading.Thread(target=_end_with_parent, daemon=True).start()
    here = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": order.processes, "LOCAL_WORLD_SIZE": order.processes}
    os.environ |= {name: str(value) for name, value in here.items()}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(order.port), "GLOO_SOCKET_IFNAME": "lo"}
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = str(order.threads)
        torch.set_num_threads(order.threads)
    try:
        tune(order.rows, order.base, order.target, order.plan, order.seed, _speaker(rank, said))
    except SkillstillError as error:
        said.put(error)
        sys.exit(1)
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def _end_with_parent() -> None:
    """End this process if the one that started it is gone.

    torch sends SIGINT then, which a shell makes its background commands ignore.
    """
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _speaker(rank: int, said: Any) -> OnLog:
    return (lambda *log: said.put(log)) if rank == 0 else (lambda *log: None)


def _pass_on(said: Any, on_log: Callable[..., None]) -> None:
    """Raise the error of a process, if there is one."""
    while not said.empty():
        log = said.get()
        if isinstance(log, SkillstillError):
            raise log
        on_log(*log)


def _precision(plan: TrainConfig) -> Precision:
    """Return the number format that all processes use: each alone might measure another one."""
    return plan.precision if plan.precision != "auto" else "bf16" if bfloat16_pays() else "fp32"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
