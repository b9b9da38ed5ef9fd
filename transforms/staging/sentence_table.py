"""The table of relevant sentences: one row for each sentence and attribute that the sentence names.

Rows are collected a block at a time while documents are read, and completed when the pane is
repaired. A staged row also holds where its sentence begins in the text from which stereotypes were
removed, so that sets and edits find their rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.schemas.documents import SENTENCES
from evenflow.schemas.ledger import Shard
from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.labels.searched import by_sentence, words_per_group
from evenflow.transforms.staging.shards import seal
from evenflow.transforms.substitution.sets import Edit, Set, apply, within

GONE = -1  # in place of a beginning, of a sentence that was taken out
ROW_GROUP = 50_000  # rows: some 10 MB of sentences
STAGED = pa.schema([*SENTENCES, pa.field("ordinal", pa.int64()), pa.field("at", pa.int64())])


class Relevant(NamedTuple):
    """A document that names a label.

    Attributes:
        sentences: All its sentences, as (start, end) in characters.
        mentions: Its mentions of labels, in the text's order.
    """

    number: int
    text: str
    sentences: Sequence[tuple[int, int]]
    mentions: Sequence[Mention]


class Finding(NamedTuple):
    """What was found of stereotypes in a sentence, for an attribute.

    Attributes:
        potential: Probability that the sentence holds a stereotype; None: it was not looked at.
        indicators: Its linguistic indicators; None: they were not looked for.
        strength: How strong people would call it; None: it was not computed.
        score: Its score by the linguistic indicators of a language model (SCSC); None: none gave
            them.
        remove: Whether the sentence is taken out, alone or with its document.
    """

    potential: float | None
    indicators: str | None
    strength: float | None
    score: float | None
    remove: bool


@dataclass(frozen=True)
class Screened:
    """A document whose sentences were looked through.

    Attributes:
        text: The text without the removed sentences.
        findings: (sentence number, attribute) → what was found.
        places: The start of each sentence in text, GONE for a removed one; None if all are kept.
        aside: Why the document is set aside; None if it is not.
    """

    text: str
    findings: Mapping[tuple[int, str], Finding] = field(default_factory=dict)
    places: Sequence[int] | None = None
    aside: str | None = None


class Change(NamedTuple):
    """What became of a set of a document.

    Attributes:
        number: The set's place among the document's sets of its attribute.
        target: The group that it went to; None: it stayed as it was.
        reason: Why it stayed; empty if it changed or was not drawn.
    """

    number: int
    proposed: Set
    target: str | None
    reason: str


@dataclass
class Rows:
    """Rows of a block as columns.

    Attributes:
        groups: The groups of each attribute, in the word list's order. An attribute without a word
            list, of which only stereotypes are looked for, is not among them.
    """

    groups: Mapping[str, Sequence[str]]
    columns: dict[str, list[Any]] = field(
        default_factory=lambda: {name: [] for name in STAGED.names}
    )

    def add(
        self,
        ordinal: int,
        identity: str,
        text: str,
        sentences: Sequence[tuple[int, int]],
        mentions: Sequence[Mention],
        findings: Mapping[tuple[int, str], Finding] | None = None,
        places: Sequence[int] | None = None,
    ) -> None:
        """Add a document's relevant sentences, and those that have a finding.

        A sentence with a finding may name people of a group by a word that is no label.

        Args:
            ordinal: The document's place in its file.
            sentences: All its sentences, as (start, end) in characters.
            mentions: Its mentions of labels, in the text's order.
            findings: What was found of stereotypes, by number of the sentence and attribute.
            places: Where each sentence begins in the text without the sentences that were taken
                out, GONE of these; None: no sentence was taken out.
        """
        grouped = by_sentence(sentences, mentions)
        for number, attribute in findings or ():
            grouped.setdefault(number, {}).setdefault(attribute, [])
        add = {name: values.append for name, values in self.columns.items()}
        for number, by_attribute in sorted(grouped.items()):
            start, end = sentences[number]
            for attribute in sorted(by_attribute):
                words = words_per_group(self.groups.get(attribute, ()), by_attribute[attribute])
                finding = (findings or {}).get((number, attribute)) or Finding(
                    None, None, None, None, False
                )
                add["id"](identity)
                add["attribute"](attribute)
                add["sent_id"](number)
                add["start"](start)
                add["end"](end)
                add["sent_text"](text[start:end])
                add["words_per_group"](list(words.items()))
                add["counts_per_group"]([(group, len(labels)) for group, labels in words.items()])
                add["relevant_sentence"](bool(by_attribute[attribute]))
                add["potential_stereotype"](finding.potential)
                add["linguistic_indicators"](finding.indicators)
                add["strength"](finding.strength)
                add["score_scsc"](finding.score)
                add["remove_sentence"](finding.remove)
                add["text_cda"](None)
                add["sets"]([])
                add["ordinal"](ordinal)
                add["at"](start if places is None else places[number])

    def table(self) -> pa.Table:
        """The rows as a table of the schema STAGED."""
        arrays = [pa.array(self.columns[column.name], column.type) for column in STAGED]
        return pa.Table.from_arrays(arrays, schema=STAGED)


def complete(
    staged: pa.Table, changes: Mapping[int, Sequence[Change]], edits: Mapping[int, Sequence[Edit]]
) -> pa.Table:
    """Complete a block's rows with what became of their sets.

    Args:
        changes: What became of a document's sets, by the document's ordinal.
        edits: The edits that were made in a document, of all attributes and in order, by the
            document's ordinal.
    """
    ordinals, places, attributes = (
        staged.column(name).to_pylist() for name in ("ordinal", "at", "attribute")
    )
    starts, ends = staged.column("start").to_pylist(), staged.column("end").to_pylist()
    texts = staged.column("sent_text")
    out_texts: list[str | None] = [None] * staged.num_rows
    out_sets: list[list[dict[str, Any]]] = [[] for _ in range(staged.num_rows)]
    for ordinal, group in groupby(range(staged.num_rows), ordinals.__getitem__):
        rows = list(group)
        # By attribute, the beginnings and rows of the sentences that are still there
        standing: dict[str, list[tuple[int, int]]] = {}
        for row in rows if ordinal in changes else ():
            if places[row] != GONE:
                standing.setdefault(attributes[row], []).append((places[row], row))
        for change in changes.get(ordinal, ()):
            outcome = {
                "set": change.number,
                "source": change.proposed.source,
                "target": change.target,
                "confidence": change.proposed.confidence,
                "reason": change.reason or None,
            }
            own = standing.get(change.proposed.attribute, [])
            for spot in {
                bisect_right(own, (mention.start, len(ordinals))) - 1
                for mention in change.proposed.mentions
            }:
                if spot >= 0:
                    out_sets[own[spot][1]].append(outcome)
        if not (made := edits.get(ordinal)):
            continue
        for row in rows:
            if all(outcome["target"] is None for outcome in out_sets[row]):
                continue  # this attribute changed nothing in the sentence
            stop = places[row] + ends[row] - starts[row]
            if inside := within(made, places[row], stop):
                out_texts[row] = apply(texts[row].as_py(), inside)
    columns = {
        "text_cda": pa.array(out_texts, SENTENCES.field("text_cda").type),
        "sets": pa.array(out_sets, SENTENCES.field("sets").type),
    }
    return pa.Table.from_arrays(
        [columns.get(name, staged.column(name)) for name in SENTENCES.names], schema=SENTENCES
    )


def write(tables: Iterable[pa.Table], folder: Path, pane: int) -> Shard | None:
    """Write a pane's table, folder/part-PANE.parquet, and make it durable.

    It does not depend on how the blocks were cut.

    Args:
        tables: The rows of the pane's blocks, SENTENCES, in source order.

    Returns:
        The file's record; None if the pane has no row.

    Raises:
        OSError: The file cannot be written.
    """
    groups = _row_groups(tables)
    first = next(groups, None)
    if first is None:
        return None
    path, rows = folder / f"part-{pane:08d}.parquet", 0
    with pq.ParquetWriter(path, SENTENCES, compression="zstd", compression_level=1) as writer:
        for group in chain([first], groups):
            writer.write_table(group)
            rows += group.num_rows
    return seal(path, rows)


def _row_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Tables of ROW_GROUP rows each; the last may have fewer."""
    pending: list[pa.Table] = []
    waiting = 0
    for table in tables:
        while table.num_rows:
            part = table.slice(0, ROW_GROUP - waiting)
            table = table.slice(part.num_rows)
            pending.append(part)
            waiting += part.num_rows
            if waiting == ROW_GROUP:
                yield pa.concat_tables(pending).combine_chunks()
                pending, waiting = [], 0
    if pending:
        yield pa.concat_tables(pending).combine_chunks()
