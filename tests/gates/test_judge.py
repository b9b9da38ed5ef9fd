"""Verdicts on a pane together with the last accepted ones, and on what could be read of it."""

from __future__ import annotations

import pytest
from pane_entries import pane_entry

from evenflow.gates.judge import TOP_LABELS, PaneJudge, overall
from evenflow.gates.ledger.combine import add_sums
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.verdict import llm_verdict, reading_verdict
from evenflow.schemas.config import load
from evenflow.schemas.documents import AttributeFigures, Figures, PeopleFigures
from evenflow.schemas.ledger import Measured, State, Verdict
from evenflow.transforms.llm import SPENT
from evenflow.transforms.measures.representation.dr import score
from evenflow.transforms.wilson import interval
from evenflow.wordlists import loader

OPEN = Verdict(state="open", reason="")
LIMITS = {"gate.warn": 0.25, "gate.block": 0.45}


def figures(female: int, male: int, size: int = 1) -> Figures:
    """Figures of documents that name one group each."""
    counts, products = (
        [size * female, size * male],
        [[size * size * female, 0], [0, size * size * male]],
    )
    return Figures(attributes={"gender": AttributeFigures(female + male, counts, products)})


def run(panes: list[Figures], **settings: object):
    """Judge panes in order and return their entries."""
    config = load(None, LIMITS | settings, only=["gender"])
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
        *("open", "block", "open", "open", "open", "open")
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
        # Of few records a share counts where the lower bound of its interval is above
        ({"a": 1}, 19, 0.04, "block", "1 of 20 records unreadable (1 a); limit 4.0%"),
        ({"a": 1}, 18, 0.04, "open", "1 dead letter of 19 records"),
        ({"a": 2}, 0, 0.3, "block", "2 of 2 records unreadable (2 a); limit 30.0%"),
        ({"a": 2}, 0, 0.35, "open", "2 dead letters of 2 records"),
        ({"b": 12}, 0, 0.05, "block", "12 of 12 records unreadable (12 b); limit 5.0%"),
        ({"a": 2, "b": 4}, 14, 0.1, "block", "6 of 20 records unreadable (4 b, 2 a); limit 10.0%"),
        ({"a": 1}, 10, 0.05, "open", "1 dead letter of 11 records"),
        ({"a": 3}, 7, 0.1, "block", "3 of 10 records unreadable (3 a); limit 10.0%"),
        ({"unreadable file": 1}, 10_000, 0.05, "block", "1 file could not be read to the end"),
        ({"unreadable file": 1, "b": 99}, 0, 1.0, "open", "100 dead letters of 100 records"),
    ],
)
def test_what_could_be_read(
    dead: dict[str, int], documents: int, most: float, state: State, said: str
) -> None:
    assert reading_verdict(dead, documents, most) == Verdict(state=state, reason=said)


def test_a_share_at_its_bound_is_not_above_it() -> None:
    bound, _ = interval(1.0, 2)
    assert reading_verdict({"a": 2}, 0, bound).state == "open"
    assert reading_verdict({"a": 2}, 0, bound - 1e-9).state == "block"


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


def test_what_the_budget_left_out_is_no_failure() -> None:
    cost = {"stereotypes": {"questions": 20, "fallbacks": {"budget spent": 10, "timeout": 2}}}
    assert llm_verdict(cost, 0.2, "block").state == "open"  # 2 of 10
    assert llm_verdict(cost, 0.19, "block").state == "block"


def test_what_could_not_be_read_comes_before_all() -> None:
    reading, asking = (
        Verdict(state="block", reason="unread"),
        Verdict(state="warn", reason="fell back"),
    )
    assert overall(pane_entry(0, reading=reading, asking=asking)) == reading
    assert overall(pane_entry(0, reading=OPEN, asking=asking)) == asking


