"""The product's server with a model that needs no weights: `python -m tests.clients.fixture_server WORKSPACE`.

Everything but the model is real. Each run searches once and then claims what it found. `--delay` is the model's own
time, `--hold` keeps answers back until that file exists and `--together` until so many runs have begun. The file of
`--log` gets one JSON line per request and per run.
"""

import argparse
import json
import logging
import os
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from skillstill.models.scripted import call
from skillstill.runtime import Runtime
from skillstill.server import build, serve_stdio
from skillstill.server.http import HttpOptions, serve_http
from skillstill.skills.registry import Registry
from skillstill.types import Message, ToolSchema

from tests.clients import conformance_handlers
from tests.scenes import ScriptedModels

ANSWER = "Cart is defined in cart.py:3."


@dataclass(frozen=True, slots=True)
class Log:
    """One JSON line per event, each written at once: another process waits for them."""

    path: Path

    def __call__(self, event: str, **more: object) -> None:
        line = json.dumps({"event": event, "time": time.monotonic(), "pid": os.getpid(), **more})
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """Searches, then answers after `delay` seconds, once `hold` exists and `together` runs have begun."""

    log: Log
    delay: float = 0
    hold: Path | None = None
    together: int = 1
    begun: list[str] = field(default_factory=list)

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        if messages[-1].role == "user":
            return call("search", pattern="class Cart")
        prompt = next(message.content for message in messages if message.role == "user")
        self.begun.append(prompt)
        self.log("begin", prompt=prompt)
        try:
            await anyio.sleep(self.delay)
            while len(self.begun) < self.together or (self.hold and not self.hold.exists()):
                await anyio.sleep(0.02)
        except anyio.get_cancelled_exc_class():
            self.log("cancelled", prompt=prompt)
            raise
        self.log("end", prompt=prompt)
        return Message(role="assistant", content=ANSWER)


def main() -> None:
    options = _options(sys.argv[1:])
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    log = Log(options.log)
    model = Rehearsed(log, options.delay, options.hold, options.together)
    runtime = Runtime(Registry(options.registry), ScriptedModels(model))
    server = build(runtime, options.workspace)
    if options.conformance:
        conformance_handlers.add(server)
    server.middleware.append(_logging(log))
    if options.token:
        anyio.run(_serve_http, server, options.token)
    elif options.http:
        anyio.run(_serve_openly, server)
    else:
        serve_stdio(server)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--registry", type=Path)
    parser.add_argument("--http", action="store_true", help="print the URL, then serve there, without a token")
    parser.add_argument("--token", help="print the URL, then serve there as the product does")
    parser.add_argument("--delay", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--hold", type=Path, metavar="FILE")
    parser.add_argument("--together", type=int, default=1, metavar="RUNS")
    parser.add_argument("--log", type=Path, default=Path(os.devnull), metavar="FILE")
    parser.add_argument("--conformance", action="store_true", help="add what the conformance suite asks for by name")
    return parser.parse_args(arguments)


def _logging(log: Log) -> Any:
    async def middleware(context: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        log(context.method)
        return await call_next(context)

    return middleware


async def _serve_http(server: Server[Any], token: str) -> None:
    """As the product does it."""
    await serve_http(server, HttpOptions(token=token), announce=_announce)


def _announce(welcome: str) -> None:
    print(next(word for word in welcome.split() if word.startswith("http://")), flush=True)


async def _serve_openly(server: Server[Any]) -> None:
    """Without a token: the conformance suite cannot send one."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        _announce(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp")
        config = uvicorn.Config(server.streamable_http_app(), log_level="warning", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    main()
