from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pane_entries import pane_entry

from evenflow.gates import why
from evenflow.gates.ledger.combine import add_sums
from evenflow.schemas.ledger import AttributeEntry, Checks, People, State, Sums, Verdict
from evenflow.transforms.measures.representation.dr import score, sums
from evenflow.transforms.measures.verdict import Thresholds, decide

LIMITS = Thresholds(0.1, 0.2, 20, 0.02)
TARGET = [0.5, 0.5]
COUNTS = st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=2, max_size=40)


def entry(
    counts: Sequence[Sequence[int]], before: Sums, previous: State | None, **labels: int
) -> tuple[AttributeEntry, why.PaneCounts]:
    array = np.array([row for row in counts if any(row)], np.int64).reshape(-1, 2)
    own = sums(array)
    rolling = score(add_sums(before, own), TARGET)
    each = AttributeEntry(
        groups=["female", "male"],
        target=TARGET,
        sums=own,
        pane=score(own, TARGET),
        rolling=rolling,
        cumulative=rolling,
        verdict=decide(rolling, LIMITS, previous),
        relevant_sentences=0,
        labels=labels,
        heavy=[],
    )
    return each, why.PaneCounts([f"d{i}" for i in range(len(array))], array.astype(float))


@given(COUNTS, COUNTS, st.sampled_from([None, "open", "warn", "block"]))
def test_shares_add_up_and_what_is_said_to_open_opens(
    counts: list[list[int]], earlier: list[list[int]], previous: State | None
) -> None:
    before = sums(np.array(earlier, np.int64))
    each, rows = entry(counts, before, previous)
    window = why.EarlierPanes([0], before, previous)
    found = why.attribute(each, window, LIMITS, 0.95, rows, None, 4.0)
    total = add_sums(before, each.sums)
    if found["pane_share"] is not None:
        over = np.array(total.counts) > sum(total.counts) / 2
        rest = np.array(before.counts) @ (over - 0.5)
        excess = np.array(total.counts) @ (over - 0.5)
        assert found["pane_share"] + rest / excess == pytest.approx(1, abs=1e-5)
    shares = [row["share"] for row in found["documents"]]
    assert shares == sorted(shares, reverse=True) and all(share >= 0 for share in shares)
    state = each.verdict.state
    assert (found["rule"] is None) == (state in ("open", "too few"))
    if found["rule"] is None:
        assert found["opens"] == {}
        return
    assert each.rolling.low is not None and each.rolling.low >= found["rule"]["ends_below"]
    if gone := found["opens"]["documents"]:
        heaviest = np.argsort(-(rows.counts @ (np.array(total.counts) > sum(total.counts) / 2)))
        assert gone["number"] <= len(heaviest)
        assert gone["mentions"] <= rows.counts.sum()
    if weights := found["opens"]["weights"]:
        assert 0.25 - 1e-3 <= weights["least"] <= weights["greatest"] <= 4 + 1e-3


def test_a_worked_example() -> None:
    """Two documents carry the excess; without them the window is even."""
    counts = [[2, 2]] * 30 + [[0, 60], [0, 40]]
    each, rows = entry(counts, Sums.empty(2), None, he=160, she=60)
    window = why.EarlierPanes([], Sums.empty(2), None)
    groups = {"she": 0, "he": 1}
    found = why.attribute(each, window, LIMITS, 0.9, rows, groups, 4.0)
    assert each.verdict.state in ("warn", "open")
    assert [(row["id"], row["share"]) for row in found["documents"]] == [("d30", 0.6), ("d31", 0.4)]
    assert found["labels"][0] == {"label": "he", "group": "male", "mentions": 160, "share": 1.6}
    assert found["pane_share"] == 1


