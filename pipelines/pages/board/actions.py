"""Holding and releasing a gate, and decisions on panes, by a person with the board's token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from evenflow.gates import hold
from evenflow.gates.hold import Action
from evenflow.gates.ledger import reviews
from evenflow.pipelines.pages.board.follow import Board, Gate
from evenflow.pipelines.pages.board.pages import Pages
from evenflow.pipelines.pages.board.security import (
    Session,
    Sessions,
    TooManyTriesError,
    cookie_of,
    fits,
)
from evenflow.pipelines.pages.board.window import number_of
from evenflow.schemas.ledger import PaneEntry

FORM = 16 << 10  # bytes of a form
WHO, REASON = 80, 1000  # characters


class FormError(ValueError):
    """A form that cannot be used; the message says why."""


class Actions:
    """Answers the pages of actions."""

    def __init__(self, board: Board, pages: Pages, token: str):
        self._board, self._pages, self._sessions = board, pages, Sessions(token)

    async def unlock(self, request: Request) -> Response:
        """Ask for the token, and start a session."""
        name = request.query_params.get("gate", "")
        name = name if name in self._board.gates else ""
        about = about_of(request)
        problem, status = "", 200
        if request.method != "GET":
            try:
                address = request.client.host if request.client else ""
                given = (await form_of(request)).get("token", "")
                if (cookie := self._sessions.start(given, address)) is not None:
                    back = f"/act/{name}?{about}".rstrip("?") if name else "/"
                    answer = RedirectResponse(back, 303)
                    kept = {"path": "/", "httponly": True, "samesite": "strict"}
                    answer.set_cookie(cookie_of(request), cookie, **kept)
                    return answer
                problem, status = "that is not the token of this board", 403
            except TooManyTriesError:
                problem, status = "too many wrong tokens; wait a minute", 429
        return self._page("unlock.html.j2", status, name=name, about=about, problem=problem)

    async def act(self, request: Request) -> Response:
        """Show the form that holds or releases a gate, and carry it out."""
        gate = self._pages.known(request.path_params["name"])
        session = self._sessions.get(request.cookies.get(cookie_of(request)))
        pane = number_of(request.query_params.get("pane", ""))
        if session is None:
            asked = f"/unlock?gate={gate.name}&{about_of(request)}"
            return RedirectResponse(asked.rstrip("&"), 303)
        given = {} if request.method == "GET" else await form_of(request)
        answer = await run_in_threadpool(self._act, gate, session, request.method, given, pane)
        if answer.status_code == 303:
            self._board.tell()
        return answer

    def _act(
        self,
        gate: Gate,
        session: Session,
        method: str,
        given: dict[str, str],
        pane: int | None,
    ) -> Response:
        """Show or carry out the form of a gate."""
        gate.look()
        with gate.lock:
            entry = None if pane is None else self._pages.entry(gate, pane)
            wanted: Action = "hold" if gate.held is None else "release"
            offered = _offered(gate, entry)
            decided = gate.history.decisions if gate.history is not None else ()
            seen = len(gate.events if entry is None else decided)
            problem, status = "", 200
            try:
                if method != "GET":
                    actions = (wanted,) if entry is None else offered
                    who, reason = _checked(session, given, actions, seen)
                    if gate.history is None:
                        raise FormError("the ledger cannot be read now")
                    if entry is None:
                        hold.add_event(gate.storage, wanted, reason, len(gate.history), who)
                    else:
                        asked = given["action"]
                        action: reviews.Action = next(each for each in offered if each == asked)
                        panes = range(entry.pane, entry.pane + 1)
                        reviews.add(gate.storage, action, panes, reason, who)
                    gate.look()
                    back = "" if entry is None else f"/pane/{entry.pane}"
                    return RedirectResponse(f"/gate/{gate.name}{back}", 303)
            except FormError as error:
                problem, status = str(error), 409
            except OSError as error:
                problem, status = f"it could not be written: {error.strerror or error}", 500
            return self._page(
                "act.html.j2",
                status,
                gate=gate,
                action=wanted,
                form=session.form,
                seen=seen,
                pane=pane,
                review=entry and gate.history and gate.history.reviews.get(entry.pane),
                offered=offered,
                last=gate.events[-1] if gate.events else None,
                who=given.get("who", session.who)[:WHO],
                reason=given.get("reason", "")[:REASON],
                problem=problem,
                most={"who": WHO, "reason": REASON},
            )

    def _page(self, template: str, status: int, **variables: object) -> Response:
        """A page that nobody keeps."""
        html = self._pages.render(template, **variables)
        return HTMLResponse(html, status, {"cache-control": "no-store"})


def _checked(
    session: Session, given: dict[str, str], actions: Sequence[str], seen: int
) -> tuple[str, str]:
    """Who sends a form, and the reason. Raises FormError for one that cannot be used."""
    if not fits(session, given.get("form", "")):
        raise FormError("this form is from another session; look at it again and send it again")
    if given.get("action") not in actions or given.get("seen") != str(seen):
        raise FormError("somebody else has decided, held or released meanwhile; see below")
    who, reason = (" ".join(given.get(key, "").split()) for key in ("who", "reason"))
    if not who or not reason:
        raise FormError("a name and a reason are needed")
    if len(who) > WHO or len(reason) > REASON:
        raise FormError(f"a name has {WHO} characters at most, a reason {REASON}")
    session.who = who
    return f"{who}, by the board", reason


def _offered(gate: Gate, entry: PaneEntry | None) -> tuple[reviews.Action, ...]:
    """What may be decided on a pane."""
    if entry is None or gate.history is None:
        return ()
    review, folder = gate.history.reviews.get(entry.pane), gate.history.folder(entry)
    whole = folder == "accepted" and reviews.aside(entry) is None
    not_now = {"undo" if review is None else review.action, "accept" * whole}
    return tuple(each for each in get_args(reviews.Action) if each not in not_now)


def about_of(request: Request) -> str:
    """What of a gate a form is about, as a query: a pane, or nothing."""
    pane = number_of(request.query_params.get("pane", ""))
    return "" if pane is None else f"pane={pane}"


async def form_of(request: Request) -> dict[str, str]:
    """Read the fields of a form.

    Returns:
        Value by field; of a field that is there twice the last one.

    Raises:
        FormError: The form is too long or no form. The application answers it.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM:
            raise FormError("the form is too long")
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=20)
    except ValueError as error:
        raise FormError("the form cannot be read") from error
    return {key: values[-1] for key, values in fields.items()}
