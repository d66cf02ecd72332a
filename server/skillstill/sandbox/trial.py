"""A driver tried for real: a sandbox is opened, runs commands, and is asked for more than it may give."""

import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from skillstill.errors import SandboxError
from skillstill.sandbox.sandbox import Driver, Sandbox, SandboxLimits, SandboxPlan
from skillstill.util.text import one_line

LIMITS = SandboxLimits(seconds=10, memory=128, processes=16)
GREEDY = "data = bytearray(512 << 20); print('got it')"
FORKING = """
import os, time
for count in range(64):
    if not os.fork():
        time.sleep(9)
print('got them')
"""


async def problem_of(driver: Driver, place: str) -> str:
    """Return why no command runs in a sandbox of this driver; empty if one does. `place` is where it would run."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)
            async with driver.open(Path(folder), SandboxPlan()) as sandbox:
                done = await sandbox.exec(["true"])
    except SandboxError as error:
        return str(error)
    return f"a command in {place} failed: {one_line(done.output, 200)}" if done.code else ""


async def tried(driver: Driver) -> str:
    """Return what a sandbox of this driver did, and which promises it does not keep here, as it says itself.

    Raise SandboxError if it keeps one not that it did not name.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        began = time.perf_counter()
        async with driver.open(Path(folder), SandboxPlan(limits=LIMITS)) as sandbox:
            opened = time.perf_counter()
            await sandbox.exec(["true"])
            ran = time.perf_counter()
            broken = [promise async for promise in _broken(sandbox)]
    if broken and not sandbox.held.gaps:
        raise SandboxError(f"{sandbox.held.driver} does not keep what it promises: {', '.join(broken)}")
    took = f"opened in {opened - began:.2f} s, a command in {1e3 * (ran - opened):.0f} ms"
    return "; ".join((f"{sandbox.held.driver}: {took}, limits tried", *sandbox.held.gaps))


async def _broken(sandbox: Sandbox) -> AsyncIterator[str]:
    """Yield the promises that commands could break."""
    if (await sandbox.exec(["id", "-u"])).output.strip() == "0":
        yield "commands run as root"
    if (await sandbox.exec(["sleep", "9"], seconds=0.1)).killed != "time":
        yield "time is not limited"
    if "got it" in (await sandbox.exec(["python3", "-c", GREEDY])).output:
        yield "memory is not limited"
    if "got them" in (await sandbox.exec(["python3", "-c", FORKING])).output:
        yield "processes are not limited"
