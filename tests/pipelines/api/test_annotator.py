"""The annotator of one text: it counts as `measure` does, travels, and refuses what is no text."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenflow

SPEECHES = Path(__file__).parents[2] / "data" / "speeches.jsonl.gz"
ANNOTATOR = evenflow.Annotator()
WORDS = [
    *("she", "He's", "don't", "the old man", "church\n", "@her", "é", "\ud800", "Mr.", "\n\n"),
    " ",
]


def speeches() -> list[str]:
    with gzip.open(SPEECHES, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines][:60]


def test_sums_of_annotations_are_what_measure_counts() -> None:
    texts = speeches()
    measured = evenflow.measure(texts).to_dict()
    parts = [
        ANNOTATOR.summarise(ANNOTATOR.annotate_many(texts[:25])),
        ANNOTATOR.summarise(map(ANNOTATOR.annotate, texts[25:])),
    ]
    assert parts[0].add(parts[1]).measurement().to_dict() == measured
    kept = json.loads(json.dumps([each.to_dict() for each in (parts[0], parts[1])]))
    assert ANNOTATOR.summary(kept[0]).measurement().to_dict() == measured
    twice = ANNOTATOR.summary(kept[1], kept[1]).measurement()
    assert twice.documents == 2 * (len(texts) - 25)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=6))
def test_texts_have_together_what_each_has_alone(texts: list[str]) -> None:
    together = list(ANNOTATOR.annotate_many(iter(texts)))
    alone = [ANNOTATOR.annotate(text) for text in texts]
    assert [each.mentions for each in together] == [each.mentions for each in alone]
    assert [each.counts for each in together] == [each.counts for each in alone]
    for each in alone:
        for mention in each.mentions:
            assert 0 <= mention.start < mention.end <= len(each.text)


def test_sentences_are_those_of_explain() -> None:
    text = "She came. It rained on Mr. Miller, an old man."
    assert ANNOTATOR.annotate(text).sentences == evenflow.explain(text).sentences
    asked = evenflow.Annotator(attributes=["gender"], stereotypes=True, exchanges=True)
    text = "Women are bad drivers. She lost her keys."
    first, second = asked.annotate(text).sentences
    assert first["potential_stereotype"]["gender"] > 0.5
    assert 0 <= second["sets"][0]["confidence"] <= 1
    assert (
        evenflow.explain(
            text, attributes=["gender"], counterfactual="gc", stereotypes=True
        ).sentences
        == asked.annotate(text).sentences
    )


def test_it_travels_and_threads_share_it() -> None:
    texts = speeches()
    wanted = [ANNOTATOR.annotate(text).counts for text in texts]
    own = pickle.loads(pickle.dumps(ANNOTATOR))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: own.annotate(text).counts, texts)) == wanted
        found = list(pool.map(own.annotate, texts[:8]))
        assert len({len(each.sentences) for each in found}) > 1
    sent = pickle.loads(pickle.dumps(found[0]))
    assert sent.to_dict() == found[0].to_dict()


def test_no_large_library_is_imported() -> None:
    code = """
import sys, evenflow
evenflow.Annotator().annotate("She paid.").mentions
print(*sys.modules)
evenflow.counterfactual("He paid.", "male", "female")
annotator = evenflow.Annotator()
annotator.annotate("She paid.").sentences
annotator.summarise([annotator.annotate("She paid.")]).measurement()
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, last = done.stdout.splitlines()
    assert not {"apache_beam", "great_expectations", "pandas"} & set(last.split())
    assert "pyarrow" not in first.split()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, r"a text was expected, not None \(NoneType\)"),
        (b"She", r"a text was expected, not b'She' \(bytes\)"),
        (b"x" * (50 << 20), "a text was expected"),
        ({"text": "She"}, "dict"),
        (float("nan"), "float"),
        ("She met him. " * (4 << 20), "more than 10 MiB"),
    ],
    ids=["None", "bytes", "many bytes", "a record", "a missing value", "50 MB"],
)
@pytest.mark.parametrize(
    "call",
    [ANNOTATOR.annotate, lambda text: evenflow.counterfactual(text, "male", "female")],
    ids=["annotate", "counterfactual"],
)
def test_what_is_no_text_is_refused(call: Callable[[Any], Any], given: Any, says: str) -> None:
    with pytest.raises(evenflow.TextError, match=says) as raised:
        call(given)
    assert isinstance(raised.value, evenflow.EvenflowError)
    assert len(str(raised.value)) < 200


def test_of_many_texts_those_before_a_bad_one_are_given() -> None:
    given = []
    with pytest.raises(evenflow.TextError, match="text 2: a text was expected, not None"):
        for each in ANNOTATOR.annotate_many(["She.", "He.", None, "She."]):  # type: ignore[list-item]
            given.append(each.text)
    assert given == ["She.", "He."]


def test_people_are_not_counted_document_by_document() -> None:
    with pytest.raises(evenflow.ConfigError, match="people are estimated over a whole corpus"):
        evenflow.Annotator({"measure.count": "people"})


def test_groups_of_no_attribute_are_named() -> None:
    with pytest.raises(
        evenflow.TextError, match=r"'male' and 'old'; there are gender: female, male"
    ):
        evenflow.counterfactual("He left.", "male", "old")
