import base64
import gzip
import hashlib
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evenflow.gates.ledger import read_entries
from evenflow.pipelines.run import Run, RunError
from evenflow.schemas.config import load

SPEECHES = Path(__file__).parent / "data" / "speeches.jsonl.gz"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = gzip.decompress(SPEECHES.read_bytes()).decode().splitlines()[:30]
    bad = [
        "not json",
        "[1]",
        '{"id":"x"}',
        '{"id":"y","text":null}',
        '{"id":"z","text":"  "}',
        '{"id":"s","text":"\\ud800"}',
    ]
    path = tmp_path / "in.jsonl"
    path.write_bytes("\n".join([*rows[:10], *bad, *rows[10:]]).encode() + b'\n{"id":"u","text":"\xff"}\n')
    return path


def digests(output: Path) -> dict[str, str]:
    folders = ("accepted", "quarantine", "dead-letter", "ledger")
    return {
        str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in sorted((output / folder).iterdir())
        if path.name != "meta.json"
    }


def test_every_record_is_in_one_place(corpus: Path, tmp_path: Path) -> None:
    config = load(None, {"pane.docs": 10, "gate.warn": 0.1, "gate.block": 0.15, "gate.min_mentions": 20})
    outcome = Run([str(corpus)], tmp_path / "out", config).go()
    read = [
        row["id"]
        for folder in ("accepted", "quarantine")
        for path in sorted((tmp_path / "out" / folder).glob("*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]
    dead = [
        json.loads(line)
        for path in sorted((tmp_path / "out" / "dead-letter").glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    lines = corpus.read_bytes().splitlines()
    assert {letter["ordinal"] for letter in dead} == {10, 11, 12, 13, 14, 15, 36}
    assert all(base64.b64decode(letter["raw_base64"]) == lines[letter["ordinal"]] for letter in dead)
    good = [json.loads(line)["id"] for i, line in enumerate(lines) if i not in {letter["ordinal"] for letter in dead}]
    assert sorted(read) == sorted(good)
    assert sum(entry.documents + entry.dead for entry in outcome.entries) == len(lines)
    assert "quarantine" in {entry.folder for entry in outcome.entries}


def test_same_bytes_whatever_the_workers_and_restarts(corpus: Path, tmp_path: Path) -> None:
    config = load(None, {"pane.docs": 10})
    Run([str(corpus)], tmp_path / "one", config).go()
    Run([str(corpus)], tmp_path / "two", config, workers=2).go()

    class Killed(Exception):
        pass

    def kill(progress) -> None:
        raise Killed

    for _ in range(10):
        try:
            Run([str(corpus)], tmp_path / "three", config, on_pane=kill).go()
        except Killed:
            continue
        break
    assert digests(tmp_path / "one") == digests(tmp_path / "two") == digests(tmp_path / "three")
    assert len(read_entries(tmp_path / "one")) == 4


def test_other_settings_are_refused(corpus: Path, tmp_path: Path) -> None:
    Run([str(corpus)], tmp_path / "out", load(None, {"pane.docs": 10})).go()
    assert Run([str(corpus)], tmp_path / "out", load(None, {"pane.docs": 10})).go().new == 0
    with pytest.raises(RunError, match=r"configuration\.pane\.docs: 10 -> 11"):
        Run([str(corpus)], tmp_path / "out", load(None, {"pane.docs": 11})).go()


def test_halt_stops_at_the_blocked_pane(corpus: Path, tmp_path: Path) -> None:
    config = load(None, {"pane.docs": 10, "gate.warn": 0.1, "gate.block": 0.15, "gate.min_mentions": 20, "gate.policy": "halt"})
    outcome = Run([str(corpus)], tmp_path / "out", config).go()
    assert outcome.halted
    assert [entry.folder for entry in outcome.entries] == ["accepted"] * (len(outcome.entries) - 1) + ["quarantine"]
