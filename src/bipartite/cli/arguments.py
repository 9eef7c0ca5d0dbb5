"""What several commands ask of their options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def refuse_given(options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Refuse options that make no sense here, by their destinations."""
    flags: dict[str, str] = options.parsed_by.flags
    given = [flags[name] for name in names if not any(getattr(options, name) is absent for absent in (None, False))]
    if given:
        raise InputError(f"{why}; leave out {', '.join(given)}.")
