from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pane_entries import attribute_entry, pane_entry

from evenflow.gates import why
from evenflow.gates.ledger.combine import add_sums
from evenflow.schemas.ledger import AttributeEntry, Checks, People, State, Sums, Verdict
from evenflow.transforms.measures.representation.dr import score, sums
from evenflow.transforms.measures.shift.measure import Shift, Shifted
from evenflow.transforms.measures.verdict import UNSET, Thresholds, decide

LIMITS = Thresholds(0.1, 0.2, 20, 0.02)
TARGET = [0.5, 0.5]
COUNTS = st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=2, max_size=40)


def entry(
    counts: Sequence[Sequence[int]], before: Sums, previous: State | None, **labels: int
) -> tuple[AttributeEntry, why.PaneCounts]:
    array = np.array([row for row in counts if any(row)], np.int64).reshape(-1, 2)
    own = sums(array)
    rolling = score(add_sums(before, own), TARGET)
    verdict = decide(rolling, LIMITS, previous)
    each = attribute_entry(own, rolling, pane=score(own, TARGET), verdict=verdict, labels=labels)
    return each, why.PaneCounts([f"d{i}" for i in range(len(array))], array.astype(float))


@given(COUNTS, COUNTS, st.sampled_from([None, "open", "warn", "block"]))
def test_shares_add_up(
    counts: list[list[int]], earlier: list[list[int]], previous: State | None
) -> None:
    before = sums(np.array(earlier, np.int64))
    each, rows = entry(counts, before, previous)
    found = why.attribute(each, {0: before}, rows, None)
    total = add_sums(before, each.sums)
    if found.pane_share is not None:
        over = np.array(total.counts) > sum(total.counts) / 2
        rest = np.array(before.counts) @ (over - 0.5)
        excess = np.array(total.counts) @ (over - 0.5)
        assert found.pane_share + rest / excess == pytest.approx(1, abs=1e-5)
    shares = [row.share for row in found.documents]
    known = [share for share in shares if share is not None]
    assert shares == sorted(known, reverse=True) and min(known, default=0) >= 0


def test_a_worked_example() -> None:
    """Two documents carry the excess; without them the window is even."""
    counts = [[2, 2]] * 30 + [[0, 60], [0, 40]]
    each, rows = entry(counts, Sums.empty(2), None, he=160, she=60)
    groups = {"she": 0, "he": 1}
    found = why.attribute(each, {}, rows, groups)
    assert each.verdict.state in ("warn", "open")
    assert [(row.id, row.share) for row in found.documents] == [("d30", 0.6), ("d31", 0.4)]
    row = {"label": "he", "group": "male", "mentions": 160, "share": 1.6}
    assert found.labels[0].model_dump() == row
    assert found.pane_share == 1


def test_an_excess_that_may_be_chance_has_no_shares() -> None:
    """After a repair an excess of a millionth is left: a mention would be many times all of it."""
    counts = [[4, 1], [1, 4]] * 20
    each, rows = entry(counts, Sums.empty(2), None, he=100, she=99)
    rows.counts[0] += 1e-6
    rest = each.sums.model_copy(update={"counts": [100.0, 100.000001]})
    found = why.attribute(each.model_copy(update={"sums": rest}), {}, rows, {"she": 0, "he": 1})
    assert [(row.label, row.share) for row in found.labels] == [("he", None), ("she", None)]
    assert found.pane_share is None and not found.documents
    assert "nothing is left over" in " ".join(why.attribute_lines("gender", found))
    few, rows = entry([[4, 1], [1, 4]] * 19 + [[8, 2]], Sums.empty(2), None, he=97, she=103)
    assert few.rolling.corrected == 0 and few.rolling.dr == 0.015
    assert why.attribute(few, {}, rows, {"she": 0}).labels[0].share is None


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
    shifted = pane_entry(0, verdict=warn)
    shifted.measures["shift"] = Shift(strata={}, verdict=warn)
    key, words = why.rule(shifted)
    assert key == "shift_warn" and words.endswith("gate.shift.warn")
    shifted.measures["shift"].aside = ["chat"]  # block decided; the rest of the pane has a warning
    key, words = why.rule(shifted)
    assert key == "shift_aside" and words.endswith("gate.shift.block")
    assert why.kinds()[key]["runbook"] == "evenflowshiftblock"
    for state in ("open", "not_judged"):
        key, _ = why.rule(pane_entry(0, verdict=Verdict(state=state, reason="")))
        assert key == state and "next" not in why.kinds()[key]
    books = (Path(__file__).parents[2] / "docs/pages/runbooks.md").read_text(encoding="utf-8")
    named = [each["runbook"] for each in why.kinds().values() if "runbook" in each]
    assert len(named) == 9 and all(f"\n## {name}\n" in books.lower() for name in named)


def test_sources_stand_beside_what_they_were() -> None:
    each, _ = entry([[1, 9]] * 40, Sums.empty(2), None)
    off = Shifted(
        state="block",
        panes=1,
        mentions=400,
        documents=40,
        observed=[0.1, 0.9],
        expected=[0.5, 0.5],
        shift=0.4,
        low=0.3,
        high=0.5,
        ratio=1.0,
    )
    pane = pane_entry(0, verdict=Verdict(state="block", reason=""))
    assert why.sources(pane) == []
    pane.attributes["gender"] = each
    pane.measures["shift"] = Shift(
        strata={"chat": (40, {}), "mail": (3, {})},
        verdict=pane.verdict,
        off={"chat": {"gender": off}, "*": {"gender": off}},
        learning={"mail": 3},
    )
    chat, mail = why.sources(pane)
    assert (chat.source, chat.attribute, chat.state, chat.documents) == (
        "chat",
        "gender",
        "block",
        40,
    )
    assert chat.groups == [("female", 0.5, 0.1), ("male", 0.5, 0.9)]
    assert (mail.source, mail.state, mail.documents) == ("mail", "not_judged", 3)


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
    found = why.attribute(each, {}, rows, {"kids": 0, "ancient": 1})
    first, second = found.labels
    assert (first.label, first.mentions, first.people) == ("kids", 80, 80)
    assert (second.label, second.mentions, second.people) == ("ancient", 240, 60)
    assert first.share > 0 > second.share
    assert found.words is not None
    assert (found.words.dr, found.words.passages) == (0.25, 7)


def test_the_rule_of_an_open_pane_names_what_was_compared() -> None:
    fine = Verdict(state="open", reason="")
    shift = Shift(verdict=fine, strata={"a": (1, {}), "b": (2, {})}, learning={"b": 2})
    each, _ = entry([[1, 2]], Sums(documents=0, counts=[0, 0], products=[[0, 0]] * 2), None)
    for reason, said in ((UNSET, f": {UNSET}"), ("", " is below its thresholds")):
        each.verdict = Verdict(state="open", reason=reason)
        pane = pane_entry(0, verdict=fine, attributes={"gender": each}, measures={"shift": shift})
        below = "1 source below the limit of a shift (a)"
        assert why.rule(pane) == ("open", f"{below}; DR of gender{said}")