def test_a_pane_with_too_few_mentions_of_everything_has_no_verdict_and_goes_through() -> None:
    (few,) = run([figures(3, 3)])
    assert (few.verdict.state, few.verdict.folder) == ("not_judged", "accepted")
    assert few.verdict.reason.startswith("gender: too little to judge: 6 mentions")
    unjudged = few.attributes["gender"]
    judged = run([EVEN])[0].attributes["gender"]
    both = pane_entry(0, attributes={"age": unjudged, "gender": judged})
    assert overall(both).state == "open"


def test_accepted_panes_count_where_the_rolling_ones_name_too_few() -> None:
    """At exactly the least number of mentions the rolling panes are judged alone."""
    for even, mentions in ((50, 100), (49, 198)):
        seen = run(
            [figures(50, 50), figures(even, even)], **{"gate.min_mentions": 100, "pane.rolling": 1}
        )[-1].attributes["gender"]
        assert seen.rolling.mentions == mentions
    (alone,) = run([figures(49, 49)], **{"gate.min_mentions": 100})
    assert alone.verdict.state == "not_judged"


def test_the_state_of_a_window_has_the_hysteresis_of_the_pane_before() -> None:
    config, words = load(None, LIMITS, only=["gender"]), loader.load("gender")
    states: list[State] = []
    for before in (EVEN, ONE_SIDED):
        totals = Totals.for_run(config)
        judge = PaneJudge(config, [words], totals)
        entry = pane_entry(0, attributes=judge.judge(before))
        judge.conclude(entry, before)
        totals.add(entry)
        earlier, state = judge.window(words)
        assert earlier.counts == (before.attributes["gender"].counts if before is EVEN else [0, 0])
        bound, keeps = judge.thresholds("gender").block, judge.thresholds("gender").hysteresis
        between = next(
            sums
            for male in range(200, 4000, 10)
            if (sums := figures(200, male).attributes["gender"].sums)
            and bound - keeps < (score(sums, judge.target(words), 0.95).low or 0) < bound
        )
        states.append(state(between))
    assert states == ["warn", "block"]


def test_the_ledger_keeps_the_most_frequent_labels() -> None:
    seen = figures(200, 200)
    seen.attributes["gender"].labels = {f"w{number:03}": number // 2 for number in range(100)}
    (entry,) = run([seen])
    kept = [(f"w{number:03}", number // 2) for number in range(100)]
    assert (
        list(entry.attributes["gender"].labels.items())
        == sorted(kept, key=lambda item: (-item[1], item[0]))[:TOP_LABELS]
    )


def test_a_label_of_which_nothing_is_known_names_no_people() -> None:
    seen = figures(200, 200)
    gender = seen.attributes["gender"]
    gender.labels = {"he": 9, "man": 4}
    gender.people = PeopleFigures(1, [0, 0], [[0, 0], [0, 0]], 8, labels={"he": 7400})
    config = load(None, LIMITS | {"measure.count": "people"}, only=["gender"])
    judge = PaneJudge(config, [loader.load("gender")], Totals.for_run(config))
    people = judge.judge(seen)["gender"].people
    assert people is not None and people.labels == {"he": 7.4, "man": 0.0}


def test_a_shift_is_a_record_of_the_pane() -> None:
    config = load(None, LIMITS, only=["gender"])
    judge = PaneJudge(config, [loader.load("gender")], Totals.for_run(config))
    entry = pane_entry(0, attributes=judge.judge(EVEN))
    record = Measured(verdict=Verdict(state="warn", reason="male 60 %"))
    judge.conclude(entry, EVEN, record)
    assert entry.measures["shift"] == record
    assert (entry.verdict.state, entry.verdict.reason) == ("warn", "shift: male 60 %")


def test_the_verdict_on_an_llm_says_what_the_budget_left_out() -> None:
    cost = {"stereotypes": {"questions": 9, "fallbacks": {SPENT: 4, "timeout": 1}}}
    found = llm_verdict(cost, 0.5, "warn")
    assert found.state == "open" and found.reason.endswith("; the budget left out 4 more")
    assert found.reason.startswith("1 of 5 questions")
