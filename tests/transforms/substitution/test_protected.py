"""Sentences that stay by their words or years."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import evenflow
from evenflow.pipelines.explain.explainer import Explainer
from evenflow.schemas.config import load
from evenflow.schemas.errors import EvenflowError
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.protected import Protected

GIVEN = ("1000-2029", "war", "first lady", "women's rights", "c++", "U.S.", "café")


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("She left in 1989.", True),
        ("She left in 2030 with 999 books.", False),
        ("The 19th century, the 1980s.", False),  # no whole number
        ("WAR was all he knew.", True),
        ("His warden slept.", False),
        ("The Civil War took him.", True),
        ("The first\n lady slept.", True),
        ("Women’s rights were hers.", True),
        ("A cafe\u0301 of his.", True),
        ("She knows C++ well.", True),
        ("She knows C++x.", False),
        ("The U.S. Army took him.", True),
        ("Between 1914–1918 he wrote.", True),
        ("Her pi is 3.1415, his version v1.2000, of 1,999 books.", False),
        ("No number of " + "9" * 5000 + " digits.", False),
    ],
)
def test_words_and_years(sentence: str, left: bool) -> None:
    assert Protected(GIVEN).has(sentence) is left
    assert not Protected(()).has(sentence)


def test_the_configuration_leaves_sentences_and_says_why() -> None:
    text = "She lost her keys in the war.\n\nA man found his keys."
    rewritten: dict[str, str] = {}
    for protect in ([], ["war"]):
        config = load(
            None,
            {"repair.protect": protect, "repair.judge": "fast", "repair.min_probability": 0},
            ["gender"],
        )
        document = Explainer(config, counterfactual="gc").explain("d", text)
        rewritten[str(protect)] = document["text_cda"]["gender"]
        reasons = {own["reason"] for each in document["sentences"] for own in each["sets"]}
        assert (sets.PROTECTED in reasons) is bool(protect)
    assert rewritten["['war']"] == "She lost her keys in the war.\n\nA woman found her keys."
    assert rewritten["[]"] == "He lost his keys in the war.\n\nA woman found her keys."


@pytest.mark.parametrize("given", ["", "  ", "2029-1000", "1914-18", "1-" + "9" * 19])
def test_what_leaves_nothing_or_all_is_refused(given: str) -> None:
    with pytest.raises(EvenflowError, match=r"protect\.1"):
        load(None, {"repair.protect": ["war", given]}, ["gender"])


@pytest.mark.parametrize("given", ["1000-2029", " 1000 - 2029 ", "1000–2029"])
def test_a_range_has_one_form(given: str) -> None:
    assert load(None, {"repair.protect": [given]}, ["gender"]).repair.protect == ["1000-2029"]


@pytest.mark.parametrize("protect", [[], ["war"]])
def test_a_run_leaves_them_too(protect: list[str], tmp_path: Path) -> None:
    text = "A man lost his keys in the war."
    config = {
        "repair": {
            "mode": ["substitute"],
            "judge": "fast",
            "min_probability": 0,
            "protect": protect,
        },
        "pane": {"docs": 20},
    }
    rows = [{"id": str(number), "text": text} for number in range(20)]
    evenflow.Gate(config, attributes=["gender"]).run(rows, tmp_path / "out")
    shards = [
        *tmp_path.glob("out/accepted/**/*.parquet"),
        *tmp_path.glob("out/quarantine/**/*.pa*"),
    ]
    texts = {text for shard in shards for text in pq.read_table(shard)["text"].to_pylist()}
    assert texts == ({text} if protect else {text, "A woman lost her keys in the war."})
