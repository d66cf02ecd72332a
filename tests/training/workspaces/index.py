"""A package index on 127.0.0.1: the simple protocol's HTML pages, with the distributions that a test puts in."""

import hashlib
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from types import TracebackType
from typing import Self


class Index(HTTPServer):
    """Use it as a context: inside, it serves in a thread. `files` by project and name; `requests` were asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self.files: dict[str, dict[str, bytes]] = {}
        self.uploaded: dict[str, str] = {}  # by file name
        self.altered = False
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/simple"

    def page(self, project: str) -> bytes:
        links = "".join(
            f'<a href="/files/{project}/{name}#sha256={hashlib.sha256(content).hexdigest()}"'
            f"{self._upload(name)}>{name}</a><br/>"
            for name, content in self.files[project].items()
        )
        return f"<!DOCTYPE html><html><body>{links}</body></html>".encode()

    def _upload(self, name: str) -> str:
        return f' data-upload-time="{self.uploaded[name]}"' if name in self.uploaded else ""

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Index

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        match self.path.strip("/").split("/"):
            case ["simple", project] if project in self.server.files:
                self._answer(200, "text/html", self.server.page(project))
            case ["files", project, name]:
                content = self.server.files[project][name]
                self._answer(200, "application/octet-stream", content[:-1] if self.server.altered else content)
            case _:
                self._answer(404, "text/plain", b"not found")

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Quiet."""
