"""The baseline."""

from __future__ import annotations

import json
from pathlib import Path

from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.transforms.substitution import base_cda
from evenflow.transforms.substitution.counterfactuals import rewrite
from evenflow.wordlists import loader

GENDER, AGE = loader.load("gender"), loader.load("age")


def test_every_label_is_exchanged_whatever_it_means() -> None:
    text = "Mary lost her keys; the lady is pregnant."
    changed = rewrite(text, [GENDER], "gender", "base").text
    assert changed.startswith("Mary lost his keys; the ") and "lady" not in changed


def test_without_pairs_any_label_of_the_target_is_drawn() -> None:
    changed = rewrite("A child left.", [AGE], "age", "base", target="old").text
    assert AGE.groups[AGE.labels[changed.removeprefix("A ").removesuffix(" left.")]] == "old"


def test_draws_repeat() -> None:
    drawn = [base_cda.draw("text", place, 7) for place in range(50)]
    assert drawn == [base_cda.draw("text", place, 7) for place in range(50)]
    assert set(drawn) == set(range(7))


def test_a_run_exchanges_half_of_the_sentences_that_name_the_larger_group(tmp_path: Path) -> None:
    texts = ["He left.", "He slept. She slept.", "He ate his bread."] * 100
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    rows = [{"id": str(n), "text": text} for n, text in enumerate(texts)]
    path.write_text("\n".join(map(json.dumps, rows)))
    options = {"repair.mode": "substitute", "repair.method": "base"}
    Run([str(path)], out, load(None, options, ["gender"])).go()
    (entry,) = History(out)
    repair = entry.attributes["gender"].repair
    assert repair is not None and repair.expected_dr is None
    assert 120 < repair.changed < 180  # of 300; a plan would stop at even shares, 150 mentions
    assert repair.mentions[0] - 100 > repair.changed  # “his” goes with “He”
