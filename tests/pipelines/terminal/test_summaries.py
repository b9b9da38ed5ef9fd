import json
import random

import pytest
from progress_panes import pane

from evenflow.gates import facts
from evenflow.gates.ledger.totals import Reviewed, Totals
from evenflow.pipelines.terminal.summaries import Course, measured
from evenflow.schemas.config import load
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import PaneEntry, State, Sums, Verdict
from evenflow.transforms.measures.measure import MeasureTotals
from evenflow.transforms.measures.representation.dr import documents_until, score
from evenflow.transforms.measures.shift.measure import Shift


def panes(*states: State) -> list[PaneEntry]:
    return [pane(number, 100, documents=10, state=state) for number, state in enumerate(states)]


@pytest.mark.parametrize(
    ("entries", "state", "blocked", "reason"),
    [
        ([], "not_judged", [], "no pane yet"),
        (panes("not_judged"), "not_judged", [], "gender: \x1b[31mwhy"),
        (panes("open"), "open", [], "gender: \x1b[31mwhy"),
        (panes("warn", "open"), "open", [], "gender: \x1b[31mwhy"),
        (panes("open", "warn"), "warn", [], "gender: \x1b[31mwhy"),
        (panes("block", "open"), "block", [0], "gender: \x1b[31mwhy"),
        (panes("open", "block", "block"), "block", [1, 2], "gender: \x1b[31mwhy"),
    ],
)
def test_the_state_of_a_gate(
    entries: list[PaneEntry], state: State, blocked: list[int], reason: str
) -> None:
    found = facts.of(Totals.of(entries), True, None)
    assert (found.state, found.blocked, found.reason, found.panes) == (
        state,
        blocked,
        reason,
        len(entries),
    )
    assert found.documents == found.accepted + found.quarantined == 10 * len(entries)
    assert found.quarantined == 10 * len(blocked)
    assert found.dead_letters == sum(found.dead_reasons.values()) == 2 * len(entries)
    json.dumps(found.model_dump(), allow_nan=False)


def test_how_many_panes_were_in_which_state() -> None:
    found = facts.of(Totals.of(panes("open", "not_judged", "warn", "warn", "block")), False, "why")
    assert found.attributes["gender"].panes == {"not_judged": 1, "open": 1, "warn": 2, "block": 1}
    assert (found.finished, found.held) == (False, "why")


@pytest.mark.parametrize(
    "settings, is_judged",
    [
        ({}, False),
        ({"gate": {"block": 0.3}}, True),
        ({"attributes": {"gender": {"warn": 0.3}, "age": {}}}, True),
        ({"gate": {"shift": {"block": 0.1}}}, True),
        ({"reference": {"file": "r.json"}}, True),
    ],
)
def test_a_run_that_judges_nothing_says_so_with_the_next_command(
    settings: dict[str, object], is_judged: bool
) -> None:
    config = load(None, settings)
    line = facts.unjudged(config)
    assert (line is None) == is_judged
    found = facts.answer(Totals.of(panes("open")), True, None, config)
    assert (found.why == line, found.next == "evenflow init GOOD") == (not is_judged,) * 2
    assert (found.said == "nothing was judged", found.may) == (not is_judged, True)


def test_a_run_whose_sources_are_all_new_or_too_small_is_not_judged() -> None:
    totals = Totals.of(panes("open", "open"))
    config = load(None, {"reference": {"file": "r.json"}})
    last = Shift(verdict=Verdict(state="not_judged", reason=""), strata={})
    for count, word in ((2, "not_judged"), (1, "open")):
        states = {"not_judged": count, "open": 2 - count}
        totals.measures["shift"] = MeasureTotals(last=last, sums={}, states=states)
        found = facts.answer(totals, True, None, config)
        assert (found.word, found.may) == (word, True)
        assert ("too small to be compared" in found.why) == (count == 2)
        with_threshold = load(None, {"gate": {"block": 0.3}})
        assert facts.answer(totals, True, None, with_threshold).word == "open"


