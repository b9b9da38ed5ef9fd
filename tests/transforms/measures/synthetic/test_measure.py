"""Synthetic documents: which are marked, and what is counted and judged without them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.schemas.config import Config
from evenflow.schemas.documents import summed
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.fields import MAX_FIELDS
from evenflow.transforms.measures.measure import MeasureTotals
from evenflow.transforms.measures.synthetic.measure import Synthetic, SyntheticMeasure

MEASURE = SyntheticMeasure()
COVERAGE = {"tau": 1, "attributes": ["gender", "age", "site"], "unit": "sentence"}
TEXTS = st.lists(
    st.sampled_from(["She", "he", "old women", "a boy.", "The", "Rain!", "\n\n"]), max_size=9
).map(" ".join)
ROWS = st.lists(
    st.tuples(TEXTS.filter(str.strip), st.booleans(), st.sampled_from("ab")), min_size=1, max_size=8
)


def config(coverage: bool = False, **synthetic: Any) -> Config:
    own = {"field": "made"} | synthetic
    return Config.model_validate({"synthetic": own, "coverage": COVERAGE if coverage else {}})


def counted(rows: list[dict[str, Any]], settings: Config) -> dict[str, Any]:
    block = Block("a.jsonl", 0, [json.dumps(each).encode() for each in rows], 0)
    return Annotator(settings).measure(block).measures


PLAIN = Config.model_validate({"coverage": COVERAGE})
BOTH, ALONE = Annotator(config(coverage=True)), Annotator(PLAIN)


@given(ROWS)
def test_the_others_are_counted_as_if_they_were_alone(rows: list[tuple[str, bool, str]]) -> None:
    def block(kept: list[tuple[str, bool, str]]) -> Block:
        lines = [json.dumps({"text": t, "made": m, "site": s}).encode() for t, m, s in kept]
        return Block("a.jsonl", 0, lines, 0)

    own = BOTH.measure(block(rows)).measures["synthetic"]
    assert (own["documents"], own["synthetic"]) == (len(rows), sum(made for _, made, _ in rows))
    others = ALONE.measure(block([row for row in rows if not row[1]]))
    for name, figures in others.attributes.items():
        assert own["mentions"][name]["documents"] == figures.documents
        assert list(own["mentions"][name]["counts"].values()) == figures.counts
        products = [list(row.values()) for row in own["mentions"][name]["products"].values()]
        assert products == figures.products
    assert own["coverage"]["records"] == others.measures.get("coverage", {}).get("records", {})


@pytest.mark.parametrize(
    ("value", "marked"),
    [
        (True, 1),
        ("yes", 1),
        (1, 1),
        ("coverage plan 7", 1),
        ({"by": "a model"}, 1),
        (False, 0),
        (None, 0),
        (0, 0),
        ("", 0),
        ("false", 0),
        ([], 0),
    ],
)
@pytest.mark.parametrize("others", [0, MAX_FIELDS])
def test_a_field_marks_by_its_value(value: Any, marked: int, others: int) -> None:
    row = {"text": "He.", "made": value} | {f"field {n}": n for n in range(others)}
    assert counted([row, {"text": "She."}], config())["synthetic"]["synthetic"] == marked


def judged(men: int, women: int, made: int, **limits: Any) -> Synthetic:
    """A pane of men's and women's documents, the last of which are synthetic."""
    texts = ["He came."] * men + ["She came."] * women
    rows = [{"text": text, "made": n >= len(texts) - made} for n, text in enumerate(texts)]
    settings = config(**limits)
    found = counted(rows, settings)["synthetic"]
    record = MEASURE.judge(settings, settings.word_lists(), found, None)
    assert record is not None
    return record


@pytest.mark.parametrize(
    ("made", "limits", "state", "reason"),
    [
        (0, {"block": 0.1}, "open", "0.0% of the rolling panes' 400 documents are synthetic"),
        (40, {}, "open", "10.0%"),
        (40, {"warn": 0.1}, "open", "10.0%"),
        (41, {"warn": 0.1}, "warn", "warn begins above 0.1"),
        (41, {"warn": 0.1, "block": 0.1}, "block", "block begins above 0.1"),
        (200, {}, "warn", "without them gender is at block"),
    ],
)
def test_the_share_and_what_is_uneven_without_them_are_judged(
    made: int, limits: dict[str, float], state: str, reason: str
) -> None:
    record = judged(200, 200, made, **limits)
    assert record.verdict.state == state
    assert reason in record.verdict.reason
    assert record.share == made / 400


def test_panes_before_count_and_sums_add_up() -> None:
    first, second = judged(200, 200, 200), judged(200, 200, 0)
    assert second.attributes["gender"].rolling.dr == 0
    totals = MEASURE.added(None, first, accepted=True, most=8)
    settings = config()
    again = MEASURE.judge(settings, settings.word_lists(), second.counted, totals)
    assert again is not None
    assert again.share == 0.25
    assert again.attributes["gender"].rolling.dr == pytest.approx(1 / 6, abs=1e-6)
    after = MEASURE.added(totals, again, accepted=False, most=8)
    assert after.sums == summed(first.counted, second.counted)
    kept = MEASURE.restored({"synthetic": json.loads(after.model_dump_json())})
    assert isinstance(kept, MeasureTotals) and kept == after


def test_coverage_is_judged_without_them() -> None:
    texts, settings = ["He came."] * 30 + ["She came."] * 30, config(coverage=True)
    settings.coverage.tau, settings.coverage.attributes = 30, ["gender"]
    rows = [{"text": text, "made": n >= 50} for n, text in enumerate(texts)]
    found = counted(rows, settings)["synthetic"]
    record = MEASURE.judge(settings, settings.word_lists(), found, None)
    assert record is not None and record.coverage is not None
    assert record.coverage.rolling["found"] == 1
    assert record.coverage.rolling["gaps"][0]["pattern"] == {"gender": "female"}
    assert record.coverage.records == {}


def test_a_limit_needs_a_field_and_an_order() -> None:
    for own, said in (
        ({"block": 0.1}, "needs the field"),
        ({"field": "made", "warn": 0.3, "block": 0.1}, "is below warn"),
    ):
        with pytest.raises(ValueError, match=said):
            Config.model_validate({"synthetic": own})
