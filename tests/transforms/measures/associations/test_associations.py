"""Which words lean to a group, with documents as clusters, and the file of that."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from evenflow.schemas.config import load
from evenflow.transforms.annotation.annotate import attributes
from evenflow.transforms.annotation.mentions import MentionCounter
from evenflow.transforms.io.records import Documents
from evenflow.transforms.measures.associations.counting import (
    NAME,
    SENTENCES,
    AssociationCounter,
    WordSums,
)
from evenflow.transforms.measures.associations.leanings import FEW, Leanings, leanings

NURSE, PILOT = "She is a kind nurse.", "He is a kind pilot."


def rows_of(texts: list[str], name: str = "gender") -> dict[str, list[int]]:
    config = load(None, {}, (name,))
    lists = config.word_lists()
    counter = MentionCounter(lists, attributes(config, lists), {NAME: AssociationCounter(lists)})
    ids = [str(at) for at in range(len(texts))]
    found = Documents("", ids, texts, [*range(len(texts))])
    figures = counter.count(found, with_sentences=False).figures
    return {word: row.tolist() for word, row in figures.measures[NAME][name].items()}


def leaning(texts: list[str]) -> tuple[Leanings, set[str]]:
    sums = WordSums()
    sums.add({word: np.array(row) for word, row in rows_of(texts).items()})
    found = leanings(sums.rows, 2)
    return found, {found.words[at] for at in np.flatnonzero(found.leans[:, 0])}


def test_neutral_words_are_counted_in_sentences_of_one_group_by_document() -> None:
    found = rows_of([f"{NURSE} {NURSE} {PILOT}", PILOT, "He and she are both kind. It rained."])
    # documents, sentences of women and men, and the products of these over documents
    assert found["nurse"] == [1, 2, 0, 4, 0, 0]
    assert found["kind"] == [2, 2, 2, 4, 2, 2]
    assert found["pilot"] == [2, 0, 2, 0, 0, 2]
    assert found[SENTENCES] == [2, 2, 2, 4, 2, 2]
    assert found.keys() == {"nurse", "kind", "pilot", SENTENCES}


def test_words_of_labels_names_and_forums_are_not_neutral() -> None:
    assert rows_of(["My sister Mary, shes a cook."]).keys() == {"cook", SENTENCES}
    assert "mary" in rows_of(["The Muslims met Mary."], "religion")


def test_a_word_leans_where_many_documents_say_so_and_not_where_one_does() -> None:
    said = [NURSE, PILOT] * 100
    found, words = leaning([*said, "She dances. " * 9])
    assert words == {"nurse", "pilot"}
    at = found.words.index("nurse")
    assert 0 < found.low[at, 0] < found.odds[at, 0] < found.high[at, 0]
    assert found.odds[at, 0] == pytest.approx(-found.odds[at, 1])
    assert "dances" not in found.words
    few, words = leaning([NURSE, PILOT] * (FEW - 1))
    assert (few.few, words) == ([0, 1], set())


def test_sentences_of_a_document_are_no_evidence_of_their_own() -> None:
    alone, _ = leaning([*[NURSE] * 120, *[PILOT] * 120])
    clustered, _ = leaning([*[f"{NURSE} " * 10] * 12, *[f"{PILOT} " * 10] * 12])
    one, other = (
        (each.high - each.low)[each.words.index("nurse"), 0] for each in (alone, clustered)
    )
    assert other > one * 1.5


def test_by_chance_hardly_a_word_leans() -> None:
    draw = Random(1)
    words = [f"{a}{b}ing" for a in "bcdfghjklm" for b in ("ak", "em", "ol", "up")]
    texts = []
    for _ in range(400):
        who = draw.choice(["She", "He"])
        texts.append(" ".join(f"{who} likes {draw.choice(words)}." for _ in range(6)))
    found, leans = leaning(texts)
    assert len(found.words) > 30
    assert leans == set()


def test_memory_is_bounded_and_what_may_be_missed_is_known() -> None:
    sums = WordSums()
    for block in range(6):
        rare = {f"w{block}x{at}": np.array([1, 1]) for at in range(4)}
        sums.add({"often": np.array([3, 5])} | rare, most=5)
        assert len(sums.rows) <= 10
    assert sums.rows["often"].tolist() == [18, 30]
    assert sums.missed == 2
