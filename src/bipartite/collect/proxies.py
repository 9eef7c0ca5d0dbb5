"""The address of who asks, behind a proxy. uvicorn's own reader of its headers keeps thousands of them in memory."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final

from bipartite.errors import InputError, shown

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_SCHEMES: Final = frozenset({b"http", b"https"})


class Proxies:
    """An application whose requests come through these proxies, as :func:`networks_in` reads them."""

    def __init__(self, app: ASGIApp, believed: str) -> None:
        self._app, self._networks = app, networks_in(believed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, as from the last address that is no proxy's."""
        if scope["type"] == "http" and self._believes((scope["client"] or ("",))[0]):
            forwarded = []
            for name, value in scope["headers"]:
                if name == b"x-forwarded-for":
                    forwarded += value.decode("latin-1").split(",")
                elif name == b"x-forwarded-proto" and value.strip() in _SCHEMES:
                    scope["scheme"] = value.strip().decode()
            hosts = [_host(each.strip()) for each in forwarded]
            if hosts:
                strangers = [each for each in hosts if not self._believes(each)]
                scope["client"] = ((strangers[-1] if strangers else hosts[0]), 0)
        await self._app(scope, receive, send)

    def _believes(self, host: str) -> bool:
        if self._networks is None:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self._networks)


def networks_in(text: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network] | None:
    """The addresses and networks that a text names, with commas between them; None for ``*``, which is any address."""
    if text.strip() == "*":
        return None
    try:
        return [ipaddress.ip_network(each.strip(), strict=False) for each in text.split(",")]
    except ValueError:
        raise InputError(
            f"Expected proxies as addresses or networks, such as 127.0.0.1,10.0.0.0/8, or *, got {shown(text)}."
        ) from None


def _host(text: str) -> str:
    """An address without its port: ``192.0.2.1:4711``, ``[2001:db8::1]:4711``."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
