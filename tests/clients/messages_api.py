"""A scripted stand-in for the Messages API: no key, no model, loopback only. What it was sent is the test's evidence.

A turn is {"text": ...}, {"calls": [{"name": ..., "input": ...}]} or, to refuse, {"status": 429, "error": {...}}. The
n-th request that carries tools gets the n-th turn, and the last turn again and again; requests without tools (titles
and the like) get a word.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

Turn = dict[str, Any]
Event = tuple[str, dict[str, Any]]


class Script:
    """Hands out turns, and appends each request's body to a file. Requests come from several threads."""

    def __init__(self, turns: Sequence[Turn], requests: Path) -> None:
        self._turns, self._requests = turns, requests
        self._lock = threading.Lock()
        self._asked, self._ids = count(), count(1)

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """A whole message; its caller sends it in one piece or as a stream."""
        with self._lock, self._requests.open("a", encoding="utf-8") as file:
            file.write(json.dumps(body) + "\n")
            turn: Turn = self._turn() if body.get("tools") else {"text": "scripted"}
            if "status" in turn:
                return turn
            content = [self._block(call) for call in turn.get("calls", [])] or [{"type": "text", "text": turn["text"]}]
            return {
                "id": f"msg_{next(self._ids):04d}",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": content,
                "stop_reason": "tool_use" if "calls" in turn else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }

    def _turn(self) -> Turn:
        return self._turns[min(next(self._asked), len(self._turns) - 1)]

    def _block(self, call: dict[str, Any]) -> dict[str, Any]:
        return {"type": "tool_use", "id": f"toolu_{next(self._ids):04d}", **call}


def serve(script: Script) -> str:
    """Serve on a free port until the process ends; the URL."""

    class Bound(Handler):
        pass

    Bound.script = script
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class Handler(BaseHTTPRequestHandler):
    script: Script
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.path.partition("?")[0].endswith("/v1/messages"):
            self._send("application/json", b'{"input_tokens": 1}')
            return
        answer = self.script.answer(body)
        if "status" in answer:
            self._send("application/json", json.dumps({"type": "error", **answer}).encode(), answer["status"])
        elif body.get("stream"):
            events = streamed(answer)
            text = "".join(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n" for kind, data in events)
            self._send("text/event-stream", text.encode())
        else:
            self._send("application/json", json.dumps(answer).encode())

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "has_more": false}')

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, kind: str, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:
        """Nothing: standard error belongs to the client under test."""


def streamed(message: dict[str, Any]) -> Iterator[Event]:
    """The events of one message."""
    yield "message_start", {"message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        yield from _streamed_block(index, block)
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"delta": end, "usage": {"output_tokens": 1}}
    yield "message_stop", {}


def _streamed_block(index: int, block: dict[str, Any]) -> Iterator[Event]:
    empty: dict[str, Any]
    if block["type"] == "text":
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield "content_block_start", {"index": index, "content_block": empty}
    yield "content_block_delta", {"index": index, "delta": delta}
    yield "content_block_stop", {"index": index}
