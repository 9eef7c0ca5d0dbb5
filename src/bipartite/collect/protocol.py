"""HTTP as uvicorn reads it, except that what was read is wiped, and that a request must arrive within a minute.

The event loop reads all connections into one buffer. A short request overwrites only its beginning, so the end of a
longer one before it, with a cookie or an agent, could stay in memory for days. Here the buffer is our own, and is wiped
after each read.
"""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_HEAD: Final = 2**16
"""Bytes of a request that are not its body, before or after it; the parser itself has no limit."""
_SECONDS: Final = 60.0
"""The longest that a request may take to arrive: 4 MiB at 70 kB/s."""
_SWEEP_SECONDS: Final = 10.0
_view: Final = memoryview(bytearray(2**16))  # of the one loop of this process, which reads one connection at a time
_swept: Final = weakref.WeakSet[asyncio.AbstractEventLoop]()  # loops whose connections are looked at regularly


class Protocol(asyncio.BufferedProtocol):
    """One connection, read into our buffer and passed on to uvicorn's protocol.

    It holds that protocol instead of inheriting from it, since loops ask no ``asyncio.Protocol`` for a buffer.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (uvicorn's)
        self._http = _Http(*arguments, **named)
        # Everything else goes straight to uvicorn's.
        self.connection_made = self._http.connection_made  # type: ignore[method-assign,assignment]
        self.connection_lost = self._http.connection_lost  # type: ignore[method-assign]
        self.eof_received = self._http.eof_received  # type: ignore[method-assign]
        self.pause_writing = self._http.pause_writing  # type: ignore[method-assign]
        self.resume_writing = self._http.resume_writing  # type: ignore[method-assign]

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 (one size fits all)
        """Where the loop reads to."""
        return _view

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was read, and wipe it."""
        data = _view[:nbytes].tobytes()
        _view[:nbytes] = bytes(nbytes)
        self._http.data_received(data)


class _Http(HttpToolsProtocol):
    """uvicorn's, with a limit to the head of a request, and a time until which it has come."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (uvicorn's)
        super().__init__(*arguments, **named)
        self._head = 0  # bytes since a request or its head ended, or since the last ones of its body
        self.since: float | None = None
        """Since when a request is arriving; None where none is."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.since = self.loop.time()
        if self.loop not in _swept:
            _swept.add(self.loop)
            self.loop.call_later(_SWEEP_SECONDS, _sweep, self.loop, self.connections)

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        if self.since is None:  # empty lines begin no request, but end uvicorn's patience with a silent connection
            self.since = self.loop.time()
        super().data_received(data)
        if self._head > _MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long, or what follows its body.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.since = self.loop.time()

    def on_headers_complete(self) -> None:
        self._head = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head, self.since = 0, None
        super().on_message_complete()


def _sweep(loop: asyncio.AbstractEventLoop, connections: Iterable[Any]) -> None:
    """Close the connections whose request takes too long."""
    late = loop.time() - _SECONDS
    for each in list(connections):
        if each.since is not None and each.since < late:
            each.transport.abort()
    loop.call_later(_SWEEP_SECONDS, _sweep, loop, connections)
