"""What the collector speaks: reports come in, answers go out, and nothing is noted about who asks.

====================  =============================================================================================
GET /                 the participant's page
POST /reports         one envelope or an array of them; answered when they are on the disk
GET /answers          the operator's, or, of a public study, everybody's in steps of 50 reports
GET, POST /operator   a link that is used once becomes a signed cookie
GET /specs.json       the study: its questions, their specs, and when it ends
GET /openapi.json     this protocol
GET /healthz          whether reports can be counted
GET /metrics          numbers for Prometheus, on this machine alone
====================  =============================================================================================
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import traceback
from functools import partial
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
import msgspec
from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from bipartite.collect import metrics
from bipartite.collect.answering import Answering
from bipartite.collect.envelopes import MOST_BYTES, Reader, Refusal
from bipartite.collect.limits import Limits
from bipartite.collect.pages import Page, operator, participant
from bipartite.collect.store import ClosedError
from bipartite.collect.writer import BusyError, Writer, utc_today
from bipartite.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
    from datetime import date

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bipartite.collect.store import Store

_log: Final = logging.getLogger(__name__)
COOKIE: Final = "operator"
_COOKIE_SECONDS: Final = 30 * 86_400
_LINK, _SESSION = "one-time link", "operator's session"
_RETRY_SECONDS: Final = 5
_FORGET_SECONDS: Final = 10
"""How long after its end a request may stay in memory."""
_LONG, _LONG_AT_ONCE = 2**16, 32
"""Bytes of a body beyond which it waits for one of so many places, so that memory is bounded whoever sends."""
_JSON: Final = (b"content-type", b"application/json")
_ANY_ORIGIN: Final = (b"access-control-allow-origin", b"*")  # no cookie is ever looked at here
_PREFLIGHT: Final = [
    _ANY_ORIGIN,
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"content-type"),
    (b"access-control-max-age", b"86400"),
]
_COMMON: Final = [
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]
"""For answers that do not say otherwise."""
_TYPES: Final = frozenset({b"application/json", b"text/plain"})
_FORWARDED: Final = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip"})


class Collector:
    """One worker: the application, its writer, and its reader of answers."""

    def __init__(self, open_store: Callable[[], Store], *, rate: int, today: Callable[[], date] = utc_today) -> None:
        self._open, self._today = open_store, today
        self._store = open_store()
        self._answering = Answering(open_store())
        # One thread at a time for each connection: nobody who takes part waits for answers to be counted.
        self._lookups, self._counts = anyio.CapacityLimiter(1), anyio.CapacityLimiter(1)
        self._long_bodies = asyncio.Semaphore(_LONG_AT_ONCE)
        self.study = self._store.study
        self._reader = Reader(self.study, self._store.numbers)
        self._limits = Limits(rate)
        self._links = URLSafeSerializer(self._store.secret, salt=_LINK)
        self._sessions = URLSafeTimedSerializer(self._store.secret, salt=_SESSION)
        self._is_over = False
        self._pages: dict[bool, Page] = {}
        self._writer: Writer
        self.app: ASGIApp = _Quiet(
            _Reports(self),
            Starlette(
                routes=[
                    Route("/", self._participant),
                    Route("/answers", self._answers),
                    Route("/operator", self._operator, methods=["GET", "POST"]),
                    Route("/specs.json", self._specs),
                    Route("/openapi.json", self._openapi),
                    Route("/healthz", self._healthz),
                    Route("/metrics", self._metrics),
                ],
                exception_handlers={DatabaseError: _unavailable},
                lifespan=self._running,
            ),
        )

    @contextlib.asynccontextmanager
    async def _running(self, _: Starlette) -> AsyncIterator[None]:
        self._writer = Writer(self._open, self._today)
        forgetting = asyncio.create_task(_forgetting())
        try:
            yield
        finally:
            forgetting.cancel()
            await self._writer.stop()
            self._store.close()
            self._answering.close()

    async def take(self, scope: Scope, receive: Receive) -> tuple[int, dict[str, Any], int]:
        """The answer to posted reports: a status, its words, and after how many seconds to come again."""
        wait = self._limits.wait((scope.get("client") or ("",))[0])
        if wait:
            return 429, {"error": "Too many requests from this address; send the same again later."}, wait
        try:
            _check_head(scope["headers"])
            arrivals = self._reader.read(await _body(receive, self._long_bodies))
        except Refusal as refusal:
            where = {} if refusal.positions is None else {"positions": refusal.positions}
            return refusal.status, {"error": refusal.words, **where}, 0
        try:
            counted = await self._writer.count(arrivals)
        except ClosedError:
            return 410, {"error": "The study has ended, and takes no more reports."}, 0
        except BusyError:
            words = "The report was not counted: the collector cannot write just now; send the same again."
            return 503, {"error": words}, _RETRY_SECONDS
        return 200, {"counted": counted.counted, "known": counted.known}, 0

    async def _look_up(self, act: Callable[[], Any]) -> Any:  # noqa: ANN401
        return await anyio.to_thread.run_sync(act, limiter=self._lookups)

    async def _closed(self) -> bool:
        if not self._is_over:  # once it is, it stays so
            self._is_over = await self._look_up(lambda: self._store.is_closed(self._today()))
        return self._is_over

    async def _participant(self, _: Request) -> Response:
        closed = await self._closed()
        if closed not in self._pages:
            self._pages[closed] = participant(self.study, closed=closed)
        return _shown(self._pages[closed])

    async def _answers(self, request: Request) -> Response:
        public = not self._is_operator(request)
        if public and not self.study.public:
            return _shown(operator(self.study, ""), 403)
        closed = await self._closed()
        as_json = "application/json" in request.headers.get("accept", "")
        make = partial(self._answering.page, public=public, closed=closed, as_json=as_json)
        page = await anyio.to_thread.run_sync(make, limiter=self._counts)
        return _shown(page)

    def _is_operator(self, request: Request) -> bool:
        try:
            self._sessions.loads(request.cookies.get(COOKIE, ""), max_age=_COOKIE_SECONDS)
        except BadData:
            return False
        return True

    async def _operator(self, request: Request) -> Response:
        """Previews of links fetch them: only the button on the page uses the link."""
        link = request.query_params.get("link", "")
        try:
            hashed = link_hash(self._links.loads(link))
        except BadData:
            return _shown(operator(self.study, ""), 403)
        if request.method != "POST":
            return _shown(operator(self.study, link))
        if not await self._look_up(lambda: self._store.use_link(hashed)):
            return _shown(operator(self.study, ""), 403)
        answer = RedirectResponse("answers", 303)
        answer.set_cookie(
            COOKIE, str(self._sessions.dumps("")), _COOKIE_SECONDS, path="/answers",
            secure=request.url.scheme == "https", httponly=True, samesite="strict",
        )  # fmt: skip
        return answer

    async def _specs(self, _: Request) -> Response:
        return _public_json(self.study.to_json())

    async def _openapi(self, _: Request) -> Response:
        return _public_json(resources.files("bipartite.collect").joinpath("openapi.json").read_bytes())

    async def _healthz(self, _: Request) -> Response:
        try:
            await self._writer.count([])
            why = self._writer.failure
        except BusyError:
            why = self._writer.failure or "too many reports are waiting"
        if why is not None:
            return JSONResponse({"ok": False, "why": why}, 503, {"Retry-After": str(_RETRY_SECONDS)})
        late = self._writer.late
        return JSONResponse({"ok": True} if late is None else {"ok": True, "warning": late})

    async def _metrics(self, request: Request) -> Response:
        client = request.client
        names = {name for name, _ in request.scope["headers"]}
        if client is None or client.host not in {"127.0.0.1", "::1"} or names & _FORWARDED:
            return JSONResponse({"error": "Metrics are for this machine alone."}, 403)
        counted = await self._look_up(self._store.counted)
        return Response(metrics.text(counted), media_type=metrics.MEDIA_TYPE)


async def _forgetting() -> None:
    """Free what only cycles hold: a caught exception has the frames that it passed, and these a request, for hours."""
    while True:
        await asyncio.sleep(_FORGET_SECONDS)
        gc.collect()


async def _unavailable(_: Request, error: Exception) -> Response:
    """No bug: the words of such an error say what to do, and hold nothing of a report."""
    _log.error("%s", error)
    words = "The collector cannot use its database just now; come again."
    return JSONResponse({"error": words}, 503, {"Retry-After": str(_RETRY_SECONDS)})


def new_link(store: Store) -> str:
    """The path of a link that makes whoever opens it first an operator."""
    nonce = store.nonce()
    store.add_link(link_hash(nonce))
    return f"/operator?link={URLSafeSerializer(store.secret, salt=_LINK).dumps(nonce)!s}"


def link_hash(nonce: object) -> str:
    """What the database keeps of a link: nobody can use it who reads it there."""
    return sha256(f"{nonce}".encode()).hexdigest()


def _shown(page: Page, status: int = 200) -> Response:
    return Response(page.html, status, page.headers)


def _public_json(text: str | bytes) -> Response:
    return Response(text, media_type="application/json", headers={"Access-Control-Allow-Origin": "*"})


class _Reports:
    """/reports as an application of its own: what most requests are for takes the shortest way."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = [_JSON, _ANY_ORIGIN]
        if scope["method"] == "OPTIONS":
            await _send(send, 204, [*_PREFLIGHT], b"")
            return
        if scope["method"] == "POST":
            status, words, wait = await self._collector.take(scope, receive)
        else:
            status, words, wait = 405, {"error": "Reports are sent by POST."}, 0
            headers.append((b"allow", b"POST, OPTIONS"))
        if wait:
            headers.append((b"retry-after", b"%d" % wait))
        if status != 200:  # noqa: PLR2004 (of reports that were counted, metrics tell only steps)
            metrics.refused(status)
        await _send(send, status, headers, msgspec.json.encode(words))


