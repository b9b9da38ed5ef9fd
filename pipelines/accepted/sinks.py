"""Brings a table of another system to what a gate has accepted, a commit a pane.

A sink has `open(place, output, columns)`, which gives the table at a place (`Table`). Which panes
the table has is read from its own rows, so a pane is appended once, however often and from wherever
the export is started, and a kill leaves it there whole or not at all. Evenflow brings one sink;
packages bring more, as entry points of the group evenflow.sinks.

An export is no part of a run and may go on beside one. So the epochs of plug-in sinks, from which
pane on which version wrote, are files of their own in the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple, Protocol

import orjson
import pyarrow as pa

from evenflow.gates.ledger.files import canonical, changed_settings
from evenflow.pipelines.accepted.export import ExportError
from evenflow.pipelines.accepted.rows import Accepted, union
from evenflow.schemas.ledger import Epoch
from evenflow.schemas.plugins import SINKS, Plugin, declared, load

SHIPPED = {"iceberg": "IcebergSink"}  # each in a module of its name
PANE = "evenflow_pane"  # the column with the number of a row's pane
EPOCHS = "ledger/sinks"  # ledger/sinks/NUMBER.json, created once


class Table(Protocol):
    """A table at a place of a sink.

    One that keeps quarantined panes too has `quarantine`, which is a Table of these alone.
    """

    def panes(self) -> set[int]:
        """The panes whose rows it has."""
        ...

    def append(self, pane: int, rows: pa.Table, notes: Mapping[str, str]) -> None:
        """Append the rows of a pane, all or none.

        Args:
            pane: The pane's number, which the column PANE has too.
            rows: Its rows, with the columns that `open` was told.
            notes: What is to be kept of the commit: verdict, DR, who decided.
        """
        ...

    def remove(self, pane: int) -> None:
        """Take out the rows of a pane."""
        ...


class Followed(NamedTuple):
    """What an export did.

    Attributes:
        taken_out: Those taken out, since people have decided otherwise after an earlier export.
        quarantined: Those appended to the table of quarantined panes.
        changes: How the sink differs from the one that wrote before.
    """

    appended: list[int]
    taken_out: list[int]
    quarantined: list[int]
    changes: list[str]


def named(to: str) -> tuple[Plugin, str] | None:
    """The sink and the place of NAME:PLACE; None: no sink has the name.

    Raises:
        PluginError: A plug-in cannot be used.
    """
    name, _, place = to.partition(":")
    if name in SHIPPED:
        module = import_module(f"{__package__}.{name}")
        return Plugin(name, getattr(module, SHIPPED[name])(), ""), place
    return (load(SINKS, name), place) if name in declared(SINKS) else None


def follow(rows: Accepted, sink: Plugin, place: str) -> Followed:
    """Bring a table to what is accepted, and its table of quarantined panes to what is not.

    Raises:
        ExportError: The place is none, or the table is of another output or of other columns.
        PluginTextError: A plug-in failed.
        OSError: A file cannot be read or written.
    """
    aside = rows.counted_as("quarantine")
    schema = union([rows.schema, aside.schema])
    with sink.guarded():
        try:
            table = sink.part.open(place, _identity(rows), _columns(schema))
            changes: list[str] = []
            new, gone = _follow(table, rows, schema, sink, changes)
            beside = getattr(table, "quarantine", None)
            held = _follow(beside, aside, schema, sink, changes)[0] if beside else []
        except ValueError as error:
            raise ExportError(f"{sink.name}:{place}: {' '.join(str(error).split())}") from error
    return Followed(new, gone, held, changes)


def _follow(
    table: Table, rows: Accepted, schema: pa.Schema, sink: Plugin, changes: list[str]
) -> tuple[list[int], list[int]]:
    """Append the panes that a table lacks, and take out those that it should not have."""
    columns, there = _columns(schema), table.panes()
    gone = sorted(there - {each.pane for each in rows.files})
    for pane in gone:
        table.remove(pane)
    new: list[int] = []
    for pane, files in groupby(rows.files, key=lambda each: each.pane):
        if pane not in there:
            found = pa.Table.from_batches(rows.batches(schema, list(files)), schema)
            found = found.append_column(PANE, pa.array([pane] * len(found), pa.int64()))
            found = found.select(columns.names).cast(columns)
            if not new:
                changes += _opened(rows, sink, pane)
            table.append(pane, found, _notes(rows, pane, sink.made_with))
            new.append(pane)
    return new, gone


def _opened(rows: Accepted, sink: Plugin, pane: int) -> list[str]:
    """Note the epoch that a plug-in opens with a pane, unless it wrote last; give what changed."""
    program = {f"plug-in {sink.name} of {SINKS}": sink.made_with}
    while sink.made_with:
        storage = rows.storage
        names = [f"{EPOCHS}/{each}" for each in storage.names(EPOCHS)]
        known = [Epoch.model_validate_json(each) for each in storage.read_all(names) if each]
        last = next((each for each in known[::-1] if each.program.keys() == program.keys()), None)
        if last is not None and last.program == program:
            break
        changes = [] if last is None else changed_settings(last.program, program)
        epoch = Epoch(number=len(known), pane=pane, program=program, changes=changes)
        if storage.create(f"{EPOCHS}/{epoch.number:08d}.json", canonical(epoch.model_dump())):
            return changes
    return []


def _columns(schema: pa.Schema) -> pa.Schema:
    """A table's columns: all may be null, so that later panes may lack them."""
    # A column that is null everywhere has no type yet: it is added once it has one
    typed = [pa.field(each.name, each.type) for each in schema if each.type != pa.null()]
    return pa.schema([*typed, pa.field(PANE, pa.int64())])


def _identity(rows: Accepted) -> str:
    """What an output is known by, also after it was moved: its first pane."""
    if not len(rows.history):
        raise ExportError("the output has no pane yet")
    first = rows.history[0]
    digests = [shard.sha256 for _, shard in first.files()]
    source = [each.model_dump() for each in first.source]
    return sha256(orjson.dumps([digests, source])).hexdigest()


def _notes(rows: Accepted, pane: int, made_with: str) -> dict[str, str]:
    """What a pane's commit says of it: its verdict, the rolling DR that was judged, the sink."""
    entry: Any = rows.history[pane]
    found = {
        "evenflow.pane": str(pane),
        "evenflow.verdict": entry.verdict.state,
        "evenflow.reason": entry.verdict.reason,
    }
    for name, each in entry.attributes.items():
        if each.rolling.dr is not None:
            found[f"evenflow.dr.{name}"] = f"{each.rolling.dr:.6f}"
    if (review := rows.history.reviews.get(pane)) is not None:
        found["evenflow.decided"] = review.said
    return found | ({"evenflow.sink": made_with} if made_with else {})
