"""Attacks on the interpreter: each ends in a sentence for the model, without a path of this machine."""

import sys
from pathlib import Path

import anyio
import pytest
from skillstill.tools import Result
from skillstill.tools.script.interpreter import Interpreter
from skillstill.types import Span, ToolCall, ToolSchema

from tests.scenes import HANGS, write
from tests.server.tools.script.running import FILES, run, script, told

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path, FILES)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("while True:\n    pass", "TimeoutError"),
        ("while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass", "TimeoutError"),
        ("'a' * 10**11", "MemoryError"),
        ("[0] * 10**9", "MemoryError"),
        ("10 ** 10 ** 10", "Error"),
        ("''.join('a' for _ in range(10**9))", "MemoryError"),
        ("while True:\n    print('a' * 100)", "MemoryError"),
        ("def f():\n    return f()\nf()", "RecursionError"),
        ("(" * 1_900, "SyntaxError"),
        ("import re\nre.match('(a+)+$', 'a' * 60 + 'b')", "the check `value` does not hold"),
        (
            "while True:\n    try:\n        search('x')\n    except Exception:\n        pass",
            "suspension limit 200 exceeded",
        ),
        ("x = []\nfor _ in range(900):\n    x = [x]\nx", "too long"),
        ("list(range(100_000))", "too long"),
        ("10 ** 4_400", "too long"),
        ("'a' * 1_000_000", "too long"),
    ],
)
async def test_a_script_that_runs_away_is_stopped(root: Path, code: str, said: str) -> None:
    assert said in await told(root, code)


async def test_numbers_without_end_are_stopped_by_time_or_by_memory_whichever_ends_first(root: Path) -> None:
    said = await told(root, "x = 7\nwhile True:\n    x = x * x")
    assert "it computes for more than 2 seconds" in said or "MemoryError" in said


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/passwd').read()",
        "open('shop/cart.py').read()",
        "import os\nos.system('id')",
        "import os\nos.listdir('/')",
        "import os\nos.environ['HOME']",
        "from pathlib import Path\nPath('/etc/passwd').read_text()",
        "import subprocess",
        "import socket",
        "import ctypes",
        "import importlib",
        "__import__('os').getcwd()",
        "().__class__.__bases__[0].__subclasses__()",
        "search.__globals__",
        "search('class').__class__.__init__.__globals__",
        "'{0.__class__.__mro__}'.format(search('class'))",
        "[*search.__closure__]",
        "import sys\nsys._getframe()",
        "import time\ntime.time()",
        "import datetime\ndatetime.datetime.now()",
        "eval('open(\"/etc/passwd\").read()')",
        "breakpoint()",
        "import sys\nsys.exit(1)",
        "read('../../etc/passwd').text",
        "read('/etc/passwd').text",
    ],
)
async def test_a_script_reaches_nothing_but_its_functions(root: Path, code: str) -> None:
    trace = await run(root, [script(code), "escalate: no more"])
    said = trace.messages[3].content
    assert trace.receipts[0].refused, said
    assert str(root) not in said
    assert not any(path in said for path in (sys.prefix, str(Path.home()), "site-packages", '.py"'))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("search(3)", "search: pattern: Input should be a valid string"),
        ("search({'a': 1})", "search: pattern: expected a text or a number, got dict"),
        ("search([search])", "search: pattern: expected a text or a number, got list"),
        ("search('x', 'y', 'z')", "search: expected at most 2 arguments, got 3"),
        ("search('x', pattern='y')", "search: pattern is given twice"),
        ("search('x', nope='y')", "search: nope: Extra inputs are not permitted"),
        ("search()", "search: pattern: Field required"),
        ("search('a' * 5_000)", "search: pattern: expected at most 2,000 characters, got 5,000"),
        ("search(10 ** 400)", "search: pattern: expected a text or a number, got int"),
        ("read('nowhere.py')", "ValueError: "),
    ],
)
async def test_a_refused_call_is_an_exception_that_a_script_can_catch(root: Path, code: str, said: str) -> None:
    assert said in await told(root, code)
    caught = await told(root, f"try:\n    {code}\nexcept ValueError as error:\n    print('caught', error)")
    assert caught.startswith("caught ")


async def test_nothing_that_a_script_prints_reaches_our_own_output(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert await told(root, "print('hidden')\n3") == "3"
    assert "hidden" not in "".join(capfd.readouterr())


class Broken:
    """Functions of which one breaks down otherwise than by a refusal."""

    schemas = (ToolSchema(name="look", description="", parameters={"properties": {}, "required": []}),)

    async def call(self, call: ToolCall) -> Result:
        raise OSError("/secret/place is gone")

    def shown_places(self, text: str) -> tuple[Span, ...]:
        return ()


async def test_a_tool_that_breaks_down_ends_the_run_and_tells_the_script_nothing() -> None:
    running = Interpreter(Broken())
    with pytest.raises(OSError, match="is gone"):
        await running.run("try:\n    look()\nexcept Exception as error:\n    text = str(error)\ntext", "value")


class Slow(Broken):
    def __init__(self) -> None:
        self.began, self.ended = anyio.Event(), anyio.Event()

    async def call(self, call: ToolCall) -> Result:
        self.began.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.ended.set()
        raise AssertionError("it never returns")


async def test_cancelling_a_run_cancels_the_call_that_its_script_waits_for() -> None:
    functions = Slow()
    with anyio.fail_after(HANGS):
        async with anyio.create_task_group() as group:
            group.start_soon(Interpreter(functions).run, "look()", "value")
            await functions.began.wait()
            group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await functions.ended.wait()


async def test_the_loop_goes_on_while_a_script_computes(root: Path) -> None:
    """A script that computes to its limit holds up nobody else: the other one is answered first."""
    order: list[str] = []

    async def one(name: str, code: str) -> None:
        await told(root, code)
        order.append(name)

    with anyio.fail_after(HANGS):
        async with anyio.create_task_group() as group:
            group.start_soon(one, "long", "while True:\n    pass")
            group.start_soon(one, "short", "1")
    assert order == ["short", "long"]


async def test_the_same_script_has_the_same_value_each_time(root: Path) -> None:
    code = "import random\n[random.random(), [*{'a', 'b', 'c', 'd'}]]"
    assert await told(root, code) == await told(root, code)


async def test_without_the_interpreter_the_run_says_what_to_install(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    trace = await run(root, [script("1"), "escalate: no more"])
    assert trace.report.status == "failed"
    assert "pip install 'skillstill[script]'" in trace.report.answer
