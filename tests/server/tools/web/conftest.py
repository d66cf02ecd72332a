"""The local web, named as the user's search endpoint; and one that the user has not named."""

from collections.abc import Iterator

import pytest
from skillstill.tools.web.endpoint import HOSTS, SEARCH

from tests.server.tools.web.scene import LocalWeb, local_web


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalWeb]:
    """A web whose pages the user allows to come from loopback."""
    with local_web() as found:
        monkeypatch.setenv(SEARCH, found.address)
        monkeypatch.setenv(HOSTS, f"127.0.0.1:{found.port}")
        yield found


@pytest.fixture
def public_web(web: LocalWeb, monkeypatch: pytest.MonkeyPatch) -> LocalWeb:
    """The same without that allowance."""
    monkeypatch.delenv(HOSTS)
    return web
