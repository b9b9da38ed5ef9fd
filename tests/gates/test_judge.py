"""Verdicts on a pane together with the last accepted ones, and on what could be read of it."""

from __future__ import annotations

import pytest
from pane_entries import pane_entry

from evenflow.gates.judge import PaneJudge, overall
from evenflow.gates.ledger.combine import add_sums
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.verdict import llm_verdict, reading_verdict
from evenflow.schemas.config import load
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import State, Verdict
from evenflow.transforms.measures.representation.dr import score
from evenflow.wordlists import loader

OPEN = Verdict(state="open", reason="")


def figures(female: int, male: int, size: int = 1) -> Figures:
    """Figures of documents that name one group each."""
    counts, products = (
        [size * female, size * male],
        [[size * size * female, 0], [0, size * size * male]],
    )
    return Figures(attributes={"gender": AttributeFigures(female + male, counts, products)})


def run(panes: list[Figures]):
    """Judge panes in order and return their entries."""
    config = load(None, {}, only=["gender"])
    totals = Totals.for_run(config)
    judge, out = PaneJudge(config, [loader.load("gender")], totals), []
    for number, each in enumerate(panes):
        out.append(pane_entry(number, attributes=judge.judge(each)))
        judge.conclude(out[-1], each)
        assert (out[-1].folder == "quarantine") == (out[-1].verdict.state == "block")
        totals.add(out[-1])
    return out


EVEN, ONE_SIDED = figures(200, 200), figures(0, 2000, 10)


def test_a_large_bad_pane_blocks_itself_and_not_the_even_ones_after_it() -> None:
    panes = run([EVEN, ONE_SIDED, EVEN, EVEN, EVEN, EVEN])
    assert [each.verdict.state for each in panes] == [
        "open",
        "block",
        "open",
        "open",
        "open",
        "open",
    ]
    seen = [each.attributes["gender"] for each in panes]
    states = [each.stream_verdict.state for each in seen if each.stream_verdict is not None]
    # The stream's own, beside it
    assert states == ["open", "block", "block", "block", "block", "open"]
    assert [each.accepted.dr for each in seen if each.accepted is not None] == [0.0] * 6
    assert seen[-1].cumulative.dr is not None and seen[-1].cumulative.dr > 0.4


def test_what_lasts_is_blocked_for_what_accepted_would_become() -> None:
    panes = run([EVEN, EVEN, EVEN, *[figures(0, 400)] * 6])
    states = [each.verdict.state for each in panes]
    assert (
        "block" in states
        and states.index("block") > 3
        and set(states[states.index("block") :]) == {"block"}
    )
    last = panes[-1].attributes["gender"]
    shipped = [each.attributes["gender"].sums for each in panes if each.folder == "accepted"]
    total = shipped[0]
    for each in shipped[1:]:
        total = add_sums(total, each)
    assert last.accepted == score(total, last.target, 0.95)


@pytest.mark.parametrize(
    "dead, documents, most, state, said",
    [
        ({}, 0, 0.05, "open", "0 dead letters of 0 records"),
        ({"not JSON": 1}, 19, 0.05, "open", "1 dead letter of 20 records"),
        (
            {"text missing": 12},
            0,
            0.05,
            "block",
            "100.0% of 12 records became dead letters (12 text missing), 5.0% at most may",
        ),
        (
            {"a": 1, "b": 2},
            7,
            0.2,
            "block",
            "30.0% of 10 records became dead letters (2 b, 1 a), 20.0% at most may",
        ),
        ({"unreadable file": 1}, 10_000, 0.05, "block", "1 file could not be read to the end"),
        (
            {"unreadable file": 1, "text missing": 99},
            0,
            1.0,
            "open",
            "100 dead letters of 100 records",
        ),
    ],
)
def test_what_could_be_read(
    dead: dict[str, int], documents: int, most: float, state: State, said: str
) -> None:
    assert reading_verdict(dead, documents, most) == Verdict(state=state, reason=said)


@pytest.mark.parametrize(
    "fallbacks, most, state",
    [
        ({}, 0.1, "open"),
        ({"timeout": 1}, 0.1, "open"),
        ({"timeout": 2}, 0.1, "warn"),
        ({"budget spent": 9}, 0, "open"),
    ],
)
def test_what_an_llm_left_unanswered(fallbacks: dict[str, int], most: float, state: State) -> None:
    found = llm_verdict({"stereotypes": {"questions": 10, "fallbacks": fallbacks}}, most, "warn")
    assert found.state == state
    assert state == "open" or "2 timeout" in found.reason


def test_what_could_not_be_read_comes_before_all() -> None:
    reading, asking = (
        Verdict(state="block", reason="unread"),
        Verdict(state="warn", reason="fell back"),
    )
    assert overall(pane_entry(0, reading=reading, asking=asking)) == reading
    assert overall(pane_entry(0, reading=OPEN, asking=asking)) == asking


def test_a_pane_with_too_few_mentions_of_everything_has_no_verdict_and_goes_through() -> None:
    (few,) = run([figures(3, 3)])
    assert (few.verdict.state, few.verdict.folder) == ("too few", "accepted")
    assert few.verdict.reason.startswith("gender: too little to judge: 6 mentions")
    unjudged = few.attributes["gender"]
    judged = run([EVEN])[0].attributes["gender"]
    both = pane_entry(0, attributes={"age": unjudged, "gender": judged})
    assert overall(both).state == "open"