def test_taking_documents_out_opens_and_one_fewer_does_not() -> None:
    counts = [[2, 1], [1, 2]] * 15 + [[0, 3]] * 60
    each, rows = entry(counts, Sums.empty(2), None)
    assert each.verdict.state == "block"
    found = why.attribute(
        each, why.EarlierPanes([], Sums.empty(2), None), LIMITS, 0.95, rows, None, 4
    )
    number = found["opens"]["documents"]["number"]
    left = [
        score(sums(np.array(counts[: len(counts) - n], np.int64))) for n in (number, number - 1)
    ]
    assert left[0].low is not None and left[0].low < 0.2
    assert left[1].low is not None and left[1].low >= 0.2
    more = found["opens"]["mentions"]
    assert more["groups"] == ["female"]
    fuller = add_sums(each.sums, sums(np.array([[1, 0]] * more["number"], np.int64)))
    assert (score(fuller).low or 0) < 0.2
    assert found["opens"]["weights"]["ends"] and found["opens"]["weights"]["effective"] < 1


def test_hysteresis_moves_the_end() -> None:
    assert why.limit_of("block", LIMITS, None) == why.limit_of("block", LIMITS, "warn") == 0.2
    assert why.limit_of("block", LIMITS, "block") == 0.18
    assert why.limit_of("warn", LIMITS, "block") == why.limit_of("warn", LIMITS, "warn") == 0.08


def test_each_rule_has_its_runbook() -> None:
    block = Verdict(state="block", reason="")
    failed = Checks(success=False, evaluated=1, failures=[])
    assert why.rule(pane_entry(0, verdict=block, reading=block))[0] == "reading"
    assert why.rule(pane_entry(0, verdict=block, checks=failed))[0] == "checks"
    warn = Verdict(state="warn", reason="")
    assert why.rule(pane_entry(0, verdict=warn, asking=warn))[0] == "asking"
    assert why.rule(pane_entry(0, verdict=warn, benchmark=warn)) == (
        "warn",
        "benchmark: the lower bound of the rolling figure against the threshold of warn",
    )
    for state in ("open", "too few"):
        assert why.rule(pane_entry(0, verdict=Verdict(state=state, reason="")))[0] == ""
    books = Path(__file__).parents[2] / "docs/runbooks"
    assert all((books / f"{step.runbook}.md").is_file() for step in why.NEXT.values())


def test_where_people_are_counted_labels_weigh_by_them() -> None:
    each, rows = entry([[2, 6]] * 40, Sums.empty(2), None, kids=80, ancient=240)
    half = Sums(documents=40, counts=[80.0, 60.0], products=each.sums.products)
    people = People(
        words=each.sums,
        pane=each.pane,
        cumulative=each.cumulative,
        labels={"kids": 80.0, "ancient": 60.0},
        passages=7,
    )
    each = each.model_copy(update={"sums": half, "people": people})
    assert why.people_per_mention(each).tolist() == [1.0, 0.25]
    window = why.EarlierPanes([], Sums.empty(2), None)
    found = why.attribute(each, window, LIMITS, 0.95, rows, {"kids": 0, "ancient": 1}, 4.0)
    first, second = found["labels"]
    assert (first["label"], first["mentions"], first["people"]) == ("kids", 80, 80)
    assert (second["label"], second["mentions"], second["people"]) == ("ancient", 240, 60)
    assert first["share"] > 0 > second["share"]
    assert (found["words"]["dr"], found["words"]["passages"]) == (0.25, 7)


def test_people_of_heavy_documents_may_be_more_than_all_that_were_read() -> None:
    """A document's people are told by its words; the estimate of the pane may be less."""
    each, rows = entry([[0, 40]] * 3 + [[2, 6]] * 40, Sums.empty(2), None, he=360, she=80)
    products = [[400.0, 20.0], [20.0, 900.0]]  # less than the heavy documents' alone
    people = People(
        words=each.sums, pane=each.pane, cumulative=each.cumulative, labels={}, passages=7
    )
    own = Sums(documents=43, counts=[80.0, 360.0], products=products)
    each = each.model_copy(update={"sums": own, "people": people, "rolling": score(own, TARGET)})
    each.verdict = decide(each.rolling, LIMITS, None)
    assert each.verdict.state == "block"
    found = why.attribute(
        each, why.EarlierPanes([], Sums.empty(2), None), LIMITS, 0.95, rows, None, 4.0
    )
    assert 0 < found["opens"]["documents"]["number"] < 43
