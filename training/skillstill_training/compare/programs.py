"""Orchestrators that are programs: started in a folder, given time, ended with all that they have started."""

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

import anyio
from anyio.abc import ByteReceiveStream

WAITS = 5.0  # seconds for a program to end once its output has
LONGEST = 20_000  # characters of its errors that are kept


@dataclass(frozen=True, slots=True)
class Ended:
    """What a program said. `is_late`: it was ended because its time was up."""

    output: str
    errors: str
    is_late: bool


async def run_program(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, said: str = "", seconds: float
) -> Ended:
    """Run a program that reads `said` on its standard input."""
    process = await anyio.open_process(
        command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=folder, env=environment, start_new_session=True
    )
    output, errors = list[bytes](), list[bytes]()
    assert process.stdin
    try:
        with anyio.move_on_after(seconds) as limit:
            async with anyio.create_task_group() as group:
                group.start_soon(_read, process.stdout, output)
                group.start_soon(_read, process.stderr, errors)
                with suppress(anyio.BrokenResourceError):
                    await process.stdin.send(said.encode())
                await process.stdin.aclose()
            with anyio.move_on_after(WAITS):
                await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.aclose()
    return Ended(_text(output), _text(errors)[-LONGEST:], limit.cancelled_caught)


async def _read(stream: ByteReceiveStream | None, chunks: list[bytes]) -> None:
    assert stream
    async for chunk in stream:
        chunks.append(chunk)  # noqa: PERF401 - what came before the time was up is kept


def _text(chunks: Sequence[bytes]) -> str:
    return b"".join(chunks).decode("utf-8", "replace")
