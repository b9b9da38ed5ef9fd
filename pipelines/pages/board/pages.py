"""The pages of the board as HTML: the report's sections with the figures of now."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from markupsafe import Markup

from evenflow.gates import facts, triggers
from evenflow.gates.ledger import pruned
from evenflow.gates.ledger.files import canonical
from evenflow.gates.ledger.spans import causes
from evenflow.pipelines.pages.board.follow import Board, Gate
from evenflow.pipelines.pages.board.lately import Lately
from evenflow.pipelines.pages.board.letters import PAGE, letters
from evenflow.pipelines.pages.board.search import SearchResult, search, sentences
from evenflow.pipelines.pages.board.window import KEYS, LAST, Window, window
from evenflow.pipelines.pages.report import report, view, why
from evenflow.pipelines.pages.report.figures import figures
from evenflow.schemas.ledger import STATES, PaneEntry

FOLDER = Path(__file__).parent
PAGES = 48  # pages that are kept until something changes; each has 100 to 300 kB
UNREAD = 20  # files that could not be read, of those that are named
WAITING = 10  # earlier panes that wait for a decision, of those drawn among all gates
CHANGES = 25  # changed sentences of a pane that are shown
RAW = 400_000  # characters of a ledger entry that are shown
SPANS = (("60", "last 60"), (str(LAST), f"last {LAST}"), ("1000", "last 1,000"), ("all", "all"))


class NotThereError(LookupError):
    """A page that does not exist; the message says what is missing."""


class Pages:
    """Renders the pages, and keeps them until something changes.

    Its methods may raise LedgerError and OSError, and NotThereError.
    """

    def __init__(self, board: Board, actions: bool):
        self.board, self.actions = board, actions
        self._environment = report.environment(FOLDER)
        for template in self._environment.list_templates(["j2"]):
            self._environment.get_template(template)  # compiled now, and not for the first viewer
        self._pages: Lately[str] = Lately(PAGES)
        self._cards: Lately[tuple[Any, Markup]] = Lately(2 * len(board.gates) + 1)

    def render(self, template: str, **variables: Any) -> str:
        """Render a template that shows no gate's figures."""
        return self._environment.get_template(template).render(actions=self.actions, **variables)

    def known(self, name: str) -> Gate:
        """The gate of a name. Raises NotThereError."""
        if name not in self.board.gates:
            raise NotThereError("there is no such gate on this board")
        return self.board.gates[name]

    def gate(self, name: str) -> Gate:
        """The gate of a name, looked at once at least. Raises NotThereError."""
        return self.known(name).ready()

    def glance(self) -> str:
        """All gates, worst first."""
        version = self.board.version(list(self.board.gates))
        return self._pages.get(("", version), partial(self._draw_glance, version))

    def _draw_glance(self, version: str) -> str:
        """Draw all gates."""
        cards = sorted((self._card(gate) for gate in self.board.gates.values()), key=lambda c: c[0])
        states = [grave[2] for grave, _ in cards]
        return self.render(
            "glance.html.j2",
            version=version,
            events="/events",
            cards=[card for _, card in cards],
            counts={one: states.count(one) for one in ("held", *reversed(STATES))},
        )

    def _card(self, gate: Gate) -> tuple[Any, Markup]:
        """A gate among all gates, and by what it is sorted."""
        if (kept := self._cards.peek((gate.name, gate.version))) is not None:
            return kept
        with gate.lock:
            return self._cards.get((gate.name, gate.version), partial(self._draw_card, gate))

    def _draw_card(self, gate: Gate) -> tuple[Any, Markup]:
        """Draw a gate; its lock is held."""
        totals = gate.history.totals if gate.history is not None else None
        train = facts.answer(totals, True, gate.held, gate.config) if totals is not None else None
        state = train.word if train and totals and totals.panes else "none"
        begin = gate.recent[0].first if gate.recent else 0
        blocked = totals.blocked if totals is not None and begin else []
        decided = totals.reviewed.decided if totals is not None else []
        waiting = [pane for pane in blocked if pane < begin and pane not in decided][-WAITING:]
        earlier = [span for pane in waiting for span in gate.single(pane, pane)]
        drawn = self.render(
            "card.html.j2",
            gate=gate,
            totals=totals,
            train=train,
            state=state,
            limits=gate.config.thresholds if gate.config else lambda _: (None, None),
            earlier=earlier,
            strip_label=view.strip_label(gate.recent),
        )
        grave = ("held", *reversed(STATES), "none").index(state)
        return (grave, gate.name, state), Markup(drawn)

    def gate_page(self, name: str, query: Mapping[str, str]) -> str:
        """One gate."""
        gate = self.gate(name)
        asked = {key: query[key] for key in KEYS if query.get(key)}
        key = gate.name, gate.version, tuple(asked.items())
        if (kept := self._pages.peek(key)) is not None:  # a look at a store may hold the lock
            return kept
        with gate.lock:  # of several viewers one draws, and the others wait for that
            key = gate.name, gate.version, tuple(asked.items())
            return self._pages.get(key, partial(self._draw_gate, gate, asked))

    def _draw_gate(self, gate: Gate, asked: Mapping[str, str]) -> str:
        """Draw a gate; its lock is held."""
        common = {"gate": gate, "version": gate.version, "events": f"/events?gate={gate.name}"}
        if gate.history is None:
            return self.render("unread.html.j2", **common)
        shown = window(gate, asked)
        totals = gate.history.totals
        found = figures(
            totals, [], gate.meta, gate.held, gate.events, reviews=gate.history.decisions
        )
        drawn = report.context(shown.panes, found, gate.meta or {}, shown.rows)
        return self.render(
            "gate.html.j2",
            **drawn,
            **common,
            totals=totals,
            window=shown,
            asked=asked,
            ranges=_ranges(gate.name, shown, totals.panes, asked),
            href=partial(_panes_address, gate.name),
            document=partial(_document, gate.name),
            letters=partial(_letters, gate.name),
            docs=None,
            shards=[],
            shard_count=None,
            triggers=triggers.records(gate.storage, report.MOST_TRIGGERS),
        )

    def pane(self, name: str, number: int) -> str:
        """One pane: its figures, what was changed, and its entry."""
        gate = self.gate(name)
        entry = self.entry(gate, number)
        found = SearchResult()
        changed = sentences(gate.storage, entry, None, found, CHANGES + 1)
        raw = canonical(entry.model_dump(mode="json")).decode()
        with gate.lock:
            assert gate.history is not None
            count, review = len(gate.history), gate.history.reviews.get(number)
            explained = (
                why.why(gate.storage, gate.history, gate.config, number) if gate.config else None
            )
        return self.render(
            "pane.html.j2",
            gate=gate,
            w=explained,
            review=review,
            document=partial(_document, gate.name),
            entry=entry,
            causes=causes(entry),
            count=count,
            attributes=entry.attributes,
            changed=changed[:CHANGES],
            more=len(changed) > CHANGES,
            unread=pruned.missing(gate.storage, found.unread),
            raw=raw[:RAW],
            cut=len(raw) > RAW,
        )

    def letters(self, name: str, number: int, page: int) -> str:
        """Dead letters of a pane; page: which of them, from 0."""
        gate = self.gate(name)
        entry = self.entry(gate, number)
        if entry.dead_letters is None:
            raise NotThereError(f"pane {number} has no dead letters")
        try:
            found, problem = letters(gate.storage, entry.dead_letters.name, page), ""
        except OSError as error:
            found, problem = [], error.strerror or str(error)
        return self.render(
            "letters.html.j2",
            gate=gate,
            entry=entry,
            letters=found,
            page=page,
            pages=-(-entry.dead_letters.rows // PAGE),
            problem=problem,
        )

    def document(self, name: str, identity: str, start: int | None) -> str:
        """Where a document went; start: the newest pane that is looked at."""
        gate = self.gate(name)
        found = search(gate, identity, start) if identity and gate.history is not None else None
        unread = pruned.missing(gate.storage, found.unread[:UNREAD] if found else [])
        return self.render(
            "document.html.j2", gate=gate, identity=identity, found=found, unread=unread
        )

    def entry(self, gate: Gate, number: int) -> PaneEntry:
        """The entry of a pane. Raises NotThereError."""
        with gate.lock:
            if gate.history is None or not 0 <= number < len(gate.history):
                raise NotThereError(f"there is no pane {number} yet")
            return gate.history[number]


def _panes_address(name: str, first: int, last: int) -> str:
    """The address of a pane, or of some panes of a gate."""
    return f"/gate/{name}/pane/{first}" if first == last else f"/gate/{name}?from={first}&to={last}"


def _document(name: str, identity: str, pane: int | None) -> str:
    """The address of a document, in a pane if that is known."""
    known = {} if pane is None else {"before": pane}
    return f"/gate/{name}/document?{urlencode({'id': identity, **known}, errors='replace')}"


def _letters(name: str, rows: list[dict[str, int]]) -> list[tuple[str, str]]:
    """Addresses and names of the dead letters of some panes."""
    return [(f"/gate/{name}/dead/{row['pane']}", f"pane {row['pane']:,}") for row in rows]


def _ranges(
    name: str, shown: Window, count: int, asked: Mapping[str, str]
) -> list[tuple[str, str, bool]]:
    """Links to other ranges of panes: address, words, and whether it is the one that is shown."""
    width = shown.last - shown.first + 1
    last = asked.get("last", str(LAST)) if shown.live else ""
    out = [(f"/gate/{name}?last={key}", words, key == last) for key, words in SPANS]

    quarter, half, more = width // 4, width // 2, 0 <= shown.last < count - 1
    steps = (
        ("earlier", shown.first > 0, shown.first - width, shown.first - 1),
        ("later", more, shown.last + 1, shown.last + width),
        ("closer", width > 20, shown.first + quarter, shown.last - quarter),
        ("wider", shown.first > 0 or shown.last < count - 1, shown.first - half, shown.last + half),
    )
    for words, there, first, end in steps:
        query = urlencode({"from": max(first, 0), "to": min(end, count - 1)})
        out += [(f"/gate/{quote(name)}?{query}", words, False)] * there
    return out
