"""Which model reads a sentence, what its answers mean, and when a stereotype may be removed."""

from __future__ import annotations

import json
from math import log
from pathlib import Path

import pytest
from stereotype_models import WEIGHTS, WORDS, First, Second, reader, scorer

from evenflow.schemas.config.stereotypes import StereotypeSettings
from evenflow.transforms.measures.stereotypes.calibration import Calibration, Cut, cut
from evenflow.transforms.measures.stereotypes.indicators import EncoderScorer, Indicator
from evenflow.transforms.measures.stereotypes.masking import names_group
from evenflow.transforms.measures.stereotypes.probabilities import SentenceReader
from evenflow.transforms.measures.stereotypes.reasons import reasons
from evenflow.transforms.models.files import ModelError


@pytest.mark.parametrize(
    ("text", "chance"),
    [
        ("folks are lazy", 0.95),
        ("folks are never lazy", 0.1),  # denied
        ("folks who are lazy", 0.1),  # reported
        ("folks are late", 0.01),  # cleared by the first stage
        ("folks are maybe late", 0.4),
        ("folks", None),
        ("", None),
        ("folks sind faul und lazy", None),
        ("女性は folks 運転できない lazy", None),
        ("FOLKS ARE LAZY lazy", 0.95),
    ],
)
def test_probabilities(text: str, chance: float | None) -> None:
    assert reader().probabilities([text]) == [chance]


def test_the_encoder_reads_only_sentences_that_are_not_cleared_and_once() -> None:
    second = Second()
    own = reader(second)
    texts = ["folks are lazy", "folks are late", "folks are maybe late"]
    assert own.probabilities(texts) == [own.probabilities([text])[0] for text in texts]
    assert second.asked == ["folks are lazy", "folks are maybe late"]


def test_what_the_first_stage_clears_is_on_the_same_scale() -> None:
    """Of the sentences at 0.01, one in fifty is a stereotype."""
    own = SentenceReader(First(), Second(), 0.1, WORDS, (1.0, log(0.02 / 0.98) - log(0.01 / 0.99)))
    assert own.probabilities(["folks are late"]) == pytest.approx([0.02])
    assert own.probabilities(["folks are lazy"]) == [0.95]


def test_a_detector_hides_the_labels() -> None:
    second = Second()
    assert reader(second).detect(["Men are lazy", "Men are lazy"], [[(0, 3, "gender")], []]) == [
        0.95,
        0.95,
    ]
    assert second.asked == ["folks are lazy", "Men are lazy"]
    with pytest.raises(ValueError):
        reader().detect(["one"], [])


STEPS = [(0.5, 60, 40), (0.6, 50, 40), (0.7, 30, 27)]


