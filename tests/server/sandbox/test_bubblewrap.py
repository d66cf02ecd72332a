"""What is special about bubblewrap: whose its processes are, system calls, and limits without a control group."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import anyio
import pytest
from skillstill.errors import SandboxError
from skillstill.sandbox import bubblewrap
from skillstill.sandbox.bubblewrap import BubblewrapDriver
from skillstill.sandbox.sandbox import SandboxPlan

from tests.scenes import ROOT
from tests.server.sandbox.conftest import LIMITS, problem
from tests.server.sandbox.test_promises import FORK_BOMB, MEMORY_BOMB, command_lines

pytestmark = pytest.mark.anyio
PLAN = SandboxPlan(limits=LIMITS)
CALLS = {
    "a user namespace": "os.unshare(0x10000000)" if sys.version_info >= (3, 12) else "check(libc.unshare(0x10000000))",
    "a mount": "check(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
    "memory without a size": "os.memfd_create('x')",
    "shared memory": "check(libc.shmget(0, 4096, 0o1600))",
    "the runner's limits": "resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))",
    "the runner's priority": "os.setpriority(os.PRIO_PROCESS, 1, 19)",
    "a key": "check(libc.syscall(250, 0, -3, 1))",
    "a socket of a file": "socket.socket(socket.AF_UNIX)",
    "a socket of the kernel": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
}
PRELUDE = """
import ctypes, os, resource, socket
libc = ctypes.CDLL(None, use_errno=True)
def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
"""
HOST = """
import anyio, sys
from pathlib import Path
from skillstill.sandbox.bubblewrap import BubblewrapDriver
from skillstill.sandbox.sandbox import SandboxPlan

async def main():
    async with BubblewrapDriver().open(Path(sys.argv[1]), SandboxPlan()) as box:
        await box.exec(["sh", "-c", "setsid sleep " + sys.argv[2] + " & sleep " + sys.argv[2]])

