"""The board as a web application: which address is which page."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from evenflow.gates.ledger.files import LedgerError
from evenflow.pipelines.pages.board.actions import Actions, FormError
from evenflow.pipelines.pages.board.follow import Board
from evenflow.pipelines.pages.board.pages import FOLDER, NotThereError, Pages
from evenflow.pipelines.pages.board.security import Guard
from evenflow.pipelines.pages.board.window import number_of

VIEWERS = 200  # that are told about changes at once
STATIC = {"board.js": "text/javascript", "icon.svg": "image/svg+xml"}


def application(
    board: Board,
    host: str = "127.0.0.1",
    token: str | None = None,
    names: Collection[str] = (),
) -> Starlette:
    """Make the application.

    Args:
        board: The gates; they are followed while the application runs.
        token: What a person must give to hold and release; None: nobody can.
        names: Further host names that it is reached by.
    """
    pages = Pages(board, token is not None)
    views = Views(board, pages)

    @asynccontextmanager
    async def lifespan(_: ASGIApp) -> AsyncIterator[None]:
        async with board.following():
            yield

    routes = [
        Route("/", views.glance),
        Route("/gate/{name}", views.gate),
        Route("/gate/{name}/pane/{pane:int}", views.pane),
        Route("/gate/{name}/dead/{pane:int}", views.letters),
        Route("/gate/{name}/document", views.document),
        Route("/events", views.events),
        Route("/style.css", views.static),
        *(Route(f"/{name}", views.static) for name in STATIC),
    ]
    if token is not None:
        actions = Actions(board, pages, token)
        routes += [
            Route("/unlock", actions.unlock, methods=["GET", "POST"]),
            Route("/act/{name}", actions.act, methods=["GET", "POST"]),
        ]
    failures: dict[int | type[Exception], Callable[..., Response]] = {
        NotThereError: views.failed(404, "Not there"),
        FormError: views.failed(400, "Not understood"),
        LedgerError: views.failed(503, "The ledger cannot be read"),
        OSError: views.failed(503, "The output cannot be read"),
        HTTPException: views.http_failed,
    }
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, host=host, names=names)],
        exception_handlers=failures,  # type: ignore[arg-type] (Starlette's own kind is wider)
    )


class Views:
    """Answers the requests that change nothing."""

    def __init__(self, board: Board, pages: Pages):
        self._board, self._pages = board, pages
        style = pages.render("style.css.j2")
        self._static = {"style.css": (style.encode(), "text/css")}
        for name, kind in STATIC.items():
            self._static[name] = (FOLDER / "static" / name).read_bytes(), kind

    # These are no coroutines: Starlette calls them in threads, and a page takes 50 ms
    def glance(self, request: Request) -> Response:
        """All gates."""
        return _tagged(request, self._pages.glance().encode(), "text/html")

    def gate(self, request: Request) -> Response:
        """One gate."""
        name = request.path_params["name"]
        html = self._pages.gate_page(name, request.query_params)
        return _tagged(request, html.encode(), "text/html")

    def pane(self, request: Request) -> Response:
        """One pane."""
        return HTMLResponse(self._pages.pane(*_place(request)))

    def letters(self, request: Request) -> Response:
        """Dead letters of a pane."""
        page = request.query_params.get("page", "0")
        return HTMLResponse(self._pages.letters(*_place(request), number_of(page) or 0))

    def document(self, request: Request) -> Response:
        """Where a document went."""
        query = request.query_params
        start = number_of(query.get("before", ""))
        name = request.path_params["name"]
        return HTMLResponse(self._pages.document(name, query.get("id", "")[:1000], start))

    def static(self, request: Request) -> Response:
        """The style, the script and the icon."""
        content, kind = self._static[request.url.path.lstrip("/")]
        return _tagged(request, content, kind)

    async def events(self, request: Request) -> Response:
        """Tell a viewer about changes, as server-sent events."""
        name = request.query_params.get("gate")
        names = list(self._board.gates) if name is None else [self._pages.known(name).name]
        if self._board.viewers >= VIEWERS:
            return PlainTextResponse("too many viewers\n", 503)

        async def told() -> AsyncIterator[bytes]:
            async for version, now in self._board.changes(names):
                yield b"data: " + orjson.dumps({"version": version, "now": now}) + b"\n\n"

        return StreamingResponse(
            told(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    def failed(self, status: int, title: str) -> Callable[[Request, Exception], Response]:
        """Make the answer to an error."""

        def answer(request: Request, error: Exception) -> Response:
            return self._error(status, title, " ".join(str(error).split())[:400])

        return answer

    def http_failed(self, request: Request, error: HTTPException) -> Response:
        """The answer to an address that does not exist, or another method."""
        return self._error(error.status_code, error.detail, "")

    def _error(self, status: int, title: str, said: str) -> Response:
        """A page that says what is wrong."""
        return HTMLResponse(self._pages.render("error.html.j2", title=title, said=said), status)


def _place(request: Request) -> tuple[str, int]:
    """Gate and pane of an address."""
    return request.path_params["name"], request.path_params["pane"]


def _tagged(request: Request, content: bytes, kind: str) -> Response:
    """Content that a browser asks for again, and gets only if it changed."""
    tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    headers = {"cache-control": "no-cache", "etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=kind)
