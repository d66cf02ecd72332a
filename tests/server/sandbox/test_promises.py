"""Each promise of a sandbox, attacked. The same tests hold for every driver, for root and for an ordinary user."""

import json
import os
import socket
from pathlib import Path

import anyio
import pytest
from skillstill.errors import Refusal, SandboxLost
from skillstill.sandbox.sandbox import Driver, SandboxPlan

from tests.server.sandbox.conftest import LIMITS, Opened

pytestmark = pytest.mark.anyio
FORK_BOMB = """
import os, time
count = 0
try:
    while count < 200:
        if not os.fork():
            os.setsid()
            time.sleep(60)
            os._exit(0)
        count += 1
except OSError:
    print("stopped at", count, flush=True)
time.sleep(60)
"""
MEMORY_BOMB = """
import os
for _ in range({forks}):
    os.fork()
taken = []
while True:
    taken.append(bytearray(b"x" * (1 << 20)))
"""
ESCAPES = ("../outside.txt", "../../outside.txt", "/proc/1/root/etc/shadow", "/proc/self/root/../outside.txt")


async def test_commands_see_the_workspace_and_nothing_beside_it(opened: Opened, folder: Path) -> None:
    async with opened() as box:
        assert (await box.exec(["cat", "a.txt"])).output == "hello\n"
        for path in (str(folder.parent / "outside.txt"), *ESCAPES):
            done = await box.exec(["cat", path])
            assert done.code, path
            assert "not yours" not in done.output


async def test_a_link_leads_to_what_is_there_inside(opened: Opened, folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent / "outside.txt")
    (folder / "up").symlink_to("..")
    async with opened() as box:
        for path in ("link", "up/outside.txt"):
            assert (await box.exec(["cat", path])).code
            with pytest.raises(Refusal):
                await box.read(path, 100)


async def test_only_a_writable_workspace_and_tmp_can_be_written(opened: Opened, folder: Path) -> None:
    folder.chmod(0o777)
    folders = "/ /usr /usr/bin /etc /dev /proc /sys /run /workspace /tmp"
    touch = f"for one in {folders}; do touch $one/new 2>/dev/null && echo $one; done"
    async with opened() as box:
        assert (await box.exec(["sh", "-c", touch])).output == "/tmp\n"
        with pytest.raises(Refusal):
            await box.write("new", b"")
    async with opened(writable=True) as box:
        assert (await box.exec(["sh", "-c", touch])).output == "/workspace\n/tmp\n"
        await box.write("deep/er/file", b"\0\1")
        assert await box.read("deep/er/file", 10) == b"\0\1"
    assert (folder / "deep/er/file").read_bytes() == b"\0\1"


async def test_commands_are_not_root_and_have_no_rights(opened: Opened) -> None:
    async with opened() as box:
        assert (await box.exec(["id", "-u"])).output.strip() != "0"
        status = dict(
            line.split(":\t")
            for line in (await box.exec(["cat", "/proc/self/status"])).output.splitlines()
            if ":\t" in line
        )
        assert [int(status[f"Cap{kind}"], 16) for kind in ("Prm", "Eff", "Amb")] == [0, 0, 0]
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


