"""One page or answer from the web: at most so many bytes and seconds, and from no address that is not public.

Each address is checked where the connection goes, after its name was resolved and again after each redirect. No cookie,
key or proxy of the user's environment is used, and no compressed body is unpacked.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import SplitResult, urljoin, urlsplit

import anyio
import httpx2

from skillstill.errors import Refusal
from skillstill.util.addresses import addresses_of, public_addresses
from skillstill.util.text import one_line

MOST_BYTES = 2_000_000  # of a body: a long page of documentation has half of it
SECONDS = 20.0  # for one page with its redirects
REDIRECTS = 5
LONGEST_URL = 2_000
PORTS = {"http": 80, "https": 443}
HEADERS = {"User-Agent": "skillstill", "Accept-Encoding": "identity"}
MOVED = {301, 302, 303, 307, 308}


@dataclass(frozen=True, slots=True)
class Response:
    """A body with the address that it came from in the end. `is_cut`: only its first bytes are here."""

    url: str
    status: int
    content_type: str
    body: bytes
    encoding: str
    is_cut: bool = False

    @property
    def text(self) -> str:
        try:
            return self.body.decode(self.encoding, "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes: an address of the URL's host, and the port."""

    url: str
    host: str
    address: str
    port: int

    def request(self, client: httpx2.AsyncClient, accept: str) -> httpx2.Request:
        """Return the request to this address, with the host's name for the server and for its certificate."""
        parts = urlsplit(self.url)
        address = f"[{self.address}]" if ":" in self.address else self.address
        path = parts._replace(netloc=f"{address}:{self.port}", fragment="").geturl()
        headers = {**HEADERS, "Accept": accept, "Host": parts.netloc}
        return client.build_request("GET", path, headers=headers, extensions={"sni_hostname": self.host})


async def get_page(url: str, accept: str, trusted: Collection[str]) -> Response:
    """Return what stands at a URL of the public network, or of a trusted host. Raise Refusal."""
    try:
        with anyio.fail_after(SECONDS):
            for _ in range(REDIRECTS + 1):
                found = await _get(await _target(url, trusted), accept)
                if found.status not in MOVED:
                    return found
                url = found.url
    except TimeoutError as error:
        raise Refusal(f"{_shown(url)} took longer than {SECONDS:.0f} seconds: try another page") from error
    raise Refusal(f"{_shown(url)} is redirected more than {REDIRECTS} times: try another page")


async def get_endpoint(url: str, accept: str) -> Response:
    """Return what the user's own endpoint answers, wherever that is; it may not redirect. Raise Refusal."""
    try:
        parts = _parts(url)
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        with anyio.fail_after(SECONDS):
            addresses = await addresses_of(host, port)
            return await _get(Target(url, host, addresses[0], port), accept)
    except TimeoutError as error:
        raise Refusal(f"the search endpoint did not answer in {SECONDS:.0f} seconds") from error


async def _target(url: str, trusted: Collection[str]) -> Target:
    parts = _parts(url)
    host, port = (parts.hostname or "").lower(), parts.port or PORTS[parts.scheme]
    if host in trusted or f"{host}:{port}" in trusted:
        return Target(url, host, (await addresses_of(host, port))[0], port)
    if port != PORTS[parts.scheme]:
        raise Refusal(f"{_shown(url)} names the port {port}: only the usual ports are reached")
    return Target(url, host, (await public_addresses(host, port))[0], port)


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_known = parts.scheme in PORTS and bool(parts.hostname) and parts.netloc.isascii() and parts.port != 0
    except ValueError:
        is_known = False
    if not is_known or parts.username is not None or len(url) > LONGEST_URL or not url.isprintable():
        raise Refusal(f"{_shown(url)} is no plain http or https address")
    return parts


async def _get(target: Target, accept: str) -> Response:
    """Return the answer of one server. That of a redirect has the address to go on with."""
    try:
        async with (
            httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=SECONDS) as client,
            _opened(client, target.request(client, accept)) as response,
        ):
            return await _read(target.url, response)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise Refusal(one_line(f"{_shown(target.url)} cannot be had: {error or type(error).__name__}", 300)) from error


@asynccontextmanager
async def _opened(client: httpx2.AsyncClient, request: httpx2.Request) -> AsyncIterator[httpx2.Response]:
    response = await client.send(request, stream=True)
    try:
        yield response
    finally:
        await response.aclose()


async def _read(url: str, response: httpx2.Response) -> Response:
    if response.status_code in MOVED:
        return Response(urljoin(url, response.headers.get("location", "")), response.status_code, "", b"", "")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Refusal(f"{_shown(url)} is sent compressed, which was not asked for: try another page")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MOST_BYTES:
            break
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = response.charset_encoding or "utf-8"
    return Response(url, response.status_code, kind, bytes(body[:MOST_BYTES]), encoding, len(body) > MOST_BYTES)


def _shown(url: str) -> str:
    return one_line(url, 200)
