"""Standard input and output under a name, for a library that opens files by name.

``/dev/stdin`` and ``/dev/stdout`` would not do: to open one anew forgets the place where it stands, so that
``>> all.csv`` would write over what is there. Bytes are pumped through a pipe instead, past Python's own buffers: a
thread that waits in one of those when the interpreter ends would abort it.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

BLOCK: Final = 2**18
_PATIENCE_SECONDS: Final = 1.0


def unbuffered(stream: BinaryIO) -> Any:  # noqa: ANN401 (a raw stream of io)
    """The stream below Python's buffer, from which nothing may have been read yet."""
    return getattr(stream, "raw", stream)


class NamedInput:
    """A name under which ``start`` can be read, and then the rest of an unbuffered stream."""

    def __init__(self, start: bytes, stream: Any) -> None:  # noqa: ANN401
        way_out, self._way_in = os.pipe()
        self.path = Path(f"/dev/fd/{way_out}")
        self._turn = threading.Lock()
        self._open = True
        threading.Thread(target=self._pump, args=(start, stream), daemon=True).start()

    def _pump(self, start: bytes, stream: Any) -> None:  # noqa: ANN401
        block = start
        try:
            while block:
                view = memoryview(block)
                while view:
                    view = view[os.write(self._way_in, view) :]
                block = stream.read(BLOCK)
        finally:
            with self._turn:
                os.close(self._way_in)
                self._open = False

    def stop(self) -> None:
        """Let whoever reads come to an end, though the stream may still be waiting for more; nobody wants that now."""
        with self._turn:
            if self._open:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self._way_in)
                os.close(nowhere)


@contextmanager
def named_output(stream: BinaryIO) -> Iterator[Path]:
    """A name under which can be written where a stream stands; what the stream refuses is raised at the end."""
    stream.flush()
    way_out, way_in = os.pipe()
    failures: list[OSError] = []

    def pump() -> None:
        raw = unbuffered(stream)
        try:
            with os.fdopen(way_out, "rb", buffering=0) as pipe:
                while block := pipe.read(BLOCK):
                    _write(raw, block)
        except OSError as failure:
            failures.append(failure)

    pumping = threading.Thread(target=pump, daemon=True)
    pumping.start()
    patience: float | None = _PATIENCE_SECONDS  # after an error, nobody may be reading
    try:
        yield Path(f"/dev/fd/{way_in}")
        patience = None
    finally:
        os.close(way_in)
        pumping.join(patience)
        if failures:
            raise failures[0] from None


def _write(raw: Any, block: bytes) -> None:  # noqa: ANN401
    view = memoryview(block)
    while view:
        view = view[raw.write(view) or 0 :]
