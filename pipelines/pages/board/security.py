"""Who may ask, and what a page may do.

A page of a foreign site may send requests to a board on the same machine. So a request must name a
host that the board knows: a foreign name that was made to point here is refused. An action must
come from the board's own page, with the session's word in its form. A session needs the token.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import time
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenflow.pipelines.pages.board.lately import Lately

SESSIONS = 200  # the most sessions; the one that was quiet longest ends
ADDRESSES = 1000  # whose wrong tokens are counted; the one that was quiet longest is forgotten
# Wrong tokens of an address within a time after which none of it is looked at: a token cannot be
# guessed. Who has a session, or comes from elsewhere, is not kept out
TRIES, TRIES_SECONDS = 10, 60.0
LEAST_TOKEN = 16  # characters of a token that a user gives
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # With no-referrer, a browser would send the origin null with forms
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
SAFE = ("GET", "HEAD")
LOOPBACK = ("localhost",)


class Guard:
    """Refuses requests for foreign hosts and from foreign origins, and adds headers to answers.

    Args:
        names: Further names that it is reached by.
    """

    def __init__(self, app: ASGIApp, host: str, names: Collection[str] = ()):
        self._app = app
        self._names = {name.lower() for name in (*LOOPBACK, *names, host)}
        self._any_address = not is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refused = self._refused(scope["method"], Headers(scope=scope))
        answer = self._app if refused is None else PlainTextResponse(refused, 403)
        await answer(scope, receive, guarded)

    def _refused(self, method: str, headers: Headers) -> str | None:
        """Why a request is refused; None if it is not."""
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or not self._known(host):
            return "this board is not reached by that name; see --allow-host\n"
        if method in SAFE:
            return None
        if urlsplit(headers.get("origin", "")).netloc.lower() != host.lower():
            return "an action must come from a page of this board\n"
        return None

    def _known(self, host: str) -> bool:
        """Whether a Host header names this board."""
        name = re.sub(r":\d{1,5}$", "", host).lower()
        address = _address(name.strip("[]"))
        # No name points to an address that is given as one, so it is not a foreign name
        known = address is not None and (self._any_address or address.is_loopback)
        return known or name in self._names


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a text is; None if it is none."""
    with suppress(ValueError):
        return ipaddress.ip_address(text)
    return None


def network(address: str) -> str:
    """What counts as one address: of IPv6 the 64 bits that one customer is given."""
    given = _address(address)
    if given is None or given.version == 4:
        return address
    return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    given = _address(host)
    return host.lower() in LOOPBACK if given is None else given.is_loopback


@dataclass
class Session:
    """A browser that has given the token.

    Attributes:
        form: What its forms must contain.
        who: The name that was given last.
    """

    form: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    who: str = ""


class TooManyTriesError(PermissionError):
    """An address has given so many wrong tokens that it must wait."""


class Sessions:
    """The browsers that may act."""

    def __init__(self, token: str):
        self._token = token.encode()
        self._sessions: Lately[Session] = Lately(SESSIONS)
        # When the last wrong tokens were given, by the address that sent them
        self._wrong: Lately[deque[float]] = Lately(ADDRESSES)

    def start(self, token: str, address: str = "") -> str | None:
        """Start a session.

        Args:
            token: What was given as the board's token.

        Returns:
            The session's cookie; None if the token is wrong.

        Raises:
            TooManyTriesError: TRIES wrong tokens came from this address within TRIES_SECONDS.
        """
        now, address = time.monotonic(), network(address)
        tries = self._wrong.peek(address) or ()
        if len(tries) == TRIES and now - tries[0] < TRIES_SECONDS:
            raise TooManyTriesError
        if not secrets.compare_digest(token.strip().encode("utf-8", "replace"), self._token):
            self._wrong.get(address, lambda: deque(maxlen=TRIES)).append(now)
            return None
        cookie = secrets.token_urlsafe(32)
        self._sessions.put(cookie, Session())
        return cookie

    def get(self, cookie: str | None) -> Session | None:
        """The session of a cookie; None without one."""
        return self._sessions.peek(cookie or "")


def cookie_of(request: Request) -> str:
    """Name the cookie of a board: browsers send a cookie to every port of a host."""
    return f"evenflow_board_{request.url.port or request.url.scheme}"


def fits(session: Session, given: str) -> bool:
    """Whether a form was made for a session."""
    return secrets.compare_digest(session.form.encode(), given.encode("utf-8", "replace"))
