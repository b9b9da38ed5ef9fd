"""What explain says of stereotypes, as data and on a terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from commands import Call, call  # noqa: F401
from stereotype_models import calibration, scorer

from evenflow.pipelines.explain.document import dumps, explain
from evenflow.pipelines.explain.stereotypes import UNLISTED, Stereotypes, summary
from evenflow.schemas.config import Config
from evenflow.schemas.config.loading import load as load_config
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.stereotypes import calibration as calibration_of
from evenflow.transforms.measures.stereotypes.detect import THRESHOLD
from evenflow.wordlists.loader import SHIPPED, load

LISTS = [load(name) for name in SHIPPED]
FINDER = LabelFinder(LISTS)
TEXT = "Women are late. Old women are very lazy. The trees grow. All clowns are greedy liars."


class Fixed:
    """A detector that says the same of every sentence, and keeps what it was asked."""

    def __init__(self, chance: float | None):
        self.chance = chance
        self.asked: list[tuple[str, list[tuple[int, int, str]]]] = []

    def detect(
        self, sentences: Sequence[str], labels: Sequence[Sequence[tuple[int, int, str]]]
    ) -> list[float | None]:
        self.asked = [
            (sentence, list(own)) for sentence, own in zip(sentences, labels, strict=True)
        ]
        return [self.chance for _ in sentences]


def config(threshold: float = 0.5) -> Config:
    own = {"stereotypes.threshold": threshold, "stereotypes.target_precision": 0.8}
    return load_config(None, own, list(SHIPPED))


def judging(chance: float | None, threshold: float = 0.5, every: bool = False) -> Stereotypes:
    return Stereotypes(config(threshold), every, Fixed(chance), scorer())


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The detector is right from 0.7 on, for gender."""
    monkeypatch.setattr(calibration_of, "shipped", lambda: calibration(gender=0.7))


def judged(judging: Stereotypes) -> list[dict[str, Any]]:
    document = explain("x", TEXT, FINDER)
    judging.add_to(document)
    json.loads(dumps(document))
    return document["sentences"]


def test_only_what_names_a_group_is_asked() -> None:
    detector = Fixed(0.9)
    rows = judged(Stereotypes(config(), detector=detector, scorer=scorer()))
    assert [sentence for sentence, _ in detector.asked] == [
        "Women are late.",
        *["Old women are very lazy."] * 2,
    ]
    for sentence, spans in detector.asked:
        assert all(sentence[start:end].lower() in ("women", "old women") for start, end, _ in spans)
        assert len({attribute for _, _, attribute in spans}) == 1
    assert rows[0]["potential_stereotype"] == {"gender": 0.9, "age": None, "religion": None}
    assert rows[2]["potential_stereotype"] == dict.fromkeys(SHIPPED)
    assert rows[2]["remove_sentence"] == dict.fromkeys(SHIPPED, False)


def test_groups_that_no_list_has_are_asked() -> None:
    text = "Women are late. Black people are very lazy."
    document = explain("x", text, FINDER)
    judging(0.9, 0.0).add_to(document)
    first, second = document["sentences"]
    assert "race" not in first["potential_stereotype"]
    assert second["potential_stereotype"]["race"] == 0.9 and second["strength"]["race"] == 0.8
    assert not second["remove_sentence"]["race"]


def test_three_numbers_have_three_names() -> None:
    [first, *_] = judged(judging(0.9))
    named = {
        name: first[name]["gender"] for name in ("potential_stereotype", "strength", "association")
    }
    assert named == {"potential_stereotype": 0.9, "strength": 0.6, "association": 0.4}
    document = explain("x", TEXT, FINDER)
    judging(0.9).add_to(document)
    assert "probability 0.90, strength 0.60, association 0.40" in summary(document).plain


def test_every_sentence_is_asked() -> None:
    rows = judged(judging(0.9, every=True))
    assert (
        rows[2]["potential_stereotype"][UNLISTED]
        == rows[3]["potential_stereotype"][UNLISTED]
        == 0.9
    )
    assert UNLISTED not in rows[0]["potential_stereotype"]
    assert not rows[3]["remove_sentence"][UNLISTED]


@pytest.mark.parametrize(
    ("chance", "threshold", "removed"),
    [(0.7, 0.0, True), (0.7, 1.0, False), (0.69, 0.0, False), (None, 0.0, False)],
)
def test_removed_is_what_is_sure_and_strong(
    chance: float | None, threshold: float, removed: bool
) -> None:
    rows = judged(judging(chance, threshold))
    assert rows[0]["strength"]["gender"] is not None
    assert rows[0]["remove_sentence"] == {"gender": removed, "age": False, "religion": False}
    assert not rows[1]["remove_sentence"]["age"]  # nothing is known of it


def test_a_terminal_shows_reasons() -> None:
    document = explain("x", TEXT, FINDER)
    judging(0.9, every=True).add_to(document)
    shown = summary(document).plain
    assert "(gender): probability 0.90" in shown and "speaks of a whole group" in shown
    plain = explain("x", "The women bought bread.", FINDER)
    judging(0.1).add_to(plain)
    assert summary(plain).plain == "no potential stereotype among 1 sentences judged\n"


def test_nothing_of_a_text_steers_the_terminal() -> None:
    document = explain("x", "All \x1b[2J women are\u202e very lazy [bold]and late\x07.", FINDER)
    judging(0.9).add_to(document)
    assert "lazy" in summary(document).plain
    assert "\x1b" not in summary(document).plain and "\u202e" not in summary(document).plain


def test_the_command(call: Call) -> None:  # noqa: F811
    ended = call(
        "explain", "--stereotypes", "-a", "gender", stdin=b"Women are bad drivers. She paid."
    )
    first, second = ended.json["sentences"]
    assert (
        first["potential_stereotype"]["gender"]
        >= THRESHOLD
        > second["potential_stereotype"]["gender"]
    )
    assert first["stereotype_reasons"]["gender"]
    line = call(
        "explain",
        "--jsonl",
        "--all-sentences",
        "-a",
        "gender",
        stdin=b'{"text": "Clowns lie."}\n{"text": 1}',
    )
    good, bad = map(json.loads, line.out.splitlines())
    assert UNLISTED in good["sentences"][0]["score_scsc"] and "error" in bad and line.status == 1
    assert (
        "score_scsc"
        not in call("explain", "-a", "gender", "--no-stereotypes", stdin=b"She paid.").json[
            "sentences"
        ][0]
    )
