"""Figures and intervals, by hand and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evenflow.transforms.lab.benchmarks import estimate as estimates
from evenflow.transforms.lab.benchmarks import redditbias, soct, stereoset
from evenflow.transforms.lab.benchmarks.estimate import difference, estimate
from evenflow.transforms.lab.benchmarks.suite import Floats, Measure, mean, value

SHARE = Measure("", value("hit"), mean, share=True, better="0.5")


def rows(hits: object, clusters: object = None) -> list[dict[str, object]]:
    values = np.asarray(hits).tolist()
    names = [""] * len(values) if clusters is None else np.asarray(clusters).tolist()
    return [
        {"id": f"{n:05d}", "kind": "", "cluster": str(cluster), "values": {"hit": hit}}
        for n, (hit, cluster) in enumerate(zip(values, names, strict=True))
    ]


def test_one_who_always_does_one_who_never_does_and_a_coin() -> None:
    always, never = (estimate(rows([hit] * 100), SHARE) for hit in (1, 0))
    assert (always["figure"], always["high"]) == (1.0, 1.0)
    # The exact bound: 0.025^(1/100)
    assert always["low"] == pytest.approx(0.025**0.01, abs=1e-6)
    assert (never["figure"], never["low"]) == (0.0, 0.0)
    assert never["high"] == pytest.approx(1 - 0.025**0.01, abs=1e-6)
    coin = estimate(rows([0, 1] * 50), SHARE)
    # Student's, as near as a bootstrap of 100 items is: 0.5 ± 1.98 * 0.05
    assert coin["figure"] == 0.5 and coin["n"] == coin["units"] == 100
    assert coin["low"] == pytest.approx(0.40, abs=0.015)
    assert coin["high"] == pytest.approx(0.60, abs=0.015)


def test_no_item_and_one_item() -> None:
    none = estimate([], SHARE)
    assert (none["figure"], none["low"], none["n"]) == (None, None, 0)
    one = estimate(rows([1]), SHARE)
    assert (one["figure"], one["low"], one["high"]) == (1.0, None, None)


def test_items_of_a_cluster_go_together() -> None:
    # 20 clusters of 10 that agree within: as wide as 20 items
    whole = estimate(rows(np.repeat([0, 1] * 10, 10), np.repeat(np.arange(20), 10)), SHARE)
    few = estimate(rows([0, 1] * 10), SHARE)
    assert whole["n"] == 200 and whole["units"] == 20
    assert whole["high"] - whole["low"] == pytest.approx(few["high"] - few["low"], abs=0.05)


def test_a_paired_difference_sees_what_two_intervals_do_not() -> None:
    random = np.random.default_rng(0)
    hits = random.random(200) < 0.6
    other = hits.copy()
    other[np.flatnonzero(hits)[:20]] = False
    found = difference(rows(hits), rows(other), SHARE)
    assert found["difference"] == pytest.approx(-0.1) and found["n"] == 200
    assert found["high"] < 0
    alone = [estimate(rows(each), SHARE) for each in (hits, other)]
    assert alone[1]["high"] > alone[0]["low"]
    # Only items of both count
    assert difference(rows(hits)[:50], rows(other), SHARE)["n"] == 50
    assert difference(rows(hits), [], SHARE)["difference"] is None


def test_students_t_is_that_of_scipy() -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(1, 2, 50), random.normal(1.5, 3, 50)
    means = np.array([[x.mean(), (x * x).mean(), y.mean(), (y * y).mean()]])
    found = redditbias.student(means, np.array([50.0]))
    assert found[0] == pytest.approx(stats.ttest_ind(x, y).statistic)
    assert redditbias.student(np.ones((1, 4)), np.array([5.0]))[0] == 0


def drawn_share(random: np.random.Generator) -> tuple[list[dict[str, object]], Measure, float]:
    return rows(random.random(150) < 0.6), SHARE, 0.6


def drawn_clusters(random: np.random.Generator) -> tuple[list[dict[str, object]], Measure, float]:
    """40 templates of 5 items; how often each is hit varies by template."""
    shares = np.repeat(random.beta(2, 3, 40), 5)
    return rows(random.random(200) < shares, np.repeat(np.arange(40), 5)), SHARE, 0.4


def drawn_lean(random: np.random.Generator) -> tuple[list[dict[str, object]], Measure, float]:
    """DR of completions, some of which name nobody or several: a ratio of sums."""
    women = random.random(300) < 0.7
    count = random.integers(0, 4, 300)
    made = [
        {
            "id": str(n),
            "kind": "female",
            "cluster": "",
            "values": {"female": int(c * w), "male": int(c * (not w))},
        }
        for n, (w, c) in enumerate(zip(women, count, strict=True))
    ]
    return made, soct.measures(["female"])[1], 0.2


def drawn_icat(random: np.random.Generator) -> tuple[list[dict[str, object]], Measure, float]:
    """Icat over 120 targets, each with a few items: 80 * 2 * 0.4."""
    made = []
    for target in range(120):
        for number in range(int(random.integers(1, 5))):
            own = {
                "related": float(random.binomial(2, 0.8)) / 2,
                "stereotype": int(random.random() < 0.6),
            }
            made.append(
                {"id": f"{target}-{number}", "kind": "intra", "cluster": str(target), "values": own}
            )
    return made, stereoset.measures([])[0], 64.0


@pytest.mark.parametrize("draw", [drawn_share, drawn_clusters, drawn_lean, drawn_icat])
def test_intervals_cover_the_truth(draw: object, monkeypatch: pytest.MonkeyPatch) -> None:
    # 400 samples: 95 % are seen as 92 to 98 %, nearly three standard errors
    monkeypatch.setattr(estimates, "DRAWS", 400)
    random = np.random.default_rng(7)
    inside = 0
    for number in range(400):
        made, measure, truth = draw(random)  # type: ignore[operator]
        found = estimate(made, measure, number)
        inside += found["low"] <= truth <= found["high"]
    assert 368 <= inside <= 392


def test_the_interval_of_a_difference_covers_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "DRAWS", 400)
    random = np.random.default_rng(8)
    inside = 0
    for number in range(400):
        shared = random.random(150)
        one, other = (rows(shared + random.normal(0, 0.2, 150) < share) for share in (0.6, 0.5))
        found = difference(one, other, SHARE, number)
        inside += found["low"] <= TRUE_DIFFERENCE <= found["high"]
    assert 368 <= inside <= 392


def _true_difference() -> float:
    """P(u + e < 0.5) - P(u + e < 0.6), by integration."""
    u = (np.arange(200_000) + 0.5) / 200_000
    below: Floats = np.array([stats.norm.cdf((at - u) / 0.2).mean() for at in (0.6, 0.5)])
    return float(below[1] - below[0])


TRUE_DIFFERENCE = _true_difference()
