"""What stands on stderr, and what must never stand there."""

import asyncio
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from skillstill.models.scripted import ScriptedModel, call
from skillstill.runtime import Runtime
from skillstill.server.http import HttpOptions
from skillstill.server.logs import EXTRAS, configure
from skillstill.skills.registry import Registry
from skillstill.types import Message

from tests.scenes import ScriptedModels
from tests.server.server.test_http import ERAS, Served, connected, serving

PROMPT, CONTENT, ANSWER, ERROR = "marker-of-a-prompt", "marker-of-a-file", "marker-of-an-answer", "marker-of-an-error"
MARKERS = (PROMPT, CONTENT, ANSWER, ERROR)
TOKEN = "marker-of-a-token"
log = logging.getLogger("skillstill.test")
Lines = Callable[[], list[str]]


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """The logging of the test run, put back."""
    root, names = logging.getLogger(), ["", "skillstill", "asyncio", "mcp", "sse_starlette", "uvicorn", "uvicorn.error"]
    handlers, levels = root.handlers[:], [logging.getLogger(name).level for name in names]
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    for name, level in zip(names, levels, strict=True):
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    """What was written since it was last asked for; nothing of it to stdout."""

    def written() -> list[str]:
        captured = capsys.readouterr()
        assert captured.out == ""
        return captured.err.splitlines()

    return written


def failed(error: Exception) -> Exception:
    """An exception that was raised and caught: it has a place."""
    try:
        raise error
    except Exception as caught:
        return caught


def test_a_message_is_one_plain_line(lines: Lines) -> None:
    configure()
    log.warning("the trace of run %s\nis not stored\x1b[31m \u202e", "r1")
    log.info("unheard")
    assert lines() == ["skillstill: the trace of run r1"]


def test_or_one_json_object_with_the_extras_that_it_knows(lines: Lines) -> None:
    configure(as_json=True, level=logging.INFO)
    extras = dict(zip(EXTRAS, ("r1", "explore@1", "answered", 1.5, 3), strict=True))
    log.info("run done \u202e ünicode", extra=extras | {"prompt": PROMPT})
    (line,) = lines()
    told = json.loads(line)
    assert told.pop("time").endswith("+00:00")
    assert told == {"level": "info", "logger": "skillstill.test", "message": "run done ünicode", **extras}
    assert line.isascii()


@pytest.mark.parametrize("as_json", [False, True])
def test_an_exception_is_told_by_type_and_place_and_in_full_only_at_debug(lines: Lines, as_json: bool) -> None:
    error = failed(ValueError(f"could not read {CONTENT}"))
    configure(as_json=as_json)
    log.error("it failed", exc_info=error)
    (line,) = lines()
    told = json.loads(line)["exception"] if as_json else line
    assert "ValueError at test_logs.py:" in told
    assert CONTENT not in line
    configure(as_json=as_json, level=logging.DEBUG)
    log.error("it failed", exc_info=error)
    (line,) = lines()
    assert CONTENT in line


def test_causes_and_groups_are_told_by_type(lines: Lines) -> None:
    configure()
    error = failed(ValueError(CONTENT))
    error.__cause__ = KeyError(PROMPT)
    log.error("it failed", exc_info=ExceptionGroup(ANSWER, [error, OSError(ERROR)]))
    (line,) = lines()
    assert "ValueError at test_logs.py" in line
    assert "from KeyError; OSError at an unknown place" in line
    assert not [marker for marker in MARKERS if marker in line]


def test_there_is_one_handler_however_often_it_is_configured(lines: Lines) -> None:
    configure(as_json=True)
    configure()
    log.warning("once")
    assert lines() == ["skillstill: once"]


def test_libraries_are_heard_from_warning_on_even_at_debug(lines: Lines) -> None:
    configure(level=logging.DEBUG)
    for name in ("mcp.server.streamable_http", "sse_starlette.sse", "uvicorn.error", "httpx2", "asyncio", "any.other"):
        logging.getLogger(name).info("chunk: %s", CONTENT)
        logging.getLogger(name).warning("%s warns", name)
    assert len(lines()) == 6


