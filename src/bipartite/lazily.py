"""Public names and libraries that are loaded on first use, so that imports stay cheap."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from bipartite.names import moved, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package whose public names live in these modules (PEP 562).

    A name that maps to its own submodule resolves to that module; a former name raises with what to use now.
    """

    def __getattr__(name: str) -> Any:  # noqa: ANN401, N807
        if name not in homes:
            what = f"module {package!r} has no attribute"
            if name.startswith("_"):
                raise AttributeError(f"{what} {name!r}")
            told = moved(package, name)
            # ``from package import name`` drops the message of an AttributeError; hasattr must see no other.
            if told and sys._getframe(1).f_code.co_name == "_handle_fromlist":  # noqa: SLF001
                raise ImportError(told, name=package)
            raise AttributeError(told or unknown_name(what, name, __dir__()))
        module = importlib.import_module(homes[name])
        value = module if module.__name__ == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:  # noqa: N807
        return sorted(sys.modules[package].__all__)

    return __getattr__, __dir__


class LazyModule:
    """A stand-in for a library that is imported when one of its attributes is first used."""

    def __init__(self, name: str, load: Callable[[str], ModuleType] = importlib.import_module) -> None:
        self._name, self._load = name, load

    def __getattr__(self, attribute: str) -> object:
        return getattr(self._load(self._name), attribute)