@pytest.mark.parametrize(
    ("states", "held", "reviewed", "word", "may"),
    [
        (["open"], None, Reviewed(), "open", True),
        (["warn"], None, Reviewed(), "warn", True),
        (["not_judged"], None, Reviewed(), "not_judged", True),
        (["block", "open"], None, Reviewed(), "block", False),
        (["open"], "held by Ada", Reviewed(), "held", False),
        (["block", "open"], "held by Ada", Reviewed(confirmed=1), "held", False),
        (["block", "open"], None, Reviewed(confirmed=1), "open", True),
        (["block", "block"], None, Reviewed(confirmed=1), "block", False),
        (["open", "block"], None, Reviewed(rejected=1), "warn", True),
    ],
)
def test_one_may_train_unless_the_gate_is_held_or_a_blocked_pane_waits(
    states: list[State], held: str | None, reviewed: Reviewed, word: str, may: bool
) -> None:
    totals = Totals.of(panes(*states)).model_copy(update={"reviewed": reviewed})
    found = facts.of(totals, True, held).train
    assert (found.word, found.may) == (word, may)
    assert may or "evenflow gate" in (found.next or "")


def test_the_pane_that_is_named_waits_for_a_decision() -> None:
    totals = Totals.of(panes("block", "open", "block", "block"))
    found = facts.answer(totals, True, None)
    assert "panes 0, 2..3 are in quarantine/, undecided; 3: " in found.why
    assert "then evenflow gate accept DIR --pane 0 --pane 2..3 --reason" in (found.next or "")
    totals.reviewed = Reviewed(confirmed=2, decided=[2, 3])
    found = facts.answer(totals, True, None, output="out dir")
    assert found.why == "pane 0 is in quarantine/, undecided"
    assert "then evenflow gate accept 'out dir' --pane 0 " in (found.next or "")
    totals.blocked = []  # the sums name the last panes alone
    found = facts.answer(totals, True, None)
    assert (found.word, found.may, found.why) == ("block", False, "1 pane is in quarantine/")


def test_what_somebody_decided_needs_no_next_step() -> None:
    totals = Totals.of(panes("open", "block"))
    totals.reviewed = Reviewed(confirmed=1, decided=[1])
    assert facts.answer(totals, True, None).next is None
    totals = Totals.of(panes("block", "warn"))
    totals.reviewed = Reviewed(confirmed=1, decided=[0])
    assert facts.answer(totals, True, None).next == "evenflow gate why DIR --pane 1"


def test_panes_in_a_row_with_too_few_mentions_are_counted() -> None:
    few: list[State] = ["not_judged", "not_judged"]
    for states, count in ((few, 2), ([*few, "open"], 0), ([*few, "open", "not_judged"], 1)):
        assert Totals.of(panes(*states)).attributes["gender"].unjudged == count


@pytest.mark.parametrize("epsilon", [0.05, 0.02, 0.01, 0.001])
@pytest.mark.parametrize("blocks", [1, 20, 400])
def test_after_how_many_documents_a_score_has_converged(blocks: int, epsilon: float) -> None:
    config = load(None, {"attributes": {"gender": {}}, "measure.epsilon": epsilon})
    total, course, scores = Figures(), Course(), []
    draw = random.Random(7)
    for _ in range(blocks):
        # 20 documents, a word each.
        women = draw.randrange(5, 15)
        figures = AttributeFigures(20, [women, 20 - women], [[women, 0], [0, 20 - women]])
        total.add(Figures(documents=20, attributes={"gender": figures}))
        course.note(total)
        seen = total.attributes["gender"]
        scores.append(
            score(Sums(documents=seen.documents, counts=seen.counts, products=seen.products))
        )
    found = measured(total, config, course)["attributes"]["gender"]["convergence"]
    every = documents_until(scores, epsilon)
    assert found["epsilon"] == epsilon
    assert (found["documents"] is None) == (every.documents is None)
    # Not all blocks were looked at: the width hardly wavers, but it does.
    assert (found["documents"] or found["projected"]) == pytest.approx(
        every.documents or every.projected, rel=0.15
    )
