"""How often one address may send: counted under a keyed hash that is forgotten every hour, in memory alone."""

from __future__ import annotations

import ipaddress
import secrets
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_HOUR: Final = 3600
_MOST: Final = 2**20  # addresses that are told apart within an hour; further ones share their counts
_NETWORK: Final = 64  # bits of an IPv6 address; the others are anybody's to choose


class Limits:
    """Allows ``most`` requests an hour from each address; 0 allows any number."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._begin()

    def _begin(self) -> None:
        self._until = self._clock() + _HOUR
        self._key = secrets.token_bytes(32)
        self._counts: dict[int, int] = {}

    def wait(self, address: str) -> int:
        """The seconds after which this address may come again; 0 for now, which counts."""
        if not self._most:
            return 0
        left = self._until - self._clock()
        if left <= 0:
            self._begin()
            left = _HOUR
        hashed = int.from_bytes(blake2b(_network(address), key=self._key, digest_size=8).digest())
        if len(self._counts) >= _MOST:
            hashed %= _MOST
        count = self._counts.get(hashed, 0) + 1
        if count > self._most:
            return max(1, round(left))
        self._counts[hashed] = count
        return 0


def _network(address: str) -> bytes:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # a Unix socket has none
        return address.encode()
    if found.version == 6:  # noqa: PLR2004 (IPv6)
        mapped = found.ipv4_mapped  # as a socket for both versions sees who comes by IPv4
        return found.packed[: _NETWORK // 8] if mapped is None else mapped.packed
    return found.packed
