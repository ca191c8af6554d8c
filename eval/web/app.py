"""The web server's routes: the page's static files, and the game's questions and answers as JSON.

Only its own page is answered: a request must name this server in ``Host`` (else a foreign name could be pointed at it)
and, if it says where it comes from, in ``Origin``. Bodies are JSON of bounded size. What goes wrong is told in one
line. Games are asked in a thread, so that files are served meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from h11 import LocalProtocolError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ...env.notation.saved import MAX_TEXT
from .lobby import Lobby, NoTableError
from .table import RefusedError, StaleError

__all__ = ["HEADERS", "make_app"]

_MAX_BODY = 20_000  # bytes, of all but a saved game
_BODY_SECONDS = 20.0
_LOG = logging.getLogger(__name__)
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Handler = Callable[[Request], Awaitable[Response]]


class OwnPageOnly:
    """Refuses what does not come to ``names`` or comes from another page; and sends `HEADERS` with every answer."""

    def __init__(self, app: ASGIApp, names: frozenset[str] | None) -> None:
        """``names``: lower-case values of ``Host`` that are this server's; None takes any."""
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            with suppress(LocalProtocolError):  # uvicorn has hung up on a body that broke the protocol
                await send(message)

        why = self._refuse(Headers(scope=scope))
        if why is not None:
            await _error(403, why)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _refuse(self, headers: Headers) -> str | None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or (self._names is not None and hosts[0].lower() not in self._names):
            return f"host: found {', '.join(hosts)[:80]!r}, wanted this server's own name"
        if len(origins) > 1 or (origins and not _same_origin(origins[0], hosts[0])):
            return f"origin: found {', '.join(origins)[:80]!r}, wanted this server's own page"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "found a request of another page, wanted this server's own"
        return None


def _same_origin(origin: str, host: str) -> bool:
    try:
        found = urlsplit(origin)
    except ValueError:
        return False
    return found.scheme in ("http", "https") and found.netloc.lower() == host.lower()


def make_app(lobby: Lobby, names: frozenset[str] | None, cookie: str = "nardy") -> Starlette:
    """Serves the games of ``lobby``; ``names`` are its own in ``Host``, None any; ``cookie`` tells browsers apart."""
    api = _Api(lobby, cookie)
    routes = [
        Route("/", _static("index.html")),
        Route("/api/choices", _telling(api.choices)),
        Route("/api/state", _telling(api.state)),
        Route("/api/hint", _telling(api.hint)),
        Route("/api/save", _telling(api.save)),
        Route("/api/mat", _telling(api.mat)),
        Route("/api/new", _telling(api.new), methods=["POST"]),
        Route("/api/act", _telling(api.act), methods=["POST"]),
        Route("/api/load", _telling(api.load), methods=["POST"]),
    ]
    folder = files(__package__) / "static"
    routes += [
        Route(f"/{file.name}", _static(file.name))
        for file in folder.iterdir()
        if any(file.name.endswith(suffix) for suffix in _TYPES)
    ]
    handlers: dict[Any, Any] = {404: _http_error, 405: _http_error, 500: _failed}
    return Starlette(routes=routes, middleware=[Middleware(OwnPageOnly, names=names)], exception_handlers=handlers)


def _static(name: str) -> Handler:
    content = (files(__package__) / "static" / name).read_bytes()
    media_type = _TYPES[name[name.rindex(".") :]]

    async def answer(_: Request) -> Response:
        return Response(content, media_type=media_type)

    return answer


def _error(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status)


async def _http_error(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    return _error(status, "found no such address" if status == 404 else "found a method that this address has not")


async def _failed(request: Request, error: Exception) -> Response:
    _LOG.error("%s failed", request.url.path, exc_info=error)
    return _error(500, "the server failed; what it printed says why")


def _telling(handler: Handler) -> Handler:
    """``handler`` with what it raises as answers."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except NoTableError:
            return _error(404, "found no game of this browser, wanted a new one first")
        except ClientDisconnect:
            return _error(400, "the request broke off")
        except asyncio.TimeoutError:
            return _error(408, f"found no whole request within {_BODY_SECONDS:g} seconds")
        except ValueError as error:
            return _error(400, str(error))

    return answer


class _Api:
    """The questions about games."""

    def __init__(self, lobby: Lobby, cookie: str) -> None:
        self._lobby = lobby
        self._cookie = cookie

    async def choices(self, _: Request) -> Response:
        return JSONResponse(self._lobby.choices())

    async def state(self, request: Request) -> Response:
        return await self._ask(request, lambda table: JSONResponse(table.state()))

    async def hint(self, request: Request) -> Response:
        return await self._ask(request, lambda table: JSONResponse(table.hint()))

    async def save(self, request: Request) -> Response:
        return await self._ask(request, lambda table: _file(table.saved(), "application/json", "nardy-game.json"))

    async def mat(self, request: Request) -> Response:
        return await self._ask(request, lambda table: _file(table.mat(), "text/plain", "nardy-game.mat"))

    async def new(self, request: Request) -> Response:
        values = _object(await _body(request, _MAX_BODY))
        return self._seated(await run_in_threadpool(self._lobby.new, self._token(request), values))

    async def load(self, request: Request) -> Response:
        text = await _body(request, MAX_TEXT)
        query = request.query_params
        values: dict[str, Any] = {"tutor": query.get("tutor") == "1"}
        if "level" in query:
            values["level"] = query["level"]
        return self._seated(await run_in_threadpool(self._lobby.load, self._token(request), text, values))

    async def act(self, request: Request) -> Response:
        values = _object(await _body(request, _MAX_BODY))
        action, version = values.get("action"), values.get("version")
        if not isinstance(action, str) or type(version) is not int:
            raise RefusedError("wanted an action, a text, and a version, a number")

        def act(table: Any) -> Response:
            try:
                table.act(action, version, values)
            except StaleError:
                return JSONResponse({"error": "the game has gone on meanwhile", "state": table.state()}, 409)
            return JSONResponse(table.state())

        return await self._ask(request, act)

    async def _ask(self, request: Request, question: Callable[[Any], Response]) -> Response:
        return await run_in_threadpool(self._lobby.ask, self._token(request), question)

    def _token(self, request: Request) -> str | None:
        return request.cookies.get(self._cookie)

    def _seated(self, seat: tuple[str, dict[str, Any]]) -> Response:
        token, state = seat
        response = JSONResponse(state)
        response.set_cookie(self._cookie, token, max_age=30 * 86_400, httponly=True, samesite="strict")
        return response


def _file(text: str, media_type: str, name: str) -> Response:
    return PlainTextResponse(
        text, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


async def _body(request: Request, most: int) -> str:
    """The text of a request of JSON, at most ``most`` bytes; a page of another origin cannot send that type unasked."""
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found != "application/json":
        raise RefusedError(f"content-type: found {found[:40]!r}, wanted application/json")

    async def read() -> bytes:
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) > most:
                raise RefusedError(f"found a request of more than {most} bytes")
        return bytes(data)

    data = await asyncio.wait_for(read(), _BODY_SECONDS)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise RefusedError("found a request that is not UTF-8") from None


def _object(text: str) -> Mapping[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise RefusedError("found a request that is not JSON") from None
    if not isinstance(values, dict):
        raise RefusedError("found JSON that is no object")
    return values