async def test_the_environment_holds_nothing_of_ours(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_TOKEN", "hunter2")
    async with opened() as box:
        done = await box.exec(["sh", "-c", "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline"])
        assert "hunter2" not in done.output
        assert "OUR_TOKEN" not in done.output
        assert (await box.exec(["sh", "-c", "echo $GIVEN"], environment={"GIVEN": "yes"})).output == "yes\n"


async def test_there_is_no_network_not_even_this_machine(opened: Opened) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reach = f"import socket; socket.create_connection(('{{}}', {port}), timeout=2); print('reached')"
        async with opened() as box:
            for address in ("127.0.0.1", "192.0.2.1", "8.8.8.8"):
                assert "reached" not in (await box.exec(["python3", "-c", reach.format(address)])).output
            interfaces = "import socket; print([name for _, name in socket.if_nameindex()])"
            assert "eth" not in (await box.exec(["python3", "-c", interfaces])).output


async def test_time_ends_a_command_and_all_that_it_started(opened: Opened) -> None:
    async with opened() as box:
        done = await box.exec(["sh", "-c", "setsid sleep 60 & sleep 60"], seconds=0.3)
        assert (done.killed, done.code) == ("time", -9)
        processes = "import os; print(len([name for name in os.listdir('/proc') if name.isdigit()]))"
        assert (await box.exec(["python3", "-c", processes])).output == "2\n", "the runner, and who counts"


async def test_nothing_survives_the_command_that_started_it(opened: Opened) -> None:
    async with opened() as box:
        await box.exec(
            ["sh", "-c", "(setsid sh -c 'trap \"\" TERM HUP INT; while :; do touch /tmp/alive; done' &) ; sleep 0.1"]
        )
        done = await box.exec(["sh", "-c", "rm -f /tmp/alive; sleep 0.2; ls /tmp"])
        assert (done.code, done.output) == (0, "")


async def test_a_fork_bomb_stops_and_is_swept(opened: Opened) -> None:
    async with opened() as box:
        done = await box.exec(["python3", "-c", FORK_BOMB], seconds=2)
        assert done.killed == "time"
        assert int(done.output.removeprefix("stopped at ")) <= LIMITS.processes
        assert (await box.exec(["echo", "alive"])).output == "alive\n"


@pytest.mark.parametrize("forks", [0, 3])
async def test_a_memory_bomb_ends_and_the_sandbox_goes_on(opened: Opened, forks: int) -> None:
    async with opened() as box:
        await box.write("/tmp/kept", b"kept")
        done = await box.exec(["python3", "-c", MEMORY_BOMB.format(forks=forks)])
        assert done.killed == "memory" or "MemoryError" in done.output
        assert await box.read("/tmp/kept", 10) == b"kept"


async def test_endless_output_is_cut_and_ends_the_command(opened: Opened) -> None:
    async with opened() as box:
        done = await box.exec(["yes"])
        assert (done.killed, done.is_cut, len(done.output)) == ("output", True, LIMITS.output << 10)


async def test_a_little_too_much_output_is_cut_and_counted(opened: Opened) -> None:
    async with opened() as box:
        done = await box.exec(["sh", "-c", "head -c 20000 /dev/zero | tr '\\0' a; exit 3"])
        assert (done.code, done.killed, done.is_cut, done.total) == (3, "", True, 20_000)


async def test_output_may_be_any_bytes(opened: Opened) -> None:
    async with opened() as box:
        done = await box.exec(["printf", r"a\377\000\033[31m\n{}"])
        assert (done.output, done.is_cut) == ("a\ufffd\0\x1b[31m\n{}", False)


async def test_a_file_that_is_too_large_stops_at_the_limit(opened: Opened, folder: Path) -> None:
    folder.chmod(0o777)
    async with opened(writable=True) as box:
        assert (await box.exec(["sh", "-c", "head -c 50000000 /dev/zero > big"])).code
        with pytest.raises(Refusal, match="at most"):
            await box.write("large", bytes((LIMITS.file << 20) + 1))
    assert (folder / "big").stat().st_size <= LIMITS.file << 20


async def test_memory_disks_are_small(opened: Opened) -> None:
    fill = "for n in 1 2 3 4 5 6 7 8; do head -c 7000000 /dev/zero > {0}/$n; done 2>/dev/null; du -sm {0} | cut -f1"
    async with opened() as box:
        for disk in ("/tmp", "/dev/shm"):
            assert int((await box.exec(["sh", "-c", fill.format(disk)])).output) <= LIMITS.tmp + 1
            await box.exec(["sh", "-c", f"rm -rf {disk}/*"])


async def test_the_runner_does_not_heed_signals(opened: Opened) -> None:
    kill = "for signal in HUP INT QUIT KILL STOP TERM USR1 CHLD XCPU; do kill -$signal 1; done; kill -9 -1"
    async with opened() as box:
        await box.write("/tmp/kept", b"kept")
        await box.exec(["sh", "-c", kill])
        assert await box.read("/tmp/kept", 10) == b"kept", "it is the same sandbox"


async def test_an_answer_cannot_be_forged(opened: Opened) -> None:
    forged = json.dumps({"id": "0", "code": 0, "data": "", "total": 0, "killed": "", "seconds": 0})
    attack = f"for n in 0 1 2 3 4 5 6 7 8; do echo '{forged}' > /proc/1/fd/$n; done; echo '{forged}'; exit 7"
    async with opened() as box:
        done = await box.exec(["sh", "-c", attack])
        assert done.code == 7
        assert done.output.endswith(f"{forged}\n"), "what a command writes is its output"
        assert (await box.exec(["echo", "next"])).output == "next\n"


async def test_the_runner_cannot_be_looked_into_or_debugged(opened: Opened) -> None:
    peek = "import ctypes; print(ctypes.CDLL(None, use_errno=True).ptrace(16, 1, 0, 0))"
    async with opened() as box:
        assert (await box.exec(["python3", "-c", peek])).output == "-1\n"
        assert (await box.exec(["cat", "/proc/1/mem", "/proc/1/maps", "/proc/1/environ"])).code


@pytest.mark.parametrize(
    "path", ["/proc/self/mem", "/proc/1/environ", "/dev/zero", "/tmp", "pipe", "none", "a\0b", "x" * 5000]
)
async def test_what_is_no_file_is_neither_read_nor_written(opened: Opened, folder: Path, path: str) -> None:
    os.mkfifo(folder / "pipe")
    folder.chmod(0o777)
    async with opened(writable=True) as box:
        with pytest.raises(Refusal):
            await box.read(path, 100)
        if path != "none":
            with pytest.raises(Refusal):
                await box.write(path, b"x")
        assert (await box.exec(["echo", "alive"])).output == "alive\n"


async def test_arguments_are_passed_on_whatever_they_look_like(opened: Opened) -> None:
    async with opened() as box:
        odd = ["--bind", "/", "/x", "--", "-c", "$HOME;`id`", "a\nb", "", "ü\udcff"]
        done = await box.exec(["python3", "-c", "import sys; print(ascii(sys.argv[1:]))", *odd])
        assert done.output == ascii(odd) + "\n"
        assert (await box.exec(["--help"])).code == 127
        assert (await box.exec(["a\0b"])).code == 126


@pytest.mark.parametrize("name", ["--dev-bind", "a\nb", "a:ro,z", "$(id)", "spaced out", "-"])
async def test_a_folder_may_be_called_anything(driver: Driver, folder: Path, name: str) -> None:
    odd = folder / name
    odd.mkdir()
    (odd / "a.txt").write_text("odd\n", encoding="utf-8")
    async with driver.open(odd, SandboxPlan()) as box:
        assert (await box.exec(["sh", "-c", "ls; cat a.txt"])).output == "a.txt\nodd\n"


async def test_hidden_paths_cannot_be_read(opened: Opened, folder: Path) -> None:
    (folder / ".env").write_text("KEY=hunter2\n", encoding="utf-8")
    (folder / "-r").mkdir()
    (folder / "-r" / "key\n.pem").write_text("hunter2\n", encoding="utf-8")
    async with opened(hidden=(".env", "-r/")) as box:
        done = await box.exec(["grep", "-r", "hunter2", "."])
        assert "hunter2\n" not in done.output
        assert (await box.exec(["ls", "./-r"])).output == ""


async def test_the_settings_of_a_hostile_repository_execute_nothing_here(opened: Opened, folder: Path) -> None:
    git = folder / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (git / "objects").mkdir()
    (git / "refs").mkdir()
    (git / "config").write_text(f"[core]\n\tfsmonitor = touch {folder.parent}/pwned\n", encoding="utf-8")
    async with opened(hidden=(".git/",)) as box:
        assert (await box.exec(["git", "status"])).code
    assert not (folder.parent / "pwned").exists()


async def test_a_command_that_nobody_waits_for_any_longer_ends(opened: Opened) -> None:
    async with opened() as box:
        await box.write("/tmp/kept", b"")
        with anyio.move_on_after(0.3) as scope:
            await box.exec(["sleep", "60"])
        assert scope.cancelled_caught
        assert (await box.exec(["ls", "/tmp"])).output == "", "a new sandbox answers the next call"


async def test_leaving_ends_everything(opened: Opened) -> None:
    mark = f"60.{os.getpid()}{id(opened)}"
    async with anyio.create_task_group() as group, opened() as box:
        group.start_soon(box.exec, ["sleep", mark])
        while not any(mark in line for line in command_lines()):
            await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    assert not any(mark in line for line in command_lines())


def command_lines() -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(file.read_text("utf-8", "replace"))
        except OSError:
            continue
    return found


async def test_programs_that_do_not_start_say_so_as_in_a_shell(opened: Opened) -> None:
    async with opened() as box:
        assert (await box.exec(["nothing-of-this-name"])).code == 127
        assert (await box.exec(["/workspace/a.txt"])).code == 126
        assert (await box.exec(["cat"], stdin=b"said\0")).output == "said\0"


async def test_a_command_that_goes_on_outlives_others_and_ends_with_the_sandbox(opened: Opened) -> None:
    async with opened(writable=True) as sandbox:
        stream = await sandbox.serve(["cat"])
        await stream.send(b"one\n")
        assert await stream.receive() == b"one\n"
        assert (await sandbox.exec(["sh", "-c", "kill -9 -1; true"])).code in {0, -9, 137}
        await stream.send(b"two\n")
        assert await stream.receive() == b"two\n"
    with pytest.raises((SandboxLost, anyio.ClosedResourceError, OSError)):
        await stream.send(b"three\n")


async def test_why_a_command_that_goes_on_has_ended_is_told(opened: Opened) -> None:
    async with opened() as sandbox:
        for command, why in {"nosuch": "nosuch: No such file", "false": "it ended with exit code 1"}.items():
            stream = await sandbox.serve([command])
            with pytest.raises(SandboxLost, match=why):
                await stream.receive()
        greedy = await sandbox.serve(["python3", "-c", "data = bytearray(512 << 20); data[::4096] = b'x' * 131072"])
        with pytest.raises(SandboxLost):
            await greedy.receive()
        assert (await sandbox.exec(["echo", "fine"])).output == "fine\n"
