"""Attributes for dolma: their form, what is no document, and dolma's own mixer reads them."""

from __future__ import annotations

import gzip
import importlib.util
import json
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

import pytest
import yaml
from step_pages import code_of

from evenflow.dolma import DolmaError, write_attributes

TEXTS = ["She met him.", "It rained.", "He and his brother met his father."]
ROWS = [{"id": f"d{n}", "text": text, "source": "here"} for n, text in enumerate(TEXTS)]


def write(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_spans_and_counts_stand_beside_the_documents(tmp_path: Path) -> None:
    write(tmp_path / "documents" / "a" / "0.jsonl.gz", ROWS)
    output = tmp_path / "attributes" / "evenflow"
    assert write_attributes(tmp_path / "documents", output, attributes=["gender"]) == 3
    first, second, third = read(output / "a" / "0.jsonl.gz")
    assert first == {
        "id": "d0",
        "attributes": {
            "evenflow__gender__female": [[0, 3, 1.0]],
            "evenflow__gender__female_count": [[0, 12, 1.0]],
            "evenflow__gender__male": [[8, 11, 1.0]],
            "evenflow__gender__male_count": [[0, 12, 1.0]],
        },
    }
    assert second["attributes"]["evenflow__gender__male"] == []
    assert third["attributes"]["evenflow__gender__male_count"] == [[0, len(TEXTS[2]), 5.0]]


def test_the_lines_of_the_page_run_as_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "wiki" / "documents" / "0.jsonl.gz", ROWS)
    exec(code_of("dolma"), {})
    rows = read(tmp_path / "wiki" / "attributes" / "evenflow" / "0.jsonl.gz")
    assert [row["id"] for row in rows] == ["d0", "d1", "d2"]


@pytest.mark.parametrize(
    "row", [3, {}, {"id": "x"}, {"id": "x", "text": None}, {"id": "x", "text": 1}]
)
def test_what_is_no_document_is_named(row: Any, tmp_path: Path) -> None:
    write(tmp_path / "documents" / "0.jsonl.gz", [ROWS[0], row])
    with pytest.raises(DolmaError, match="line 2: no document with id and text"):
        write_attributes(tmp_path / "documents", tmp_path / "out")
    assert not list((tmp_path / "out").glob("0*"))


def test_no_documents_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(DolmaError, match=r"no file \*\.jsonl\.gz"):
        write_attributes(tmp_path, tmp_path / "out")
    path = write(tmp_path / "0.jsonl.gz", ROWS)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DolmaError, match="cannot be read to its end"):
        write_attributes(tmp_path, tmp_path / "out")


def test_the_mixer_of_dolma_filters_by_them(tmp_path: Path) -> None:
    spec = importlib.util.find_spec("dolma")
    if spec is None:
        pytest.skip("readers: run `.venv/bin/pip install --no-deps dolma`")
    # dolma's package needs more than its mixer, a part in Rust that is loaded alone here
    [place] = list(spec.submodule_search_locations or ())
    [file] = Path(place).glob("dolma*.so")
    own = importlib.util.spec_from_file_location(
        "dolma", file, loader=ExtensionFileLoader("dolma", str(file))
    )
    assert own is not None and own.loader is not None
    mixer = importlib.util.module_from_spec(own)
    own.loader.exec_module(mixer)
    write(tmp_path / "documents" / "0.jsonl.gz", ROWS)
    write_attributes(tmp_path / "documents", tmp_path / "attributes" / "evenflow")
    stream = {
        "name": "kept",
        "documents": [f"{tmp_path}/documents/*.gz"],
        "attributes": ["evenflow"],
        "output": {"path": f"{tmp_path}/mixed", "max_size_in_bytes": 1 << 20},
        "filter": {
            "include": [],
            **yaml.safe_load(code_of("dolma", "yaml"))["filter"],
        },
    }
    work = {"input": f"{tmp_path}/work", "output": f"{tmp_path}/work"}
    mixer.mixer_entrypoint(json.dumps({"streams": [stream], "processes": 1, "work_dir": work}))
    [mixed] = (tmp_path / "mixed").glob("*.gz")
    rows = read(mixed)
    assert [row["id"] for row in rows] == ["d0", "d1"]
    assert rows[0]["attributes"]["evenflow__gender__female"] == [[0, 3, 1.0]]
