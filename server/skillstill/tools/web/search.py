"""The tools `web_search` and `fetch`: the user's search endpoint, and the pages that it finds."""

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlencode, urlsplit

import anyio
from anyio import to_process, to_thread
from pydantic import BaseModel, Field, ValidationError

from skillstill.errors import Refusal
from skillstill.facts.locate.question import Question
from skillstill.facts.locate.stems import stems_in
from skillstill.tools.kit.redaction import redact
from skillstill.tools.kit.tool import Line, Result
from skillstill.tools.web.documents import Asked
from skillstill.tools.web.endpoint import SEARCH, search_endpoint, trusted_hosts
from skillstill.tools.web.ranking import Document, best_passages
from skillstill.tools.web.reduction import ACCEPT, reduce_page
from skillstill.tools.web.requests import LONGEST_URL, Response, get_endpoint, get_page
from skillstill.tools.web.session import Page, WebSession, session_of
from skillstill.tools.web.shown import SHOWN, passage_lines
from skillstill.types import Copied
from skillstill.util.text import one_line
from skillstill.workspace import Workspace

SNIPPET = 140  # characters of what the endpoint says of a page
LINKS = 3  # of a fetched page
REDUCING = 20.0  # seconds for making text of a page; a long one takes half a second
OK = 200


class Hit(BaseModel):
    url: str
    title: str = ""
    content: str | None = ""


class Hits(BaseModel):
    results: list[Hit]


async def web_search(
    workspace: Workspace,
    query: Annotated[str, Field(min_length=1, max_length=300, description="a few words"), Copied()],
) -> Result:
    """Search the web. Shows five pages with their titles and addresses: fetch one to see its passages."""
    if not (endpoint := search_endpoint()):
        raise Refusal(f"no search endpoint is named ({SEARCH}): look into the workspace, or hand the question back")
    asked = urlencode({"q": redact(query), "format": "json"})
    hits = _hits(await get_endpoint(f"{endpoint}/search?{asked}", "application/json"))
    found = [hit for hit in hits if urlsplit(hit.url).scheme in ("http", "https") and len(hit.url) <= LONGEST_URL]
    if not found:
        return Result((Line(f"no page found for {query!r}"),), empty=True)
    session_of(workspace).allow(hit.url for hit in found[:SHOWN])
    return Result((Line("pages:"), *(Line(_hit_text(hit)) for hit in found[:SHOWN])), guess=True)


def _hits(response: Response) -> Sequence[Hit]:
    if response.status != OK:
        raise Refusal(f"the search endpoint answers {response.status}: it must allow `json` (SearXNG: search.formats)")
    try:
        return Hits.model_validate_json(response.body).results
    except ValidationError as error:
        raise Refusal("the search endpoint does not answer in SearXNG's JSON: name another one") from error


def _hit_text(hit: Hit) -> str:
    snippet = one_line(hit.content or "", SNIPPET)
    return f"{hit.url} {one_line(hit.title, SNIPPET)}{f': {snippet}' if snippet else ''}"


async def fetch(
    workspace: Workspace,
    url: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_URL, description="an address that web_search or fetch has shown"),
        Copied(),
    ],
    text: Asked,
) -> Result:
    """Show the five passages of a web page that are likeliest to answer a question, each with its place. Only pages
    that web_search has shown, and what a fetched page of the same host links."""
    session = session_of(workspace)
    if not session.is_allowed(url):
        raise Refusal(f"{one_line(url, 200)} was shown by no search of this run: fetch what web_search shows")
    page = session.page(url) or await _fetched(session, url)
    best = await to_thread.run_sync(best_passages, text, [page.document], SHOWN)
    head = f"{page.url}{', its beginning' if page.is_cut else ''}"
    if not best:
        return Result((Line(f"{head} has no word of it"),), empty=True, guess=True)
    return Result((Line(f"likeliest passages of {head}:"), *passage_lines(best), *_links(page, text)), guess=True)


async def _fetched(session: WebSession, url: str) -> Page:
    response = await get_page(url, ACCEPT, trusted_hosts())
    if response.status != OK:
        raise Refusal(f"{response.url} answers {response.status}: try another page")
    document, links = await _reduced(response, session.path_of(response.url))
    own = tuple(link for link in links if _netloc(link) == urlsplit(response.url).netloc)
    page = Page(response.url, document, own, response.is_cut)
    session.keep(url, page)
    return page


async def _reduced(response: Response, path: str) -> tuple[Document, tuple[str, ...]]:
    """Return the page as a document. A process does it that can be ended: the page is a stranger's."""
    try:
        with anyio.fail_after(REDUCING):
            return await to_process.run_sync(reduce_page, response, path, cancellable=True)
    except TimeoutError as error:
        raise Refusal(f"{response.url} takes too long to read: try another page") from error


def _links(page: Page, text: str) -> Sequence[Line]:
    """Return a line with the links to the same host whose addresses have most of the words, if any has one."""
    words = Question.of(text).words
    worth = {link: sum(words.get(stem, 0.0) for stem in {*stems_in(urlsplit(link).path)}) for link in page.links}
    best = sorted((link for link in worth if worth[link] and link != page.url), key=lambda link: -worth[link])[:LINKS]
    return (Line(f"links: {' '.join(best)}"),) if best else ()


def _netloc(url: str) -> str:
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""
