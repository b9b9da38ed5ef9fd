"""Makes a reference: what each source of a corpus, or of an output, is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from evenflow.schemas.config import Config
from evenflow.schemas.config.gate import Shift
from evenflow.schemas.errors import UsageError
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io import documents
from evenflow.transforms.io.records import validate
from evenflow.transforms.measures.shift.measure import BLOCK, Memory, ShiftMeasure, block_from
from evenflow.transforms.measures.shift.reference import Known, Reference, of_counts
from evenflow.transforms.measures.shift.strata import MOST, OTHER, StratumCounter, by_stratum

READ = 256 << 20  # stored bytes of a corpus that are read whole; of a larger one, blocks in between


class NoReferenceError(UsageError):
    """There is nothing that a reference could be made from, or added to it."""


class Counted(NamedTuple):
    """The documents of a corpus.

    `strata`: Their strata (D,), in the corpus' order. `mentions`: Their mentions (D, M), by
    attribute.
    """

    strata: list[str]
    mentions: dict[str, npt.NDArray[np.int64]]
    files: int

    def reference(self, config: Config) -> Reference:
        """The reference that they make."""
        return Reference(
            by=config.reference.by,
            made=f"{len(self.strata):,} documents of {self.files:,} files",
            groups=_groups(config),
            strata=of_counts(self.strata, self.mentions),
        )

    def some(self, chosen: slice) -> Counted:
        """Some of the documents."""
        own = {name: counts[chosen] for name, counts in self.mentions.items()}
        return Counted(self.strata[chosen], own, self.files)

    def alarms(self, config: Config, size: int) -> tuple[int, int, int]:
        """Judge one half, in the corpus' order, by a reference of the other, which is every second.

        Args:
            config: The configuration.
            size: Documents of a pane.

        Returns:
            Number of panes, of those with a warning, and of those with a blocked source.
        """
        reference = self.some(slice(0, None, 2)).reference(config)
        half = self.some(slice(1, None, 2))
        blocking = block_from(config) is not None
        gate = config.gate.model_copy(
            update={"shift": config.gate.shift if blocking else Shift(block=BLOCK)}
        )
        config = config.model_copy(update={"gate": gate})
        measure, totals, states = ShiftMeasure(), None, list[str]()
        for first in range(0, len(half.strata), size):
            pane = half.some(slice(first, first + size))
            record = measure.judge(
                config, config.word_lists(), by_stratum(*pane[:2]), totals, reference
            )
            totals = measure.added(totals, record, True, 0)
            states.append(record.verdict.state)
        return len(states), states.count("warn"), states.count("block")


def count(
    sizes: Mapping[str, int], config: Config, on_block: Callable[[int], None] = lambda bytes: None
) -> Counted:
    """Count the documents of a corpus by stratum.

    Args:
        sizes: The stored bytes of each file, by its name.
        config: The configuration; its `reference.by` names the field of the source.
        on_block: Called with the text bytes of each block.

    Raises:
        NoReferenceError: No document could be read.
        OSError: A file cannot be read.
    """
    blocks = documents.blocks(list(sizes), config.fields)
    annotator = Annotator(config)
    by = StratumCounter(config.reference.by, annotator.lists)
    step = max(sum(sizes.values()) // READ, 1)
    names: list[str] = []
    counts: list[list[npt.NDArray[np.int64]]] = []
    for number, block in enumerate(blocks):
        if number % step:
            continue
        found = validate(block, config, annotator.own, keep_fields=bool(by.fields))
        counted = annotator.mentions.count(found, with_sentences=False)
        names += by.names(found, 0, len(found.texts))
        counts.append(counted.mentions)
        on_block(counted.figures.text_bytes)
    if not names:
        raise NoReferenceError("no document could be read, so there is no reference")
    names = _most_frequent(names)
    joined = {
        words.attribute: np.concatenate(each)
        for words, each in zip(annotator.lists, zip(*counts, strict=True), strict=True)
    }
    return Counted(names, joined, len(sizes))


def known(entries: Iterable[PaneEntry]) -> dict[str, Known]:
    """What the accepted panes of an output say of each source, without what was off in them.

    Args:
        entries: The ledger's entries, in order.

    Raises:
        NoReferenceError: The ledger has no counts by source.
    """
    measure, totals = ShiftMeasure(), None
    for entry in entries:
        record: Any = entry.measures.get(ShiftMeasure.name)
        if record is not None and entry.folder == "accepted":
            totals = measure.added(totals, record, True, 0)
    if not (found := Memory.of(totals).known):
        raise NoReferenceError("no accepted pane has counts by source")
    return found


def of_output(strata: Mapping[str, Known], config: Config, panes: int) -> Reference:
    """Make the reference of what is known of an output's sources."""
    groups = _groups(config)
    return Reference(
        by=config.reference.by,
        made=f"{panes:,} panes of an output",
        groups=groups,
        strata={
            name: {attribute: own for attribute, own in each.items() if attribute in groups}
            for name, each in strata.items()
        },
    )


def joined(old: Reference, new: Reference) -> Reference:
    """A reference with the sources of another that it does not have.

    Raises:
        NoReferenceError: Their sources are of different fields.
    """
    if old.by != new.by:
        raise NoReferenceError(
            f"the file's sources are by {old.by or 'file'}, those to add by {new.by or 'file'}"
        )
    fresh = {name: each for name, each in new.strata.items() if name not in old.strata}
    kept = dict(list((old.strata | fresh).items())[:MOST])
    return old.model_copy(update={"strata": kept, "groups": new.groups | old.groups})


def write(reference: Reference, path: Path) -> None:
    """Write a reference's file. Raises OSError."""
    path.write_bytes(orjson.dumps(reference.model_dump(), option=orjson.OPT_APPEND_NEWLINE))


def _groups(config: Config) -> dict[str, list[str]]:
    """The groups of each attribute."""
    return {words.attribute: list(words.groups) for words in config.word_lists()}


def _most_frequent(names: list[str]) -> list[str]:
    """Names of which the rarest are `other`, so that there are at most MOST."""
    every, sizes = np.unique(np.array(names, object), return_counts=True)
    if len(every) <= MOST:
        return names
    kept = set(every[np.argsort(-sizes, kind="stable")[: MOST - 1]].tolist())
    return [name if name in kept else OTHER for name in names]