@pytest.mark.parametrize(
    ("steps", "settings", "expected"),
    [
        (STEPS, {"target_precision": 0.7}, Cut(0.6, 50, 40)),
        (STEPS, {"target_precision": 0.9}, Cut(0.7, 30, 27)),
        (STEPS, {"target_precision": 0.95}, Cut(None, 60, 40)),
        (STEPS, {"remove_from": 0.65, "target_precision": 0.99}, Cut(0.65, 50, 40)),
        (STEPS, {"remove_from": 0.2}, Cut(0.2)),
        ([(0.5, 19, 19)], {"target_precision": 0.5}, Cut(None, 19, 19)),  # too few to say
        ([(0.5, 19, 19)], {"remove_from": 0.6}, Cut(0.6, 19, 19)),  # the user's cut stands
        ([(0.5, 30, 20), (0.9, 0, 0)], {"target_precision": 0.8}, Cut(None, 30, 20)),
        ([], {"remove_from": 0.7}, Cut(0.7)),
        ([], {"target_precision": 0.1}, Cut(None)),
    ],
)
def test_cut(
    steps: list[tuple[float, int, int]], settings: dict[str, float], expected: Cut
) -> None:
    own = StereotypeSettings.model_validate(settings)
    assert cut(own, "age", Calibration(0.1, {}, {"age": steps})) == expected
    assert cut(own, "marital", Calibration(0.1, {}, {"age": steps})) == Cut(own.remove_from)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"cleared": "x", "weights": {}, "called": {}}', None]
)
def test_a_bad_calibration_is_named(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "calibration.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"calibration\.json: .*install the package again"):
        Calibration.load(path)


def test_indicators_point_at_the_sentence() -> None:
    text = "Sadly all women are very lazy."
    [found] = scorer().indicators([text], [[(10, 15, "gender")]])
    assert found is not None and (found.strength, found.score) == (0.8, None)
    known = scorer().weighed(text, json.loads(json.dumps(found.to_json())))
    told = known["indicators"]
    assert all(
        text[word["start"] : word["end"]] == word["text"]
        for one in told.values()
        for word in one["words"]
    )
    assert (
        told["label"]
        == told["target"] | {"value": "yes"}
        == {"value": "yes", "words": [{"start": 10, "end": 15, "text": "women"}]}
    )
    assert [word["text"] for word in told["strength"]["words"]] == ["lazy"]
    assert known["reasons"] == ["the words that weigh most: 'lazy'", *found.reasons()[:2]]
    assert found.reasons()[:2] == ["what is said is bad", "speaks of a whole group: 'women'"]
    assert scorer().indicators(["Да.", "women"], [[], [(0, 5, "gender")]]) == [None, None]


def test_few_words_are_read_for_a_reason() -> None:
    """A sentence takes one reading, and three more where it is shown, however long it is."""
    second = Second()
    text = "Women are very lazy, " + "bread late sadly bought maybe " * 3
    own = EncoderScorer(reader(second), WEIGHTS)
    (found,) = own.indicators([text], [[(0, 5, "gender")]])
    assert found and len(second.asked) == 1
    told = own.weighed(text, found.to_json())
    assert told["reasons"][0] == "the words that weigh most: 'lazy'"
    assert len(second.asked) == 4


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"stance": ("denied", 0.9), "evaluation": ("negative", 0.9)}, ["the sentence denies it"]),
        ({"stance": ("denied", 0.6), "evaluation": ("negative", 0.9)}, ["what is said is bad"]),
        ({"evaluation": ("positive", 0.7)}, []),  # not sure enough to be said
        (
            {"stance": ("stated", 0.9), "target": ("generic target", 0.95)},
            ["speaks of a whole group: 'women'"],
        ),
        ({"target": ("generic target", 0.8)}, []),  # said of nearly every sentence
        ({"gram_form": ("noun", 1.0)}, []),
    ],
)
def test_reasons_say_what_the_heads_are_sure_of(
    values: dict[str, tuple[str, float]], expected: list[str]
) -> None:
    assert reasons(values, {"target": ["women"]}) == expected


def test_reasons_of_a_creed_and_of_one_person_do_not_speak_of_a_whole_group() -> None:
    values = {"target": ("generic target", 0.95), "evaluation": ("negative", 0.9)}
    assert reasons(values, {"target": ["Islam"]}, of_creed=True) == [
        "is about a creed, and not about people",
        "what is said is bad",
    ]
    assert reasons(values, {"target": ["she"]}) == ["what is said is bad"]


@pytest.mark.parametrize("word", ["black", "mexican", "women", "elderly"])
def test_a_word_that_names_a_group_is_no_reason(word: str) -> None:
    assert names_group(word) and not names_group("lazy")


def test_creeds_have_their_own_cut() -> None:
    known = Calibration(0.1, {}, {"age": []}, creeds={"age": STEPS})
    own = StereotypeSettings(target_precision=0.9)
    assert cut(own, "age", known).probability is None
    assert cut(own, "age", known, of_creed=True).probability == 0.7


def test_the_papers_score_is_a_linear_sum_of_indicators() -> None:
    given = {"evaluation": Indicator("positive", ()), "connotation": Indicator("negative", ())}
    assert scorer().scsc({}) == 0.5
    assert scorer().scsc(given) == pytest.approx(0.5 + WEIGHTS["evaluation=positive"])
