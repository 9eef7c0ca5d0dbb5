"""Write what a collector speaks as OpenAPI 3.1, from the types and limits of the collector itself.

python tools/openapi.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import msgspec

from bipartite.collect import server
from bipartite.collect.envelopes import MOST_BYTES, MOST_ENVELOPES
from bipartite.collect.views import CONFIDENCE, View

FILE: Final = Path(__file__).parents[1] / "src" / "bipartite" / "collect" / "openapi.json"
Json = dict[str, Any]

_HASH: Final = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_NAME: Final = {"type": "string", "minLength": 1}
_EVERYWHERE: Final = {
    "Cache-Control": "Nothing is kept: no-store; of pages, no-cache.",
    "Referrer-Policy": "Always no-referrer.",
    "X-Content-Type-Options": "Always nosniff.",
}
_OF_PAGES: Final = {
    "Content-Security-Policy": "The page loads nothing; its script and style are named by their hashes.",
    "Cross-Origin-Opener-Policy": "Always same-origin.",
    "Cross-Origin-Resource-Policy": "Always same-origin.",
}
_ANY_ORIGIN: Final = {"Access-Control-Allow-Origin": "Always *: every page may use this, and no cookie is looked at."}
_WAIT: Final = {"type": "integer", "minimum": 1, "description": "After how many seconds to send the same again."}


def _object(properties: Json, optional: tuple[str, ...] = (), description: str = "") -> Json:
    """An object with these keys and no other."""
    required = [name for name in properties if name not in optional]
    told = {"description": description} if description else {}
    return {**told, "type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list_of(kind: Json) -> Json:
    return {"type": "array", "items": kind}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _header(description: str) -> Json:
    return {"schema": {"type": "string"}, "description": description}


def _response(description: str, content: dict[str, Json] | None = None, headers: Json | None = None) -> Json:
    """An answer: its bodies by their media types, and its headers beside those that all answers have."""
    named = {**_EVERYWHERE, **(_OF_PAGES if content and "text/html" in content else {})}
    held = {name: _header(said) for name, said in named.items()} | (headers or {})
    found: Json = {"description": description, "headers": held}
    if content:
        found["content"] = {kind: {"schema": schema} for kind, schema in content.items()}
    return found


def _json(description: str, schema: Json, *, any_origin: bool = False, wait: bool = False) -> Json:
    headers = {name: _header(said) for name, said in (_ANY_ORIGIN if any_origin else {}).items()}
    if wait:
        headers["Retry-After"] = {"schema": _WAIT, "required": True}
    return _response(description, {"application/json": schema}, headers)


_PAGE: Final = {"text/html": {"type": "string"}}
_FAILED: Final = {
    "500": _json("A bug; the same may be sent again. It is logged by type and place, without a value.", _ref("Refused"))
}
_UNAVAILABLE: Final = {"503": _json("The database cannot be used just now.", _ref("Refused"), wait=True)}


def _schemas() -> dict[str, Json]:
    """What is sent and answered."""
    (views,), others = msgspec.json.schema_components([View], ref_template="#/components/schemas/{name}")
    assert views == _ref("View")  # noqa: S101 (its schema is among the others)
    part = _object(
        {
            "name": _NAME,
            "ask": {"type": "string"},
            "spec": {"type": "object", "description": "The mechanism, as clients read it (docs/draw.md, §4)."},
            "sha256": _HASH,
        }
    )
    question = _object(
        {
            "name": _NAME,
            "ask": {"type": "string"},
            "record": {"type": "boolean", "description": "Whether a report holds several parts."},
            "sample": {"type": ["integer", "null"], "description": "How many parts a person reports; null: all."},
            "parts": _list_of(part),
        }
    )
    study = {
        "bipartite_study": {"const": 1},
        "name": _NAME,
        "title": {"type": "string"},
        "text": {"type": "string"},
        "people": {"type": ["integer", "null"], "description": "How many are expected."},
        "public": {"type": "boolean", "description": "Whether everybody may see the answers."},
        "ends": {"type": "string", "format": "date", "description": "The last day on which reports are taken, in UTC."},
        "questions": _list_of(question),
    }
    answers = {
        "bipartite_answers": {"const": 1},
        "study": _NAME,
        "title": {"type": "string"},
        "epsilon": {"type": "string", "description": "Of all questions together: an exact decimal."},
        "interim": {"type": "boolean", "description": "Whether reports are still taken."},
        "confidence": {"const": CONFIDENCE},
        "answers": _list_of(_ref("View")),
    }
    envelope = {
        "v": {"const": 1},
        "study": _NAME,
        "question": _NAME,
        "spec": {**_HASH, "description": "The hash of the question's spec or record; see /specs.json."},
        "report": {"description": "What the mechanism gave."},
        "key": {
            "type": "string",
            "pattern": "^[0-9a-f]{32}$",
            "description": "128 random bits, drawn with the report.",
        },
    }
    counted = {"type": "integer", "minimum": 0}
    return {
        "Envelope": _object(envelope, description="One report. Its keys come once each, in any order."),
        "Envelopes": {
            "oneOf": [_ref("Envelope"), {**_list_of(_ref("Envelope")), "minItems": 1, "maxItems": MOST_ENVELOPES}],
            "description": f"At most {MOST_BYTES} bytes of UTF-8. All are counted, or none.",
        },
        "Counted": _object(
            {"counted": counted, "known": counted}, description="How many reports were counted now, and before."
        ),
        "Refused": _object(
            {
                "error": {"type": "string", "description": "Why, and what to do; it holds nothing of the body."},
                "positions": {**_list_of(counted), "description": "Every envelope that is refused, from 0."},
            },
            ("positions",),
        ),
        "Study": _object(study),
        "Answers": _object(answers),
        "Health": _object(
            {"ok": {"type": "boolean"}, "why": {"type": "string"}, "warning": {"type": "string"}}, ("why", "warning")
        ),
        **others,
    }


def _reports() -> Json:
    refused = {
        "400": "Not JSON in UTF-8, nested too deeply, or with a repeated key.",
        "404": "Of another study, or a question that it does not ask.",
        "409": "Drawn by another spec than the question's.",
        "410": "The study has ended.",
        "413": f"More than {MOST_BYTES} bytes or {MOST_ENVELOPES} envelopes.",
        "415": "Neither application/json nor text/plain, or compressed.",
        "422": "Not an envelope, or a report that the mechanism cannot give.",
    }
    later = {"429": "Too many requests from this address.", "503": "Reports cannot be written just now."}
    answers = {"200": _json("On the disk, each once.", _ref("Counted"), any_origin=True)}
    answers |= {status: _json(why, _ref("Refused"), any_origin=True) for status, why in refused.items()}
    answers |= {status: _json(why, _ref("Refused"), any_origin=True, wait=True) for status, why in later.items()}
    preflight = {
        **_ANY_ORIGIN,
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "content-type",
        "Access-Control-Max-Age": "For so many seconds a browser does not ask again.",
    }
    body = {"application/json": {"schema": _ref("Envelopes")}}
    body["text/plain"] = {
        "schema": {"type": "string", "contentMediaType": "application/json", "contentSchema": _ref("Envelopes")}
    }
    return {
        "post": {
            "operationId": "report",
            "summary": "Count reports. What got no 200 may be sent again, at any time, to any worker, and counts once.",
            "requestBody": {"required": True, "content": body},
            "responses": answers | _FAILED,
        },
        "options": {
            "operationId": "preflight",
            "summary": "What a browser asks before it sends to another origin.",
            "responses": {"204": _response("Go on.", None, {name: _header(said) for name, said in preflight.items()})},
        },
    }


def document() -> Json:
    """The whole document."""
    link = [{"name": "link", "in": "query", "required": True, "schema": {"type": "string"}}]
    no_operator = _response("No such link, used before, or a session that is over.", _PAGE)
    cookie = {"Set-Cookie": _header("The operator's session, for /answers alone."), "Location": _header("The answers.")}
    paths: dict[str, Json] = {
        "/": {
            "get": {
                "operationId": "participate",
                "summary": "The participant's page.",
                "responses": {"200": _response("The page.", _PAGE)},
            }
        },
        "/reports": _reports(),
        "/answers": {
            "get": {
                "operationId": "answers",
                "summary": "The answers: of a public study everybody's, in steps of at least 50 reports.",
                "security": [{}, {"operator": []}],
                "responses": {
                    "200": _response(
                        "A page; JSON for clients that accept it.", {**_PAGE, "application/json": _ref("Answers")}
                    ),
                    "403": no_operator,
                },
            }
        },
        "/operator": {
            "parameters": link,
            "get": {
                "operationId": "showLink",
                "summary": "A page with a button; opening it, as previews do, does not use the link.",
                "responses": {"200": _response("The page.", _PAGE), "403": no_operator},
            },
            "post": {
                "operationId": "useLink",
                "summary": "Use a one-time link.",
                "responses": {"303": _response("Whoever used it is an operator.", None, cookie), "403": no_operator},
            },
        },
        "/specs.json": {
            "get": {
                "operationId": "specs",
                "summary": "What is asked, and by which mechanisms.",
                "responses": {"200": _json("The study.", _ref("Study"), any_origin=True)},
            }
        },
        "/openapi.json": {
            "get": {
                "operationId": "openapi",
                "summary": "This document.",
                "responses": {"200": _json("The document.", {"type": "object"}, any_origin=True)},
            }
        },
        "/healthz": {
            "get": {
                "operationId": "healthz",
                "summary": "Whether reports can be counted: a commit is tried.",
                "responses": {
                    "200": _json("They can; perhaps with a warning, such as of a clock set back.", _ref("Health")),
                    "503": _json("They cannot.", _ref("Health"), wait=True),
                },
            }
        },
        "/metrics": {
            "get": {
                "operationId": "metrics",
                "summary": "Numbers for Prometheus; reports in steps of 50.",
                "responses": {
                    "200": _response("The numbers.", {"text/plain": {"type": "string"}}),
                    "403": _json("From another machine, or through a proxy.", _ref("Refused")),
                },
            }
        },
    }
    for operations in paths.values():
        for method, operation in operations.items():
            if method in {"get", "post"}:
                operation["responses"] = _UNAVAILABLE | operation["responses"] | _FAILED
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "A collector of reports under local differential privacy",
            "version": "1",
            "summary": re.sub(r"\s+", " ", (server.__doc__ or "").partition("\n")[0]),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"operator": {"type": "apiKey", "in": "cookie", "name": server.COOKIE}},
        },
    }


def text() -> str:
    """The document as it is published."""
    return json.dumps(document(), ensure_ascii=False, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
