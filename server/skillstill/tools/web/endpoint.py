"""The search endpoint that the user has named, and the hosts off the public network that pages may come from.

    SKILLSTILL_SEARCH=http://127.0.0.1:8888          a server with SearXNG's JSON interface
    SKILLSTILL_SEARCH_HOSTS=docs.internal,10.0.0.7   hosts of pages that need no public address

Without the first, no tool that opens a connection is offered.
"""

import os
from collections.abc import Sequence

SEARCH, HOSTS = "SKILLSTILL_SEARCH", "SKILLSTILL_SEARCH_HOSTS"


def search_endpoint() -> str:
    """Return the address of the endpoint without a slash at its end; empty if none is named."""
    return os.environ.get(SEARCH, "").strip().rstrip("/")


def trusted_hosts() -> Sequence[str]:
    """Return the hosts, each with its port if that is no usual one, in small letters."""
    return [host.strip().lower() for host in os.environ.get(HOSTS, "").split(",") if host.strip()]


def is_named() -> bool:
    """Return whether the user has named an endpoint."""
    return bool(search_endpoint())
