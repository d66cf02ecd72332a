"""A web for tests: a search server and the pages that it knows, on loopback. The pages are real documentation.

They are the descriptions of installed packages, rendered as an index does it: with navigation, scripts, a footer.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import metadata
from typing import cast
from urllib.parse import parse_qs, urlsplit

from markdown_it import MarkdownIt

PACKAGES = ("httpx2", "anyio", "starlette", "pydantic", "typer")
Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class LocalWeb:
    """`answers` are those of single paths, which say what the pages do not; `asked` are the paths of all requests."""

    port: int
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, path: str, body: bytes | str, kind: str = "text/html", status: int = 200, **headers: str) -> str:
        """Let a path answer so. Return its URL, which a search now finds."""
        data = body.encode() if isinstance(body, str) else body
        self.answers[path] = lambda request: send(request, data, kind, status, headers)
        return self.find(path)

    def find(self, path: str) -> str:
        self.found.append(f"{self.address}{path}")
        return self.found[-1]


@contextmanager
def local_web() -> Iterator[LocalWeb]:
    pages = {f"/project/{name}": page_of(name) for name in PACKAGES}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            web.asked.append(self.path)
            if path in web.answers:
                web.answers[path](self)
            elif path == "/search":
                send(self, json.dumps(results(self.path)).encode(), "application/json")
            elif path in pages:
                send(self, pages[path].encode(), "text/html; charset=utf-8")
            else:
                send(self, b"not here", "text/plain", 404)

        def log_message(self, *_: object) -> None:
            pass

    def results(path: str) -> dict[str, object]:
        asked = parse_qs(urlsplit(path).query)
        assert asked["format"] == ["json"]
        words = asked["q"][0].lower().split()
        ranked = sorted(pages, key=lambda one: -sum(pages[one].lower().count(word) for word in words))
        urls = web.found or [f"{web.address}{one}" for one in ranked]
        named = [
            {"url": url, "title": url.rpartition("/")[2], "content": "About it.", "engine": "local"} for url in urls
        ]
        return {"query": asked["q"][0], "number_of_results": 0, "results": named}

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    web = LocalWeb(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send(
    request: BaseHTTPRequestHandler, body: bytes, kind: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> None:
    request.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


def page_of(package: str) -> str:
    """Return the description of an installed package as a page."""
    described = cast("Message", metadata(package))
    text = described["Description"] or str(described.get_payload())
    return (
        f"<html><head><title>{package}</title><script>track('{package}')</script></head><body>"
        '<nav><ul><li><a href="/">Home of all packages</a></li><li><a href="/login">Log in</a></li></ul></nav>'
        f"<main>{MarkdownIt('commonmark').enable('table').render(text)}</main>"
        "<footer>Terms of use of the index</footer></body></html>"
    )
