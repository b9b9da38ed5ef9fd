"""The filter: what is removed, flagged or set aside, and what the table of sentences holds."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.stereotypes.calibration import Calibration
from evenflow.transforms.measures.stereotypes.filter import (
    SET_ASIDE,
    TOO_MUCH,
    StereotypeFilter,
    remove_sentences,
)
from evenflow.transforms.measures.stereotypes.indicators import Indicators
from evenflow.transforms.staging.sentence_table import GONE, Relevant
from evenflow.transforms.text.sentences import sentences
from evenflow.wordlists import loader

SURE = Calibration(0.1, {}, {name: [(0.5, 50, 50)] for name in ("gender", "age")})
FINDER = LabelFinder([loader.load("gender"), loader.load("age")])


class Lazy:
    """A detector and scorer of one word.

    "lazy" states a stereotype, whose strength grows with "very"; "um" cannot be judged.
    """

    def detect(
        self, sentences: Sequence[str], labels: Sequence[Sequence[tuple[int, int, str]]]
    ) -> list[float | None]:
        """High for "lazy", low for others, None for "um"."""
        for text, spans in zip(sentences, labels, strict=True):
            assert spans and all(text[start:end] for start, end, _ in spans)
        return [None if "um" in text else 0.9 if "lazy" in text else 0.1 for text in sentences]

    def indicators(
        self, sentences: Sequence[str], labels: Sequence[object]
    ) -> list[Indicators | None]:
        """A strength that grows with "very"."""
        return [
            Indicators(
                text,
                {},
                min(1.0, 0.6 + 0.2 * text.count("very")),
                creed=0.9 if "faith" in text else 0.1,
            )
            for text in sentences
        ]


def screened(text: str, calibration: Calibration = SURE, **settings: object):
    """A text after the filter under some settings."""
    config = load(
        None, {key.replace("__", "."): value for key, value in settings.items()}, ["gender", "age"]
    )
    mentions = sorted(FINDER.find(text), key=lambda each: each.start)
    stub = Lazy()
    [done] = StereotypeFilter(config, stub, stub, calibration).screen(
        [Relevant(0, text, sentences(text), mentions)]
    )
    return done


STRONG = "Men are very lazy."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Men came. They are very lazy.", {(0, "gender"): 0.1, (1, "gender"): 0.9}),
        ("Men came. But they’re very lazy.", {(0, "gender"): 0.1, (1, "gender"): 0.9}),
        ("Men came. They left.", {(0, "gender"): 0.1, (1, "gender"): 0.1}),
        ("A man came. They are very lazy.", {(0, "gender"): 0.1}),  # one man is not “they”
        ("Men came.\nThey are very lazy.", {(0, "gender"): 0.1}),
        ("Men came. The elderly say they are very lazy.", {(0, "gender"): 0.1, (1, "age"): 0.9}),
    ],
)
def test_they_are_the_group_of_the_sentence_before(text: str, found: dict[Any, float]) -> None:
    done = screened(text, stereotypes__action="remove")
    assert {key: each.potential for key, each in done.findings.items()} == found
    assert (1, "gender") not in {key for key, each in done.findings.items() if each.remove}
    if found.get((1, "gender")) == 0.9:  # the checks of a pane pass what says why it stays
        assert json.loads(done.findings[1, "gender"].indicators or "")["stays"] == "they"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"She sang. {STRONG} He ate.", "She sang. He ate."),
        (f"{STRONG} She sang. He ate.", "She sang. He ate."),
        (f"She sang. He ate. {STRONG}", "She sang. He ate."),
        (f"She sang. {STRONG} {STRONG} He ate. She ran.", "She sang. He ate. She ran."),
        (f"She sang. {STRONG}\n\nHe ate.", "She sang.\n\nHe ate."),
        (f"She sang.\n\n{STRONG}\n\nHe ate.", "She sang.\n\nHe ate."),
        (f"She sang.\n\n{STRONG} He ate.", "She sang.\n\nHe ate."),
        (f"She sang. He ate. {STRONG}\n", "She sang. He ate.\n"),
        (f"  {STRONG}\nShe sang. He ate.", "  She sang. He ate."),
        ("She sang. Men are lazy. He ate.", "She sang. Men are lazy. He ate."),  # not strong
    ],
)
def test_a_sentence_goes_and_its_blank_is_closed(text: str, left: str) -> None:
    done = screened(text, stereotypes__action="remove", stereotypes__threshold=0.7)
    assert (done.text, done.aside) == (left, None)


def test_an_attribute_has_its_own_policy_and_threshold() -> None:
    text = "She sang. The elderly dog and the man are very lazy. He ate."
    own = {
        "attributes.age.stereotypes.action": "flag",
        "stereotypes.action": "remove",
        "stereotypes.threshold": 0.7,
    }
    assert screened(text, **own).text == "She sang. He ate."  # for gender it goes
    own["attributes.gender.stereotypes.threshold"] = 0.9
    done = screened(text, **own)
    assert (
        done.text == text
        and not done.findings[1, "age"].remove
        and not done.findings[1, "gender"].remove
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [  # a passage in quotation marks stays if only a part of it would go
        (f"She sang. “{STRONG} Or so they say.” He ate.", None),
        (f'She sang. "{STRONG} Or so they say." He ate.', None),
        (f"She sang. “{STRONG} {STRONG}” He ate. She ran.", "She sang. He ate. She ran."),
        (f"She sang. “{STRONG}” He ate.", "She sang. He ate."),
        (f"She sang. {STRONG} “He ate. She ran.”", "She sang. “He ate. She ran.”"),
        (f"She sang. “{STRONG}\n\nOr so they” say.", "She sang.\n\nOr so they” say."),
    ],
)
def test_a_quoted_passage_goes_as_a_whole_or_not_at_all(text: str, left: str | None) -> None:
    done = screened(text, stereotypes__action="remove", stereotypes__threshold=0.7)
    assert done.text == (left or text)
    kept = [each for each in done.findings.values() if "passage" in (each.indicators or "")]
    assert bool(kept) == (left is None) and not any(each.remove for each in kept)


@pytest.mark.parametrize(
    ("settings", "goes"),
    [
        ({"stereotypes__action": "remove"}, False),  # no labelled sentence is of these groups
        ({"stereotypes__action": "remove", "stereotypes__remove_from": 0.8}, True),
        ({"stereotypes__action": "remove", "stereotypes__remove_from": 0.95}, False),
        ({"stereotypes__action": "flag", "stereotypes__remove_from": 0.8}, False),
    ],
)
def test_groups_that_no_list_has_follow_the_policy(settings: dict[str, object], goes: bool) -> None:
    text = "She sang. Black people are very lazy. Nurses sing. He ate."
    done = screened(text, SURE, stereotypes__threshold=0.7, **settings)
    found = done.findings[1, "race"]
    assert (done.text != text) == goes == found.remove
    assert (found.strength, found.score) == (0.8, None)
    assert (2, "profession") not in done.findings  # no stereotype, no row


def test_groups_that_no_list_has_are_not_looked_for_where_the_policy_is_off() -> None:
    own = {"attributes.gender.stereotypes.action": "flag", "stereotypes.action": "off"}
    found = screened("Black people are very lazy. Men are very lazy.", SURE, **own).findings
    assert set(found) == {(1, "gender")}


@pytest.mark.parametrize(
    ("calibration", "removed"),
    [
        (Calibration(0.1, {}, {}), False),  # nothing is known of it
        (Calibration(0.1, {}, {"gender": [(0.5, 50, 30), (0.8, 30, 29)]}), True),
        # The detector says 0.9
        (Calibration(0.1, {}, {"gender": [(0.5, 50, 30), (0.95, 30, 29)]}), False),
    ],
)
def test_only_sure_stereotypes_are_removed(calibration: Calibration, removed: bool) -> None:
    text = f"She sang. {STRONG} He ate."
    for policy, left in (
        ("remove", "She sang. He ate." if removed else text),
        ("quarantine", text),
    ):
        done = screened(text, calibration, stereotypes__action=policy, stereotypes__threshold=0.7)
        assert done.text == left and done.findings[1, "gender"].remove == removed
        assert (done.aside == SET_ASIDE) == (removed and policy == "quarantine")


@pytest.mark.parametrize("creeds", ["flag", "action"])
def test_what_is_said_of_a_creed_alone_has_its_own_switch(creeds: str) -> None:
    text = "She sang. The faith of men is very lazy. He ate."
    both = Calibration(0.1, {}, SURE.called, creeds={"gender": [(0.5, 50, 50)]})
    for known, goes in ((SURE, False), (both, creeds == "action")):
        done = screened(
            text,
            known,
            stereotypes__action="remove",
            stereotypes__threshold=0.7,
            stereotypes__creeds=creeds,
        )
        found = done.findings[1, "gender"]
        assert (done.text != text) == goes == found.remove
        told = json.loads(found.indicators or "{}")
        assert told["creed"] == 0.9 and told.get("stays") == (None if goes else "creed")


def test_sentences_without_a_label_are_screened() -> None:
    """The lists do not have the labels "womenfolk" and "teens"; the filter needs no mentions."""
    text = "The womenfolk are very lazy.\n\nTeens are very lazy. It rained. She sang. He ate."
    config = load(
        None, {"stereotypes.action": "remove", "stereotypes.threshold": 0.7}, ["gender", "age"]
    )
    other = Relevant(1, "Womankind is very lazy. It rained.", [(0, 23), (24, 34)], [])
    filtering = StereotypeFilter(config, Lazy(), Lazy(), SURE)
    first, second = filtering.screen([Relevant(0, text, sentences(text), []), other])
    assert first.text == "It rained. She sang. He ate." and second.text == "It rained."
    assert set(first.findings) == {(0, "gender"), (1, "age"), (3, "gender"), (4, "gender")}


def test_a_document_that_loses_too_much_is_set_aside() -> None:
    text = f"{STRONG} She sang. {STRONG} {STRONG}"
    assert (
        screened(text, stereotypes__action="remove", stereotypes__threshold=0.7).aside == TOO_MUCH
    )
    done = screened(
        text,
        stereotypes__action="remove",
        stereotypes__threshold=0.7,
        stereotypes__most_removed=0.8,
    )
    assert (done.text, done.aside) == ("She sang.", None)
    whole = screened(
        STRONG,
        stereotypes__action="remove",
        stereotypes__threshold=0.7,
        stereotypes__most_removed=1.0,
    )
    assert whole.aside == TOO_MUCH  # nothing would be left


def test_sentences_that_cannot_be_judged_stay() -> None:
    done = screened("Men are um lazy. She sang.", stereotypes__action="remove")
    assert (
        done.aside is None
        and done.findings[0, "gender"].potential is None
        and not done.findings[0, "gender"].remove
    )


@given(
    parts=st.lists(
        st.sampled_from(["One man ran.", "Two.", "Is it?", " ", "\n", "\n\n", "\t", "\u2028", "x"]),
        max_size=20,
    ),
    chosen=st.sets(st.integers(0, 12)),
)
def test_the_remaining_text_is_unchanged(parts: list[str], chosen: set[int]) -> None:
    text = "".join(parts)
    spans = sentences(text)
    gone = sorted(number for number in chosen if number < len(spans))
    left, places = remove_sentences(text, spans, gone)
    assert [place == GONE for place in places] == [number in gone for number in range(len(spans))]
    kept = [
        (text[start:end], place)
        for (start, end), place in zip(spans, places, strict=True)
        if place != GONE
    ]
    assert all(left[place : place + len(said)] == said for said, place in kept)
    assert "".join(left.split()) == "".join("".join(said.split()) for said, _ in kept)
    assert left == text if not gone else len(left) < len(text)


def test_creeds_and_other_groups_are_counted(tmp_path: Path) -> None:
    strong = "Muslims are terrorists and all Muslims are violent savages."
    text = f"The shop opens at nine. {strong} A Muslim bought a hat."
    path = tmp_path / "in.jsonl"
    rows = [
        {"id": "a", "text": text},
        {"id": "b", "text": f"{text} Islam is a violent religion."},
        {"id": "c", "text": "Mexicans are thieves and rapists. A Jew ate."},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    out = tmp_path / "out"
    options = {"stereotypes.action": "remove", "stereotypes.threshold": 0.5}
    Run([str(path)], out, load(None, options, ["religion"])).go()
    [entry] = read_entries(out)
    assert entry.checks.success
    left = {row["id"]: row["text"] for row in pq.read_table(out / "accepted").to_pylist()}
    assert strong not in left["a"] and "violent religion" in left["b"]
    record: Any = entry.measures["stereotypes"]
    found = record.attributes["religion"]
    assert (found.strong, found.creeds, found.kept) == (2, 1, 1)
    assert found.cut is not None and found.right >= 0.8 * found.read > 0
    other = record.unlisted["nationality"]
    assert (other.action, other.cut) == ("remove", None)
    assert (other.potential, other.strong, other.kept) == (1, 0, 1)
    assert set(record.unlisted) == {"nationality"}
