"""Tests of whether a host is this machine."""

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is this machine's own."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def leads_here(address: str) -> bool:
    """Return whether what is sent to this URL stays on this machine."""
    try:
        return is_loopback(urlsplit(address).hostname or "")
    except ValueError:
        return False
