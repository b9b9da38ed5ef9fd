"""What the Python API takes: files, texts, records, datasets and frames give the same figures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import evenflow
from evenflow.gates.ledger.files import LedgerError
from evenflow.pipelines.engine.files.cutting import ChangedError
from evenflow.pipelines.engine.panes.epochs import RunError
from evenflow.pipelines.terminal.outcome import PaneProgress
from evenflow.schemas.config import Config, ConfigError
from evenflow.transforms.io import documents
from evenflow.transforms.io.files import InputError

TEXTS = ["She met her brother.", "He met his father.", "It rained."]
GENDER = {"female": 2, "male": 4}


class Dataset:
    """What Evenflow uses of a Hugging Face dataset: names of columns, and rows as mappings."""

    def __init__(self, **columns: list[Any]):
        self.column_names = list(columns)
        self._rows = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)


def counts(inputs: Any, config: Any = None) -> dict[str, int]:
    return evenflow.measure(inputs, config)["attributes"]["gender"]["counts"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return path


def test_the_same_texts_in_every_form_have_the_same_figures(file: Path) -> None:
    expected = evenflow.measure(file)
    assert expected["attributes"]["gender"]["counts"] == GENDER
    forms: list[Any] = [
        str(file),
        [file],
        str(file.parent / "*.jsonl"),
        TEXTS,
        iter(TEXTS),
        [{"text": text, "n": n} for n, text in enumerate(TEXTS)],
        Dataset(text=TEXTS, n=[1, 2, 3]),
        pd.DataFrame({"text": TEXTS, "day": [date(2026, 1, 1)] * 3, "n": [1.5, None, 2]}),
        pd.Series(TEXTS),
        pa.table({"text": TEXTS, "n": [1, 2, 3]}),
        pa.chunked_array([TEXTS]),
        pa.array(TEXTS),
    ]
    for form in forms:
        assert evenflow.measure(form) == expected


def test_names_of_columns_are_the_configurations() -> None:
    config = {"fields.text": "body", "fields.id": "key"}
    assert counts(Dataset(key=["a", "b", "c"], body=TEXTS), config) == GENDER
    assert counts(pd.DataFrame({"key": [1, 2, 3], "body": TEXTS}), config) == GENDER
    for table in (Dataset(body=TEXTS), pd.DataFrame({"body": TEXTS})):
        with pytest.raises(InputError, match=r"no column 'text' \(fields.text\); there are body"):
            evenflow.measure(table)


def test_records_of_a_common_shape_are_named_with_what_reads_them(tmp_path: Path) -> None:
    chats = [{"messages": [{"role": "user", "content": text}]} for text in TEXTS]
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(map(json.dumps, chats)))
    known = re.escape("chat (messages)") + ".*" + re.escape("{'fields.text': 'messages[].content'}")
    for form in (path, pa.Table.from_pylist(chats), pd.DataFrame(chats)):
        with pytest.raises(InputError, match=known):
            evenflow.measure(form)
        assert counts(form, {"fields.text": "messages[].content"}) == GENDER
    pair = pd.DataFrame({"instruction": TEXTS, "output": TEXTS})
    with pytest.raises(InputError, match=re.escape("{'fields.text': ['instruction', 'output']}")):
        evenflow.measure(pair)
    with pytest.raises(InputError, match=known):
        list(documents.read([str(path)], Config()))


def test_what_is_no_document_is_counted_and_what_is_no_input_is_refused() -> None:
    result = evenflow.measure([{"text": None}, {"text": 3}, "", "lone \ud800", *TEXTS])
    assert (result["documents"], result["dead_letters"]) == (3, 4)
    frame = pd.DataFrame({"text": [TEXTS[0], None]})
    assert evenflow.measure(frame)["dead_reasons"] == {"text not a string": 1}
    with pytest.raises(TypeError, match="document 1 is of type int"):
        evenflow.measure(["She came.", 1])
    with pytest.raises(TypeError, match="not a mapping of train, test"):
        evenflow.measure({"train": TEXTS, "test": TEXTS})
    with pytest.raises(InputError, match="no file matches"):
        evenflow.measure("none/*.jsonl")
    assert evenflow.measure([])["documents"] == 0


def test_a_configuration_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("attributes: {age: {}}\n")
    for config in (str(path), path, {"attributes": {"age": {}}}):
        assert list(evenflow.measure(TEXTS, config)["attributes"]) == ["age"]
    assert list(evenflow.measure(TEXTS, attributes=["age"])["attributes"]) == ["age"]
    assert evenflow.measure(TEXTS, Config()) == evenflow.measure(TEXTS)
    with pytest.raises(TypeError, match="a Config has its own attributes"):
        evenflow.measure(TEXTS, Config(), attributes=["age"])
    with pytest.raises(ConfigError, match=r"gate\.warn: a number from 0 to 1, or null"):
        evenflow.Gate({"gate.warn": 2})


def test_many_documents_come_in_blocks() -> None:
    result = evenflow.measure(({"text": "She came."} for _ in range(5000)), attributes=["gender"])
    assert result["attributes"]["gender"]["counts"] == {"female": 5000, "male": 0}


def test_a_table_of_arrow_is_read_as_its_rows_are() -> None:
    rows = [{"id": str(n), "text": text} for n, text in enumerate(TEXTS)]
    table = pa.Table.from_pylist(rows)
    text = table["text"].combine_chunks().cast(pa.string_view())
    assert evenflow.measure(table) == evenflow.measure(rows)
    assert evenflow.measure(pa.table({"text": text})) == evenflow.measure(rows)


def test_accepted_refuses_a_folder_without_a_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="typo: no ledger here"):
        evenflow.accepted(tmp_path / "typo")


def test_explain_with_everything() -> None:
    document = evenflow.explain(
        "Women cannot park.", attributes=["gender"], counterfactual="gc", stereotypes=True
    )
    [row] = document["sentences"]
    assert row["labels"][0]["group"] == "female"
    assert 0 < row["potential_stereotype"]["gender"] < 1
    assert set(document["text_cda"]) == {"gender"}
    with pytest.raises(ValueError, match="group 'x' is not there"):
        evenflow.explain("She came.", counterfactual="base", source="x")


def test_a_gate_on_documents_in_memory_goes_on_and_knows_its_input(tmp_path: Path) -> None:
    output = tmp_path / "deep" / "out"
    rows = [{"id": str(n), "text": TEXTS[n % 2], "z": n, "a": n} for n in range(40)]
    seen: list[PaneProgress] = []
    gate = evenflow.Gate({"pane.docs": 20}, attributes=["gender"])
    first = gate.run(rows, output, on_pane=seen.append)
    assert [each.entry.pane for each in seen] == [0, 1]
    assert (first["panes"], first["new_panes"], first["documents"]) == (2, 2, 40)
    assert Path(first["report"]).is_file()
    [shard, _] = sorted((output / "accepted").iterdir())
    frame = pd.read_parquet(shard)
    assert list(frame["id"]) == [str(n) for n in range(20)]
    assert list(frame.columns[2:4]) == ["z", "a"]
    assert gate.run(rows, output) == {**first, "new_panes": 0}
    with pytest.raises(ChangedError, match=r"out\.input"):
        gate.run(rows[:-1], output)
    with pytest.raises(ChangedError, match=r"out\.input"):
        gate.run([*rows[:-1], {**rows[-1], "text": "She wrote to them."}], output)
    with pytest.raises(RunError, match="rolling"):
        evenflow.Gate({"pane.docs": 20, "pane.rolling": 1}, attributes=["gender"]).run(rows, output)
    grown = gate.run([*rows, {"id": "40", "text": TEXTS[0]}], output)
    assert (grown["documents"], grown["new_panes"]) == (41, 1)


def test_the_package_itself_imports_nothing_large() -> None:
    code = "import sys, evenflow; print(*sys.modules); evenflow.Gate; evenflow.beam.JudgePanes"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"apache_beam", "numpy", "pyarrow", "pydantic"} & set(done.stdout.split())
    # The checks put these off, which is in vain where something else loads them
    code = "import sys, evenflow.pipelines.engine.files.driver; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"altair", "scipy.special", "great_expectations", "kafka", "obstore", "onnxruntime"}
    assert not heavy & set(done.stdout.split())
    assert {"Gate", "beam", "explain", "measure"} <= set(dir(evenflow))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(evenflow, "nothing")  # noqa: B009 (pyright knows that it is not there)
