import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenflow.schemas.config.fields import Fields
from evenflow.transforms.io import first_records
from evenflow.transforms.io.files import InputError

LINE = json.dumps({"id": 1, "body": "She came."}).encode()
GZIPPED = gzip.compress(LINE, mtime=0)  # the same in every process: it names tests


def parquet(*names: str) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({name: ["She came."] for name in names}), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "data", "there"),
    [
        ("a.jsonl", LINE, "id, body"),
        ("a.jsonl", b"\xef\xbb\xbf" + LINE, "id, body"),
        ("a.jsonl", b"nonsense\n[1]\n" + LINE + b'\n{"title": "T"}', "id, body, title"),
        ("a.jsonl.gz", GZIPPED, "id, body"),
        ("a.parquet", parquet("body", "n"), "body, n"),
        ("a.jsonl", LINE + b'\n{"text": "He came."}', None),
        ("a.jsonl", b"nonsense", None),
        ("a.jsonl", b"", None),
        ("a.jsonl.gz", GZIPPED[:12], None),
        ("a.parquet", b"no Parquet", None),
        ("a.parquet", parquet("text"), None),
        ("a.txt", b"She came.", None),
    ],
)
def test_a_wrong_name_is_found_with_the_names_that_there_are(
    tmp_path: Path, name: str, data: bytes, there: str | None
) -> None:
    (tmp_path / "good.jsonl").write_text('{"text": "It rained."}\n')
    (tmp_path / name).write_bytes(data)
    names = [str(tmp_path / "good.jsonl"), str(tmp_path / name)]
    if there is None:
        first_records.check_text_field(names, Fields())
        return
    with pytest.raises(InputError, match=f"{name}: no field 'text' .* there are {there}\\. "):
        first_records.check_text_field(names, Fields())


def test_of_many_files_some_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(first_records, "_fields", lambda name: looked.append(name) or [])
    names = [f"{number}.jsonl" for number in range(950)]
    first_records.check_text_field(names, Fields())
    assert looked == names[::10]
    first_records.check_text_field([], Fields())
