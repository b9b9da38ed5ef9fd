"""Words of groups in any form, and the sentence that a model reads in their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import DATA

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.stereotypes.masking import (
    LONGEST,
    Span,
    mask,
    placeholder,
    unlisted,
    widened,
)
from evenflow.wordlists import loader
from evenflow.wordlists.loader import SHIPPED, load

LISTS = {name: load(name) for name in SHIPPED}
FINDER = LabelFinder([*(widened(words) for words in LISTS.values()), *unlisted(LISTS)])
SWAPS = DATA / "stereotype_swaps.jsonl"


def shown(sentence: str, attribute: str, finder: LabelFinder = FINDER) -> str:
    """The sentence that a model reads for an attribute."""
    spans: list[Span] = sorted(
        (each.start, each.end, each.attribute) for each in finder.find(sentence)
    )
    return mask(sentence, [each for each in spans if each[2] == attribute])


@pytest.mark.parametrize(
    ("sentence", "attribute", "expected"),
    [
        ("Women cannot park, says the old man.", "gender", "folks cannot park, says the old folk."),
        ("Women cannot park, says the old man.", "age", "Women cannot park, says the folk."),
        ("MUSLIMS hate Jews.", "religion", "folks hate folks."),
        ("Islam and judaism are alike.", "religion", "creed and creed are alike."),
        ("the Jewish people", "religion", "the folks"),
        ("Old people nap; kids these days run.", "age", "folks nap; folks run."),
        ("She hurt herself and his dog.", "gender", "they hurt themselves and their dog."),
        ("A rabbi’s son", "religion", "A folk’s son"),
        ("“Why are women such bad drivers?”", "gender", "folks are such bad drivers."),
        ("why wont Muslims integrate??", "religion", "folks wont integrate."),
        ("Why do you say women lie?", "gender", "Why do you say folks lie?"),
        ("Why women lie.", "gender", "Why folks lie."),
        ("All  the\n women", "gender", "All the folks"),
        ("womenfolk, menfolk, womanizer", "gender", "folks, folks, womanizer"),
        ("The elderly are slow, the elderly man said.", "age", "folks are slow, folk said."),
        ("Black people and a black cat", "race", "folks and a black cat"),
        ("black women drive", "race", "folks drive"),
        ("black women drive", "gender", "black folks drive"),
        ("the poor, the poor man, poor people", "class", "folks, folk, folks"),
        ("A Mexican and the French", "nationality", "A folk and folks"),
        ("Nurses lie, the deaf hear.", "profession", "folks lie, the deaf hear."),
        ("Nurses lie, the deaf hear.", "disability", "Nurses lie, folks hear."),
        ("gay men, fat kids and rednecks", "orientation", "folks, fat kids and rednecks"),
        ("gay men, fat kids and rednecks", "body", "gay men, folks and rednecks"),
        ("gay men, fat kids and rednecks", "region", "gay men, fat kids and folks"),
    ],
)
def test_masked_sentences(sentence: str, attribute: str, expected: str) -> None:
    assert shown(sentence, attribute) == expected


def test_swapping_a_groups_name_gives_the_same_masked_sentence() -> None:
    """Templates whose fillers are all listed: no model can tell the groups apart."""
    templates = [json.loads(line) for line in SWAPS.read_text(encoding="utf-8").splitlines()]
    told = 0
    for each in templates:
        if each["attribute"] not in LISTS:
            continue
        sentences = [each["template"].replace("{}", one["word"]) for one in each["fillers"]]
        texts = {shown(sentence, each["attribute"]) for sentence in sentences}
        told += 1
        assert len(texts) == 1, texts
    assert told == 100


def test_an_own_list_has_its_labels_and_plurals(tmp_path: Path) -> None:
    path = tmp_path / "work.yaml"
    path.write_text(
        "attribute: work\ngroups:\n  law: [lawyer, {label: May, case: exact}]\n  health: [nurse,"
        " boss]\n",
        encoding="utf-8",
    )
    finder = LabelFinder([widened(loader.load(str(path)))])
    assert (
        shown("Lawyers lie, a Nurse may not; May and the boss do.", "work", finder)
        == "folks lie, a folk may not; folk and the folk do."
    )


def test_a_measured_attribute_has_the_words_of_its_name_too(tmp_path: Path) -> None:
    path = tmp_path / "race.yaml"
    path.write_text("attribute: race\ngroups:\n  a: [elf]\n  b: [orc]\n", encoding="utf-8")
    words = widened(loader.load(str(path)))
    assert words.groups == ("a", "b", "others")
    assert (
        shown("Elves, an orc, black men", "race", LabelFinder([words])) == "Elves, an folk, folks"
    )
    assert "race" not in {each.attribute for each in unlisted(["race"])}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Women", "folks"),
        ("boss", "folk"),
        ("They’re", "folks are"),
        ("people on welfare", "folks"),
    ],
)
def test_placeholder(word: str, expected: str) -> None:
    assert placeholder(word) == expected


@pytest.mark.parametrize("before", [0, 300, 20_000])
def test_a_long_sentence_is_cut_around_its_first_placeholder(before: int) -> None:
    text = "x " * (before // 2) + "women are never on time " + "and so on " * 2000
    assert (
        "folks are never on time" in shown(text, "gender") and len(shown(text, "gender")) <= LONGEST
    )


@given(st.text(max_size=80), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 8)), max_size=5))
def test_any_masked_sentence_is_one_line(text: str, places: list[tuple[int, int]]) -> None:
    spans: list[Span] = []
    at = 0
    for start, length in sorted(places):
        if at <= start < start + length <= len(text):
            spans.append((start, start + length, "x"))
            at = start + length
    found = mask(text, spans)
    assert found == " ".join(found.split()) and len(found) <= LONGEST
