"""Standard input and output under a file name, for a library that opens files by name.

``/dev/stdin`` and ``/dev/stdout`` would not do: opening one again loses its position, so ``>> all.csv`` would overwrite
the file. Bytes are pumped through a pipe instead, bypassing Python's buffers: a thread that waits in one of those when
the interpreter exits would abort it.
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
    """The raw stream below Python's buffer, from which nothing may have been read yet."""
    raw: BinaryIO = getattr(stream, "raw", stream)
    return raw


def blocks_of(file: Path, compression: str | None, size: int) -> Iterator[bytes]:
    """The decompressed bytes of a file, in blocks of ``size``."""
    with file.open("rb", buffering=0) as raw:
        stream: Any = raw
        if compression is not None:
            stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression)
        try:
            while block := bytes(stream.read(size)):
                yield block
        except OSError:
            raise DataFileError(
                f"{file} cannot be decompressed; it may be truncated, or not of the kind its name suggests."
            ) from None


class NamedInput:
    """A path from which ``start`` and then the rest of an unbuffered stream can be read; ``watch`` gets each block."""

    def __init__(self, start: bytes, stream: BinaryIO, watch: Callable[[bytes], None] | None = None) -> None:
        self._watch = watch
        read_end, self._write_end = os.pipe()
        self.path = Path(f"/dev/fd/{read_end}")
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
                    view = view[os.write(self._write_end, view) :]
                block = stream.read(BLOCK)
        finally:
            with self._turn:
                os.close(self._write_end)
                self._open = False

    def stop(self) -> None:
        """End the input for its reader, even if the stream is still waiting for more."""
        with self._turn:
            if self._open:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self._write_end)
                os.close(null)


class NamedOutput:
    """A path that writes to a stream at its current position; an error of the stream is raised at the end.

    The writer never sees the error, because DuckDB sometimes deadlocked on a full disk. The remaining output is
    discarded, and :attr:`refused` says that producing more is pointless.
    """

    def __init__(self, stream: BinaryIO) -> None:
        stream.flush()
        self._raw = unbuffered(stream)
        self._read_end, self._write_end = os.pipe()
        self._failure: OSError | None = None
        self._pumping = threading.Thread(target=self._pump, daemon=True)
        self.path = Path(f"/dev/fd/{self._write_end}")

    def _pump(self) -> None:
        with os.fdopen(self._read_end, "rb", buffering=0) as pipe:
            while block := pipe.read(BLOCK):
                if self._failure is None:
                    try:
                        _write(self._raw, block)
                    except OSError as failure:
                        self._failure = failure

    @property
    def refused(self) -> bool:
        """Whether the stream refused data."""
        return self._failure is not None

    def __enter__(self) -> Self:
        self._pumping.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        os.close(self._write_end)
        self._pumping.join(None if kind is None else _PATIENCE_SECONDS)  # after an error, the reader may be gone
        if self._failure is not None:
            raise self._failure from None


def _write(raw: BinaryIO, block: bytes) -> None:
    view = memoryview(block)
    while view:
        view = view[raw.write(view) or 0 :]
