"""The figures of repair and of stereotypes in the report."""

from pathlib import Path
from typing import Any

import numpy as np
import report_ledgers

from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.pages.report import figures
from evenflow.pipelines.pages.report.report import build
from evenflow.schemas.ledger import Filtered, Repair, Substitution
from evenflow.transforms.measures.representation.dr import sums
from evenflow.transforms.measures.stereotypes.measure import Stereotypes


def ledger(panes: int) -> list:
    """Panes whose first attribute was repaired.

    Of 300 mentions, nearly all of one group, half went over to the other.
    """
    entries = report_ledgers.entries(panes)
    for number, entry in enumerate(entries):
        each = entry.attributes["gender"]
        before = sums(np.array([[3, 0]] * 100))
        each.sums = sums(np.array([[1, 2]] * 50 + [[2, 1]] * 50))
        each.repair = Repair(
            mode="substitute",
            min_probability=0.5,
            before=before,
            score_before=each.pane,
            expected_dr=0.0,
            shortage=[0.0, 1.5],
            mentions=[150, 150],
            sets=100,
            judged=70,
            eligible=60,
            changed=50,
            barred={"idiom": 30, report_ledgers.HOSTILE[0]: 10},
            sentences=55,
            documents=20,
            substitutions=[
                Substitution(
                    said="he",
                    instead="she",
                    target="female",
                    count=5,
                    id="a",
                    before="he ran",
                    after="she ran",
                ),
                Substitution(
                    said="man",
                    instead=report_ledgers.HOSTILE[1],
                    target="female",
                    count=2 + 10 * (number == 1),
                    id="b",
                    before=report_ledgers.HOSTILE[0],
                    after="x",
                ),
            ],
        )
        example = {
            "id": f"d{number}",
            "sentence": report_ledgers.HOSTILE[0],
            "score": 0.7 + number / 100,
            "reasons": "why",
        }
        seen = Filtered(
            action="flag",
            threshold=0.66,
            asked=10,
            unsure=2,
            potential=3,
            strong=1,
            examples=[example],
        )
        entry.measures["stereotypes"] = Stereotypes(attributes={"gender": seen})
    return entries


def test_sums_over_panes() -> None:
    entries = ledger(3)
    told = figures.repair(Totals.of(entries).attributes["gender"], 0.95)
    assert told is not None
    assert (told["sets"], told["changed"], told["left"], told["sentences"]) == (300, 150, 30, 165)
    assert told["judged"] == 210
    assert sorted(told["barred"].values()) == [30, 90]
    assert told["before"]["dr"] == 0.5 and told["counts_before"] == [900, 0]
    assert told["after"]["dr"] == 0 and told["reduced"] == 1
    assert [(row["said"], row["count"]) for row in told["substitutions"]] == [
        ("man", 16),
        ("he", 15),
    ]
    assert figures.repair(Totals.of(entries).attributes["age"], 0.95) is None


def test_the_strongest_stereotypes_come_first() -> None:
    found: Any = Totals.of(ledger(9)).measures["stereotypes"].last
    assert set(found.attributes) == {"gender"}
    told = found.attributes["gender"]
    assert (told.asked, told.strong) == (90, 9)
    assert [row["id"] for row in told.examples] == ["d8", "d7", "d6", "d5", "d4", "d3"]


def test_the_page_shows_them_as_data(tmp_path: Path) -> None:
    report_ledgers.write(tmp_path, ledger(3), report_ledgers.settings())
    page = Path(build(tmp_path)).read_text(encoding="utf-8")
    assert "; the encoder judged 210 exchanges" in page
    assert "Most frequent substitutions" in page and "The strongest" in page
    assert "<script>alert(1)" not in page and "onerror=alert(2)>" not in page.replace("&gt;", "")
