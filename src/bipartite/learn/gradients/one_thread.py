"""Arithmetic on one thread: how several threads share a sum depends on how many people there are."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

# The number of threads belongs to the whole process: who restores it would give them to another who is still computing.
_TURN: Final = threading.RLock()


@contextmanager
def one_thread(device: torch.device) -> Iterator[None]:
    """On a CPU, one thread for what is computed within, one caller at a time, and as many as before afterwards."""
    if device.type != "cpu":
        yield
        return
    with _TURN:
        before = torch.get_num_threads()
        torch.set_num_threads(1)  # also where it is 1 already: MKL may have a number of its own
        try:
            yield
        finally:
            torch.set_num_threads(before)