anyio.run(main)
"""


@pytest.fixture(autouse=True)
def works() -> None:
    if reason := problem("bubblewrap"):
        pytest.skip(reason)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_system_calls_that_lead_out_are_refused(folder: Path, call: str) -> None:
    async with BubblewrapDriver().open(folder, PLAN) as box:
        done = await box.exec(["python3", "-c", f"{PRELUDE}{call}"])
        assert "Error: [Errno" in done.output, done.output


async def test_programs_find_what_they_need(folder: Path) -> None:
    everyday = "import socket, asyncio, subprocess, threading; asyncio.run(asyncio.sleep(0)); socket.socket().close()"
    async with BubblewrapDriver().open(folder, PLAN) as box:
        assert (await box.exec(["python3", "-c", everyday])).code == 0
        assert (await box.exec(["sh", "-c", "echo b | sort | awk '{print $1}' > /tmp/x && cat /tmp/x"])).output == "b\n"


async def test_a_socket_in_the_workspace_leads_nowhere(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "door"))
        server.listen()
        (folder / "door").chmod(0o777)
        async with BubblewrapDriver().open(folder, PLAN) as box:
            reach = "import socket; socket.socket(socket.AF_UNIX).connect('door'); print('reached')"
            assert "reached" not in (await box.exec(["python3", "-c", reach])).output


async def test_what_the_owner_alone_may_read_is_read(folder: Path) -> None:
    folder.chmod(0o700)
    (folder / "a.txt").chmod(0o600)
    async with BubblewrapDriver().open(folder, PLAN) as box:
        assert (await box.exec(["cat", "a.txt"])).output == "hello\n"
        assert (await box.exec(["id", "-u"])).output != "0\n"


@pytest.mark.parametrize("mode", [0o755, 0o700])
async def test_without_a_control_group_the_runner_keeps_the_limits(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    monkeypatch.setattr(bubblewrap, "make_group", lambda limits: None)
    folder.chmod(mode)
    async with BubblewrapDriver().open(folder, PLAN) as box:
        told = "\n".join(box.held.gaps)
        for forks in (0, 3):
            done = await box.exec(["python3", "-c", MEMORY_BOMB.format(forks=forks)])
            assert done.killed == "memory" or "MemoryError" in done.output
        done = await box.exec(["python3", "-c", FORK_BOMB], seconds=2)
        assert "stopped at" in done.output or "processes: root has no limit" in told
        assert (await box.exec(["echo", "alive"])).output == "alive\n"
    assert "CPU time: of each process" in told


async def test_what_breaks_down_is_replaced(folder: Path) -> None:
    async with BubblewrapDriver().open(folder, PLAN) as box:
        await box.write("/tmp/kept", b"")
        (outer,) = children(os.getpid())
        (runner,) = children(outer)
        os.kill(runner, signal.SIGKILL)
        with pytest.raises(SandboxError, match="the sandbox broke down"):
            await box.exec(["true"])
        assert (await box.exec(["ls", "/tmp"])).output == ""


def children(pid: int) -> list[int]:
    found = (file.read_text("ascii", "replace").split() for file in Path("/proc").glob("[0-9]*/stat"))
    return [int(fields[0]) for fields in found if fields[1] in {"(bwrap)", "(python3)"} and fields[3] == str(pid)]


async def test_nothing_outlives_a_host_that_was_killed(folder: Path) -> None:
    mark = f"61.{os.getpid()}"
    with subprocess.Popen([sys.executable, "-c", HOST, str(folder), mark]) as host:
        while sum(mark in line and line.startswith("sleep") for line in command_lines()) < 2:
            await anyio.sleep(0.02)
        host.kill()
    while any(mark in line and line.startswith("sleep") for line in command_lines()):  # it hangs if they live on
        await anyio.sleep(0.02)


@pytest.mark.parametrize("path", ["", "/nowhere"])
async def test_a_machine_without_bubblewrap_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("PATH", path)
    assert await BubblewrapDriver().problem() == (
        "bubblewrap is not installed: install your system's package bubblewrap"
    )


async def test_what_bubblewrap_says_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bwrap").write_text(
        "#!/bin/sh\n[ $1 = --version ] && echo bubblewrap 9 || echo 'bwrap: no permissions' >&2\n", encoding="utf-8"
    )
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert await BubblewrapDriver().problem() == "the sandbox broke down: bwrap: no permissions"


def test_the_filters_are_those_that_the_script_writes(tmp_path: Path) -> None:
    loader = SourceFileLoader("seccomp_script", str(ROOT / "scripts" / "seccomp"))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    script = module_from_spec(spec)
    loader.exec_module(script)
    shipped = {file.name: file.read_bytes() for file in script.FILTERS.iterdir()}
    for name, cpu in script.CPUS.items():
        try:
            script.filter_for(cpu).write(tmp_path / f"{name}.bpf")
        except OSError as error:
            pytest.skip(f"libseccomp is not installed: {error}")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == shipped


@pytest.fixture
def home_of_another() -> Iterator[Path]:
    """The home of an ordinary user; pytest's own folders are for who runs it alone."""
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() == 0:
            os.chown(folder, 1000, 1000)
        yield Path(folder)


def test_every_promise_holds_for_an_ordinary_user(home_of_another: Path) -> None:
    """The promises, tested once more as another user."""
    if os.geteuid():
        pytest.skip("the tests run as an ordinary user already")
    if not (program := _python_for_all()) or not shutil.which("setpriv"):
        pytest.skip("no Python here that every user may run, or no setpriv")
    environment = {
        "HOME": str(home_of_another),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    promises = Path(__file__).with_name("test_promises.py")
    command = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", program, "-m", "pytest", "-q"]
    command += [
        "-p",
        "no:cacheprovider",
        "--basetemp",
        str(home_of_another / "tests"),
        "-k",
        "bubblewrap",
        str(promises),
    ]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3_000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def _python_for_all() -> str:
    """Return a Python of this version that an ordinary user may run."""
    version = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    for program in (sys.executable, "/usr/bin/python3"):
        command = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", program, "-c", version]
        try:
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return program
        except OSError:
            continue
    return ""
