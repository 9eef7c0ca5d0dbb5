"""Which machine this is, in words that name nobody."""

from __future__ import annotations

import functools
import os
import platform
from pathlib import Path


@functools.cache
def this_machine() -> str:
    """Processor, number of cores and system, in words; no name of the machine."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:  # another system
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
