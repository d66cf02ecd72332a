"""The real MassGen as an orchestrator of `skillstill compare`, at a scripted endpoint on loopback.

Nothing here installs it (docs/comparing.md says how): without a `massgen` on the PATH, this test is skipped.
"""

import json
import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.models.remote import Endpoint
from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.compare.arms import Staff
from skillstill_training.compare.massgen import PROGRAM, MassGen

from tests.clients.counterparts import CACHE

pytestmark = [pytest.mark.clients, pytest.mark.anyio]

DELEGATE = "mcp__skills__delegate"
QUESTION, ANSWER = "Where is Cart defined?", "Cart is defined at cart.py:3."
FOUND = shutil.which(PROGRAM)  # read at import: each test gets a PATH and a home of its own
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


class Endpoints(BaseHTTPRequestHandler):
    """Streams turns: a question handed over, an answer, a vote for it, the answer once more."""

    protocol_version = "HTTP/1.1"
    offered: list[set[str]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        tools = {tool["function"]["name"] for tool in body.get("tools") or ()}
        self.offered.append(tools)
        is_new = "(no answers available yet)" in json.dumps(body["messages"])
        has_read = any(message["role"] == "tool" for message in body["messages"])
        delta = self._delta(tools, is_new=is_new, has_read=has_read)
        lines = [self._chunk({"role": "assistant", **delta}, None)]
        lines += [self._chunk({}, "tool_calls" if "tool_calls" in delta else "stop")]
        usage = json.dumps({"id": "x", "object": "chat.completion.chunk", "choices": [], "usage": USAGE})
        text = "".join(f"data: {line}\n\n" for line in [*lines, usage, "[DONE]"]).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _delta(self, tools: set[str], *, is_new: bool, has_read: bool) -> dict[str, Any]:
        if "vote" not in tools:
            return {"content": ANSWER}
        if not is_new:
            return self._call("vote", agent_id="agent1", reason="it is right")
        return self._call("new_answer", content=ANSWER) if has_read else self._call(DELEGATE, task=QUESTION)

    def _call(self, name: str, **arguments: str) -> dict[str, Any]:
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {"tool_calls": [{"index": 0, "id": f"c{len(self.offered)}", "type": "function", "function": function}]}

    def _chunk(self, delta: dict[str, Any], finish: str | None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps(
            {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        )

    def log_message(self, format: str, *_: object) -> None:
        """Nothing: standard error belongs to the program."""


@pytest.fixture
def url() -> Iterator[str]:
    class Bound(Endpoints):
        offered: list[set[str]] = []  # noqa: RUF012 - one list for all requests of a test

    server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("as_shipped")
async def test_it_hands_a_question_to_our_subagents_and_what_it_says_is_read(
    url: str, tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if FOUND is None:
        pytest.skip("massgen is not installed: docs/comparing.md says how")
    monkeypatch.setenv("PATH", f"{Path(FOUND).parent}:/usr/bin:/bin")
    monkeypatch.setenv("npm_config_cache", str(CACHE / "npm"))  # it fetches its file server by npx
    staff = Staff(tmp_path / "staff", LocalModels(LocalOptions()), threads=1)
    task = Task(id="t/1", prompt=QUESTION, folder=str(workspace), skill="explore", gold=None)
    outcome = await MassGen(Endpoint(url, "m"), staff, seconds=400).solve(task, "router", None)
    assert (outcome.answer, outcome.error) == (ANSWER, "")
    assert (outcome.usage.prompt, outcome.usage.completion) == (40, 20)
    assert outcome.local_tokens > 0
    called, read = outcome.steps[:2]
    assert called.text == f'{DELEGATE} {{"task": "{QUESTION}"}}'
    assert "cart.py:3" in read.text
    assert any(step.inside for step in outcome.steps)
