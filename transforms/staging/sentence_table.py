"""The table of relevant sentences: gathered a block at a time where documents are read, completed
when a pane is repaired.

A row is a sentence and an attribute that it names. While it is staged it also knows where its
sentence begins in the text as it is substituted (after stereotypes were taken out), so that sets
and edits find their rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.schemas.documents import SENTENCES
from evenflow.schemas.ledger import Shard
from evenflow.transforms.labels.by_sentence import by_sentence, words_per_group
from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.staging.shards import described, read_block, replace_block, seal
from evenflow.transforms.substitution.sets import Edit, Set, apply, within

SUFFIX = ".sentences"  # of a block's file
GONE = -1  # where a sentence begins that was taken out
ROW_GROUP = 50_000  # rows: some 10 MB of sentences
STAGED = pa.schema([*SENTENCES, pa.field("ordinal", pa.int64()), pa.field("at", pa.int64())])


class Relevant(NamedTuple):
    """A document that names a label: its number in the block, text, all sentences, and mentions in
    the text's order.
    """

    number: int
    text: str
    sentences: Sequence[tuple[int, int]]
    mentions: Sequence[Mention]


class Finding(NamedTuple):
    """What was found of stereotypes in a sentence, for an attribute; see SENTENCES."""

    potential: float | None
    indicators: str | None
    score: float | None
    remove: bool


class Change(NamedTuple):
    """What became of a set of a document: the group it went to, None where it stayed, and why it
    stayed.
    """

    number: int
    proposed: Set
    target: str | None
    reason: str


@dataclass
class Rows:
    """Rows of a block as columns. groups: of each attribute, in the list's order."""

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
        """Add a document's relevant sentences, and those that have a finding: they name people of a
        group by a word that is no label. mentions: in the text's order. places: where each sentence
        begins in the text without those that were taken out (GONE: of these); by default none
        was."""
        grouped = by_sentence(sentences, mentions)
        for number, attribute in findings or ():
            grouped.setdefault(number, {}).setdefault(attribute, [])
        add = {name: values.append for name, values in self.columns.items()}
        for number, by_attribute in sorted(grouped.items()):
            start, end = sentences[number]
            for attribute in sorted(by_attribute):
                words = words_per_group(self.groups[attribute], by_attribute[attribute])
                finding = (findings or {}).get((number, attribute)) or Finding(
                    None, None, None, False
                )
                add["id"](identity)
                add["attribute"](attribute)
                add["sent_id"](number)
                add["start"](start)
                add["end"](end)
                add["sent_text"](text[start:end])
                add["words_per_group"](list(words.items()))
                add["counts_per_group"]([(group, len(said)) for group, said in words.items()])
                add["relevant_sentence"](bool(by_attribute[attribute]))
                add["potential_stereotype"](finding.potential)
                add["linguistic_indicators"](finding.indicators)
                add["score_scsc"](finding.score)
                add["remove_sentence"](finding.remove)
                add["text_cda"](None)
                add["sets"]([])
                add["ordinal"](ordinal)
                add["at"](start if places is None else places[number])

    def table(self) -> pa.Table:
        """The rows, STAGED."""
        arrays = [pa.array(self.columns[column.name], column.type) for column in STAGED]
        return pa.Table.from_arrays(arrays, schema=STAGED)


def drop(path: Path, ordinals: Iterable[int]) -> None:
    """Take documents out of a block's file."""
    rows = read_block(path)
    gone = set(ordinals)
    kept = rows.filter(
        pa.array(
            [ordinal not in gone for ordinal in rows.column("ordinal").to_pylist()], pa.bool_()
        )
    )
    replace_block(kept.combine_chunks(), path)


def completed(
    staged: pa.Table, changes: Mapping[int, Sequence[Change]], edits: Mapping[int, Sequence[Edit]]
) -> pa.Table:
    """A block's rows, SENTENCES, with what became of their sets.

    changes: of a document by its ordinal. edits: of a document by its ordinal, in order: those that
    were made, of all attributes.
    """
    ordinals, places, attributes = (
        staged.column(name).to_pylist() for name in ("ordinal", "at", "attribute")
    )
    starts, ends = staged.column("start").to_pylist(), staged.column("end").to_pylist()
    texts = staged.column("sent_text")
    out_texts: list[str | None] = [None] * staged.num_rows
    out_sets: list[list[dict[str, Any]]] = [[] for _ in range(staged.num_rows)]
    first = 0
    for last in [
        *(i for i in range(1, staged.num_rows) if ordinals[i] != ordinals[i - 1]),
        staged.num_rows,
    ]:
        if first == last:
            break
        ordinal = ordinals[first]
        rows = range(first, last)
        # Begins and rows of an attribute's sentences that are still there
        standing: dict[str, list[tuple[int, int]]] = {}
        for row in rows if ordinal in changes else ():
            if places[row] != GONE:
                standing.setdefault(attributes[row], []).append((places[row], row))
        for change in changes.get(ordinal, ()):
            said = {
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
                    out_sets[own[spot][1]].append(said)
        made = edits.get(ordinal, ())
        if made:
            for row in rows:
                if all(said["target"] is None for said in out_sets[row]):
                    continue  # this attribute changed nothing in it
                stop = places[row] + ends[row] - starts[row]
                if inside := within(made, places[row], stop):
                    out_texts[row] = apply(texts[row].as_py(), inside)
        first = last
    columns = {
        "text_cda": pa.array(out_texts, SENTENCES.field("text_cda").type),
        "sets": pa.array(out_sets, SENTENCES.field("sets").type),
    }
    return pa.Table.from_arrays(
        [columns.get(name, staged.column(name)) for name in SENTENCES.names], schema=SENTENCES
    )


def write(tables: Iterable[pa.Table], folder: Path, pane: int) -> Shard | None:
    """A pane's table from its blocks', in source order, as folder/part-PANE.parquet, durable; None
    where it has no row.

    It does not depend on how the blocks were cut. Raises OSError.
    """
    path = folder / f"part-{pane:08d}.parquet"
    writer: pq.ParquetWriter | None = None
    pending: list[pa.Table] = []
    waiting = rows = 0
    try:
        for table in tables:
            while table.num_rows:
                part = table.slice(0, ROW_GROUP - waiting)
                table = table.slice(part.num_rows)
                pending.append(part)
                waiting, rows = waiting + part.num_rows, rows + part.num_rows
                if waiting == ROW_GROUP:
                    writer = writer or pq.ParquetWriter(
                        path, SENTENCES, compression="zstd", compression_level=1
                    )
                    writer.write_table(pa.concat_tables(pending).combine_chunks())
                    pending, waiting = [], 0
        if pending:
            writer = writer or pq.ParquetWriter(
                path, SENTENCES, compression="zstd", compression_level=1
            )
            writer.write_table(pa.concat_tables(pending).combine_chunks())
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        return None
    seal(path)
    return described(path, rows)
