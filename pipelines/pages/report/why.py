"""Collects why a pane was judged as it was: from the ledger, its shards and the word lists."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenflow.gates import why as reasons
from evenflow.gates.ledger import pruned
from evenflow.gates.ledger.combine import add_sums
from evenflow.gates.ledger.history import History
from evenflow.gates.why import EarlierPanes, PaneCounts
from evenflow.pipelines.pages.report.files import open_named
from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import AttributeEntry, PaneEntry, Sums
from evenflow.schemas.plugins import PluginError
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.verdict import Thresholds
from evenflow.transforms.storage.storage import Storage
from evenflow.wordlists.loader import WordList, WordListError

T = TypeVar("T")
BACK = 64  # panes that are read at a time to find those of the window
PASSAGE = 300  # characters of a document that are shown
BEFORE = 80  # of these, before its first label


def why(
    storage: Storage,
    history: History,
    config: Config,
    pane: int,
    attribute: str | None = None,
) -> dict[str, Any]:
    """Explain a pane's verdict.

    Args:
        storage: The output.
        history: Its ledger.
        config: The run's configuration.
        pane: Number of the pane, which the ledger has.
        attribute: The attribute that is explained; None for those of the verdict, or for all if it
            comes from none.

    Returns:
        pane, verdict, rule (in words), failures (of critical checks), dead_reasons, attributes (of
        each what `gates.why.attribute` returns; its documents have a passage and the labels in it),
        runbook (its address; None: nothing is to do) and next (its next step).

    Raises:
        LedgerError: An entry cannot be read.
        OSError: A file of the ledger cannot be read.
        KeyError: The pane has no such attribute.
    """
    entry = history[pane]
    if attribute is not None:
        names = [attribute]
    else:
        state = entry.verdict.state
        names = [n for n, each in entry.attributes.items() if each.verdict.state == state]
        names = names or list(entry.attributes)
    # Weights continue what was accepted before, so all of it is judged
    weighs = entry.weights is not None and any(n in entry.weights.attributes for n in names)
    earlier = _earlier(history, pane, pane if weighs else config.pane.rolling - 1)
    key, rule = reasons.rule(entry)
    step = reasons.NEXT.get(key)
    attributes = {
        name: _attribute(storage, history, entry, name, earlier, config) for name in names
    }
    unread = {name for each in attributes.values() for name in each["unread"]}
    notes = pruned.notes(storage) if unread else {}
    for each in attributes.values():
        each["missing"] = pruned.said(notes, each["unread"])
    if step and unread & notes.keys():
        step = replace(step, text=reasons.PRUNED)
    return {
        "pane": pane,
        "verdict": entry.verdict.model_dump(),
        "rule": rule,
        "failures": [one.model_dump() for one in entry.checks.failures],
        "dead_reasons": entry.dead_reasons,
        "removed": entry.removed.told if entry.removed else None,
        "attributes": attributes,
        "runbook": step and config.alerts.runbooks.replace("{name}", step.runbook),
        "next": step
        and step.text.replace("{dir}", shlex.quote(str(storage))).replace("{pane}", str(pane)),
    }


def _attribute(
    storage: Storage,
    history: History,
    entry: PaneEntry,
    name: str,
    earlier: Sequence[PaneEntry],
    config: Config,
) -> dict[str, Any]:
    """Explain an attribute of a pane. Raises KeyError for one that the pane does not have."""
    each = entry.attributes[name]
    with_it = [one for one in earlier if name in one.attributes]
    before = history[entry.pane - 1].attributes.get(name) if entry.pane else None
    window = EarlierPanes(
        [one.pane for one in with_it],
        reduce(
            add_sums, (one.attributes[name].sums for one in with_it), Sums.empty(len(each.groups))
        ),
        before.verdict.state if before is not None else None,
    )
    rows = _rows(storage, entry, name, each, config)
    rows.counts *= reasons.people_per_mention(each)
    words = _words(config, name, each)
    warn, block = config.thresholds(name)
    limits = Thresholds(warn, block, config.gate.min_mentions, config.gate.hysteresis)
    found = reasons.attribute(
        each,
        window,
        limits,
        config.gate.confidence,
        rows,
        words.labels if words is not None else None,
        config.repair.weight_limit,
    )
    texts = _texts(storage, entry, [row["id"] for row in found["documents"]], config)
    finder = LabelFinder([words]) if words is not None else None
    for row in found["documents"]:
        row |= passage(texts.get(row["id"], ""), finder)
    return found


def _earlier(history: History, pane: int, most: int) -> list[PaneEntry]:
    """The last accepted panes before a pane, in order."""
    found: list[PaneEntry] = []
    for end in range(pane, 0, -BACK):
        for entry in reversed(history[max(end - BACK, 0) : end]):
            if len(found) == most:
                return found[::-1]
            if history.folder(entry) == "accepted":
                found.append(entry)
    return found[::-1][-most:] if most else []


def _words(config: Config, name: str, each: AttributeEntry) -> WordList | None:
    """The attribute's word list; None if it is gone or another one."""
    with suppress(WordListError, PluginError, OSError, KeyError):
        words = config.word_list(name)
        if list(words.groups) == each.groups and each.labels.keys() <= words.labels.keys():
            return words
    return None


