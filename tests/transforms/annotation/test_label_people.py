"""How often labels name people in a corpus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evenflow.transforms.annotation import label_people
from evenflow.transforms.annotation.label_people import check
from evenflow.wordlists.loader import load

TEXTS = [f"{n}: The ancient walls stood. The elderly met many teenagers." for n in range(9)]
IDS = [str(n) for n in range(9)]
# The published list has labels that mostly name things
PUBLISHED = replace(load("age-table13"), target=load("age").target)


def test_labels_that_name_things_come_first_with_what_they_do_to_dr() -> None:
    found = check(PUBLISHED, [(IDS[:4], TEXTS[:4]), (IDS[4:], TEXTS[4:])], 2)
    assert found["documents"] == 9
    weak, *strong = found["labels"]
    assert (weak["label"], weak["group"], weak["mentions"], weak["read"]) == (
        "ancient",
        "old",
        9,
        2,
    )
    assert weak["low"] < weak["precision"] < 0.3 and len(weak["examples"]) == 2
    assert "ancient walls" in weak["examples"][0]["text"]
    assert {each["label"] for each in strong} == {"elderly", "teenagers"}
    assert all(0.7 < each["precision"] <= 1 >= each["high"] for each in strong)
    assert weak["dr_without"] == found["dr"]["without_weak"] == 0
    assert found["dr"]["words"] == pytest.approx(1 / 6, abs=1e-6) and found["dr"]["people"] < 0.1


def test_the_sample_does_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    one = check(PUBLISHED, [(IDS, TEXTS)], 2)
    monkeypatch.setattr(label_people, "PIECE", 70)
    assert check(PUBLISHED, [(IDS[::-1], TEXTS[::-1])], 2) == one


def test_a_corpus_without_a_label_has_no_rows() -> None:
    found = check(PUBLISHED, [(["a"], ["It rained."])], 2)
    assert found == {
        "documents": 1,
        "learnt": True,
        "labels": [],
        "dr": dict.fromkeys(("words", "people", "without_weak")),
    }


@pytest.mark.parametrize(
    ("share", "variance", "documents", "low", "high"),
    [(1.0, 0.0, 10, 0.72, 1.0), (0.5, 0.0025, 1000, 0.40, 0.60), (0.5, 0.0, 4, 0.15, 0.85)],
)
def test_the_interval_is_wilsons(
    share: float, variance: float, documents: int, low: float, high: float
) -> None:
    found = label_people._interval(share, variance, documents)
    assert found == pytest.approx((low, high), abs=0.01)


def test_an_attribute_without_labelled_documents_has_no_figure(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("attribute: place\ngroups: {here: [IT], there: [US]}\n")
    found = check(load(own), [(["a"], ["It told us that IT left the US."])], 2)
    assert [(each["label"], each["mentions"], each["precision"]) for each in found["labels"]] == [
        ("IT", 1, None),
        ("US", 1, None),
    ]
    assert not found["learnt"]
    assert found["dr"] == {"words": 0.0, "people": None, "without_weak": None}
    assert found["labels"][0]["examples"][0]["people"] is None
