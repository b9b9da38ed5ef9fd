"""Estimates over items and seeds, and what is said of them."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from evenflow.pipelines.lab.paper import comparison
from evenflow.pipelines.lab.paper.comparison import Estimate, over_seeds
from evenflow.pipelines.lab.paper.page import page

KINDS = ("estimates", "differences")


def test_items_and_seeds_both_make_an_interval_wide() -> None:
    one = [{"figure": 0.5, "low": 0.4, "high": 0.6}]
    alone = over_seeds(one)
    assert (alone.low, alone.high) == pytest.approx((0.4, 0.6), abs=1e-3)
    uneven = over_seeds([{"figure": 0.5, "low": 0.3, "high": 0.55}])
    assert (uneven.low, uneven.high) == pytest.approx((0.3, 0.55), abs=1e-9)
    # The same three times: the items are the same, so nothing is gained
    same = over_seeds(one * 3)
    assert (same.low, same.high) == pytest.approx((0.4, 0.6), abs=1e-3)
    moved = over_seeds([{**one[0], "figure": value} for value in (0.4, 0.5, 0.6)])
    assert moved.low is not None and moved.low < 0.35
    # Without any spread of items only the seeds are left: mean 0.5, s = 0.1, Student with 2
    exact = [{"figure": v, "low": v, "high": v} for v in (0.4, 0.5, 0.6)]
    seeds = over_seeds(exact)
    assert seeds.high == pytest.approx(0.5 + 4.3027 * 0.1 / 3**0.5, abs=1e-4)


def test_figures_that_are_missing() -> None:
    nothing = {"figure": None, "low": None, "high": None}
    assert over_seeds([nothing]) == Estimate(None, None, None, None, ())
    known = {"figure": 0.3, "low": None, "high": None}
    assert over_seeds([nothing, known]) == Estimate(0.3, None, None, None, (0.3,))


@pytest.mark.parametrize(("of_items", "of_seeds"), [(0.1, 0.0), (0.1, 0.05), (0.02, 0.1)])
def test_the_interval_covers(of_items: float, of_seeds: float) -> None:
    rng, truth, runs = np.random.default_rng(0), 0.3, 2000
    covered = 0
    for _ in range(runs):
        items = rng.normal(0, of_items)
        figures = [
            {"figure": figure, "low": figure - 1.96 * of_items, "high": figure + 1.96 * of_items}
            for figure in truth + items + rng.normal(0, of_seeds, 3)
        ]
        found = over_seeds(figures)
        assert found.low is not None and found.high is not None
        covered += found.low <= truth <= found.high
    # 2,000 runs know a share of 0.95 to 0.01; with few seeds the approximation is rather too wide
    assert 0.935 < covered / runs < 0.995


def test_better() -> None:
    assert comparison.better(0.6, 0.5, "higher") is True
    assert comparison.better(0.6, 0.5, "lower") is False
    assert comparison.better(0.45, 0.6, "0.5") is True
    assert comparison.better(-0.2, 0.1, "0") is False
    assert comparison.better(0.4, 0.6, "0.5") in (None, True, False)
    assert comparison.better(0.5, 0.5, "0.5") is None


def table(*differences: Estimate) -> dict[str, dict[str, object]]:
    own = {"a": Estimate(0.6, 0.5, 0.7, 0.05, (0.6,))}
    own |= {f"b{n}": Estimate(0.5, 0.4, 0.6, 0.05, (0.5,)) for n in range(len(differences))}
    found = {f"b{n}": each for n, each in enumerate(differences)}
    return {"suite": {"wanted": "0.5", "n": 30, "estimates": own, "differences": found}}


def test_conclusions_are_those_of_the_intervals() -> None:
    names = {"a": "as it came", "b0": "GC-CDA", "b1": "BaseCDA"}
    none = Estimate(-0.1, -0.3, 0.1, 0.1, (-0.1,))
    clear = Estimate(-0.1, -0.15, -0.05, 0.02, (-0.1,))
    controls = dict.fromkeys(names, "a")
    may, may_not = comparison.conclusions(names, table(none, none), controls)
    assert may[0].startswith("0 of 2 differences") and "about 0.1 would" in may[0]
    assert may[1].startswith("No difference was shown")
    assert "a difference below 0.1 would" in may_not[0]
    same = Estimate(0.0, 0.0, 0.0, 0.0, (0.0,))
    _, limits = comparison.conclusions(names, table(same, none), controls)
    assert limits[0].startswith("suite: 1 of the differences are 0 whichever items")
    assert "up to 10% might" in limits[0]
    assert "not corrected for the number" in may_not[-1]
    may, _ = comparison.conclusions(names, table(clear, none), controls)
    assert may[0].startswith("1 of 2") and len(may) == 2
    assert may[1] == (
        "suite: GC-CDA differs from as it came by -0.100 [-0.150, -0.050]; its figure is better."
    )


def test_the_page_marks_the_differences_that_were_shown() -> None:
    clear = Estimate(-0.1, -0.15, -0.05, 0.02, (-0.1,))
    none = Estimate(0.0, 0.0, 0.0, 0.0, (0.0,))
    suites = {
        name: {
            **each,
            "title": "T",
            "source": "S",
            "limits": "L",
            **{key: {a: asdict(e) for a, e in each[key].items()} for key in KINDS},  # type: ignore
        }
        for name, each in table(clear, none).items()
    }
    found = {
        "model": "<b>",
        "baseline": "a",
        "seeds": [0],
        "arms": {
            name: {
                "title": name,
                "control": "a",
                "documents": 7,
                "changed": 1,
                "sentences": 2,
                "effective": 6.5,
                "attributes": {"gender": {"dr": 0.2, "low": 0.125, "high": 0.3}},
            }
            for name in ("a", "b0", "b1")
        },
        "settings": {"steps": 2, "batch": 1, "context": 8},
        "expected": ["only large ones"],
        "suites": suites,
        "may_be_concluded": ["x"],
        "may_not_be_concluded": ["y"],
    }
    html = page(found)
    assert html.count("<strong>") == 1 and "<strong>-0.100 [-0.150, -0.050]</strong>" in html
    assert "<b>" not in html and "&lt;b&gt;" in html
    assert html.count("0.200 [0.125, 0.300]") == 3 and "only large ones" in html
    tables = comparison.described(found)
    assert [title for title, _, _ in tables] == ["Data", "suite (best: 0.5, n = 30)"]
    assert tables[1][2][1][1:4] == ("0.500 [0.400, 0.600]", "-0.100 [-0.150, -0.050]", "a")
