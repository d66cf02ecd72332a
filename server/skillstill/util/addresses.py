"""Which network addresses may be reached for somebody else's URL: public ones, and no other.

A name is resolved here, and whoever connects must connect to an address that this module has returned: a second look-up
could say something else.
"""

import ipaddress
import socket
from collections.abc import Sequence

import anyio

from skillstill.errors import Refusal

DISGUISES = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48")))  # IPv4 addresses behind a NAT64


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public network, and stands for no other."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if not ip.is_global or ip.is_multicast:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return True
    return not (ip.ipv4_mapped or ip.sixtofour or ip.teredo or any(ip in network for network in DISGUISES))


async def addresses_of(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host in the order to try them. Raise Refusal if its name leads nowhere."""
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Refusal(f"{host} has no address: {error}") from error
    return [*dict.fromkeys(str(address[0]) for *_, address in found)]


async def public_addresses(host: str, port: int) -> Sequence[str]:
    """Return the public addresses of a host, at least one. Raise Refusal if it has none."""
    if public := [address for address in await addresses_of(host, port) if is_public(address)]:
        return public
    raise Refusal(f"{host} has no public address: nothing on this machine or its network is reached")
