"""A pane's staged blocks, and how they are closed into shards, ready to be judged."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from evenflow.gates.ledger.id_index import IdIndex
from evenflow.schemas.documents import Figures, RepairedPane
from evenflow.schemas.ledger import Shard
from evenflow.transforms.annotation import duplicates
from evenflow.transforms.annotation.annotate import Annotated, Annotator
from evenflow.transforms.staging import aside, sentence_table
from evenflow.transforms.staging.shards import (
    ShardLayout,
    described,
    seal,
    write_block,
    write_shards,
)


@dataclass(frozen=True)
class Staged:
    """A staged block: its place in the pane (segment, block), the stem of its files in
    staged/PANE/, and its figures.
    """

    place: tuple[int, int]
    stem: str
    figures: Figures


@dataclass
class Ready:
    """A pane that waits for its turn to be judged: what staged/PANE/ready.json holds."""

    figures: Figures
    shards: list[Shard]
    dead_letters: Shard | None
    sentence_table: Shard | None = None
    set_aside: Shard | None = None
    repairs: dict[str, dict[str, Any]] = field(default_factory=dict)
    stereotypes: dict[str, dict[str, Any]] = field(default_factory=dict)


def stage(done: Annotated, path: Path, annotator: Annotator) -> None:
    """Write a block's files, which have the names path.SUFFIX. Raises OSError."""
    if done.table.num_rows:
        write_block(done.table, path.with_suffix(".arrow"))
        if annotator.proposer is not None and done.details is not None:
            # It loads models and a solver, which are not needed without
            from evenflow.transforms.staging import proposals

            proposals.write(path.with_suffix(proposals.SUFFIX), done.details.proposed)
    if done.details is not None:
        write_block(done.details.rows.table(), path.with_suffix(sentence_table.SUFFIX))
    if done.aside is not None:
        write_block(done.aside, path.with_suffix(aside.SUFFIX))
    if annotator.tier is not None:
        from evenflow.transforms.annotation import second_pass  # as above

        second_pass.keep(path, done.heard)
    write_letters(path.with_suffix(".jsonl"), done.dead)


def close_pane(
    pane: int,
    blocks: list[Staged],
    folder: Path,
    annotator: Annotator,
    index: IdIndex | None = None,
) -> None:
    """Ask what a budget allows, take duplicates out, repair, sum the figures, write shards and the
    dead-letter file, remove the blocks, mark the pane ready. index: of the ids of all panes before,
    where these count."""
    figures = {each.stem: each.figures for each in blocks}
    if annotator.tier is not None:
        # It is there wherever a language model is
        from evenflow.transforms.annotation import second_pass

        figures = second_pass.settled(figures, folder, annotator, stage)
    stems = [each.stem for each in blocks]
    known = None if index is None else index.known(duplicates.ids(folder, stems))
    for stem, doubles in duplicates.repeated(folder, stems, known):
        figures[stem], letters = duplicates.drop(folder, stem, doubles, annotator, figures[stem])
        write_letters(folder / f"{stem}.jsonl", letters)
    staged = [path for stem in stems if (path := folder / f"{stem}.arrow").exists()]
    closed = {folder / f"{stem}.arrow": each for stem, each in figures.items()}
    if annotator.repairs:
        from evenflow.transforms.repair import rebuild  # as above

        mended = rebuild.mend(closed, folder, pane, annotator)
    else:
        mended = RepairedPane.unchanged(closed.values())
    config = annotator.config
    layout = ShardLayout(
        annotator.attributes, config.fields.text, config.fields.id, config.shards.rows
    )
    shards = write_shards(staged, folder, pane, layout)
    set_aside = aside.write(
        [folder / f"{stem}{aside.SUFFIX}" for stem in stems], folder, pane, layout
    )
    letters = _join_letters(folder, stems, pane)
    for path in staged:
        path.unlink()
    ready = {
        "figures": dataclasses.asdict(mended.figures),
        "shards": [shard.model_dump() for shard in shards],
        "dead_letters": letters.model_dump() if letters else None,
        "sentence_table": mended.sentences.model_dump() if mended.sentences else None,
        "repairs": mended.repairs,
        "stereotypes": mended.stereotypes,
        "set_aside": set_aside.model_dump() if set_aside else None,
    }
    (folder / "ready.json").write_bytes(orjson.dumps(ready))


def write_letters(path: Path, letters: list[dict[str, Any]]) -> None:
    """Add dead letters to a block's file."""
    if letters:
        with path.open("ab") as file:
            file.write(b"".join(orjson.dumps(each) + b"\n" for each in letters))


def _join_letters(folder: Path, stems: list[str], pane: int) -> Shard | None:
    parts = [part for stem in stems if (part := folder / f"{stem}.jsonl").exists()]
    if not parts:
        return None
    path, rows = folder / f"part-{pane:08d}.jsonl", 0
    with path.open("wb") as out:
        for part in parts:
            with part.open("rb") as lines:
                for letter in sorted(
                    map(orjson.loads, lines), key=lambda each: (each["file"], each["ordinal"])
                ):
                    out.write(orjson.dumps(letter) + b"\n")
                    rows += 1
            part.unlink()
    seal(path)
    return described(path, rows)


def read_ready(folder: Path) -> Ready:
    """What close_pane wrote."""
    data = orjson.loads((folder / "ready.json").read_bytes())

    def shard(name: str) -> Shard | None:
        return Shard.model_validate(data[name]) if data[name] else None

    return Ready(
        Figures.read(data["figures"]),
        [Shard.model_validate(each) for each in data["shards"]],
        shard("dead_letters"),
        shard("sentence_table"),
        shard("set_aside"),
        data["repairs"],
        data["stereotypes"],
    )


def list_staged(folder: Path, blocks: list[Staged]) -> None:
    """Note the blocks of a pane that is closed by who commits it: folder/blocks.json."""
    (folder / "blocks.json").write_bytes(
        orjson.dumps([dataclasses.asdict(each) for each in blocks])
    )


def read_staged(folder: Path) -> list[Staged]:
    """What list_staged wrote."""
    found = orjson.loads((folder / "blocks.json").read_bytes())
    return [
        Staged(tuple(each["place"]), each["stem"], Figures.read(each["figures"])) for each in found
    ]
