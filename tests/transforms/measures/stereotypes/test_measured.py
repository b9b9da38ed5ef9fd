"""A language model removes as far as labelled rows showed it to be right."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_answers import indicators, stereotype
from scripted_asker import Says
from stereotype_models import calibration, scorer

from evenflow.schemas.config import Config, load
from evenflow.transforms.llm.cascade import select_all
from evenflow.transforms.llm.client.settings import InferenceError
from evenflow.transforms.llm.client.stats import Counted
from evenflow.transforms.llm.questions import CONTRADICTION
from evenflow.transforms.measures.stereotypes import calibration as calibrations
from evenflow.transforms.measures.stereotypes import detect, measured
from evenflow.transforms.measures.stereotypes.filter import StereotypeFilter
from evenflow.transforms.measures.stereotypes.llm_detector import TieredDetector, tiered
from evenflow.transforms.measures.stereotypes.llm_scorer import TieredScorer
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.text.sentences import sentences

LABELS = [(0, 5, "gender")]


class Unsure:
    """Says 0.5 of every sentence, and 0.9 of one that is "very" so."""

    def detect(self, texts: Sequence[str], labels: Sequence[Any]) -> list[float | None]:
        return [0.9 if "very" in text else 0.5 for text in texts]


def yes(data: Mapping[str, Any]) -> dict[str, Any]:
    """Yes to everything, with indicators of a strong stereotype."""
    if "listed" not in data:
        raise AssertionError(data)
    name, rest = data["listed"][0], data["sentence"].split()[-1].strip(".")
    return stereotype(name, rest)


def strong(data: Mapping[str, Any]) -> dict[str, Any]:
    """Indicators of a strong stereotype, whatever the sentence is."""
    return indicators(data["listed"][0], data["sentence"].split()[-1].strip("."))


def config(folder: Path, **more: object) -> Config:
    """A configuration that removes, with a language model."""
    given = {
        "stereotypes.action": "remove",
        "stereotypes.threshold": 0.6,
        "stereotypes.remove_from": 0.7,
        "llm.url": "http://127.0.0.1:1",
        "llm.model": "stub",
        "llm.cache": str(folder / "llm.sqlite"),
    }
    return load(None, {**given, **more}, ["gender"])


def removed(own: Config, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    """A text after a stub that says yes to everything."""
    monkeypatch.setattr(detect, "of", lambda config: Unsure())
    detector = TieredDetector(Unsure(), Says(yes), select_all, shown=measured.believed(own))
    scores = TieredScorer(scorer(), Says(strong), select_all)
    screen = StereotypeFilter(own, detector, scores, calibration(gender=0.7))
    [done] = screen.screen([Relevant(0, text, sentences(text), ())])
    return done.text


def rows(folder: Path, right: int, wrong: int) -> Path:
    """Labelled rows of gender: stereotypes, and others."""
    path = folder / "rows.jsonl"
    lines = [
        json.dumps(
            {"sentence": f"All women are lazy {i}.", "attribute": "gender", "label": i < right}
        )
        for i in range(right + wrong)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


TEXT = "It rained. All women are lazy. All women are very lazy. She sang. He ate. It rained."


@pytest.mark.parametrize(
    ("right", "wrong", "goes"), [(0, 0, False), (40, 0, True), (30, 10, False), (0, 5, False)]
)
def test_a_yes_removes_only_as_far_as_it_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: int, wrong: int, goes: bool
) -> None:
    monkeypatch.setattr(detect, "of", lambda config: Unsure())
    own = config(tmp_path)
    if right + wrong:
        found = measured.measure(own, rows(tmp_path, right, wrong), Says(yes))
        assert found == {"gender": (right + wrong, right, right + wrong, right)}
    left = removed(own, monkeypatch, TEXT)
    assert "very lazy" not in left  # the embedded detector is sure enough by itself
    assert ("women are lazy" in left) == (not goes)
    other = config(tmp_path, **{"llm.model": "another"})
    assert not measured.believed(other)


def test_a_damaged_file_of_figures_and_bad_rows_are_named(tmp_path: Path) -> None:
    own = config(tmp_path)
    path = tmp_path / "rows.jsonl"
    path.write_text('{"sentence": "a"}', encoding="utf-8")
    with pytest.raises(InferenceError, match=r"rows\.jsonl, line 1"):
        measured.measure(own, path, Says(yes))
    for content in ("[]", '{"stub": {"x": {"gender": [1, 1, -1, 0]}}}', "{" * 50):
        (tmp_path / measured.FILE).write_text(content, encoding="utf-8")
        with pytest.raises(InferenceError, match="delete it"):
            measured.believed(own)


def test_rejected_answers_are_fallbacks_with_their_reason() -> None:
    asker = Counted(Says(lambda data: yes(data) | {"belief": False}))
    detector = TieredDetector(Unsure(), asker, select_all)
    assert detector.detect(["Women are lazy."], [LABELS]) == [0.5]
    stats = asker.stats["stereotypes"]
    assert (stats.questions, stats.fallbacks) == (1, {CONTRADICTION: 1})


def test_groups_that_no_policy_acts_on_are_not_asked_about() -> None:
    asker = Says(yes)
    detector = TieredDetector(Unsure(), asker, select_all, acting={"gender"})
    detector.detect(["Women are lazy.", "Women are lazy."], [LABELS, [(0, 5, "age")]])
    assert len(asker.asked) == 1
    # Nobody has measured removal for gender, so its stereotypes are only flagged
    assert calibrations.acting(load(None, {"stereotypes.action": "remove"})) == {
        "orientation",
        "race",
        "religion",
    }


def test_a_sentence_about_them_is_asked_about_after_the_one_before() -> None:
    asker = Says(yes)
    own = load(None, {"llm.detection": "llm", "stereotypes.action": "flag"}, ["gender"])
    detector = replace(tiered(own, asker), model=Unsure())
    detector.detect(["They are lazy."], [[(0, 4, "gender")]])
    assert not asker.asked
    detector.detect(["Men came. They are lazy."], [[(0, 3, "gender"), (10, 14, "gender")]])
    assert [each.sentence for each in asker.asked] == ["Men came. They are lazy."]
