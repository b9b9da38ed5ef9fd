"""The review of a draft as a web application; everything that is decided goes into the journal."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from evenflow.pipelines.pages import board
from evenflow.pipelines.pages.board.actions import FormError, form_of
from evenflow.pipelines.pages.board.security import Guard, Session, Sessions, fits
from evenflow.pipelines.pages.report import report
from evenflow.transforms.lab.word_lists.agreement import Agreement, agreement
from evenflow.transforms.lab.word_lists.draft import Candidate, DraftError
from evenflow.transforms.lab.word_lists.journal import ACTIONS, Action, Journal, Opinion, Opinions

COOKIE = "evenflow_review"
FOLDER = Path(__file__).parent
WHO = 80  # characters of a name
KNOWN: dict[str, Action] = {each: each for each in ACTIONS}
BOTH = "both"  # accepts a word and its proposed counterparts
KEYS = 9  # groups that a digit accepts


def application(journal: Journal, token: str, host: str = "127.0.0.1") -> Starlette:
    """Make the application."""
    review = ReviewPage(journal, Sessions(token))

    def failed(status: int, request: Request, error: Exception) -> Response:
        said = f"{error.strerror or error}" if isinstance(error, OSError) else str(error)
        return review.page("problem.html.j2", status, said=f"Nothing was changed: {said}")

    failures: dict[type[Exception], Callable[..., Response]] = {
        FormError: partial(failed, 409),
        DraftError: partial(failed, 409),
        OSError: partial(failed, 500),
    }
    return Starlette(
        routes=[
            Route("/", review.show),
            Route("/who", review.who, methods=["POST"]),
            Route("/decide", review.decide, methods=["POST"]),
            *(Route(f"/{name}", review.static) for name in ("style.css", "review.js", "icon.svg")),
        ],
        middleware=[Middleware(Guard, host=host)],
        exception_handlers=failures,  # type: ignore[arg-type] (Starlette's own kind is wider)
    )


class ReviewPage:
    """Answers the requests."""

    def __init__(self, journal: Journal, sessions: Sessions):
        self._journal, self._sessions = journal, sessions
        self._candidates = journal.draft.candidates
        self._places = {each.word: place for place, each in enumerate(self._candidates)}
        self._environment = report.environment(FOLDER)
        style = self._environment.get_template("style.css.j2").render()
        script = (FOLDER / "static" / "review.js").read_text("utf-8")
        icon = (Path(board.__file__).parent / "static" / "icon.svg").read_text("utf-8")
        self._static = {
            "/style.css": (style, "text/css"),
            "/review.js": (script, "text/javascript"),
            "/icon.svg": (icon, "image/svg+xml"),
        }

    def page(self, template: str, status: int = 200, **variables: Any) -> Response:
        """Render a page that nobody keeps."""
        html = self._environment.get_template(template).render(**variables)
        return HTMLResponse(html, status, {"cache-control": "no-store"})

    def static(self, request: Request) -> Response:
        """The style, the script and the icon."""
        content, kind = self._static[request.url.path]
        return Response(content, media_type=kind)

    # No coroutine: Starlette calls it in a thread, since it reads the journal
    def show(self, request: Request) -> Response:
        """Start a session by the token of the address, or show a word."""
        if (token := request.query_params.get("token")) is not None:
            cookie = self._sessions.start(token)
            if cookie is not None:
                answer = RedirectResponse("/", 303)
                answer.set_cookie(COOKIE, cookie, path="/", httponly=True, samesite="strict")
                return answer
        session = self._sessions.get(request.cookies.get(COOKIE))
        if session is None:
            said = "Open the address that the command has printed: it has the token."
            return self.page("problem.html.j2", 403, said=said)
        if not session.who:
            return self.page("who.html.j2", form=session.form, most=WHO)
        return self._word(session, request.query_params)

    async def who(self, request: Request) -> Response:
        """Take the reviewer's name."""
        session, given = await self._given(request)
        session.who = " ".join(given.get("who", "").split())[:WHO]
        return RedirectResponse("/", 303)

    async def decide(self, request: Request) -> Response:
        """Append a decision, and go on to the next word."""
        session, given = await self._given(request)
        if not session.who:
            raise FormError("a name is needed first")
        return await run_in_threadpool(self._decide, session.who, given)

    async def _given(self, request: Request) -> tuple[Session, dict[str, str]]:
        """The session of a form, and its fields. Raises FormError."""
        session, given = self._sessions.get(request.cookies.get(COOKIE)), await form_of(request)
        if session is None or not fits(session, given.get("form", "")):
            raise FormError("this form is from another session; load the page again")
        return session, given

    def _decide(self, who: str, given: dict[str, str]) -> Response:
        """Carry out a form. Raises DraftError and OSError."""
        word, queue = given.get("word", ""), given.get("queue", "")
        action, _, group = given.get("action", "").partition(":")
        place = self._places.get(word, -1)
        if action == "undo":
            last = self._journal.state().last_of(who)
            if last is None:
                raise FormError("there is nothing to undo")
            self._journal.add(who, last, "undo")
            return _to(queue, at=self._places.get(last, 0))
        if action == BOTH:
            self._journal.confirm(who, word)
            return _to(queue, after=place)
        known = KNOWN.get(action)
        if known is None:
            raise FormError("no such action")
        value = group or " ".join(given.get(known, "").split())
        self._journal.add(who, word, known, value)
        return _to(queue, at=place) if known in ("pair", "comment") else _to(queue, after=place)

    def _word(self, session: Session, query: Any) -> Response:
        """The page of a word: the one that is asked for, or the next that is undecided."""
        state = self._journal.state()
        found, agreed = state.opinions, agreement(state.opinions)
        queue = "disputed" if query.get("queue") == "disputed" else ""
        at = _count(query.get("at", ""))
        if at is None or at >= len(self._candidates):
            after = _count(query.get("after", ""))
            at = self._next(found, agreed, session.who, queue, -1 if after is None else after)
        own = found.get(session.who, {})
        shared = {
            "who": session.who,
            "form": session.form,
            "queue": queue,
            "draft": self._journal.draft,
            "decided": sum(each.decided for each in own.values()),
            "seeds": [(n, each) for n, each in enumerate(self._candidates) if each.is_seed],
            "agreed": agreed,
            "can_undo": state.last_of(session.who) is not None,
        }
        if at is None:
            return self.page("done.html.j2", **shared)
        candidate = self._candidates[at]
        return self.page(
            "word.html.j2",
            **shared,
            at=at,
            each=candidate,
            own=own.get(candidate.word, Opinion()),
            others=_others(found, session.who, candidate),
            examples=[_marked(text, candidate) for text in candidate.examples],
            keys=list(enumerate(self._journal.draft.groups[:KEYS], 1)),
        )

    def _next(
        self, found: Opinions, agreed: Agreement, who: str, queue: str, after: int
    ) -> int | None:
        """The place of the next word of a queue, from a place on and then from the beginning."""
        own = found.get(who, {})
        disputed = set(agreed.disputed)
        whole = len(self._candidates)
        for step in range(1, whole + 1):
            place = (after + step) % whole
            word = self._candidates[place].word
            done = self._candidates[place].is_seed or (word in own and own[word].decided)
            if (word in disputed) if queue else not done:
                return place
        return None


def _to(queue: str, **place: int) -> Response:
    """A redirect to a word, within a queue."""
    return RedirectResponse("/?" + urlencode(place | ({"queue": queue} if queue else {})), 303)


def _count(text: str) -> int | None:
    """A number in a query; None if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _others(found: Opinions, who: str, candidate: Candidate) -> dict[str, Opinion]:
    """What other reviewers think about a word."""
    return {
        reviewer: own[candidate.word]
        for reviewer, own in found.items()
        if reviewer != who and candidate.word in own
    }


def _marked(text: str, candidate: Candidate) -> list[tuple[str, bool]]:
    """The parts of a sentence, each with whether it is a form of the word."""
    if not candidate.forms:  # a sentence
        return [(text, False)]
    forms = "|".join(re.escape(form) for form in sorted(candidate.forms, key=len, reverse=True))
    parts = re.split(rf"(?i)(?<!\w)({forms})(?!\w)", text)
    return [(part, number % 2 == 1) for number, part in enumerate(parts) if part]