def test_libraries_do_not_speak_where_we_do_not(lines: Lines) -> None:
    configure(level=logging.ERROR)
    logging.getLogger("mcp").warning("unheard")
    assert lines() == []


def test_what_asyncio_and_pydantic_append_is_left_out(lines: Lines) -> None:
    configure(as_json=True)
    handler = {"message": "Task exception was never retrieved", "exception": failed(ValueError(CONTENT))}
    loop = asyncio.new_event_loop()
    loop.default_exception_handler(handler | {"future": ValueError(CONTENT)})
    loop.close()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(f"Serializer warnings:\n  input_value={CONTENT!r}", UserWarning, stacklevel=1)
    task, warning = lines()
    assert json.loads(task)["message"] == "Task exception was never retrieved"
    assert "UserWarning: Serializer warnings:" in json.loads(warning)["message"]
    assert CONTENT not in task + warning


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cart.py").write_text(f"class Cart:  # {CONTENT}\n", encoding="utf-8")
    return tmp_path


def eventful() -> Runtime:
    """A run that answers, one that hands off, one that fails with an error of ours and one with a stranger's."""
    look = call("search", pattern="class Cart")
    turns: list[Message | str | Exception] = [
        look,
        f"{ANSWER} cart.py:1",
        look,
        ANSWER,
        failed(ValueError(ERROR + CONTENT)),
    ]
    return Runtime(Registry(), ScriptedModels(ScriptedModel(turns)))


async def calls(client: Client) -> str:
    """Calls of every kind; what they answered."""
    wrong: list[dict[str, Any]] = [{"prompt": 3}, {PROMPT: PROMPT}, {"prompt": PROMPT * 1_000}]
    told = ""
    for arguments in [{"prompt": PROMPT}] * 4 + wrong:
        told += str(await client.call_tool("explore", arguments))
    with pytest.raises(MCPError):
        await client.call_tool(PROMPT, {"prompt": PROMPT})
    return told


@pytest.mark.anyio
@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("era", ERAS)
async def test_no_call_leaves_a_prompt_a_file_an_answer_or_a_token_in_the_log(
    project: Path, lines: Lines, as_json: bool, era: str
) -> None:
    configure(as_json=as_json, level=logging.INFO)
    async with serving(eventful(), project, HttpOptions(token=TOKEN)) as served:
        async with connected(served, era, TOKEN) as client:
            told = await calls(client)
        assert ANSWER in told
        assert "unexpected" in told
        assert ERROR not in told
        await strangers(served)
    log.warning("the end")
    written = "\n".join(lines())
    assert "Invalid Host header: evil" in written
    assert "the end" in written
    assert not [marker for marker in (*MARKERS, TOKEN) if marker in written]


async def strangers(served: Served) -> None:
    async with httpx2.AsyncClient() as http:
        for headers in ({"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Bearer {TOKEN}", "Host": "evil"}):
            for body in (f"{PROMPT}{{", f'{{"method": "{PROMPT}"}}', json.dumps({"jsonrpc": "2.0", "method": PROMPT})):
                accept = {"Accept": "*/*", "Content-Type": "application/json"}
                assert (await http.post(served.url, content=body, headers=headers | accept)).status_code in {401, 421}


@pytest.mark.anyio
async def test_a_token_that_is_made_up_is_announced_and_not_logged(project: Path, lines: Lines) -> None:
    configure(as_json=True, level=logging.DEBUG)
    async with serving(eventful(), project, HttpOptions()) as served:
        token = served.said.rpartition("Bearer ")[2].strip('"')
        async with connected(served, token=token) as client:
            await client.list_tools()
    assert len(token) >= 43
    assert token not in "\n".join(lines())
