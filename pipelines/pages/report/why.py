"""Collects why a pane was judged as it was: from the ledger, its shards and the word lists."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenflow.gates import facts, weights
from evenflow.gates import why as reasons
from evenflow.gates.ledger import pruned
from evenflow.gates.ledger.history import History
from evenflow.gates.why import AttributeWhy, Marked, PaneCounts, Why
from evenflow.pipelines.pages.report import files
from evenflow.pipelines.pages.report.view import word_list
from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import BAD, AttributeEntry, PaneEntry, Sums, Verdict
from evenflow.schemas.words import ranges
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.representation.dr import score, sums
from evenflow.transforms.measures.shift.measure import ALL, ShiftMeasure
from evenflow.transforms.measures.shift.strata import of_value
from evenflow.transforms.storage.storage import Storage
from evenflow.wordlists.loader import WordList

BACK = 64  # panes that are read at a time to find those of the window
PASSAGE = 300  # characters of a document that are shown
BEFORE = 80  # of these, before its first label


def why(
    storage: Storage,
    history: History,
    config: Config,
    pane: int,
    attribute: str | None = None,
    whole: bool = False,
) -> Why:
    """Explain a pane's verdict.

    Args:
        pane: Number of the pane, which the ledger has.
        whole: Whether all of the output is explained: by this pane, or by sources that moved.
        attribute: The attribute that is explained; None for those of the verdict, or for all if it
            comes from none.

    Raises:
        LedgerError: An entry cannot be read.
        OSError: A file of the ledger cannot be read.
        KeyError: The pane has no such attribute.
    """
    entry = history[pane]
    state, found = entry.verdict.state, whole and attribute is None and facts.moved(history.totals)
    has_moved = bool(found) and state not in BAD
    if attribute is not None:
        names = [attribute]
    else:
        names = [n for n, each in entry.attributes.items() if each.verdict.state == state]
        names = [n for n in reasons.shifted(entry) if n in entry.attributes] or names
        names = [] if has_moved else names or list(entry.attributes)
    # Weights continue what was accepted before, so all of it is judged
    weighs = entry.weights is not None and any(n in entry.weights.attributes for n in names)
    earlier = _earlier(history, pane, pane if weighs else config.pane.rolling - 1)
    key, rule = reasons.rule(entry)
    if has_moved:
        key, rule = "shift_moved", reasons.kinds()["shift_moved"]["rule"]
    decided = history.reviews.get(pane)
    step = {} if decided else dict(reasons.kinds().get(key, {}))
    attributes = {
        name: _attribute(storage, history, entry, name, earlier, config, weighs) for name in names
    }
    unread = {name for each in attributes.values() for name in each.unread}
    notes = pruned.notes(storage) if unread else {}
    for each in attributes.values():
        each.missing = pruned.said(notes, each.unread)
    if "next" in step and unread & notes.keys():
        step |= reasons.kinds()["pruned"]
    book, then = step.get("runbook"), step.get("next")
    named = {"dir": str(storage), "pane": str(pane), "by": config.reference.by or "FIELD"}
    place = {name: shlex.quote(each) for name, each in named.items()}  # for a shell
    return Why(
        output=_of_output(history) if whole else [],
        pane=pane,
        decided=decided and decided.said,
        verdict=entry.verdict,
        rule=rule,
        failures=entry.checks.failures,
        dead_reasons=entry.dead_reasons,
        removed=entry.removed and entry.removed.told,
        sources=[] if has_moved else reasons.sources(entry, decided and f"{decided.action}ed"),
        attributes=attributes,
        runbook=book and config.alerts.runbooks.replace("{name}", book),
        next=then and then.format(**place),
    )


def _of_output(history: History) -> list[str]:
    """All panes that wait for a decision, and the sources that were set aside or moved."""
    totals, shift = history.totals, ShiftMeasure()
    waiting = [pane for pane in totals.blocked if pane not in totals.reviewed.decided]
    found = totals.measures.get(shift.name)
    lines = shift.lines(shift.section(found, 0, 0) | {"fresh": {}}) if found else []
    return [f"in quarantine: pane {', '.join(ranges(waiting))}"] * bool(waiting[1:]) + lines


def _attribute(
    storage: Storage,
    history: History,
    entry: PaneEntry,
    name: str,
    earlier: Sequence[PaneEntry],
    config: Config,
    weighs: bool,
) -> AttributeWhy:
    """Explain an attribute of a pane. Raises KeyError for one that the pane does not have."""
    each = entry.attributes[name]

    def sums_of(panes: Sequence[PaneEntry]) -> dict[int, Sums]:
        return {one.pane: one.attributes[name].sums for one in panes if name in one.attributes}

    words = word_list(config, name, each.groups, each.labels)
    source, off = reasons.shifted(entry).get(name, ("", None))
    if off is not None and words is not None:
        own = _of_source(storage, entry, each, source, off, config, words)
        if own is not None:
            return own
    before = sums_of(earlier)
    mentions = sum(sum(one.counts) for one in (each.sums, *before.values()))
    if not weighs and mentions < config.gate.min_mentions:  # then all that was accepted counts
        before = sums_of(_earlier(history, entry.pane, entry.pane))
    rows = _rows(storage, entry, name, each, config)
    rows.counts *= reasons.people_per_mention(each)
    found = reasons.attribute(each, before, rows, words.labels if words is not None else None)
    found.less = weights.forgotten(name, each.unweighted, each.sums)
    texts = _texts(storage, entry, [row.id for row in found.documents], config)
    finder = LabelFinder([words]) if words is not None else None
    for row in found.documents:
        row.passage, row.labels = passage(texts.get(row.id, ""), finder)
    return found


def _of_source(
    storage: Storage,
    entry: PaneEntry,
    each: AttributeEntry,
    source: str,
    off: Any,
    config: Config,
    words: WordList,
) -> AttributeWhy | None:
    """Explain the shift of a source by its own documents, beside the shares that it had.

    Returns:
        None where rows do not say of which source they are, or none can be read.
    """
    shift: Any = entry.measures["shift"]
    key, text, by = config.fields.id, config.fields.column, config.reference.by
    alone = entry.set_aside if source in shift.aside else None
    if by is None and source != ALL and {*(shift.aside if alone else shift.strata)} != {source}:
        return None  # they are by file, which rows do not have
    found = PaneCounts([], np.zeros((0, len(each.groups))))
    read = [key, text, *([by] if by not in (None, key, text) and source != ALL else [])]

    def chosen(table: pa.Table) -> Any:
        own = map(of_value, table[read[-1]].to_pylist()) if read[2:] else [source] * len(table)
        return pa.array([source == one for one in own])

    places = [("quarantine", alone)] if alone else [(entry.folder, one) for one in entry.shards]
    rows = [
        row
        for folder, file in places
        for row in files.rows(storage, (folder, file.name), read, chosen, found.unread, read)
    ]
    if not rows:
        return None
    finder, labels = LabelFinder([words]), Counter[str]()
    mentions = [finder.find(row[text]) for row in rows]
    for row, own in zip(rows, mentions, strict=True):
        labels.update(row[text][one.start : one.end].lower() for one in own)
    found.ids = [row[key] for row in rows]
    groups = [[one.group for one in own] for own in mentions]
    found.counts = np.array([[own.count(one) for one in each.groups] for own in groups], float)
    if off.of == "documents":  # each counts as one mention of the group that leads it
        found.counts = (2 * found.counts > found.counts.sum(axis=1, keepdims=True)).astype(float)
    total = sums(found.counts.astype(np.int64))
    update = {"verdict": Verdict(state=off.state, reason=off.reason), "target": off.expected}
    update |= {"labels": dict(labels), "sums": total, "people": None}
    update["rolling"] = score(total, [one / sum(off.expected) for one in off.expected])
    made = reasons.attribute(each.model_copy(update=update), {}, found, words.labels)
    made.source = "all judged sources" if source == ALL else source
    texts = {row[key]: row[text] for row in rows}
    for one in made.documents:
        one.passage, one.labels = passage(texts[one.id], finder)
    for label in made.labels if off.of == "documents" else ():
        label.share = None
    return made


def _earlier(history: History, pane: int, most: int) -> list[PaneEntry]:
    """The last accepted panes before a pane, in order."""
    kept = (each for each in _back(history, pane) if history.folder(each) == "accepted")
    return list(islice(kept, most))[::-1]


def _back(history: History, end: int) -> Iterator[PaneEntry]:
    """The entries before a pane, the newest first; some are read at a time."""
    for stop in range(end, 0, -BACK):
        yield from reversed(history[max(stop - BACK, 0) : stop])


def _rows(
    storage: Storage, entry: PaneEntry, name: str, each: AttributeEntry, config: Config
) -> PaneCounts:
    """The mentions of a pane's documents that name an attribute."""
    columns = [documents.mentions(name, group) for group in each.groups]
    weight = documents.WEIGHT.name
    weighted = config.has_weights and config.repair.output_as == "weight"
    read = [config.fields.id, *columns, *([weight] if weighted else [])]
    found = PaneCounts([], np.zeros((0, len(columns))))

    def naming(table: pa.Table) -> Any:
        return reduce(pc.or_, (pc.greater(table[one], 0) for one in columns))

    rows = [
        row
        for shard in entry.shards
        for row in files.rows(
            storage, (entry.folder, shard.name), columns, naming, found.unread, read
        )
    ]
    if rows:
        found.ids = [row[config.fields.id] for row in rows]
        found.counts = np.array([[row[one] for one in columns] for row in rows], float)
        found.counts *= np.array([row[weight] if weighted else 1.0 for row in rows])[:, None]
    return found


