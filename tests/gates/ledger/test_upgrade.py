"""Outputs of earlier versions are read and continued; those of later versions are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from places import ROOT
from report_ledgers import entries, settings

from evenflow.gates.ledger import segments
from evenflow.gates.ledger.files import (
    LedgerError,
    NewerFormatError,
    parse_entry,
    read_meta,
    write_meta,
)
from evenflow.gates.ledger.history import History
from evenflow.schemas.ledger import FORMAT, Filtered, Measured
from evenflow.transforms.measures.stereotypes.measure import Stereotypes

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]
VERSIONS = sorted((ROOT / "tests" / "data" / "outputs").glob("*/"))
RUN = "--pane-docs 6 --set pane.rolling=3 --warn 0.2 --block 0.35 -q"
RUN += " --repair-mode substitute,weight"


def brought(version: Path, folder: Path) -> None:
    """Copy a version's outputs, and write into the ledger where they are now."""
    shutil.copytree(version, folder, dirs_exist_ok=True)
    for path in (folder / "files" / "ledger").glob("*.json"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("@PLACE@/", f"{folder}/"), encoding="utf-8")


@pytest.mark.parametrize("version", VERSIONS, ids=lambda each: each.name)
def test_a_killed_run_of_an_earlier_version_is_continued(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: Path
) -> None:
    brought(version, tmp_path)
    monkeypatch.chdir(tmp_path)
    ledger = tmp_path / "files" / "ledger"
    before = {path.name: path.read_bytes() for path in ledger.glob("0*.json")}
    ended = call("run", "--input", "in", "--output", "files", "--config", "gate.yaml", *RUN.split())
    assert ended.status in (0, 3), ended.err
    assert len(before) == 4 and len([*ledger.glob("0*.json")]) == 6
    assert {name: (ledger / name).read_bytes() for name in before} == before
    ended = call("gate", "verify", "files", "--files")
    assert ended.status == 0, ended.out
    ids: list[str] = []
    for path in sorted((tmp_path / "files").glob("[aq]*/*-0*.parquet")):
        ids += pq.read_table(path, columns=["id"])["id"].to_pylist()
    assert sorted(ids) == [f"{number:03}" for number in range(36)]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda each: each.name)
def test_a_long_ledger_of_an_earlier_version_is_read_and_goes_on(
    call: Call, tmp_path: Path, version: Path
) -> None:
    shutil.copytree(version / "segments", tmp_path, dirs_exist_ok=True)
    assert call("gate", "verify", tmp_path).status == 0
    history = History(tmp_path)
    assert len(history) == 258 and history[0].attributes.keys() == {"age", "gender"}
    history.commit(entries(1)[0].model_copy(update={"pane": 258}))
    assert len(History(tmp_path)) == 259


def test_there_is_an_output_of_an_earlier_version() -> None:
    assert "0.1.0" in {each.name for each in VERSIONS}


def newer(output: Path, name: str, **keys: object) -> None:
    """Change a file of a ledger as a newer version might write it."""
    path = output / name
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


@pytest.mark.parametrize("name", ["ledger/meta.json", "ledger/00000005.json"])
@pytest.mark.parametrize("keys", [{"version": FORMAT + 1}, {"version": FORMAT + 1, "new": 1}])
def test_a_newer_format_is_refused_in_a_sentence(
    call: Call, tmp_path: Path, name: str, keys: dict[str, object]
) -> None:
    ledger(tmp_path)
    newer(tmp_path, name, **keys)
    ended = call("gate", "status", tmp_path)
    assert ended.status == 2
    said = " ".join(ended.err.split())
    assert name in said and "a newer version of Evenflow has written this (its format is 3" in said


@pytest.mark.parametrize("name", ["ledger/00000005.json", segments.CHECKPOINT])
def test_a_key_that_is_not_known_is_that_of_a_newer_version(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(segments, "EVERY", 4)
    ledger(tmp_path)
    newer(tmp_path, name, of_tomorrow=1)
    ended = call("gate", "status", tmp_path)
    assert ended.status == 2 and "does not know its key of_tomorrow" in " ".join(ended.err.split())


def test_measures_of_format_1_stood_beside_other_keys_and_in_attributes() -> None:
    entry = entries(1)[0]
    seen = Filtered(action="flag", threshold=0.66, strong=2)
    found = Stereotypes(attributes={"gender": seen}, unlisted={"race": seen})
    entry.measures = {"stereotypes": found, "lengths": Measured(verdict=entry.verdict)}
    old = entry.model_dump(mode="json") | {"version": 1, "coverage": None}
    measures = old.pop("measures")
    old |= {"lengths": measures["lengths"], "unlisted": measures["stereotypes"]["unlisted"]}
    for name, each in old["attributes"].items():
        each["stereotypes"] = measures["stereotypes"]["attributes"].get(name)
    read = parse_entry(json.dumps(old).encode(), "it")
    assert read == entry.model_copy(update={"version": 1})
    with pytest.raises(NewerFormatError, match="its key of_tomorrow"):
        parse_entry(json.dumps(old | {"of_tomorrow": 1}).encode(), "it")
    for nonsense in ({"attributes": 1}, {"attributes": {"gender": 1}}, {"unlisted": 1}):
        with pytest.raises(LedgerError):
            parse_entry(json.dumps(old | nonsense).encode(), "it")


def test_a_damaged_entry_is_not_called_newer(call: Call, tmp_path: Path) -> None:
    ledger(tmp_path)
    newer(tmp_path, "ledger/00000005.json", documents="many")
    ended = call("gate", "status", tmp_path)
    assert ended.status == 1 and "not a ledger entry" in ended.err


def test_a_run_notes_the_format(tmp_path: Path) -> None:
    write_meta(tmp_path, {"version": FORMAT})
    assert (read_meta(tmp_path) or {})["version"] == FORMAT
    write_meta(tmp_path, {"version": FORMAT + 1})
    with pytest.raises(NewerFormatError):
        read_meta(tmp_path)


def ledger(output: Path) -> None:
    """A ledger of six panes."""
    write_meta(output, settings() | {"version": FORMAT})
    history = History(output)
    for entry in entries(6):
        history.commit(entry)
