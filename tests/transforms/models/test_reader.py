"""The shipped reader: what it says, that it depends on the document alone, and damaged files."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from evenflow.schemas.config import Config
from evenflow.transforms.measures import registry
from evenflow.transforms.models import cuts, files, reader
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.models.passages import WIDE, Place
from evenflow.transforms.models.reader import HEADS, MANIFEST, NEVER, REASONS, WHO, Reader

PRONOUN = re.compile(r"\b(?:he|his|him)\b", re.IGNORECASE)
UNNAMED = "The plumber said that he would come at noon. He forgot his tools and went home again."
NAMED = UNNAMED.replace("The plumber", "Robert Smith")


def places_in(text: str) -> list[Place]:
    return [Place(*each.span()) for each in PRONOUN.finditer(text)]


def chance(text: str) -> float:
    own, places = Reader.shipped(), places_in(text)
    reading = own.read(text, places)
    return own.judge("gender", reading, range(len(places)), ())[0]


def test_it_says_of_each_mention_who_is_meant() -> None:
    reading = Reader.shipped().read(NAMED, places_in(NAMED))
    for number in range(3):
        said = reading.said(number)
        assert said.who.shape == (len(WHO),) and said.who.sum() == pytest.approx(1)
        assert said.reasons.shape == (len(REASONS),) and set(said.links) == {0, 1, 2} - {number}


def test_a_named_person_stays_and_an_unnamed_one_may_change() -> None:
    assert chance(UNNAMED) > 0.5 > chance(NAMED)


def test_the_name_may_stand_far_before() -> None:
    between = "The kitchen was cold and the tap dripped all night into the old white sink. " * 5
    assert chance(NAMED.replace(". He", f". {between}He")) < 0.5


def test_mentions_of_one_person_are_linked_and_one_that_stays_speaks_against() -> None:
    own, places = Reader.shipped(), places_in(UNNAMED)
    reading = own.read(UNNAMED, places)
    whole, _ = own.judge("gender", reading, [0, 1, 2], ())
    half, reason = own.judge("gender", reading, [0], {1, 2})
    assert half < 0.5 < whole and reason == REASONS["half"]
    assert reading.said(0).links[1] > 0


def test_what_is_said_depends_neither_on_the_order_of_questions_nor_on_other_cells() -> None:
    text = UNNAMED + " It rained." * 200 + " " + UNNAMED
    places = places_in(text)
    assert places[-1].start > WIDE
    forward, backward = (Reader.shipped().read(text, places) for _ in range(2))
    one = [forward.said(number) for number in range(len(places))]
    other = [backward.said(number) for number in reversed(range(len(places)))][::-1]
    for a, b in zip(one, other, strict=True):
        assert a.right == b.right and a.links == b.links and np.array_equal(a.who, b.who)


def test_passages_in_batches_say_what_each_says_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "TOGETHER", 300)  # several batches
    texts = [NAMED, UNNAMED, UNNAMED + " It rained." * 80 + NAMED, "Where is he?", "kids"]
    alone, batches = Reader.shipped(), Reader(files.SHIPPED, batches=True)
    found = [batches.read(text, places_in(text)) for text in texts]
    batches.read_ahead((each, at) for each in found for at in range(len(each.places)))
    for each in found:
        one = alone.read(each.text, each.places)
        for at, said in each.known.items():
            assert said.right == pytest.approx(one.said(at).right, abs=1e-4)
            assert said.links == pytest.approx(one.said(at).links, abs=1e-4)
    assert sum(len(each.known) for each in found) == 13


def test_a_device_that_nothing_runs_is_an_error_and_not_the_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(onnxruntime.InferenceSession, "get_providers", lambda _: ["CPU"])
    config = Config.model_validate({"repair": {"mode": "substitute", "device": "cuda"}})
    with pytest.warns(UserWarning), pytest.raises(ModelError, match=r"has .*CPUEx.*runtime-gpu"):
        registry.look(config, print)
    registry.look(Config(), print)


def test_a_mention_that_does_not_fit_is_never_right() -> None:
    text = "kids " * 400
    places = [Place(at, at + 4, "septuagenarians") for at in range(0, len(text), 5)]
    reading = Reader.shipped().read(text, places)
    assert min(reading.said(number).right for number in range(60, WIDE // 5)) == NEVER


@pytest.mark.parametrize("text", ["", "\ud800 he", "he" * 3000, "\x00he\n"])
def test_any_text_is_read(text: str) -> None:
    places = [Place(each.start(), each.end()) for each in re.finditer("he", text)][:50]
    reading = Reader.shipped().read(text, places)
    assert all(np.isfinite(reading.said(number).right) for number in range(len(places)))


def test_precision_has_its_probability() -> None:
    low, high = cuts.cut("gender", 0.5), cuts.cut("gender", 0.8)
    assert low and high and low.probability < high.probability and high.interval[0] >= 0.8
    assert cuts.cut("gender", 1.0) is None  # no share of documents held out shows that
    document, sentence = (cuts.cut("gender", 0.8, each) for each in ("document", "sentence"))
    assert document and sentence and document.right == document.document
    assert sentence.probability < document.probability and sentence.document < sentence.right
    assert cuts.cut("age", 0.1) is None and cuts.cut("age", 0.1, "sentence")
    assert cuts.cuts("mine") == cuts.cuts("all") and cuts.cuts("mine", "sentence") == []


@pytest.mark.parametrize("name", [HEADS, MANIFEST])
def test_a_damaged_model_is_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(files.SHIPPED, folder := tmp_path / "own")
    (folder / name).write_bytes(b"{}")
    with pytest.raises(ModelError, match=r"was expected|: damaged"):
        Reader(folder)
