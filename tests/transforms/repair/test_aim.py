"""Exchanges that are aimed at what words lean to: what leans, what is drawn, and a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kill_driver import digests
from put_out import rows
from scripted_judge import First, Judge, shipped

from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.schemas.ledger import Repair
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.repair.aim import leanings
from evenflow.transforms.substitution.sets import Set
from evenflow.wordlists import loader

NURSE, PILOT = "A clerk saw that a nurse lost her {}.", "A clerk saw that a pilot lost his {}."
OTHERS = ("A clerk lost her {}.", "A clerk lost his {}.", "He lost a {}.")


def made(folder: Path, output: str, share: float, workers: int = 1, **more: object) -> Repair:
    every = [text.format(word) for word in range(20) for text in (NURSE, PILOT, *OTHERS)]
    lines = (json.dumps({"id": f"d{at}", "text": text}) for at, text in enumerate(every))
    if not (folder / "in.jsonl").exists():
        (folder / "in.jsonl").write_text("\n".join(lines))
    given = {"repair.mode": "substitute", "repair.aim_share": share, **more}
    run = Run([str(folder / "in.jsonl")], folder / output, load(None, given, ["gender"]), workers)
    repair = run.go().entries[0].attributes["gender"].repair
    assert repair is not None
    return repair


def test_a_set_leans_by_the_words_next_to_it_for_each_mention() -> None:
    words = loader.load("gender")
    texts = [*["The nurse said she and she left."] * 4, "The pilot said he left."]

    def proposed(text: str) -> Set:
        found = LabelFinder([words]).find(text)
        return Set("gender", found[0].group, {}, 1.0, (), (), tuple(found))

    found = leanings([(at, proposed(text), text) for at, text in enumerate(texts)], words)
    # 24 of 27 words stand next to women; 8 of 8 that are nurse, 8 of 9 that are said or left
    assert found == pytest.approx({0: 1, 1: 1, 2: 1, 3: 1, 4: 8**0.5})
    assert leanings([(0, proposed(texts[0]), texts[0])], words) == {0: 0.0}, "one group alone"


def test_what_leans_is_exchanged_both_ways_and_then_the_plan_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped(monkeypatch, Judge(lambda shown: 0.9), First(lambda shown: 0.6))
    drawn, aimed = (made(tmp_path, f"{share}", share) for share in (0.0, 0.5))
    assert (aimed.expected_dr, aimed.mentions) == (drawn.expected_dr, drawn.mentions)
    texts = [row["text"] for row in rows(tmp_path / "0.5")]
    assert sum("nurse lost his" in text for text in texts) == 20
    assert sum("pilot lost her" in text for text in texts) == 20


def test_two_workers_aim_at_the_same(tmp_path: Path) -> None:
    given = {"repair.judge": "fast", "repair.min_probability": 0.01, "pane.docs": 30}
    for name, workers in (("one", 1), ("two", 2)):
        assert made(tmp_path, name, 0.5, workers, **given).changed > 10
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
