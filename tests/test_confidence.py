"""The learned confidence: what it knows of, what it must not know, and what it cannot overrule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenflow.transforms import confidence, sets
from evenflow.transforms.chains import Chain
from evenflow.transforms.confidence import Confidence, Surroundings, features
from evenflow.transforms.counterfactuals import Substituter
from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.sentences import bounds, trimmed
from evenflow.transforms.sets import Item
from evenflow.transforms.wordsets import WordSets
from evenflow.wordlists.loader import load

SURE = Confidence(3.0, {})


def of_word(text: str, word: str, group: str = "female", **settings: object) -> tuple[Surroundings, Chain]:
    """A chain of one noun in a text of one sentence."""
    start = text.index(word)
    item = Item(start, start + len(word), word, group, "noun", 0, None, **settings)  # type: ignore[arg-type]
    return Surroundings(text, [(0, len(text))], [item], WordSets(text, [(0, len(text))])), Chain([item])


def test_nothing_hangs_on_the_group_or_the_word() -> None:
    said = features(*of_word("The waitress sat down.", "waitress", "female"))
    assert said == features(*of_word("The waitress sat down.", "waitress", "male"))
    assert features(*of_word("The actress sat down.", "actress")) == features(*of_word("The duchess sat down.", "duchess"))


def test_no_weight_is_named_after_a_label_or_a_group() -> None:
    words = [load(name) for name in ("gender", "religion")]
    names = {label for each in words for label in each.labels} | {group for each in words for group in each.groups}
    # «own» and the like are kinds of determiners; «man» would be a word of a list.
    for each in words:
        model = confidence.shipped(each.attribute)
        assert model is not None
        assert not {part for name in model.weights for part in name.split() if part in names}


def test_a_doubt_that_rests_on_words_is_not_overruled() -> None:
    assert SURE.of(*of_word("The lady bug flew.", "lady", weight=0.1, reason=sets.SENSE)) == pytest.approx(0.1)


def test_a_guess_at_who_is_meant_may_be_overruled() -> None:
    assert SURE.of(*of_word("The lady sat.", "lady", weight=0.4, reason=sets.UNSURE)) > 0.9


def test_features_that_a_model_does_not_know_say_nothing() -> None:
    assert SURE.probability({"unheard of": 1.0}) == SURE.probability({})


def test_what_the_rules_give_no_weight_never_changes() -> None:
    assert SURE.of(*of_word("The lady sat.", "lady", weight=0.0, reason=sets.UNSURE)) == 0


def test_an_attribute_without_a_model_keeps_the_rules_weight() -> None:
    assert confidence.shipped("hair colour") is None


def test_confidence_is_the_same_whatever_the_order_of_features() -> None:
    model = confidence.shipped("gender")
    assert model is not None
    described = features(*of_word("A tall lady from Ohio said that she was tired, and left.", "lady"))
    assert model.probability(described) == model.probability(dict(reversed(described.items())))


def test_a_model_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "confidence_model.json"
    path.write_text(json.dumps({"version": 0, "attributes": {}}))
    monkeypatch.setattr(confidence, "PATH", path)
    confidence.shipped.cache_clear()
    with pytest.raises(ValueError, match="version 0, 1 was expected"):
        confidence.shipped("gender")
    confidence.shipped.cache_clear()


def confidences(text: str, attribute: str) -> list[float]:
    lists = [load(attribute)]
    found = LabelFinder(lists).find(text)
    return [each.confidence for each in Substituter(lists, attribute).propose(text, trimmed(text, bounds(text).tolist()), found)]


@pytest.mark.parametrize(
    ("plain", "doubtful", "attribute"),
    [
        ("My neighbor sold her car.", "Angela Merkel sold her car.", "gender"),
        ("Two women waited at the gate.", "Not one of the women's colleges of 1910 let women vote.", "gender"),
        ("A Muslim baker opened a shop.", "During the Crusades, Christian knights fought.", "religion"),
    ],
)
def test_plain_people_are_surer_than_history_and_names(plain: str, doubtful: str, attribute: str) -> None:
    assert min(confidences(plain, attribute)) >= 0.5 > max(confidences(doubtful, attribute))
