"""An OpenAI-compatible server on 127.0.0.1 that says what it was told to say, in the words of a real llama-server."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self

Json = dict[str, Any]
COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"
USAGE = {"prompt_tokens": 19, "completion_tokens": 6, "total_tokens": 25, "prompt_tokens_details": {"cached_tokens": 4}}


@dataclass(frozen=True, slots=True)
class Said:
    """One answer. `{key}` in its body becomes the token that the request carried."""

    body: str
    status: int = 200
    type: str = "application/json; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


class Hangs:
    """Instead of an answer: nothing, until the server is closed."""


class HangsUp:
    """Instead of an answer: the connection is closed."""


Turn = Said | Hangs | HangsUp


class OpenAiServer(ThreadingHTTPServer):
    """Use it as a context: inside, it serves in a thread. `requests` are those that came, `asked` says that one did.

    `pages` are answered whatever was said, and are no requests; `looks` are those that were looked at.
    """

    daemon_threads = False  # closing waits for them: nothing outlives the test

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self.turns: list[Turn] = []
        self.pages: dict[str, Said] = {}
        self.looks: list[str] = []
        self.paths: list[str] = []
        self.requests: list[Json] = []
        self.keys: list[str | None] = []
        self.headers: list[Mapping[str, str]] = []
        self.asked, self.closing, self.turn = Event(), Event(), Lock()

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.closing.set()
        self.shutdown()
        self.thread.join()
        self.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def says(self, *turns: Turn) -> None:
        self.turns += turns


class Handler(BaseHTTPRequestHandler):
    server: OpenAiServer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the server's list of requests is the log."""

    def do_GET(self) -> None:
        self.server.looks.append(self.path)
        self.reply(self.server.pages.get(self.path) or Said('{"detail":"Not Found"}', 404))

    def do_POST(self) -> None:
        if self.path in self.server.pages:
            self.server.looks.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            return self.reply(self.server.pages[self.path])
        return self.answer()

    def answer(self) -> None:
        self.server.paths.append(self.path)
        self.server.keys.append(self.headers["Authorization"])
        self.server.headers.append(dict(self.headers.items()))
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.turn:  # whoever says something by the last request has to see this one
            self.server.requests.append(request)
            self.server.asked.set()
            turn = self.server.turns.pop(0)
        if isinstance(turn, Hangs):
            self.server.closing.wait()
        elif isinstance(turn, Said):
            self.reply(turn)

    def reply(self, said: Said) -> None:
        key = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        body = said.body.replace("{key}", key).encode("utf-8", "surrogatepass")
        self.send_response(said.status)
        self.send_header("Content-Type", said.type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in said.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def text(content: str, finish: str = "stop", logprobs: object = None) -> Said:
    """What `/v1/completions` answers."""
    choice = {"text": content, "index": 0, "logprobs": logprobs, "finish_reason": finish}
    return Said(json.dumps({"choices": [choice], "object": "text_completion", "usage": USAGE}))


def turn(content: str | None = None, calls: Iterable[Mapping[str, Any]] = (), finish: str = "stop") -> Said:
    """What `/v1/chat/completions` answers. `calls` are the functions of the tool calls."""
    wire = [{"type": "function", "id": f"theirs{place}", "function": call} for place, call in enumerate(calls)]
    message = {"role": "assistant", "content": content, **({"tool_calls": wire} if wire else {})}
    return Said(json.dumps({"choices": [{"finish_reason": finish, "index": 0, "message": message}], "usage": USAGE}))