def _read(
    storage: Storage, entry: PaneEntry, unread: list[str], read: Callable[[pq.ParquetFile], T]
) -> Iterator[T]:
    """What is read of each shard of a pane; adds the names of those that cannot be read."""
    for shard in entry.shards:
        try:
            with (
                open_named(storage, entry.folder, shard.name) as source,
                closing(pq.ParquetFile(source)) as file,
            ):
                found = read(file)
        except (OSError, pa.ArrowException, KeyError):  # KeyError: a column is not there
            unread.append(f"{entry.folder}/{shard.name}")
            continue
        yield found


def _rows(
    storage: Storage, entry: PaneEntry, name: str, each: AttributeEntry, config: Config
) -> PaneCounts:
    """The mentions of a pane's documents that name an attribute."""
    columns = [documents.mentions(name, group) for group in each.groups]
    weight = documents.WEIGHT.name
    weighted = config.has_weights and config.repair.realise == "weight"
    ids: list[str] = []
    parts = [np.zeros((0, len(columns)))]
    unread: list[str] = []

    def read(file: pq.ParquetFile) -> tuple[list[str], np.ndarray]:
        table = file.read([config.fields.id, *columns, *([weight] if weighted else [])])
        counts = np.stack([table[one].to_numpy().astype(float) for one in columns], axis=1)
        named = counts.any(axis=1)
        if weighted:
            counts *= table[weight].to_numpy()[:, None]
        return table[config.fields.id].filter(pa.array(named)).to_pylist(), counts[named]

    for some, counts in _read(storage, entry, unread, read):
        ids += some
        parts.append(counts)
    return PaneCounts(ids, np.concatenate(parts), unread)


def _texts(
    storage: Storage, entry: PaneEntry, ids: Sequence[str], config: Config
) -> dict[str, str]:
    """The texts of some documents of a pane, by id; those that cannot be read are missing."""
    wanted = pa.array(ids, pa.string())

    def read(file: pq.ParquetFile) -> dict[str, str]:
        out: dict[str, str] = {}
        for group in range(file.num_row_groups):
            own = file.read_row_group(group, [config.fields.id])[config.fields.id]
            mask = pc.is_in(own.cast(pa.string()), wanted)
            if pc.any(mask).as_py():
                texts = file.read_row_group(group, [config.fields.text])[config.fields.text]
                out.update(
                    zip(own.filter(mask).to_pylist(), texts.filter(mask).to_pylist(), strict=True)
                )
        return out

    return {key: text for each in _read(storage, entry, [], read) for key, text in each.items()}


def find_text(
    storage: Storage, history: History, config: Config, identity: str
) -> tuple[int, str] | None:
    """Find a document by its id, in the newest pane that has it.

    Args:
        storage: The output.
        history: Its ledger.
        config: The run's configuration.
        identity: The document's id.

    Returns:
        The pane and the text, as it was written; None if no shard has it.

    Raises:
        LedgerError: An entry cannot be read.
        OSError: A file of the ledger cannot be read.
    """
    for end in range(len(history), 0, -BACK):
        for entry in reversed(history[max(end - BACK, 0) : end]):
            if (text := _texts(storage, entry, [identity], config).get(identity)) is not None:
                return entry.pane, text
    return None


def passage(text: str, finder: LabelFinder | None) -> dict[str, Any]:
    """Cut the passage of a text where its first labels are.

    Args:
        text: The text.
        finder: Finds the labels; None: the passage is the text's beginning.

    Returns:
        passage, and labels: start, end (offsets in the passage) and group of each in it.
    """
    found = sorted(finder.find(text), key=lambda one: one.start) if finder is not None else []
    begin = max(found[0].start - BEFORE, 0) if found else 0
    if begin:
        begin = text.find(" ", begin, found[0].start) + 1 or begin
    end = min(begin + PASSAGE, len(text))
    return {
        "passage": ("… " if begin else "") + text[begin:end] + (" …" if end < len(text) else ""),
        "labels": [
            {
                "start": one.start - begin + 2 * bool(begin),
                "end": one.end - begin + 2 * bool(begin),
                "group": one.group,
            }
            for one in found
            if one.end <= end
        ],
    }


def default_pane(history: History) -> int | None:
    """The pane that is explained where none is named: the last blocked one, or the last one."""
    blocked = history.totals.blocked
    return blocked[-1] if blocked else len(history) - 1 if len(history) else None
