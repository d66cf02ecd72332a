"""The queue before the models: in order, told, and finite."""

import anyio
import anyio.lowlevel
import pytest
from skillstill.errors import UsageError
from skillstill.server.queue import Queue

from tests.scenes import HANGS

pytestmark = pytest.mark.anyio


async def ignore(_: int) -> None:
    pass


async def test_who_comes_first_works_first_and_the_others_move_up() -> None:
    queue = Queue(1)
    told: list[tuple[int, int]] = []
    worked: list[int] = []
    gates = [anyio.Event() for _ in range(3)]

    async def work(name: int) -> None:
        async def on_position(before: int) -> None:
            told.append((name, before))

        async with queue.place(on_position):
            worked.append(name)
            await gates[name].wait()

    async with anyio.create_task_group() as group:
        for name in range(3):
            group.start_soon(work, name)
            await anyio.wait_all_tasks_blocked()
        for gate in gates:
            gate.set()
            await anyio.wait_all_tasks_blocked()
    assert worked == [0, 1, 2]
    assert told == [(1, 0), (2, 1), (2, 0)]


async def test_a_flood_is_refused_and_not_stored() -> None:
    queue = Queue(1, waiting=0)
    async with queue.place(ignore):
        with pytest.raises(UsageError, match="try again later"):
            async with queue.place(ignore):
                pass
    async with queue.place(ignore):
        pass


async def test_who_leaves_the_line_lets_the_next_one_move_up() -> None:
    queue, entered = Queue(1), anyio.Event()

    async def wait_for_it() -> None:
        async with queue.place(ignore):
            entered.set()

    async with anyio.create_task_group() as group:
        async with queue.place(ignore):
            with anyio.move_on_after(0):
                async with queue.place(ignore):
                    raise AssertionError
            group.start_soon(wait_for_it)
            await anyio.wait_all_tasks_blocked()
            assert not entered.is_set()
        with anyio.fail_after(HANGS):
            await entered.wait()
