"""Files of the Hub are read as files are; a file system in memory stands for the Hub's own."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator

import fsspec  # pyright: ignore[reportMissingTypeStubs]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenflow
from evenflow.transforms.io import files
from evenflow.transforms.storage import hub
from evenflow.transforms.storage.storage import StorageError, at

TEXTS = ["She met her brother.", "He left.", None]


@pytest.fixture(autouse=True)
def system(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A data set with a file of lines and one of Parquet."""
    memory = fsspec.filesystem("memory")
    monkeypatch.setattr(hub, "_system", lambda: memory)
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    memory.pipe("/datasets/ada/letters/data/a.jsonl", lines.encode())
    with memory.open("/datasets/ada/letters/data/b.parquet", "wb") as file:
        pq.write_table(pa.table({"text": TEXTS[:2]}), file)
    memory.pipe("/datasets/ada/letters/README.md", b"# Letters")
    yield
    memory.rm("/datasets", recursive=True)


@pytest.mark.parametrize(
    ("pattern", "documents"),
    [
        ("hf://datasets/ada/letters", 4),
        ("hf://datasets/ada/letters/data/*.jsonl", 2),
        ("hf://datasets/ada/letters/data/b.parquet", 2),
        ("hf://datasets/ada/letters/**/*.parquet", 2),
    ],
)
def test_a_data_set_is_measured(pattern: str, documents: int) -> None:
    found = evenflow.measure(pattern, attributes=["gender"])
    assert found.documents == documents
    counts = found["attributes"]["gender"]["counts"]
    assert counts == {"female": documents, "male": documents}


def test_what_is_not_there_or_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(files.InputError, match="hf://datasets/ada/none: no file matches"):
        evenflow.measure("hf://datasets/ada/none")

    class Away:
        def info(self, path: str) -> None:
            raise RuntimeError("no connection")

    monkeypatch.setattr(hub, "_system", Away)
    with pytest.raises(files.UnreadableError, match="letters: cannot be read: no connection"):
        evenflow.measure("hf://datasets/ada/letters")


def test_it_is_a_storage_that_is_only_read() -> None:
    place = pickle.loads(pickle.dumps(at("hf://datasets/ada/letters")))
    assert place.below("data").names("") == ["a.jsonl", "b.parquet"]
    assert place.names("data") == ["a.jsonl", "b.parquet"]
    assert place.read("README.md") == b"# Letters"
    assert place.stat("data") is None and place.stat("none") is None
    for refused in (
        lambda: place.write("x", b""),
        lambda: place.create("x", b""),
        lambda: place.remove(["x"]),
        lambda: place.remove_tree("x"),
        lambda: place.place([("x", "y")]),
    ):
        with pytest.raises(StorageError, match="read only"):
            refused()
