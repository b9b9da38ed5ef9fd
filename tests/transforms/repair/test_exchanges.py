"""A pane's exchanges of an attribute: what becomes a unit, what the judge is asked, and what is
left then.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted_judge import First, Judge

from evenflow.pipelines.explain.counterfactual import Rewriter
from evenflow.pipelines.explain.document import explain
from evenflow.schemas.config import Config, load
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.repair.draw import Unit, draw
from evenflow.transforms.repair.exchanges import CONFLICT, Exchanges, Spot, StagedPane, meets
from evenflow.transforms.staging.block import Part, StagedBlock, documents_table
from evenflow.transforms.staging.proposals import Proposer
from evenflow.transforms.substitution import reading, sets
from evenflow.transforms.substitution.reading import UNLIKELY
from evenflow.transforms.substitution.sets import Edit
from evenflow.transforms.text.sentences import sentences
from evenflow.wordlists import loader

LISTS = [loader.load("gender"), loader.load("religion")]
FINDER = LabelFinder(LISTS)
GROUPS = {words.attribute: words.groups for words in LISTS}
TEXTS = [
    "A nun sang.\n\nA king left.",
    "It rained.",
    "The imam prayed.\n\nHe and she met.",
    "My aunt saw a king.",
]
MAYBE = 0.6


def config(**options: object) -> Config:
    return load(
        None,
        {"repair.mode": "substitute", "repair.min_probability": 0.5}
        | {name.replace("__", "."): each for name, each in options.items()},
    )


def staged(
    folder: Path, by: Config, first: First, texts: Sequence[str] = TEXTS, size: int = 2
) -> StagedPane:
    """A pane of blocks of some documents each."""
    proposer = Proposer(by, LISTS, first=first)
    blocks: list[StagedBlock] = []
    for number in range(0, len(texts), size):
        own = texts[number : number + size]
        block = StagedBlock(folder, f"{number:06d}-000000")
        ids = [f"d{texts.index(text)}" for text in own]
        read = Documents("f", ids, own, list(range(len(own))))
        block.write(Part.DOCUMENTS, documents_table(read, {}))
        found = [
            each
            for at, text in enumerate(own)
            if (each := proposer.propose(at, ids[at], text, sentences(text), FINDER.find(text)))
            is not None
        ]
        block.write_lines(Part.PROPOSALS, [each.line() for each in found])
        blocks.append(block)
    return StagedPane(blocks)


def exchanges(
    pane: StagedPane,
    by: Config,
    judge: Judge | None,
    name: str = "gender",
    made: dict[Spot, list[Edit]] | None = None,
) -> Exchanges:
    return Exchanges(name, GROUPS[name], by, pane, judge, made or {})


def words_of(pane: StagedPane, units: Sequence[Unit]) -> list[str]:
    """The words of units."""
    out: list[str] = []
    for unit in units:
        spot, places = unit.place
        document = pane.document(spot)
        text = pane.text(spot.block, document.ordinal)
        own = document.sets["gender" if unit.kind.source in GROUPS["gender"] else "religion"]
        out.append(
            " ".join(
                text[each.start : each.end] for place in places for each in own[place].mentions
            )
        )
    return out


def test_a_pane_gives_its_documents_and_their_texts(tmp_path: Path) -> None:
    pane = staged(tmp_path, config(), First())
    assert [(*spot, pane.document(spot).id) for spot in pane.spots()] == [
        (0, 0, "d0"),
        (1, 0, "d2"),
        (1, 1, "d3"),
    ]
    assert [pane.text(1, 1), pane.text(0, 0), pane.text(1, 0)] == [TEXTS[3], TEXTS[0], TEXTS[2]]


@pytest.mark.parametrize(
    ("probability", "options", "wanted", "settled"),
    [
        (MAYBE, {}, ["nun", "king", "aunt", "king"], False),
        (1.0, {}, ["nun", "king", "aunt", "king"], False),
        (UNLIKELY - 0.01, {}, [], False),
        # The judge decides, not the first stage
        (UNLIKELY, {"repair__min_probability": 0.9}, ["nun", "king", "aunt", "king"], False),
        (0.01, {"repair__min_probability": 0.0}, ["nun", "king", "aunt", "king"], False),
        (0.6, {"repair__judge": "fast"}, ["nun", "king", "aunt", "king"], True),
        (0.4, {"repair__judge": "fast"}, [], True),
    ],
)
def test_units_of_the_first_probability(
    tmp_path: Path, probability: float, options: dict[str, Any], wanted: list[str], settled: bool
) -> None:
    by = config(**options)
    pane = staged(tmp_path, by, First(lambda shown: probability))
    judge = None if by.repair.judge == "fast" else Judge()
    own = exchanges(pane, by, judge)
    units = own.units()
    assert words_of(pane, units) == wanted
    assert all(unit.settled == (unit.kind.targets if settled else ()) for unit in units)
    needed = f"{sets.DOUBTED}, it needs a probability of {reading.min_probability(by, 'gender'):g}"
    assert own.count == 6 and own.excluded == {sets.EVEN: 2} | ({} if wanted else {needed: 4})


def test_a_run_gives_the_reason_that_explain_gives(tmp_path: Path) -> None:
    by = load(None, {"repair.mode": "substitute"})
    pane, judge = staged(tmp_path, by, First(lambda shown: MAYBE)), reading.judge_of(by)
    own = Exchanges("religion", GROUPS["religion"], by, pane, judge, {})
    assert own.units() == []
    document = explain("d", TEXTS[2], FINDER)
    Rewriter(LISTS, "gc", config=by, judge=judge).add_to(document)
    [told] = [each for row in document["sentences"] for each in row["sets"] if row["sent_id"] == 0]
    assert own.excluded == {told["reason"]: 1} and told["reason"].startswith("off for religion: ")


def test_what_meets_another_attributes_change_is_left(tmp_path: Path) -> None:
    pane = staged(tmp_path, config(), First(lambda shown: MAYBE))
    spot = next(spot for spot in pane.spots() if pane.document(spot).id == "d3")
    for free in (Edit(8, 11, "met"), Edit(0, 2, "Her")):
        own = exchanges(pane, config(), Judge(), made={spot: [free]})
        assert words_of(pane, own.units()) == ["nun", "king", "aunt", "king"]
    own = exchanges(pane, config(), Judge(), made={spot: [Edit(2, 3, "x")]})
    assert words_of(pane, own.units()) == ["nun", "king", "king"] and own.excluded[CONFLICT] == 1
    assert own.reason(spot, 0, pane.document(spot).sets["gender"][0]) == CONFLICT


@pytest.mark.parametrize(
    ("new", "is_met"),
    [
        ((0, 2), False),
        ((0, 3), True),
        ((4, 5), True),
        ((2, 9), True),
        ((6, 7), True),
        ((7, 8), False),
        ((9, 10), True),
    ],
)
def test_edits_meet_where_they_overlap_or_touch(new: tuple[int, int], is_met: bool) -> None:
    assert meets([Edit(*new, "x")], [Edit(3, 6, "a"), Edit(10, 12, "b")]) is is_met
    assert not meets([Edit(*new, "x")], [])


def test_the_judge_sees_marked_windows_and_its_refusals_have_reasons(tmp_path: Path) -> None:
    by = config()
    pane = staged(tmp_path, by, First(lambda shown: MAYBE), TEXTS[:1])
    judge = Judge(lambda shown: 0.4 if "[king" in shown else 0.5, "named")
    own = exchanges(pane, by, judge)
    units = own.units()
    left = own.judge([(unit, unit.kind.targets[0]) for unit in units])
    assert sorted(judge.asked) == [
        ("gender", "A [nun|monk] sang. A king left."),
        ("gender", "A nun sang. A [king|queen] left."),
    ]
    assert [unit and unit.settled for unit in left] == [("male",), None]
    assert own.judged == 2 and own.excluded == {"named": 1}
    spot, (place,) = units[1].place
    assert own.reason(spot, place, pane.document(spot).sets["gender"][place]) == "named"


def all_of_the_group(own: Sequence[sets.Set], number: int) -> tuple[int, ...]:
    return tuple(n for n, each in enumerate(own) if each.source == own[number].source)


def test_sets_of_one_person_are_one_unit(tmp_path: Path) -> None:
    by = config()
    texts = ["A nun sang.\n\nHer sister left.\n\nA king left."]
    pane = staged(tmp_path, by, First(lambda shown: MAYBE), texts)
    own = exchanges(pane, by, Judge(together=all_of_the_group))
    units = [unit for unit in own.units() if unit.kind.source == "female"]
    assert len(units) > 1
    first, *rest = own.judge([(unit, "male") for unit in units])
    assert first is not None and first.size.mentions == sum(unit.size.mentions for unit in units)
    assert sorted(words_of(pane, [first])[0].split()) == ["Her", "nun", "sister"]
    assert first.settled == ("male",) and first.size.changes[0][0] == -3
    assert rest == [None] * len(rest)
    # Those that follow are neither refused nor asked about again
    spot, places = first.place
    female = pane.document(spot).sets["gender"]
    assert [own.reason(spot, place, female[place]) for place in places] == [""] * len(places)
    assert own.judge([(units[-1], "male")]) == [None]


def test_a_person_who_changes_with_another_set_is_not_changed_by_half(tmp_path: Path) -> None:
    by = config()
    texts = ["A nun sang.\n\nHer sister left.\n\nA king left."]
    pane = staged(tmp_path, by, First(lambda shown: MAYBE), texts)
    # The first set stands alone; the second one would take it along
    judge = Judge(
        together=lambda own, number: tuple(range(min(number, 1) + 1)) if number < 2 else (number,)
    )
    own = exchanges(pane, by, judge)
    units = [unit for unit in own.units() if unit.kind.source == "female"][:2]
    left = own.judge([(unit, "male") for unit in units])
    assert left[0] is units[0] and left[1] is None
    assert own.excluded[sets.HALF] == 1


def test_sets_that_change_with_another_one_count_once(tmp_path: Path) -> None:
    """The plan counts the mentions of a person once, also of sets that were not drawn yet."""
    by = config()
    texts = ["A nun sang.\n\nHer sister left.\n\nHer niece came.\n\nA king left."]
    pane = staged(tmp_path, by, First(lambda shown: MAYBE), texts)
    own = exchanges(pane, by, Judge(together=all_of_the_group))
    asked: list[list[Unit]] = []

    def judge(units: list[tuple[Unit, str]]) -> Sequence[Unit | None]:
        asked.append([unit for unit, _ in units])
        return own.judge(units)

    drawn = draw([5, 1], [0.2, 0.8], GROUPS["gender"], own.units(), judge)
    assert len(asked[0]) < len(list(own.units())) - 1  # some were not drawn
    assert drawn.plan.dr <= 0.2 and not drawn.chosen


def test_a_copy_is_a_unit_that_loses_what_the_judge_refuses(tmp_path: Path) -> None:
    by = config(repair__mode="augment")
    pane = staged(
        tmp_path,
        by,
        First(lambda shown: MAYBE),
        ["A nun sang.\n\nHer sister left.\n\nA king left."],
    )
    judge = Judge(lambda shown: 0.1 if "[nun" in shown else 0.9)
    own = exchanges(pane, by, judge)
    [unit] = own.units()
    assert (
        unit.kind == ("female", ("male",))
        and unit.size.mentions == len(words_of(pane, [unit])[0].split()) == 3
    )
    [left] = own.judge([(unit, "male")])
    assert left is not None and left.key == unit.key and left.settled == ("male",)
    assert "nun" not in words_of(pane, [left])[0].split() and left.size.mentions < 3
    assert not any("[king" in shown for _, shown in judge.asked)  # it stays in the copy
    spot, places = left.place
    assert all("male" in pane.document(spot).sets["gender"][place].edits for place in places)
    again = exchanges(pane, by, Judge(lambda shown: 0.0))
    assert again.judge([(each, "male") for each in again.units()]) == [None]


@pytest.mark.parametrize("mode", ["substitute", "augment"])
def test_what_is_drawn_does_not_depend_on_the_blocks(tmp_path: Path, mode: str) -> None:
    by = config(repair__mode=mode)
    texts = [
        f"{each} Number {number}."
        for number in range(20)
        for each in ("A nun sang.", "My aunt saw a king.")
    ]
    drawn: list[set[tuple[str, tuple[int, ...], str]]] = []
    asked: list[list[tuple[str, str]]] = []
    for size in (1, 7, 40):
        (tmp_path / str(size)).mkdir()
        pane = staged(
            tmp_path / str(size),
            by,
            First(lambda shown: 0.9 if "nun" in shown else 0.2),
            texts,
            size=size,
        )
        judge = Judge(lambda shown: 0.9 if len(shown) % 2 else 0.1)
        own = exchanges(pane, by, judge)
        chosen = draw([40, 20], None, GROUPS["gender"], own.units(), own.judge).chosen
        drawn.append(
            {(pane.document(unit.place[0]).id, unit.place[1], target) for unit, target in chosen}
        )
        asked.append(sorted(judge.asked))
        assert len(judge.asked) == len(set(judge.asked)) == own.judged
    assert drawn[0] == drawn[1] == drawn[2] != set() and asked[0] == asked[1] == asked[2]
