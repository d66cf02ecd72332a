"""What a run knows of the web: which addresses it may fetch, and the pages that it has.

An address may be fetched if a search of the same run has returned it, or a fetched page of the same host links it: a
model cannot make one up, nor send anything to a host of its choice.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urldefrag, urlsplit
from weakref import WeakKeyDictionary

from skillstill.tools.web.ranking import Document
from skillstill.workspace import Workspace

PREFIX = "@web/"  # of the place of a page; a folder of a workspace is hardly called so


@dataclass(frozen=True, slots=True)
class Page:
    """A page as a run has it. `links` are those to the same host."""

    url: str
    document: Document
    links: tuple[str, ...]
    is_cut: bool = False


@dataclass
class WebSession:
    """Of one run. Addresses are known without their fragment."""

    known: set[str] = field(default_factory=set)
    pages: dict[str, Page] = field(default_factory=dict)

    def allow(self, urls: Iterable[str]) -> None:
        self.known.update(urldefrag(url).url for url in urls)

    def is_allowed(self, url: str) -> bool:
        return urldefrag(url).url in self.known

    def page(self, url: str) -> Page | None:
        return self.pages.get(urldefrag(url).url)

    def keep(self, url: str, page: Page) -> None:
        """Keep a page under the address that was asked for, and allow what it links on its own host."""
        self.pages[urldefrag(url).url] = page
        self.allow(page.links)

    def path_of(self, url: str) -> str:
        """Return the path by which a page is quoted: `@web/docs.example.org/guide/start.html`.

        It reads like the address, and no two pages of a run share one.
        """
        parts = urlsplit(url)
        said = "".join((parts.netloc, parts.path.rstrip("/") or "/index", f"_{parts.query}" if parts.query else ""))
        path = PREFIX + re.sub(r"[^\w.@+/-]+", "_", said, flags=re.ASCII).rstrip("/.@+-")
        taken = {page.document.path for page in self.pages.values()}
        return next(one for one in (path, *(f"{path}_{number}" for number in range(2, 1_000))) if one not in taken)


_SESSIONS: WeakKeyDictionary[Workspace, WebSession] = WeakKeyDictionary()


def session_of(workspace: Workspace) -> WebSession:
    """Return the session of a run: each run has a workspace of its own."""
    return _SESSIONS.setdefault(workspace, WebSession())
