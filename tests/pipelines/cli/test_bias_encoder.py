"""The bias score with an encoder's vectors, from the command line to the ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from parts import needs_training
from tiny_models import tiny_model

from evenflow.gates.ledger.history import History
from evenflow.transforms.measures.bias_score.records import BiasScore
from evenflow.transforms.measures.bias_score.signal import BiasSignal

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]
PLAIN = "The report is long. He went home."
PINK = "The bikini is pink."


def corpus(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def settings(folder: Path, vectors: object, more: str = "mode: measure") -> Path:
    path = folder / "evenflow.yaml"
    path.write_text(
        f"attributes: {{gender: {{}}}}\nbias_score: {{vectors: {vectors}, {more}, percentile: 90,"
        " min_sentences: 10}\n"
    )
    return path


@pytest.fixture
def reference(call: Call, tmp_path: Path) -> Path:
    """A reference of plain texts, made with the encoder that ships."""
    path = tmp_path / "reference.json"
    clean = corpus(tmp_path / "clean.jsonl", [PLAIN] * 9 + ["He lost it."])
    ended = call(
        "lab", "bias-score", "reference", clean, "--vectors", "encoder", "--output", path, "-q"
    )
    assert ended.status == 0 and "percentile 95: " in ended.out
    return path


def test_any_number_of_workers_and_blocks_writes_the_same_ledger(
    call: Call, tmp_path: Path, reference: Path
) -> None:
    own = settings(tmp_path, "encoder", "mode: measure, reference: reference.json")
    texts = [f"{PINK} {PLAIN} She is {n % 7}." for n in range(40)]
    texts[3] = "now " * 400 + "\n\n" + PINK
    source = corpus(tmp_path / "in.jsonl", texts)
    written = []
    for workers in (1, 2):
        out = tmp_path / f"out{workers}"
        ended = call(
            *("run", "--input", source, "--output", out, "-c", own, "--pane-docs", 20, "-q"),
            *("--workers", workers),
        )
        assert ended.status in (0, 3), ended.err
        written.append([path.read_bytes() for path in sorted((out / "ledger").glob("0*.json"))])
    assert len(written[0]) == 2 and written[0] == written[1]
    first, _ = History(tmp_path / "out1")
    found = first.measures["bias_score"]
    assert isinstance(found, BiasScore) and found.verdict.state != "too few"
    assert found.sums.behind == 400 - 158  # two pieces are the encoder's marks
    assert {"pink", "report"} <= {each.word for each in found.words}
    # A reference says what it was made with
    other = settings(tmp_path, "null", "mode: measure, reference: reference.json")
    ended = call("run", "--input", source, "--output", tmp_path / "two", "-c", other, "-q")
    assert ended.status == 2 and "made with other vectors" in ended.err


def test_documents_are_subtracted_and_scored_once(
    call: Call,
    tmp_path: Path,
    reference: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    more = f"mode: subtract, reference: {reference.name}, fields: [premise, hypothesis]"
    own = settings(tmp_path, "encoder", more)
    rows = [
        {"id": "plain", "text": PLAIN, "premise": PLAIN, "hypothesis": "He went home."},
        {"id": "text", "text": PINK, "premise": PLAIN, "hypothesis": PLAIN},
        {"id": "pair", "text": PLAIN, "premise": PLAIN, "hypothesis": PINK},
    ]
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scored: list[list[str]] = []
    score = BiasSignal.score

    def counted(signal: BiasSignal, texts: list[str]) -> float | None:
        scored.append(texts)
        return score(signal, texts)

    monkeypatch.setattr(BiasSignal, "score", counted)
    call("run", "--input", source, "--output", out, "-c", own, "-q", "--workers", 1)
    (entry,) = History(out)
    assert entry.set_aside is not None and len(scored) == len(rows)
    (aside,) = pq.read_table(out / "quarantine" / entry.set_aside.name).to_pylist()
    assert aside["id"] == "pair"


def test_explain_takes_the_score_apart(call: Call, tmp_path: Path) -> None:
    own = settings(tmp_path, "encoder")
    command = ("explain", "--bias-score", "--no-stereotypes", "-a", "gender", "-c", own)
    ended = call(*command, stdin=b"She wore a pink dress. \xe2\x98\x83!")
    first, second = (row["bias_score"] for row in ended.json["sentences"])
    assert second is None
    assert sum(each["importance"] for each in first["words"]) == pytest.approx(1, abs=1e-4)
    assert [each["names_a_group"] for each in first["words"]] == [True, *[False] * 4]
    for group, score in first["groups"].items():
        added = sum(each["addition"][group] for each in first["words"])
        assert added == pytest.approx(score, abs=1e-4)
    ended = call(*command, "--importance", tmp_path, stdin=b"She left.")
    assert ended.status == 2 and "take --importance away" in " ".join(ended.err.split())


def test_folders_that_cannot_be_used_end_with_a_message(call: Call, tmp_path: Path) -> None:
    needs_training("torch", "transformers")

    def refused(folder: Path) -> str:
        ended = call("lab", "bias-score", "direction", "--vectors", folder)
        assert ended.status == 2
        return " ".join(ended.err.split())

    bert = tiny_model(tmp_path / "bert", "bert")
    assert (
        call("lab", "bias-score", "direction", "--vectors", bert, "--json").json["pairs_used"] == 3
    )
    assert "not an encoder" in refused(tiny_model(tmp_path / "llama"))
    bert = bert.rename(tmp_path / "other")  # a process loads a path once
    (bert / "model.safetensors").unlink()
    assert "the model cannot be loaded" in refused(bert)
    (bert / "config.json").write_text('{"model_type": "t5"}')
    assert "not an encoder" in refused(bert)
    (bert / "config.json").unlink()
    assert "there is no config.json" in refused(bert)
