"""What may be a stereotype is not handed to another group, whatever else is done about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.explain.explainer import Explainer
from evenflow.schemas.config import load
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.stereotypes.judging import StereotypeBar
from evenflow.transforms.substitution.sets import STEREOTYPE, Set
from evenflow.transforms.text.sentences import sentences
from evenflow.wordlists import loader

BAD, GOOD = "all muslims are bad!", "Two Muslims sold bread on our street."


@pytest.mark.parametrize(
    ("text", "chances", "barred"),
    [
        ("Men lie.", {"gender": 0.3}, True),
        ("Men lie.", {"gender": 0.29}, False),
        ("Men lie.", {}, False),  # the detector cannot say
        ("Men sat. Men lie.", {"gender": 0.3}, True),
        ("Our landlord lies.", {"gender": 0.49}, False),
        ("Our landlord lies.", {"gender": 0.5}, True),
        ("He says that Muslims lie.", {"gender": 0.4, "religion": 0.9}, False),
        ("Men say that Muslims lie.", {"religion": 0.3}, True),
        ("A Muslim man lies.", {"religion": 0.3}, True),
    ],
)
def test_a_set_is_barred_by_what_any_of_its_sentences_says_of_its_groups(
    text: str, chances: dict[str, float], barred: bool
) -> None:
    class Detector:
        def detect(self, read: list[str], labels: list[list[tuple[int, int, str]]]) -> list[Any]:
            said = [chances.get(spans[0][2]) for spans in labels]
            return [each if "lie" in own else None for own, each in zip(read, said, strict=True)]

    lists = [loader.load("gender"), loader.load("religion")]
    mentions = [each for each in LabelFinder(lists).find(text) if each.attribute == "gender"]
    own = Set("gender", "male", {}, 1.0, (), tuple(sentences(text)), tuple(mentions))
    assert StereotypeBar(lists, Detector()).bars(text, own) == barred  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", ["off", "flag", "remove"])
@pytest.mark.parametrize("method", ["gc", "base"])
def test_a_run_exchanges_no_stereotype_but_by_base_cda(
    tmp_path: Path, policy: str, method: str
) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    rows = [{"id": str(n), "text": BAD if n % 2 else GOOD} for n in range(12)]
    path.write_text("\n".join(map(json.dumps, rows)))
    options = {
        "repair.mode": "substitute",
        "repair.judge": "fast",
        "repair.min_probability": 0.0,
        "repair.method": method,
        "stereotypes.action": policy,
    }
    Run([str(path)], out, load(None, options, ["religion"])).go()
    [table] = [pq.read_table(each).to_pylist() for each in (out / "sentences").iterdir()]
    changed = [row["sent_text"] for row in table if row["text_cda"] is not None]
    if method == "base":  # as published
        assert set(changed) == {GOOD, BAD}
        return
    assert changed and set(changed) == {GOOD}
    told = [each for row in table if row["sent_text"] == BAD for each in row["sets"]]
    assert all(each["target"] is None for each in told)
    assert {each["reason"] for each in told if each["reason"]} <= {STEREOTYPE}


@pytest.mark.parametrize("method", ["gc", "base"])
def test_explain_says_why_and_bars_nothing_of_base_cda(method: str) -> None:
    options = {"repair.min_probability": 0.0}
    explainer = Explainer(load(None, options, ["religion"]), method, "islam", "judaism")  # type: ignore[arg-type]
    document = explainer.explain("d", f"{BAD} {GOOD}")
    reasons = [each["reason"] for row in document["sentences"] for each in row["sets"]]
    barred = method == "gc"
    assert (STEREOTYPE in reasons) == (BAD in document["text_cda"]["religion"]) == barred
