"""What explain says of stereotypes, as data and on a terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from commands import Call, call  # noqa: F401

from evenflow.pipelines.explain import dumps, explain
from evenflow.pipelines.stereotyping import UNLISTED, EverySentence, Stereotypes, judge, judge_every, told
from evenflow.transforms import indicators
from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.stereotypes import THRESHOLD
from evenflow.wordlists.loader import SHIPPED, load

LISTS = [load(name) for name in SHIPPED]
FINDER = LabelFinder(LISTS)
THRESHOLDS = {words.attribute: 0.5 for words in LISTS}
TEXT = "Women are late. Old women never listen. The trees grow. All lawyers are greedy liars."


class Fixed:
    """A detector that says the same of every sentence, and keeps what it was asked."""

    def __init__(self, chance: float | None):
        self.chance = chance
        self.asked: list[tuple[str, list[tuple[int, int, str]]]] = []

    def detect(self, sentences: Sequence[str], labels: Sequence[Sequence[tuple[int, int, str]]]) -> list[float | None]:
        self.asked = [(sentence, list(own)) for sentence, own in zip(sentences, labels, strict=True)]
        return [self.chance for _ in sentences]


def judged(judging: Stereotypes) -> list[dict[str, Any]]:
    document = explain("x", TEXT, FINDER)
    judging.add_to(document)
    json.loads(dumps(document))
    return document["sentences"]


def test_only_what_names_a_label_is_asked() -> None:
    detector = Fixed(0.9)
    rows = judged(Stereotypes(detector, indicators.shipped(), THRESHOLDS))
    assert [sentence for sentence, _ in detector.asked] == ["Women are late.", *["Old women never listen."] * 1]
    for sentence, spans in detector.asked:
        assert all(sentence[start:end].lower() in ("women", "old") for start, end, _ in spans)
    assert rows[0]["potential_stereotype"] == {"gender": 0.9, "age": None, "religion": None}
    assert rows[2]["potential_stereotype"] == dict.fromkeys(THRESHOLDS)
    assert rows[2]["remove_sentence"] == dict.fromkeys(THRESHOLDS, False)


def test_every_sentence_is_asked() -> None:
    rows = judged(EverySentence(Fixed(0.9), indicators.shipped(), THRESHOLDS))
    assert rows[2]["potential_stereotype"][UNLISTED] == rows[3]["potential_stereotype"][UNLISTED] == 0.9
    assert UNLISTED not in rows[0]["potential_stereotype"]


@pytest.mark.parametrize(
    ("chance", "threshold", "removed"),
    [(THRESHOLD, 0.0, True), (THRESHOLD, 1.01, False), (THRESHOLD - 0.01, 0.0, False), (None, 0.0, False)],
)
def test_removed_is_what_is_likely_and_strong(chance: float | None, threshold: float, removed: bool) -> None:
    rows = judged(Stereotypes(Fixed(chance), indicators.shipped(), dict.fromkeys(THRESHOLDS, threshold)))
    assert rows[0]["score_scsc"]["gender"] is not None
    assert rows[0]["remove_sentence"] == {"gender": removed, "age": False, "religion": False}


def test_a_terminal_shows_reasons() -> None:
    document = explain("x", TEXT, FINDER)
    judge_every(THRESHOLDS).add_to(document)
    shown = told(document).plain
    assert "(unlisted): probability" in shown and "speaks of a whole group" in shown
    plain = explain("x", "The women bought bread on Tuesday.", FINDER)
    judge(THRESHOLDS).add_to(plain)
    assert told(plain).plain == "no potential stereotype among 1 sentences judged\n"


def test_nothing_of_a_text_steers_the_terminal() -> None:
    document = explain("x", "All \x1b[2Jwomen are\u202e bad [bold]drivers\x07.", FINDER)
    EverySentence(Fixed(0.9), indicators.shipped(), THRESHOLDS).add_to(document)
    assert "\x1b" not in told(document).plain and "\u202e" not in told(document).plain


def test_the_command(call: Call) -> None:  # noqa: F811
    ended = call("explain", "--stereotypes", "-a", "gender", stdin=b"Women are bad drivers. She paid.")
    first, second = ended.json["sentences"]
    assert first["potential_stereotype"]["gender"] >= THRESHOLD > second["potential_stereotype"]["gender"]
    assert first["stereotype_reasons"]["gender"]
    line = call("explain", "--jsonl", "--all-sentences", "-a", "gender", stdin=b'{"text": "Lawyers lie."}\n{"text": 1}')
    good, bad = map(json.loads, line.out.splitlines())
    assert UNLISTED in good["sentences"][0]["score_scsc"] and "error" in bad and line.status == 1
    assert "score_scsc" not in call("explain", "-a", "gender", "--no-stereotypes", stdin=b"She paid.").json["sentences"][0]
