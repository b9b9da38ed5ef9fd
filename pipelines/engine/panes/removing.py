"""Sets aside the fewest documents of a pane, so that the pane is not blocked (gate.scope)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenflow.gates import removal
from evenflow.gates.judge import PaneJudge
from evenflow.gates.verdict import reading_verdict
from evenflow.schemas.documents import (
    ID,
    ORDINAL,
    REASON,
    TEXT,
    Attribute,
    Figures,
    RepairedPane,
    mention_fields,
)
from evenflow.schemas.ledger import Removed
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.staging.block import INPUT, Part, StagedBlock, read_documents

TOKEN = r"\S+"  # a run without blanks: close to a tokenizer's count, and the same everywhere


def remove(
    blocks: Sequence[StagedBlock], annotator: Annotator, mended: RepairedPane, judge: PaneJudge
) -> tuple[RepairedPane, Removed | None]:
    """Set aside what weighs too much in a pane that would be blocked for its scores.

    The documents go to the blocks' part of documents that are set aside, as they are after the
    repair.

    Returns the pane without these documents, and what was removed; None: nothing had to be.
    """
    staged = [each for each in blocks if each.has(Part.DOCUMENTS)]
    aside = sum(each.read(Part.ASIDE).num_rows for each in blocks if each.has(Part.ASIDE))
    figures, gate = mended.figures, annotator.config.gate
    read = reading_verdict(figures.dead_reasons, figures.documents + aside, gate.most_dead)
    if not staged or read.state == "block":
        return mended, None
    tables = [each.read(Part.DOCUMENTS) for each in staged]
    named = {
        each.name: removal.PaneAttribute(
            np.concatenate([_mentions(table, each) for table in tables]),
            np.array(judge.target(words)),
            *judge.window(words),
        )
        for each, words in zip(annotator.attributes, annotator.lists, strict=True)
    }
    whole = np.ones(sum(table.num_rows for table in tables), bool)
    blocked = [name for name, each in named.items() if each.blocks(whole)]
    if not blocked:
        return mended, None
    tokens = np.concatenate([_tokens(table) for table in tables])
    found = removal.fewest(named, tokens.tolist())
    record = Removed(attributes=blocked, of_documents=len(whole), of_tokens=int(tokens.sum()))
    if found is None:
        return mended, record
    gone = found.gone
    record.documents, record.tokens = int(gone.sum()), int(tokens[gone].sum())
    record.least_tokens = round(found.least_tokens, 1)
    record.mentions = {name: int(named[name].counts[gone].sum()) for name in blocked}
    most = removal.MOST_SHARE
    if record.documents > most * len(whole) or record.tokens > most * record.of_tokens:
        return mended, record
    record.is_done = True
    reason = f"gate.scope: documents: without it the pane is not blocked ({', '.join(blocked)})"
    total, at = Figures(), 0
    for block, table in zip(staged, tables, strict=True):
        total.add(_split(block, table, gone[at : at + table.num_rows], reason, annotator))
        at += table.num_rows
    total.take_reading(figures)
    repairs = {
        name: {**each, "mentions": total.attributes[name].counts}
        for name, each in mended.repairs.items()
    }
    return replace(mended, figures=total, repairs=repairs), record


def _mentions(table: pa.Table, attribute: Attribute) -> npt.NDArray[np.float64]:
    """Mentions of an attribute's groups in a block's documents (D, M)."""
    columns = [table[each.name].to_numpy() for each in mention_fields(attribute)]
    return np.stack(columns, axis=1).astype(float)


def _tokens(table: pa.Table) -> npt.NDArray[np.int64]:
    """Tokens of a block's documents (D,)."""
    found: Any = pc.count_substring_regex(table[TEXT.name], TOKEN)  # pyright: ignore
    return found.to_numpy().astype(np.int64)


def _split(
    block: StagedBlock,
    table: pa.Table,
    gone: npt.NDArray[np.bool_],
    reason: str,
    annotator: Annotator,
) -> Figures:
    """Set documents of a block aside; returns the figures of those that stay."""
    if gone.any():
        out = table.filter(pa.array(gone))
        kept = [name for name in out.column_names if name.startswith(INPUT)]
        out = out.select([ID.name, TEXT.name, ORDINAL.name, *kept])
        out = out.append_column(REASON, pa.array([reason] * out.num_rows, pa.string()))
        before = [block.read(Part.ASIDE)] if block.has(Part.ASIDE) else []
        block.write(Part.ASIDE, pa.concat_tables([*before, out], promote_options="default"))
        table = table.filter(pa.array(~gone)).combine_chunks()
        block.write(Part.DOCUMENTS, table)
    return annotator.mentions.count(read_documents(table)).figures
