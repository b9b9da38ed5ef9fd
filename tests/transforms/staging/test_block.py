from pathlib import Path

import pyarrow as pa

from evenflow.schemas import documents
from evenflow.transforms.io import fields
from evenflow.transforms.io.records import Documents
from evenflow.transforms.staging.block import (
    Part,
    StagedBlock,
    documents_table,
    input_fields,
    read_documents,
    replace_columns,
)

FIELD = pa.field("ordinal", pa.string(), metadata=fields.JSON)  # the name of an own column
READ = Documents(
    "in.jsonl", ["a", "b", "c"], ["A.", "B.", "C."], [4, 7, 9], {FIELD: pa.array(["1", "2", None])}
)
REASONS = {documents.REASON: pa.array(["why", "so", "because"])}


def test_documents_are_read_as_they_were_written(tmp_path: Path) -> None:
    block = StagedBlock(tmp_path, "0")
    assert not block.has(Part.READ) and not [*block.lines(Part.DEFERRED)]
    block.write(Part.READ, documents_table(READ, REASONS))
    again = read_documents(block.read(Part.READ))
    assert again == READ and fields.is_json(next(iter(again.fields)))


def test_a_field_of_the_input_has_a_name_of_its_own() -> None:
    table = documents_table(READ, REASONS)
    assert len(set(table.column_names)) == 5 and table["ordinal"].to_pylist() == [4, 7, 9]
    assert input_fields(table).column_names == ["ordinal"]
    new = replace_columns(table, {documents.TEXT: pa.array(["x", "y", "z"], pa.large_string())})
    assert new.schema.equals(table.schema, check_metadata=True)
    assert new["text"].to_pylist() == ["x", "y", "z"]


def test_documents_are_dropped_from_all_parts(tmp_path: Path) -> None:
    block = StagedBlock(tmp_path, "0")
    for part in (Part.DOCUMENTS, Part.ASIDE, Part.SENTENCES):
        block.write(part, documents_table(READ, {}))
    kept = block.read(Part.DOCUMENTS)
    block.write_lines(Part.PROPOSALS, [b'{"ordinal":%d}\n' % place for place in READ.places])
    block.drop({4, 9, 11})
    for part in (Part.DOCUMENTS, Part.ASIDE, Part.SENTENCES):
        assert block.read(part)["id"].to_pylist() == ["b"]
    assert [*block.lines(Part.PROPOSALS)] == [b'{"ordinal":7}\n']
    assert kept["id"].to_pylist() == READ.ids  # a table that was read before stays


def test_letters_are_added_and_parts_removed(tmp_path: Path) -> None:
    block = StagedBlock(tmp_path, "0")
    block.add_letters([])
    assert not block.has(Part.LETTERS)
    for number in range(2):
        block.add_letters([{"ordinal": number}])
    assert [*block.lines(Part.LETTERS)] == [b'{"ordinal":0}\n', b'{"ordinal":1}\n']
    block.write(Part.READ, documents_table(READ, {}))
    block.remove(Part.READ)
    assert [path.name for path in tmp_path.iterdir()] == ["0.jsonl"]
    block.remove()
    assert not [*tmp_path.iterdir()]
