"""Documents of a gate's output with their weights: only files that the ledger names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.gates.ledger.files import META, read_meta
from evenflow.gates.ledger.history import History
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.pipelines.pages.report.files import names_a_file
from evenflow.schemas.config import recorded
from evenflow.schemas.documents import COPY_OF, WEIGHT
from evenflow.schemas.ledger import PaneEntry, Shard
from evenflow.transforms.storage.storage import Place, at

Quarantined = Literal["refuse", "skip", "take"]
SPANS = pa.list_(pa.list_(pa.int64()))
ROWS = 1024  # documents that are in memory at once


@dataclass(frozen=True)
class Row:
    """A document to train on."""

    id: str
    text: str
    weight: float = 1.0
    is_copy: bool = False
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Listed:
    """Documents of a list.

    `output`: Its name in messages.
    """

    output: str
    documents: list[Row] = field(repr=False)

    def record(self) -> dict[str, object]:
        """What training.json says of the data."""
        whole = hashlib.sha256()
        for each in self.documents:
            whole.update(repr(each).encode("utf-8", "surrogatepass"))
        return {"sha256": whole.hexdigest()}

    def rows(self, spans: str | None = None) -> Iterator[Row]:
        """The documents. Raises TrainInputError if they have no spans, and these are asked for."""
        if spans is not None and not any(each.spans for each in self.documents):
            raise TrainInputError(f"focus: the documents have no field {spans!r} with spans")
        yield from self.documents


@dataclass(frozen=True)
class Data:
    """The shards of some panes."""

    output: Place
    panes: tuple[int, ...]
    shards: tuple[tuple[str, Shard], ...]
    skipped: int
    replayed: tuple[tuple[str, Shard], ...] = ()
    replay: float = 1.0

    def record(self) -> dict[str, object]:
        """What training.json says of the data: panes, and the shards with their digests."""

        def digests(shards: Sequence[tuple[str, Shard]]) -> dict[str, str]:
            return {f"{folder}/{each.name}": each.sha256 for folder, each in shards}

        found: dict[str, object] = {"panes": list(self.panes), "shards": digests(self.shards)}
        if self.replayed:
            found |= {"replayed": digests(self.replayed), "replay": self.replay}
        return found

    def rows(self, spans: str | None = None) -> Iterator[Row]:
        """Read the documents, in the ledger's order.

        `spans`: Field that holds spans of a document's text; None: spans are not asked for.
        """
        storage = at(self.output)
        meta = read_meta(storage)
        config = recorded(meta or {"configuration": {}})
        if config is None:
            raise TrainInputError(f"{storage.address(META)}: its configuration cannot be read")
        names = config.fields.id, config.fields.column
        weighted = config.has_weights and config.repair.output_as == "weight"
        shares = [*((each, 1.0) for each in self.shards)]
        shares += [(each, self.replay) for each in self.replayed]
        for (folder, shard), share in shares:
            name = f"{folder}/{shard.name}"
            if not names_a_file(shard.name):
                raise TrainInputError(f"{storage}: {shard.name!r}: no file's name")
            with storage.fetched([name]) as [path]:
                with path.open("rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != shard.sha256:
                        raise TrainInputError(
                            f"{storage.address(name)}: its bytes are not those that the ledger"
                            " names; run the gate again into a new --output"
                        )
                with _opened(path, storage.address(name)) as table:
                    for row in _rows(table, *names, weighted, spans):
                        if share == 1 or _point(row.id) < share:
                            yield row


def _point(identity: str) -> float:
    """A number in [0, 1) by an id."""
    digest = hashlib.sha256(f"replay {identity}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _opened(path: Path, address: str) -> pq.ParquetFile:
    """Open a shard. Raises TrainInputError."""
    try:
        return pq.ParquetFile(path)
    except pa.ArrowException as error:
        raise TrainInputError(f"{address}: not a shard: {error}") from error


def _rows(
    table: pq.ParquetFile, identity: str, text: str, weighted: bool, spans: str | None
) -> Iterator[Row]:
    """The documents of a shard. Raises TrainInputError."""
    names = table.schema_arrow.names
    needed = [identity, text, *([WEIGHT.name] if weighted else [])]
    if missing := [name for name in needed if name not in names]:
        raise TrainInputError(
            f"a shard has no column {missing[0]!r}, which the output's configuration names"
        )
    if spans is not None and (spans not in names or table.schema_arrow.field(spans).type != SPANS):
        raise TrainInputError(f"focus: the documents have no field {spans!r} with spans")
    copies = [COPY_OF.name] if COPY_OF.name in names else []
    columns = [*needed, *copies, *([] if spans is None else [spans])]
    for batch in table.iter_batches(ROWS, columns=list(dict.fromkeys(columns))):
        for row in batch.to_pylist():
            yield Row(
                row[identity],
                row[text],
                row[WEIGHT.name] if weighted else 1.0,
                any(row[name] is not None for name in copies),
                () if spans is None else tuple((start, end) for start, end in row[spans] or ()),
            )


def select(
    output: Place,
    panes: slice | None = None,
    quarantined: Quarantined | None = None,
    window: int | None = None,
    replay: float = 0.0,
) -> Data:
    """Choose panes of a gate's output.

    `quarantined`: What is done about panes in quarantine; None: with a range they are refused, else
    skipped. `window`: Only the last so many of them; None: all.
    """
    history = History(output)
    if not len(history):
        raise TrainInputError(f"{output}: no ledger here; give the --output directory of a run")
    entries = list(history.some(range(len(history))[panes or slice(None)]))
    what = quarantined or ("skip" if panes is None else "refuse")
    aside = [each for each in entries if history.folder(each) == "quarantine" and what != "take"]
    if what == "refuse" and aside:
        numbers = ", ".join(str(each.pane) for each in aside[:5])
        raise TrainInputError(
            f"{output}: in quarantine: {len(aside)} of these panes ({numbers}); give other panes,"
            " or --quarantined to train on them too"
        )
    taken = [each for each in entries if each not in aside]

    def files(panes: list[PaneEntry]) -> tuple[tuple[str, Shard], ...]:
        """The shards of panes, and the sources of them that a person accepted."""
        every = ((each, *file) for each in panes for file in history.files(each))
        return tuple(
            (place, shard)
            for each, folder, place, shard in every
            if shard in each.shards or folder == "accepted"
        )

    if not sum(shard.rows for _, shard in files(taken)):
        why = f" ({len(aside)} panes are in quarantine)" if aside else ""
        raise TrainInputError(f"{output}: no accepted document in these panes{why}")
    own, earlier = (taken, []) if window is None else (taken[-window:], taken[:-window])
    shards, others = files(own), files(earlier if replay else [])
    new, old = (sum(shard.rows for _, shard in part) for part in (shards, others))
    share = min(1.0, replay * new / old) if old else 1.0
    return Data(output, tuple(each.pane for each in own), shards, len(aside), others, share)
