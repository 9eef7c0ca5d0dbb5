"""Whose address a request has behind a proxy: nobody chooses it who is not believed."""

import asyncio

import pytest

from bipartite.collect.proxies import Proxies

PROXY, PERSON, FORGED = "10.0.0.1", "203.0.113.7", "198.51.100.9"


def seen(believed, client, *headers):
    """(address, scheme) that the application sees of such a request."""
    scope = {
        "type": "http", "scheme": "http", "client": client and (client, 4711),
        "headers": [(name, value.encode()) for name, value in headers],
    }  # fmt: skip
    got = []

    async def application(scope, *_):
        got.append((scope["client"] and scope["client"][0], scope["scheme"]))

    asyncio.run(Proxies(application, believed)(scope, None, None))
    return got[0]


def forwarded(*lines):
    return [(b"x-forwarded-for", line) for line in lines]


@pytest.mark.parametrize(
    ("believed", "client", "lines", "address"),
    [
        (PROXY, PERSON, [FORGED], PERSON),  # who comes without the proxy is not believed
        (PROXY, PROXY, [], PROXY),
        (PROXY, PROXY, [PERSON], PERSON),
        (PROXY, PROXY, [f"{FORGED}, {PERSON}"], PERSON),  # a proxy adds to what the person wrote
        (PROXY, PROXY, [FORGED, PERSON], PERSON),
        (PROXY, PROXY, [f"{PROXY}, {PERSON}, {PROXY}"], PERSON),
        ("10.0.0.0/8, 192.0.2.1", "192.0.2.1", [f"{PERSON}, 10.1.2.3"], PERSON),
        (PROXY, PROXY, [f"{PROXY}, {PROXY}"], PROXY),
        (PROXY, f"::ffff:{PROXY}", [PERSON], PERSON),
        (PROXY, PROXY, [f"{PERSON}:4711"], PERSON),
        (PROXY, PROXY, ["[2001:db8::1]:4711"], "2001:db8::1"),
        (PROXY, PROXY, ["2001:db8::1"], "2001:db8::1"),
        (PROXY, PROXY, ["nobody"], "nobody"),
        (PROXY, None, [PERSON], None),  # a Unix socket
        ("*", PERSON, [FORGED], FORGED),
    ],
)
def test_a_request_has_the_last_address_that_is_no_proxys(believed, client, lines, address):
    assert seen(believed, client, *forwarded(*lines))[0] == address


def test_only_a_proxy_says_that_the_outside_was_https():
    https = (b"x-forwarded-proto", "https")
    assert seen(PROXY, PROXY, https, *forwarded(PERSON)) == (PERSON, "https")
    assert seen(PROXY, PERSON, https) == (PERSON, "http")
    assert seen(PROXY, PROXY, (b"x-forwarded-proto", "gopher"))[1] == "http"