def _texts(
    storage: Storage, entry: PaneEntry, ids: Sequence[str], config: Config
) -> dict[str, str]:
    """The texts of some documents of a pane, by id; those that cannot be read are missing."""
    key, text = config.fields.id, config.fields.column
    return {
        row[key]: row[text]
        for shard in entry.shards
        for row in files.with_ids(storage, (entry.folder, shard.name), key, ids, [], [key, text])
    }


def find_text(
    storage: Storage, history: History, config: Config, identity: str
) -> tuple[int, str] | None:
    """Find a document by its id, in the newest pane that has it.

    Returns:
        The pane and the text, as it was written; None if no shard has it.

    Raises:
        LedgerError: An entry cannot be read.
        OSError: A file of the ledger cannot be read.
    """
    for entry in _back(history, len(history)):
        if (text := _texts(storage, entry, [identity], config).get(identity)) is not None:
            return entry.pane, text
    return None


def passage(text: str, finder: LabelFinder | None) -> tuple[str, list[Marked]]:
    """Cut the passage of a text where its first labels are.

    Args:
        finder: Finds the labels; None: the passage is the text's beginning.

    Returns:
        The passage, and the labels in it.
    """
    found = sorted(finder.find(text), key=lambda one: one.start) if finder is not None else []
    begin = max(found[0].start - BEFORE, 0) if found else 0
    if begin:
        begin = text.find(" ", begin, found[0].start) + 1 or begin
    end, cut = min(begin + PASSAGE, len(text)), "… " if begin else ""
    moved = len(cut) - begin
    return f"{cut}{text[begin:end]}{' …' if end < len(text) else ''}", [
        Marked(start=one.start + moved, end=one.end + moved, group=one.group)
        for one in found
        if one.end <= end
    ]


def default_pane(history: History) -> int | None:
    """The pane that is explained where none is named.

    The last that is blocked, else the last in which the source was set aside that lost most
    documents, else the last one.
    """
    if blocked := history.totals.blocked:
        return blocked[-1]
    gone = facts.set_aside(history.totals)
    worst = max(gone, key=lambda name: gone[name]["documents"], default=None)
    panes = _back(history, len(history)) if gone else ()
    named = (each.pane for each in panes if worst in getattr(each.measures["shift"], "aside", ()))
    return next(named, len(history) - 1 if len(history) else None)
