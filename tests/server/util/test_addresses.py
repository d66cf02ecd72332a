"""Which addresses are public, and what a name leads to."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillstill.errors import Refusal
from skillstill.util.addresses import is_public, public_addresses


@pytest.mark.parametrize("address", ["93.184.215.14", "8.8.8.8", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_addresses_of_the_public_network_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1",
        "ff02::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b:1::1",
    ],
)  # fmt: skip
def test_no_other_address_is(address: str) -> None:
    assert not is_public(address)


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_public_in_a_disguise(address: ipaddress.IPv4Address) -> None:
    assert not is_public(f"::ffff:{address}")
    assert not is_public(str(ipaddress.IPv6Address(int(ipaddress.IPv6Address("64:ff9b::")) + int(address))))


@pytest.mark.anyio
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "2130706433", "10.0.0.1"])
async def test_a_host_without_a_public_address_is_refused(host: str) -> None:
    with pytest.raises(Refusal, match=r"no public address|has no address"):
        await public_addresses(host, 80)
