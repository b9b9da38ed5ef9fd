"""How like the corpus written sentences are."""

from __future__ import annotations

from evenflow.transforms.lab.generation.likeness import likeness

OLD = ["The men went home.", "The women stayed there."] * 10


def test_the_same_sentences_are_alike() -> None:
    found = likeness(OLD, OLD)
    assert found is not None
    assert found["alone"] == {"jsd": 0.0, "ks": 0.0, "p": 1.0} == found["augmented"]
    assert found["before"] == found["written"]
    assert found["before"]["mean"] == 4 and found["before"]["ttr"] == 7 / 80
    assert found["after"]["ttr"] < found["before"]["ttr"]


def test_others_are_told_by_length_and_words() -> None:
    found = likeness(OLD, ["A boy ran.", "Nobody saw it, and it was late at night in that town."])
    assert found is not None
    assert found["alone"]["jsd"] == 1.0 and found["alone"]["ks"] == 0.5
    assert 0 < found["augmented"]["jsd"] < 0.1
    assert found["written"]["hapax"] == round(13 / 14, 4)
    assert found["after"]["hapax"] > found["before"]["hapax"] == 0
    assert found["lengths"]["longest"] == 12
    assert [each for each in found["lengths"]["after"] if each] == [0.0455, 0.9091, 0.0455]


def test_nothing_written_is_compared_with_nothing() -> None:
    assert likeness(OLD, []) is None and likeness([], OLD) is None
