"""Texts within records and in several fields: found by paths, written back where they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from evenflow.pipelines.corpus.first_config import lines
from evenflow.pipelines.corpus.look import NoTextError, look
from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import ConfigError, load, value
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.fitting import restored
from evenflow.transforms.io.parts import SEPARATOR, Paths
from evenflow.transforms.io.records import validate

USER, ANSWER = "He is my brother.", "The man saw his son."
CHAT = {
    "id": "c",
    "messages": [
        {"role": "system", "content": ""},
        {"role": "user", "content": USER},
        {"role": "assistant", "content": ANSWER, "tool": None},
    ],
}
SHARE = {"conversations": [{"from": "human", "value": USER}, {"from": "gpt", "value": ANSWER}]}
PREFER = {
    "prompt": USER,
    "chosen": [{"role": "assistant", "content": ANSWER}],
    "rejected": [{"role": "assistant", "content": USER}],
}
PARTS = {"messages": [{"role": "user", "content": [{"type": "text", "text": USER}]}]}


@pytest.mark.parametrize(
    ("paths", "record", "texts"),
    [
        ("messages[].content", CHAT, [USER, ANSWER]),
        ("messages[role=assistant].content", CHAT, [ANSWER]),
        ("messages[role=user|assistant].content", CHAT, [USER, ANSWER]),
        ("messages[role=tool].content", CHAT, []),
        ("conversations[from=gpt].value", SHARE, [ANSWER]),
        ("messages[].content[].text", PARTS, [USER]),
        ("data.body", {"data": {"body": USER}}, [USER]),
        ("data.body", {"data.body": USER}, [USER]),
        ("data.body", {"data": [1]}, []),
        ("turns[]", {"turns": [USER, 3, ANSWER]}, [USER, ANSWER]),
        (
            ["instruction", "input", "output"],
            {"instruction": USER, "output": ANSWER},
            [USER, ANSWER],
        ),
        (["prompt", "chosen[].content", "rejected[].content"], PREFER, [USER, ANSWER, USER]),
        (["messages[].content", "messages[role=user].content"], CHAT, [USER, ANSWER]),
    ],
)
@pytest.mark.parametrize("kind", ["json", "rows"])
def test_paths_lead_to_texts_and_back(
    paths: str | list[str], record: dict[str, Any], texts: list[str], kind: str
) -> None:
    config = load(None, {"fields.text": paths})
    own = Paths(config.fields.paths or [])
    assert own.read(record) == texts
    changed = own.write(record, [text.upper() for text in texts])
    assert own.read(changed) == [text.upper() for text in texts]
    assert own.write(changed, texts) == record
    if kind == "rows" and "turns" in record:
        record = {"turns": texts}
    block = Block("a.jsonl", 0, [json.dumps(record).encode()], 0)
    if kind == "rows":
        block = Block("a.parquet", 0, [], 0, rows=pa.Table.from_pylist([record]))
    found = validate(block, config, frozenset())
    assert found.texts == [SEPARATOR.join(texts)] * bool(texts)
    assert dict(found.reasons) == ({} if texts else {"text missing": 1})


@pytest.mark.parametrize("end", [".jsonl", ".json", ".parquet"])
@pytest.mark.parametrize(
    ("paths", "record"),
    [
        ("messages[role=assistant].content", CHAT),
        (["prompt", "chosen[].content", "rejected[].content"], PREFER),
        ("data.body", {"data": {"body": ANSWER, "n": 3}, "text": "a field of this name stays"}),
        (["instruction", "output"], {"instruction": USER, "output": ANSWER, "n": 1}),
    ],
)
def test_parts_are_repaired_in_place(
    tmp_path: Path, end: str, paths: str | list[str], record: dict[str, Any]
) -> None:
    rows = [record | {"id": f"d{number}"} for number in range(40)]
    path = tmp_path / f"in{end}"
    if end == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif end == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {
        "fields.text": paths,
        "repair.mode": "substitute",
        "repair.judge": "fast",
        "repair.min_probability": 0.0,
        "gate.on_block": "quarantine",
    }
    [entry] = Run([str(path)], tmp_path / "out", load(None, settings)).go().entries
    assert entry.documents == 40
    own, found, changed = Paths([paths] if isinstance(paths, str) else paths), [], 0
    for shard in [*tmp_path.glob("out/accepted/*"), *tmp_path.glob("out/quarantine/*")]:
        table = pq.read_table(shard)
        found += [restored(row, table.schema) for row in table.to_pylist()]
    assert len(found) == 40
    for row in found:
        assert SEPARATOR.join(own.read(row)) == row["_text"]
        changed += own.read(row) != own.read(record)
        back = own.write(row, own.read(record))
        kept = {name: value for name, value in back.items() if name in record and name != "id"}
        assert kept == _without_nulls({k: v for k, v in record.items() if k != "id"})
    assert changed


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"fields.text": "id"}, "fields.id, too"),
        ({"fields.text": ["prompt", "key"], "fields.id": "key"}, "'key' is fields.id, too"),
        ({"fields.text": ["prompt", 3]}, "text that is not empty"),
        ({"fields.text": []}, "fields.text"),
    ],
)
def test_wrong_paths_are_errors_of_the_configuration(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(None, given)


URLS = [f"https://example.org/a/very/long/path/{number}" for number in range(5)]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (CHAT, "messages[].content"),
        (SHARE, "conversations[].value"),
        (PARTS, "messages[].content[].text"),
        (PREFER, ["chosen[].content", "rejected[].content"]),
        ({"prompt": USER, "chosen": ANSWER, "rejected": USER}, ["prompt", "chosen", "rejected"]),
        ({"prompt": USER, "completion": ANSWER}, ["prompt", "completion"]),
        ({"instruction": USER, "input": "", "output": ANSWER}, ["instruction", "output", "input"]),
        ({"data": {"body": USER}}, "data.body"),
        ({"title": "A b", "data": {"content": {"body": USER}}}, "data.content.body"),
        ({"body": USER, "title": "A b"}, "body"),
        ({"text": USER, "messages": []}, "text"),
    ],
)
def test_a_look_finds_common_shapes(tmp_path: Path, record: dict[str, Any], text: Any) -> None:
    path = tmp_path / "in.jsonl"
    rows = [{"id": f"{number:040d}", "url": url} | record for number, url in enumerate(URLS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    seen = look({str(path): path.stat().st_size}, load(None))
    assert seen.text == text
    assert seen.id is not None or record is CHAT
    assert (seen.shape is None) == (text in ("body", "text") or str(text)[:4] == "data")
    written = "\n".join(lines(seen, load(None), [], tmp_path))
    assert yaml.safe_load(written)["fields"]["text"] == text


def test_an_option_names_paths_in_brackets() -> None:
    assert value("fields.text", "[prompt, messages[].content]", "--text-field") is not None
    config = load(None, {"fields.text": "[prompt, messages[].content]"})
    assert config.fields.paths == ["prompt", "messages[].content"]


def test_no_id_or_url_is_taken_for_a_text(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    rows = [{"id": f"{number:040d}", "url": url} for number, url in enumerate(URLS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(NoTextError, match="no field holds texts; there are id, url"):
        look({str(path): path.stat().st_size}, load(None))
