"""Standard input and output under a name, for a library that opens files by name.

``/dev/stdin`` and ``/dev/stdout`` would not do: to open one anew forgets the place where it stands, so that
``>> all.csv`` would write over what is there. Bytes are pumped through a pipe instead, past Python's own buffers: a
thread that waits in one of those when the interpreter ends would abort it.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DataFileError
from bipartite.tables.extras import pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO, Self

BLOCK: Final = 2**18
_PATIENCE_SECONDS: Final = 1.0


def unbuffered(stream: BinaryIO) -> BinaryIO:
    """The stream below Python's buffer, from which nothing may have been read yet."""
    raw: BinaryIO = getattr(stream, "raw", stream)
    return raw


def blocks_of(file: Path, compression: str | None, size: int) -> Iterator[bytes]:
    """The bytes of a file, decompressed, so many at a time."""
    with file.open("rb", buffering=0) as raw:
        stream: Any = raw
        if compression is not None:
            stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression)
        try:
            while block := bytes(stream.read(size)):
                yield block
        except OSError:
            msg = f"{file} cannot be decompressed; it may be cut off, or of another kind than its name says."
            raise DataFileError(msg) from None


class NamedInput:
    """A name under which ``start`` and then the rest of an unbuffered stream can be read; ``watch`` sees each block."""

    def __init__(self, start: bytes, stream: BinaryIO, watch: Callable[[bytes], None] | None = None) -> None:
        self._watch = watch
        way_out, self._way_in = os.pipe()
        self.path = Path(f"/dev/fd/{way_out}")
        self._turn = threading.Lock()
        self._open = True
        threading.Thread(target=self._pump, args=(start, stream), daemon=True).start()

    def _pump(self, start: bytes, stream: BinaryIO) -> None:
        block = start
        try:
            while block:
                if self._watch is not None:
                    self._watch(block)
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


class NamedOutput:
    """A name under which can be written where a stream stands; what the stream refuses is raised at the end.

    Whoever writes never hears of a refusal: DuckDB, on a full disk, now and then waited for itself for good. The rest
    goes nowhere, and :attr:`refused` says that no more is worth making.
    """

    def __init__(self, stream: BinaryIO) -> None:
        stream.flush()
        self._raw = unbuffered(stream)
        self._way_out, self._way_in = os.pipe()
        self._failure: OSError | None = None
        self._pumping = threading.Thread(target=self._pump, daemon=True)
        self.path = Path(f"/dev/fd/{self._way_in}")

    def _pump(self) -> None:
        with os.fdopen(self._way_out, "rb", buffering=0) as pipe:
            while block := pipe.read(BLOCK):
                if self._failure is None:
                    try:
                        _write(self._raw, block)
                    except OSError as failure:
                        self._failure = failure

    @property
    def refused(self) -> bool:
        """Whether the stream takes no more."""
        return self._failure is not None

    def __enter__(self) -> Self:
        self._pumping.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        os.close(self._way_in)
        self._pumping.join(None if kind is None else _PATIENCE_SECONDS)  # after an error, nobody may be reading
        if self._failure is not None:
            raise self._failure from None


def _write(raw: BinaryIO, block: bytes) -> None:
    view = memoryview(block)
    while view:
        view = view[raw.write(view) or 0 :]
