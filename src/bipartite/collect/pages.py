"""Pages that load nothing: style and script stand in the page, and its policy names them by their hashes.

Templates are Jinja2, and escape what they write. Styles and scripts stand in static/ as they are sent; ``make
client-collect`` builds them from client/collect.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import jinja2

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bipartite.collect.study import Study

_STATIC: Final = files("bipartite.collect") / "static"
_TEMPLATES: Final = jinja2.Environment(
    loader=jinja2.PackageLoader("bipartite.collect"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
# Within <script> Jinja writes "<" as an escape, so that no text of a study ends it.
_TEMPLATES.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}


@dataclass(frozen=True)
class Page:
    """A page as it is sent."""

    html: bytes
    headers: Mapping[str, str]


def render(template: str, *, styles: Sequence[str], script: str = "", forms: bool = False, **held: Any) -> Page:  # noqa: ANN401
    """A page with these files of static/ within it, and a policy that allows them and, perhaps, forms; nothing else."""
    style = "".join(map(_static, styles))
    code = _static(script) if script else ""
    html = _TEMPLATES.get_template(template).render(style=style, script=code, **held)
    policy = {
        "default-src": "'none'",
        "script-src": _hash(code) if code else "'none'",
        "style-src": _hash(style),
        "connect-src": "'self'" if code else "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'self'" if forms else "'none'",
        "frame-ancestors": "'none'",
    }
    headers = {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "; ".join(f"{name} {allowed}" for name, allowed in policy.items()),
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-cache",
    }
    return Page(html.encode(), headers)


def operator(study: Study, token: str) -> Page:
    """The page of a link for the operator, with a button that uses it; without a token, what to do."""
    return render("operator.html", styles=["base.css", "participant.css"], forms=True, study=study, token=token)


def participant(study: Study, *, closed: bool) -> Page:
    """The page of the person who is asked. It depends on the study alone: render it once and keep it."""
    return render(
        "participant.html",
        styles=["base.css", "participant.css"],
        script="" if closed else "participant.js",
        study=study,
        asked=asked(study),
        ends=f"{study.ends.day} {study.ends:%B %Y}",
        closed=closed,
    )


def asked(study: Study) -> dict[str, Any]:
    """What the page's script reads: each question with its words, and its specs as the texts that devices check."""
    questions = [
        {
            "name": question.name,
            "ask": question.ask,
            "record": question.is_record,
            "sample": question.sample,
            "parts": [{"name": part.name, "ask": part.ask, "spec": part.spec} for part in question.parts],
        }
        for question in study.questions
    ]
    return {"study": study.name, "questions": questions}


def _static(name: str) -> str:
    return (_STATIC / name).read_text("utf-8")


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
