"""The files of a staged block: what a block of the input becomes until its pane is closed.

The files lie in the pane's folder in staged/, and have one stem and a suffix for each part. Tables
are Arrow files, other parts are lines of JSON. A file is written whole under another name and then
renamed, so a replay may write it again, and a table that is still mapped into memory stays valid.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import orjson
import pyarrow as pa

from evenflow.schemas.documents import FILE, ID, ORDINAL, TEXT
from evenflow.transforms.io.records import Documents

INPUT = "input:"  # before the names of the input's other fields: own columns never have them


class Part(StrEnum):
    """The parts of a block. The value is the suffix of the part's file."""

    DOCUMENTS = ".arrow"  # a row for each document: see documents_table
    PROPOSALS = ".sets"  # a line for each document with substitutable sets: see proposals
    SENTENCES = ".sentences"  # rows of the table of sentences: see sentence_table
    ASIDE = ".aside"  # the documents that are set aside, with the reason
    LETTERS = ".jsonl"  # dead letters
    DEFERRED = ".deferred"  # questions that wait for the pane's budget: see second_pass
    READ = ".read"  # the documents as they were read, while questions wait


@dataclass(frozen=True)
class StagedBlock:
    """The files of one block. A part that the block does not have has no file.

    Attributes:
        folder: The pane's folder in staged/.
        stem: The name of the block's files, without the suffix.
    """

    folder: Path
    stem: str

    def has(self, part: Part) -> bool:
        """Whether the block has a part."""
        return self._path(part).exists()

    def read(self, part: Part) -> pa.Table:
        """A part's table, mapped into memory."""
        with pa.memory_map(str(self._path(part))) as source:
            return pa.ipc.open_file(source).read_all()

    def write(self, part: Part, table: pa.Table) -> None:
        """Write a part's table, in the place of an earlier one.

        Raises:
            OSError: The file cannot be written.
        """
        with (
            self._replacing(part) as path,
            pa.OSFile(str(path), "wb") as sink,
            pa.ipc.new_file(sink, table.schema) as writer,
        ):
            writer.write_table(table)

    def lines(self, part: Part) -> Iterator[bytes]:
        """The lines of a part, each with its end; none if the block does not have it."""
        if self.has(part):
            with self._path(part).open("rb") as file:
                yield from file

    def write_lines(self, part: Part, lines: Iterable[bytes]) -> None:
        """Write a part's lines, in the place of earlier ones.

        Raises:
            OSError: The file cannot be written.
        """
        with self._replacing(part) as path, path.open("wb") as file:
            file.writelines(lines)

    def add_letters(self, letters: Iterable[Mapping[str, object]]) -> None:
        """Add dead letters (JSON-able) to the block's. Raises OSError."""
        if data := b"".join(orjson.dumps(each) + b"\n" for each in letters):
            with self._path(Part.LETTERS).open("ab") as file:
                file.write(data)

    def drop(self, ordinals: Container[int]) -> None:
        """Take documents out of all parts of the block.

        Args:
            ordinals: The documents' places in their file.

        Raises:
            OSError: A file cannot be written.
        """
        for part in (Part.DOCUMENTS, Part.ASIDE, Part.SENTENCES):
            if self.has(part):
                table = self.read(part)
                kept = [each not in ordinals for each in table[ORDINAL.name].to_pylist()]
                self.write(part, table.filter(pa.array(kept, pa.bool_())).combine_chunks())
        if self.has(Part.PROPOSALS):
            self.write_lines(
                Part.PROPOSALS,
                (
                    line
                    for line in self.lines(Part.PROPOSALS)
                    if orjson.loads(line)[ORDINAL.name] not in ordinals
                ),
            )

    def remove(self, *parts: Part) -> None:
        """Remove the files of some parts, or of all if none is named. Raises OSError."""
        for part in parts or Part:
            self._path(part).unlink(missing_ok=True)

    def _path(self, part: Part) -> Path:
        return self.folder / f"{self.stem}{part}"

    @contextmanager
    def _replacing(self, part: Part) -> Iterator[Path]:
        """Where to write a part's new file; it takes the place of the old one at the end."""
        path = self._path(part)
        new = path.with_name(f"{path.name}.new")
        yield new
        new.replace(path)


def documents_table(found: Documents, own: Mapping[pa.Field, pa.Array]) -> pa.Table:
    """Documents as a table for a block's part.

    Args:
        own: The columns that are computed here, (D,) each.

    Returns:
        (D, ...): id, text and ordinal, the own columns, then the input's other fields under names
        that begin with INPUT. The file's name is in the schema's metadata.
    """
    columns = {
        ID: pa.array(found.ids, pa.string()),
        TEXT: pa.array(found.texts, pa.large_string()),
        ORDINAL: pa.array(found.places, pa.int64()),
        **own,
        **{field.with_name(INPUT + field.name): each for field, each in found.fields.items()},
    }
    schema = pa.schema(list(columns), metadata={FILE: found.file.encode()})
    return pa.Table.from_arrays(list(columns.values()), schema=schema)


def read_documents(table: pa.Table) -> Documents:
    """The documents of a table that documents_table made, without its own columns."""
    return Documents(
        file=source_file(table),
        ids=table[ID.name].to_pylist(),
        texts=table[TEXT.name].to_pylist(),
        places=table[ORDINAL.name].to_pylist(),
        fields=field_values(table),
    )


def field_values(table: pa.Table) -> dict[pa.Field, pa.Array]:
    """The input's other fields in a table that documents_table made, each with its values (D,)."""
    others = input_fields(table)
    return {column: others[column.name].combine_chunks() for column in others.schema}


def source_file(table: pa.Table) -> str:
    """The name of the file that a table's documents came from."""
    return (table.schema.metadata or {}).get(FILE, b"").decode()


def input_fields(table: pa.Table) -> pa.Table:
    """The input's other fields in a table that documents_table made, under the input's names."""
    names = [name for name in table.column_names if name.startswith(INPUT)]
    return table.select(names).rename_columns([name.removeprefix(INPUT) for name in names])


def replace_columns(table: pa.Table, columns: Mapping[pa.Field, pa.Array]) -> pa.Table:
    """A table of D rows with new values (D,) in some of its columns."""
    for field, values in columns.items():
        table = table.set_column(table.schema.get_field_index(field.name), field, values)
    return table
