"""The notebooks of the docs: run them, write what they give back into them, and turn them into pages.

``python tools/notebooks.py`` runs every notebook under ``docs/notebooks`` and writes its outputs; the docs build runs
them again and fails where one raises; a test compares what they give with what is written in them.

Why not nbclient or myst-nb: they bring a kernel, a message bus and some 35 packages to run code that needs no kernel.
A notebook here is plain Python: a cell is run in the notebook's namespace; what it prints, the value of its last
expression and the figures that pyplot holds then are its output. Magics and widgets are not supported, and not wanted
in documentation.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from bipartite.plots.figure import as_svg

plt.switch_backend("agg")  # no window opens
_WIDE = 86
FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def read(path: Path) -> dict[str, Any]:
    """A notebook."""
    held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return held


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write it as Jupyter does: indented by one, a line at the end."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """The same notebook with the outputs that it gives now."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    plt.close("all")
    with plt.rc_context():  # a notebook's style is its own
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                cells.append(cell)
                continue
            count += 1
            outputs = _outputs("".join(cell["source"]), namespace, count)
            cells.append({**cell, "execution_count": count, "outputs": outputs})
    return {**notebook, "cells": cells}


def _outputs(source: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<notebook>", "exec"), namespace)  # noqa: S102 (our own notebooks)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<notebook>", "eval"), namespace)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None and not hasattr(value, "get_figure"):  # of axes the figure is shown
        shown = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_svg_"):
            shown = {"image/svg+xml": _lines(value._repr_svg_()), "text/plain": ["<picture>"]}
        outputs.append({"data": shown, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    for number in plt.get_fignums():
        drawn = {"image/svg+xml": _lines(as_svg(partial(plt.figure, number))), "text/plain": ["<Figure>"]}
        outputs.append({"data": drawn, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
    return outputs


def _lines(text: str) -> list[str]:
    """Text as notebooks hold it: a list of lines, each with its end."""
    return text.splitlines(keepends=True)


def page(notebook: dict[str, Any], name: str) -> str:
    """A notebook as a page of the docs, with its outputs."""
    parts = []
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            if number == 0:
                parts.append(f"*This page is a notebook: {{download}}`{name}.ipynb <{name}.ipynb>`.*")
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                parts.append('```{raw} html\n<div class="picture">' + "".join(data["image/svg+xml"]) + "</div>\n```")
            else:
                parts.append("```text\n" + _wrapped("".join(output.get("text") or data["text/plain"])) + "\n```")
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str) -> str:
    """What was printed, in lines that fit on a page; a notebook wraps them by itself."""
    fitting: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        long = len(line) > _WIDE  # columns of numbers are shorter, and keep their spaces
        fitting += textwrap.wrap(line, _WIDE, subsequent_indent="    ", break_on_hyphens=False) if long else [line]
    return "\n".join(fitting)


def build(folder: Path = FOLDER) -> list[Path]:
    """Run every notebook and write a page beside it, for Sphinx."""
    written = []
    for path in sorted(folder.glob("*.ipynb")):
        target = path.with_suffix(".md")
        target.write_text(page(run(read(path)), path.stem), encoding="utf-8")
        written.append(target)
    return written


def main() -> int:
    """Run every notebook and write its outputs into it."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        write(path, run(read(path)))
        print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
