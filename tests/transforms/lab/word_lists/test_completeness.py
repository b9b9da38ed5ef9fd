"""Counts in a corpus, completeness (C1 to C3), and comparison."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenflow.transforms.lab.word_lists import complete, corpus
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.representation import dr
from evenflow.transforms.substitution.roles import RoleMap
from evenflow.wordlists.loader import WordList, WordListError, load

TEXTS = [
    "The actor met an actress. The waiters left.",
    "Nothing here.",
    "Two actresses and an actor.\n\nAn actor waved.",
    "A waiter, a waitress and an actor.",
    "The actor left.",
]
LIST = WordList(
    "stage",
    ("female", "male"),
    {"actress": 0, "actor": 1, "waitress": 0, "waiter": 1, "stagehand": 1},
    frozenset(),
    {
        "actress": ("actor",),
        "actor": ("actress",),
        "waitress": ("waiter",),
        "waiter": ("waitress",),
    },
    "",
    "",
    "",
    pairs=(("actress", "actor"), ("waitress", "waiter")),
)


def test_counts_are_those_of_the_finder_document_by_document() -> None:
    (found,) = corpus.count([TEXTS[:2], [], TEXTS[2:]], [LIST], examples=2)
    finder = LabelFinder([LIST])
    for text, row in zip(TEXTS, found.counts.toarray(), strict=True):
        named = [each.label for each in finder.find(text)]
        assert row.tolist() == [named.count(label) for label in found.labels]
    assert found.by_group().sum(axis=0).tolist() == [2, 6]
    assert len(found.examples["actor"]) == 2
    assert all("actor" in text.lower() for text in found.examples["actor"])
    assert corpus.count([TEXTS[:1]], [LIST], 1)[0].examples["actor"] == [
        "The actor met an actress."
    ]
    assert found.examples["waitress"] == ["A waiter, a waitress and an actor."]


def test_missing_forms_and_their_pairs() -> None:
    missing = complete.missing_numbers(LIST)
    assert [each.word for each in missing] == [
        "actresses",
        "actors",
        "waitresses",
        "waiters",
        "stagehands",
    ]
    one = complete.with_forms(LIST, missing[:1], missing)
    assert one.labels.keys() - LIST.labels.keys() == {"actresses", "actors"}
    assert one.pairs == (*LIST.pairs, ("actresses", "actors"))
    assert not complete.missing_numbers(complete.with_forms(LIST, missing))


def test_missing_counterparts() -> None:
    assert complete.missing_counterparts(LIST, RoleMap()) == {"stagehand": ("female",)}
    # Without pairs and roles there are none to miss
    assert complete.missing_counterparts(replace(LIST, counterparts={}), RoleMap()) == {}


def test_the_curve_ends_at_the_score_of_the_whole_list() -> None:
    words = load("gender")
    texts = ["he she man woman", "he he him", "the king and the queen; he", "she her"] * 5
    (found,) = corpus.count([texts], [words])
    points = complete.curve(found)
    assert len(points) == max(
        sum(1 for n, total in enumerate(found.totals) if total and found.groups[n] == group)
        for group in (0, 1)
    )
    assert points[-1] == dr.score(dr.sums(found.by_group()))
    # The first point has the most frequent word of each group alone: “he” 4, “she” 2 of each 6
    assert points[0].dr == pytest.approx(4 / 6 - 1 / 2, abs=1e-6)
    settled = complete.settled(points, 0.01)
    assert settled is not None
    end = points[-1].dr
    assert all(abs((each.dr or 0) - (end or 0)) <= 0.01 for each in points[settled - 1 :])
    if settled > 1:
        assert abs((points[settled - 2].dr or 0) - (end or 0)) > 0.01


def test_overlap() -> None:
    other = replace(LIST, labels={"actress": 0, "Actor": 1, "usher": 1})
    female, male = complete.overlaps(LIST, other)
    assert (female["both"], female["precision"], female["recall"]) == (1, 1 / 2, 1.0)
    assert (male["both"], male["only_reference"], male["precision"]) == (1, ("usher",), 1 / 3)
    with pytest.raises(WordListError, match="other groups"):
        complete.overlaps(LIST, replace(LIST, groups=("a", "b")))
