"""The verdict on a pane's coverage, its sums and its metrics."""

from __future__ import annotations

from typing import Any

import pytest
from pane_entries import pane_entry

from evenflow.gates.judge import overall
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.families import families
from evenflow.gates.metrics.now import Now
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Verdict
from evenflow.transforms.measures.coverage.measure import CoverageMeasure
from evenflow.transforms.measures.coverage.records import CoverageEntry
from evenflow.transforms.measures.measure import MeasureTotals

FINE = Verdict(state="open", reason="fine")
COVERAGE = CoverageMeasure()


def judged(women: int, men: int, *recent: dict[str, Any], **settings: Any) -> CoverageEntry | None:
    config = Config.model_validate({"coverage": {"tau": 100, "attributes": ["gender"], **settings}})
    return COVERAGE.judge(config, config.word_lists(), counted(women, men), before(*recent))


def before(*recent: dict[str, Any]) -> MeasureTotals:
    last = CoverageEntry(records={}, squares=0, rolling={}, verdict=FINE)
    return MeasureTotals(last=last, sums={}, recent=list(recent))


def counted(women: int, men: int) -> dict[str, Any]:
    return {"records": {'[["female"]]': women, '[["male"]]': men}, "squares": women + men}


@pytest.mark.parametrize(
    ("women", "tau", "state", "largest"),
    [
        (100, 100, "open", 0.0),
        (51, 100, "open", 0.49),
        (50, 100, "warn", 0.5),
        (9, 100, "block", 0.91),
        # 60 of 1,060 are no less than 10 % for sure by so much
        (60, 0.1, "open", None),
        (1, 0.1, "block", None),
    ],
)
def test_the_largest_gap_is_judged(
    women: int, tau: float, state: str, largest: float | None
) -> None:
    entry = judged(women, 1000, tau=tau, warn=0.5, block=0.9)
    assert entry is not None
    assert entry.verdict.state == state
    assert largest is None or entry.rolling["largest"] == pytest.approx(largest)
    if state != "open":
        assert "gender female" in entry.verdict.reason
        whole = overall(pane_entry(0, measures={"coverage": entry}))
        assert whole.state == state and whole.reason.startswith("coverage: ")


def test_earlier_panes_count_and_without_records_nothing_is_judged() -> None:
    alone, together = judged(30, 400), judged(30, 400, counted(40, 0), counted(30, 0))
    assert alone is not None and alone.rolling["found"] == 1
    assert together is not None and together.rolling["found"] == 0
    assert together.records == counted(30, 400)["records"]
    config = Config.model_validate({"coverage": {"tau": 0.1}})
    nothing = COVERAGE.judge(config, config.word_lists(), {}, None)
    assert nothing is not None and nothing.verdict.state == "not_judged"
    assert COVERAGE.judge(Config(), Config().word_lists(), {}, None) is None


def test_what_so_few_records_cannot_show_is_said_and_not_judged() -> None:
    # 2 of 1,002 are fewer than 0.5 %; yet 0.5 % can have 2 of 1,002
    entry = judged(2, 1000, tau="0.5%", block=0.9)
    assert entry is not None
    rolling = entry.rolling
    assert (rolling["found"], rolling["unsure"], rolling["state"]) == (0, 1, "cannot tell")
    assert entry.verdict.state == "not_judged"
    assert entry.verdict.reason.startswith("cannot tell: 1 pattern is below 0.005, but not surely")
    assert rolling["least_tau"] == pytest.approx(1 - 0.025 ** (1 / 1002))
    surely = judged(2, 3000, tau="0.5%", block=0.9)
    assert surely is not None and surely.rolling["state"] == "gap"
    enough = judged(900, 3000, tau="0.5%")
    assert enough is not None and enough.rolling["state"] == "no gap"
    assert enough.verdict.reason == "no intersection of attributes is below 0.005"


def test_sums_keep_what_the_next_verdict_needs() -> None:
    entries = [
        pane_entry(
            pane,
            folder="quarantine" if pane == 1 else "accepted",
            measures={"coverage": judged(pane + 1, 200)},
        )
        for pane in range(6)
    ]
    totals = Totals.of(entries)
    found = totals.measures["coverage"]
    assert found.sums == counted(sum(range(1, 7)), 1200)
    assert found.recent == [counted(n, 200) for n in (4, 5, 6)]
    stored = totals.model_dump(mode="json")
    assert stored["measures"]["coverage"]["last"]["records"] == {}
    assert Totals.model_validate(stored) == totals
    samples = {
        sample.name: sample.value
        for family in families(totals, Now(time=0.0, held=False))
        for sample in family.samples
    }
    assert samples["evenflow_coverage_gaps"] == 1
    assert samples["evenflow_coverage_unsure"] == 0
    assert samples["evenflow_coverage_largest_gap"] == pytest.approx(0.94)