async def _send(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _check_head(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a body of another kind or size than those that are read."""
    held = dict(headers)
    kind, coding = held.get(b"content-type", b""), held.get(b"content-encoding", b"")
    if kind.partition(b";")[0].strip().lower() not in _TYPES or coding not in {b"", b"identity"}:
        raise Refusal(415, "Expected application/json or text/plain, not compressed.")
    length = held.get(b"content-length", b"0")
    if not length.isdigit() or int(length[:20]) > MOST_BYTES:
        raise _too_long()


def _too_long() -> Refusal:
    return Refusal(413, f"Expected at most {MOST_BYTES // 2**20} MiB; send the reports in parts.")


async def _body(receive: Receive, long_bodies: asyncio.Semaphore) -> bytes:
    """The whole body of a request; of long ones a few at a time."""
    parts, size, more, is_long = [], 0, True, False
    try:
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "The request ended within its body; send it again.")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > MOST_BYTES:
                raise _too_long()
            if size > _LONG and not is_long:
                is_long = await long_bodies.acquire()
            more = message.get("more_body", False)
    finally:
        if is_long:
            long_bodies.release()
    return b"".join(parts)


class _Quiet:
    """Common headers, and errors told without a value: their type and place, where Starlette would log their text."""

    def __init__(self, reports: ASGIApp, others: ASGIApp) -> None:
        self._reports, self._others = reports, others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._others(scope, receive, send)
            return
        begun = False

        async def spoken(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                said = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(each for each in _COMMON if each[0] not in said)]
            await send(message)

        try:
            if scope["path"] == "/reports":
                await self._reports(scope, receive, send)
            else:
                await self._others(scope, receive, spoken)
        except Exception as error:  # noqa: BLE001 (whatever it is, its text may hold a value)
            place = traceback.extract_tb(error.__traceback__)[-1]
            _log.error("%s in %s, line %s; please report this bug", type(error).__name__, place.name, place.lineno)
            if not begun:
                await _send(send, 500, [_JSON, *_COMMON], b'{"error": "The collector failed; send the same again."}')
