"""Counting people in documents: the same however they are cut, and only what names somebody."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.schemas.config import Config, ConfigError, load
from evenflow.schemas.documents import Cell, Figures
from evenflow.transforms.annotation import mentions, people
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.records import Documents
from evenflow.transforms.models.passages import Excerpt, Place
from evenflow.transforms.models.reader import Reader

PEOPLE = {
    "measure.count": "people",
    "measure.passages": 3,
    "attributes.age.wordlist": "age-table13",  # it has labels that mostly name things
}
CONFIG = load(None, PEOPLE, ["gender", "age"])
ANNOTATOR = Annotator(CONFIG)
TEXTS = st.lists(
    st.lists(
        st.sampled_from(["She met", "the kids.", "Ancient walls", "a minor issue", "é", "\n\n"]),
        min_size=1,
        max_size=8,
    ).map(" ".join),
    min_size=1,
    max_size=5,
)


def counted(texts: Sequence[str], config: Config = CONFIG) -> Figures:
    own = ANNOTATOR if config is CONFIG else Annotator(config)
    ids = [f"{len(text)}-{at}" for at, text in enumerate(texts)]
    return own.mentions.count(Documents("f", ids, list(texts), list(range(len(texts)))))[0]


@settings(deadline=None, max_examples=30)
@given(TEXTS)
def test_documents_together_have_what_they_have_in_parts(texts: list[str]) -> None:
    whole = counted(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mentions, "PIECE", 40)
        parts = counted(texts)
    for name in ("gender", "age"):
        assert parts.attributes[name].people == whole.attributes[name].people
    assert Figures.read(dataclasses.asdict(whole)) == whole


def test_a_cell_is_read_as_in_its_document() -> None:
    text = "A plumber came. " + "".join(
        f"{n}: He said that his sister was ill. " for n in range(70)
    )
    own = counted([text]).attributes["gender"].people
    assert own is not None and any(cell.low for cell in own.cells[:2])
    places = [Place(*each.span()) for each in re.finditer(r"\b(?:He|his|sister)\b", text)]
    reader = Reader.shipped()
    for cell in own.cells[:2]:
        skipped = text.index(cell.text[cell.low :]) - cell.low
        assert people.mention_chances(cell, "gender").keys() == set(range(*cell.own))
        part = Excerpt(cell.text, cell.low, cell.high, 0)
        inside = [Place(start, end) for start, end, _, _ in cell.places]
        whole = Excerpt(text, cell.low + skipped, cell.high + skipped, 0)
        for at, said in reader.of_excerpt(part, inside, range(*cell.own)).items():
            number = [place.start for place in places].index(inside[at].start + skipped)
            expected = reader.of_excerpt(whole, places, [number])[number]
            assert said.who == pytest.approx(expected.who)


def test_people_are_estimated_and_texts_dropped() -> None:
    figures = counted(["The ancient walls of a minor town. The elderly and the teenagers met."] * 2)
    people.resolve(figures, CONFIG)
    own = figures.attributes["age"].people
    assert own is not None and own.estimate is not None and own.cells == [] and own.read == 2
    young, middle, old = own.estimate["counts"]
    assert figures.attributes["age"].counts == [4, 0, 4]
    assert (young, middle, old) == (pytest.approx(2, abs=0.7), 0, pytest.approx(2, abs=0.7))
    assert own.labels["elderly"] > 1500 > 500 > own.labels.get("ancient", 0)


def test_the_sample_depends_on_documents_alone() -> None:
    texts = [f"Document {number}: the kids met her." for number in range(20)]
    ids = [f"d{number}" for number in range(20)]
    orders = []
    for step in (1, -1):
        found = Documents("f", ids[::step], texts[::step], list(range(20)))
        figures = ANNOTATOR.mentions.count(found).figures
        own = figures.attributes["age"].people
        assert own is not None
        orders.append([cell.text for cell in own.cells])
    assert orders[0] == orders[1] and len(orders[0]) == 4


def test_words_have_no_people() -> None:
    figures = counted(["The kids met."], load(None))
    assert figures.attributes["age"].people is None
    people.resolve(figures, load(None))
    assert figures.attributes["age"].people is None


def test_what_does_not_fit_into_its_passage_keeps_the_first_stages_chance() -> None:
    cell = Cell(0.1, 1, "", [900], [900], "kids", 0, 4, [[0, 4, 0, 900]], (0, 1))
    nothing = dataclasses.replace(cell, text="", high=0)
    assert people.judged(nothing, "age", 1) == [900]


def test_a_target_of_the_population_is_compared_with_people() -> None:
    key = "attributes.age.target"
    people = load(None, {"measure.count": "people", key: "population"}, ["age"])
    words = people.word_list("age")
    assert people.target(words) == words.references["population"] == [0.41, 0.49, 0.10]
    assert words.population_source.startswith("United Nations, World Population Prospects 2022")
    with pytest.raises(ConfigError, match=r"with people; set measure\.count: people"):
        load(None, {key: "population"}, ["age"])
    settings = {"attributes.profession.target": "population", "measure.count": "people"}
    with pytest.raises(ConfigError, match=r"profession\.yaml has no population"):
        load(None, settings, ["profession"]).word_lists()


@pytest.mark.parametrize("name", ["gender", "age", "religion"])
def test_a_shipped_population_is_cited_and_whole(name: str) -> None:
    words = Config().word_list(name)
    assert sum(words.population.values()) == pytest.approx(1)
    assert re.search(r"20[12]\d", words.population_source)


def test_people_are_not_counted_beside_weights() -> None:
    with pytest.raises(ConfigError, match="beside weights, which make words even"):
        load(None, {"measure.count": "people", "repair.mode": ["weight"]}, ["age"])
