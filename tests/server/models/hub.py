"""A model hub on 127.0.0.1, as far as a download of one file needs it, with the faults of a real one."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Self, TypeVar

import pytest

RESOLVE = re.compile(r"/(?P<repository>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<name>.+)")


class Hub(HTTPServer):
    """One repository at one commit. Use it as a context: inside, it serves in a thread.

    `large` files are answered as the hub answers LFS files: by a 302 to another origin (`localhost`), whose
    headers describe the file. `cuts` holds, for each of the next downloads, how many bytes of its body are
    sent before the connection closes. `requests` and `ranges` tell what was asked.
    """

    repository = "owner/name"
    commit = "0123456789abcdef0123456789abcdef01234567"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self.files: dict[str, bytes] = {}
        self.large = True
        self.altered = False
        self.status: int | None = None
        self.admitted: str | None = None
        self.cuts: list[int] = []
        self.requests: list[str] = []
        self.ranges: list[str] = []
        self.tokens: dict[str, str | None] = {}

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


Served = TypeVar("Served", bound=Hub)


@contextmanager
def serving(hub: Served, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """All of huggingface_hub's requests reach this hub; what the library keeps lies in a test's own folder."""
    from huggingface_hub import close_session, constants

    with hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("NO_PROXY", "*")
        # Read when huggingface_hub is imported, which may have been before this test.
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(folder / "token"))
        monkeypatch.setattr(constants, "AGENT_HARNESSES_PATH", str(folder / "harnesses.json"))
        monkeypatch.setattr("huggingface_hub.utils._detect_agent._registry", None)
        close_session()
        yield hub
        close_session()


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the hub's list of requests is the log."""

    def answer(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        self.server.tokens[self.path.split("/")[1]] = self.headers["Authorization"]
        asked = RESOLVE.fullmatch(self.path)
        if self.server.status:
            self.reply(self.server.status)
        elif self.path.startswith("/storage/"):
            self.content(self.path.removeprefix("/storage/"))
        elif asked is None or asked["repository"] != self.server.repository:
            self.reply(404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        elif self.server.admitted and self.headers["Authorization"] != f"Bearer {self.server.admitted}":
            self.reply(401, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."})
        elif asked["revision"] != self.server.commit:
            self.reply(404, {"X-Error-Code": "RevisionNotFound", "X-Error-Message": "Invalid rev id"})
        else:
            self.resolve(asked["name"])

    def resolve(self, name: str) -> None:
        commit = {"X-Repo-Commit": self.server.commit}
        if name not in self.server.files:
            self.reply(404, {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found", **commit})
        elif self.server.large:
            self.reply(302, {**commit, **self.link(name)})
        else:
            self.content(name, commit)

    def link(self, name: str) -> dict[str, str]:
        return {
            "Location": f"http://localhost:{self.server.server_port}/storage/{name}",
            "X-Linked-Etag": f'"{hashlib.sha256(self.server.files[name]).hexdigest()}"',
            "X-Linked-Size": str(len(self.server.files[name])),
        }

    def content(self, name: str, headers: dict[str, str] | None = None) -> None:
        content = self.server.files[name]
        tag = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "Accept-Ranges": "bytes", **(headers or {})}
        body = content[:-1] + b"?" if self.server.altered else content
        asked = self.headers["Range"]
        if asked is None:
            return self.reply(200, tag, body)
        self.server.ranges.append(asked)
        first = int(asked.removeprefix("bytes=").removesuffix("-"))
        span = {"Content-Range": f"bytes {first}-{len(body) - 1}/{len(body)}"}
        return self.reply(206, {**tag, **span}, body[first:])

    def reply(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET" and body:
            self.wfile.write(body[: self.server.cuts.pop(0)] if self.server.cuts else body)
