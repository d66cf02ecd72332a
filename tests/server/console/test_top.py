"""`skillstill top`: a person and a program see what each serving process does, and no dead one."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from skillstill import cli
from skillstill.console.removal import remove, stored_items
from skillstill.util.counter_files import folder, published
from skillstill.util.counters import Counters

from tests.scenes import HANGS, SHOP

pytestmark = pytest.mark.anyio
COMMAND = str(Path(sys.executable).with_name("skillstill"))
SERVE = ["serve", "--workspace", str(SHOP), "--form", "shipped", "--offline", "--threads", "1"]
PUBLISH = (
    "from skillstill.server.counting import Counting; from skillstill.util.counter_files import publish;"
    "publish(Counting().counters())"
)
Top = Callable[..., str]


@pytest.fixture
def top(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Top:
    """The command; what it prints."""

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["skillstill", "top", *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        assert exit.value.code == 0
        return capsys.readouterr().out

    return run


@contextmanager
def serving() -> Iterator[subprocess.Popen[bytes]]:
    """A process that serves and has answered nothing yet; it ends at once."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([COMMAND, *SERVE], **pipes) as served:  # type: ignore[call-overload]
        yield served
        served.stdin.close()


@contextmanager
def ending(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """A process that does not end by itself fails the test, and does not hold it up."""
    try:
        yield
    finally:
        process.kill()


async def seen(is_there: Callable[[Counters], bool] = lambda _: True) -> Counters:
    """What the one process publishes, as soon as it is so."""
    with anyio.fail_after(HANGS):
        while not ((found := published()) and is_there(found[0])):
            await anyio.sleep(0.05)
    return found[0]


@pytest.mark.usefixtures("as_shipped")
async def test_a_real_run_is_seen_by_a_person_a_program_and_a_client_until_its_server_ends(top: Top) -> None:
    server = StdioServerParameters(command=COMMAND, args=SERVE, env=dict(os.environ))
    async with Client(server) as client:
        for _ in range(2):
            await client.call_tool("explore", {"prompt": "Where is Cart defined?"})
        await client.call_tool("explore", {"prompt": "please rename Cart to Basket"})
        await seen(lambda one: bool(one.subagents) and one.subagents["explore"].escalate == 1)
        shown, (told,) = top("--once"), json.loads(top("--json"))
        (resource,) = (await client.list_resources()).resources
        read = json.loads((await client.read_resource(resource.uri)).contents[0].text)  # type: ignore[union-attr]

    (engine,) = told["engines"]
    assert (engine["base"], engine["form"], engine["slots"]) == ("SmolLM2-135M-Instruct.Q4_1", "Q4_1", 4)
    assert engine["tokens"] >= engine["read"] > 50
    assert engine["written"] > 10
    assert engine["reused"] > 0
    assert engine["batches"] <= engine["parts"] <= engine["tokens"]
    assert engine["tokens_per_second"] > 0
    assert 0 < engine["busy_share"] <= 1
    assert "2 answered  1 handed back  0 failed  1 from memory" in shown
    assert f"process {told['process']}" in shown
    assert "SmolLM2-135M-Instruct.Q4_1 as Q4_1: 0 of 4 slots in use" in shown
    assert (read["subagents"], read["process"]) == (told["subagents"], told["process"])
    assert "Cart" not in json.dumps(told)
    assert str(SHOP) not in json.dumps(told)
    assert top("--once").startswith("no process serves here")
    assert list(folder().iterdir()) == []


async def test_a_process_is_there_before_its_first_run_and_gone_once_it_is_interrupted(top: Top) -> None:
    with serving() as served:
        assert (await seen()).process == served.pid
        assert "no run yet" in top("--once")
        served.send_signal(signal.SIGINT)
        assert served.wait(HANGS) == cli.INTERRUPTED
        assert list(folder().iterdir()) == []


async def test_a_killed_process_is_no_longer_shown_and_its_file_goes(top: Top) -> None:
    with serving() as served:
        await seen()
        served.kill()
        served.wait(HANGS)
        assert json.loads(top("--json")) == []
    assert list(folder().iterdir()) == []


def test_a_process_of_another_machine_that_shares_the_home_is_not_ours_to_judge(top: Top) -> None:
    subprocess.run([sys.executable, "-c", PUBLISH], check=True)
    (ours,) = folder().iterdir()
    theirs = ours.rename(ours.with_name(f"0123456789ab-{ours.name.partition('-')[2]}"))
    assert json.loads(top("--json")) == []
    assert theirs.exists()
    os.utime(theirs, (0, 0))
    top("--json")
    assert not theirs.exists(), "but not kept for ever"


async def test_on_a_terminal_it_goes_on_until_it_is_interrupted() -> None:
    ours, theirs = pty.openpty()
    with serving() as served, subprocess.Popen([COMMAND, "top"], stdout=theirs, stderr=theirs) as watching:
        await seen()
        os.close(theirs)
        shown = b""
        while f"process {served.pid}".encode() not in shown:
            shown += os.read(ours, 4_096)
        watching.send_signal(signal.SIGINT)
        with ending(watching):
            assert watching.wait(HANGS) == 0
    os.close(ours)


async def test_a_purge_takes_the_files_with_it() -> None:
    with serving():
        await seen()
        assert "traces and counters" in [one.what for one in stored_items()]
        remove(stored_items())
        assert not folder().exists()
        assert published() == []
