"""What `explain` says of a document is what `run` decides about it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from commands import Call, call  # noqa: F401

from evenflow.gates.ledger.files import read_entries
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.measures.stereotypes.detect import THRESHOLD

DATA = Path(__file__).parents[2] / "data"
SPEECHES, SENTENCES, TOGETHER = 10, 120, 4  # documents, sentences, sentences a document
Key = tuple[str, int, str]  # document, sentence, attribute


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """JSON lines: speeches, and documents of sentences that state stereotypes or name groups."""
    with gzip.open(DATA / "speeches.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(SPEECHES), strict=False)]
    sentences = [
        row["text"]
        for name in ("stereotype_everyday.jsonl", "stereotype_written.jsonl")
        for row in map(json.loads, (DATA / name).read_text(encoding="utf-8").splitlines())
    ]
    chosen = sentences[:: len(sentences) // SENTENCES]
    # Many of these name a group by a word that is no label
    rows += [{"id": f"alone-{i}", "text": text} for i, text in enumerate(chosen[::3])]
    rows += [
        {"id": f"sentences-{i}", "text": "\n\n".join(chosen[i : i + TOGETHER])}
        for i in range(0, len(chosen), TOGETHER)
    ]
    path = tmp_path / "in.jsonl"
    path.write_text(
        "".join(json.dumps({"id": row["id"], "text": row["text"]}) + "\n" for row in rows),
        encoding="utf-8",
    )
    return path


def ran(call: Call, documents: Path, action: str) -> tuple[dict[Key, dict[str, Any]], PaneEntry]:  # noqa: F811
    """The rows of the table of sentences, and the pane's entry, of `run --stereotypes POLICY`."""
    out = documents.parent / action
    command = (
        *("run", "--input", documents, "--output", out, "--stereotypes-action", action),
        *("--quiet",),
    )
    assert call(*command, "--block", "1").status == 0
    [entry] = read_entries(out)
    rows = pq.read_table(out / "sentences").to_pylist()
    return {(row["id"], row["sent_id"], row["attribute"]): row for row in rows}, entry


def test_explain_says_what_run_decides(call: Call, documents: Path) -> None:  # noqa: F811
    explained = [
        json.loads(line)
        for line in call("explain", documents, "--jsonl", "--stereotypes").out.splitlines()
    ]
    sentences = [(each["id"], row) for each in explained for row in each["sentences"]]
    asked = {
        (document, row["sent_id"], attribute): row
        for document, row in sentences
        for attribute in row["stereotype_reasons"]
        # The table has rows of groups without a list only where there may be a stereotype
        if attribute in row["words_per_group"]
        or (row["potential_stereotype"][attribute] or 0) >= THRESHOLD
    }
    flagged, entry = ran(call, documents, "flag")
    removed, _ = ran(call, documents, "remove")
    assert flagged.keys() == removed.keys() == asked.keys()

    counts = {
        attribute: dict.fromkeys(each.groups, 0) for attribute, each in entry.attributes.items()
    }
    for _, row in sentences:
        for attribute, groups in row["counts_per_group"].items():
            for group, count in groups.items():
                counts[attribute][group] += count
    for attribute, each in entry.attributes.items():
        assert list(counts[attribute].values()) == each.sums.counts
        assert each.relevant_sentences == sum(
            any(row["counts_per_group"][attribute].values()) for _, row in sentences
        )
    assert entry.sentences == len(sentences)

    strong = removable = 0
    for (document, number, attribute), row in asked.items():
        told = flagged[document, number, attribute]
        assert (row["start"], row["end"], row["sent_text"]) == (
            told["start"],
            told["end"],
            told["sent_text"],
        )
        assert row["words_per_group"].get(attribute, {}) == dict(told["words_per_group"])
        chance, score = row["potential_stereotype"][attribute], row["strength"][attribute]
        assert chance == (told["potential_stereotype"] and round(told["potential_stereotype"], 4))
        potential = chance is not None and chance >= THRESHOLD
        if potential:
            assert told["strength"] == np.float32(score) and told["score_scsc"] is None
        is_strong = potential and score >= Config().stereotype_threshold(attribute)
        assert not told["remove_sentence"]  # nothing is taken out
        assert (
            row["remove_sentence"][attribute]
            == removed[document, number, attribute]["remove_sentence"]
        )
        strong += is_strong and attribute in entry.attributes
        removable += row["remove_sentence"][attribute]
    assert strong > removable > 0
    found: Any = entry.measures["stereotypes"]
    assert strong == sum(each.strong for each in found.attributes.values())
    shown = {each["reasons"] for own in found.attributes.values() for each in own.examples}
    assert any("the words that weigh most" in each for each in shown)
    assert shown <= {"; ".join(row["stereotype_reasons"][key[2]]) for key, row in asked.items()}
