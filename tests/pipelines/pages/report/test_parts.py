"""What the report is made of: figures, geometry, sentences and how text is shown."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
import report_ledgers as ledgers
from hypothesis import given
from hypothesis import strategies as st

from evenflow.gates import facts
from evenflow.gates.ledger import spans
from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.pages.report import charts, text, view
from evenflow.pipelines.pages.report.figures import figures
from evenflow.schemas import words
from evenflow.schemas.config import recorded
from evenflow.schemas.ledger import Score
from evenflow.wordlists import loader

NUMBER = re.compile(r"-?\d+\.\d")


def narrowing(*halves: float | None) -> list:
    """Panes of 100 documents whose cumulative interval of gender has these half widths."""
    panes = ledgers.entries(len(halves))
    for number, (entry, half) in enumerate(zip(panes, halves, strict=True)):
        low, high = (None, None) if half is None else (0.5 - half, 0.5 + half)
        count = 100 * (number + 1)
        entry.attributes["gender"].cumulative = Score(
            dr=0.5, corrected=0.5, low=low, high=high, mentions=count, documents=count
        )
    return panes


@pytest.mark.parametrize(
    ("halves", "documents", "pane", "projected"),
    [
        ((0.1, 0.05, 0.01), 300, 2, None),
        ((0.01, 0.01, 0.01), 100, 0, None),
        ((0.01, 0.05, 0.015), 300, 2, None),  # it must stay so
        ((0.125, 0.0625), None, None, 1954),  # 3.125 times too wide: 9.77 times the 200 documents
        ((None, None), None, None, None),
    ],
)
def test_convergence(
    halves: tuple, documents: int | None, pane: int | None, projected: int | None
) -> None:
    row = Totals.of(narrowing(*halves)).attributes["gender"].convergence[0].model_dump()
    assert row == {"epsilon": 0.02, "documents": documents, "pane": pane, "projected": projected}
    said = facts.convergence(row)
    assert ("not" in said) == (documents is None)


def test_heavy_documents_are_the_heaviest_of_all_panes() -> None:
    panes = ledgers.entries(5)
    panes[3].attributes["gender"].heavy[2].counts = [70, 30]
    found = figures(Totals.of(panes), panes, ledgers.settings())["attributes"]["gender"]["heavy"]
    assert (found[0]["pane"], found[0]["id"]) == (3, "doc-3-2")
    assert [sum(row["counts"]) for row in found] == sorted(
        (sum(row["counts"]) for row in found), reverse=True
    )


def test_too_few_mentions_are_told_from_evenness() -> None:
    panes = ledgers.entries(1, level=0.5)
    each = panes[0].attributes["gender"]
    assert Totals.of(panes).attributes["gender"].states["not_judged"] == 0
    for each in panes[0].attributes.values():
        each.verdict.state = "not_judged"
    few = figures(Totals.of(panes), panes, ledgers.settings(**{"gate.min_mentions": 10_000}))
    assert few["attributes"]["gender"]["panes"]["not_judged"] == 1


def test_labels_are_grouped_by_the_word_list_only_where_it_agrees() -> None:
    meta = ledgers.settings()
    panes = ledgers.entries(3)
    found = figures(Totals.of(panes), panes, meta)["attributes"]["gender"]
    config = recorded(meta)
    assert loader.load("gender").labels["she"] == 0
    grouped = view.labels("gender", found, config)
    assert {(row["label"], group) for row, group in grouped} == {("she", 0), ("he", 1)}
    for entry in panes:
        entry.attributes["gender"].labels = {"she": 1, "xyzzy": 1}  # not in the list
    other = figures(Totals.of(panes), panes, meta)["attributes"]["gender"]
    assert {group for _, group in view.labels("gender", other, config)} == {None}
    assert {group for _, group in view.labels("gender", found, None)} == {None}


def test_a_line_is_interrupted_where_there_is_no_score() -> None:
    assert charts.line([(0, 1), (1, 2), None, (3, 4)]) == "M0.0 1.0L1.0 2.0M3.0 4.0h.1"
    assert charts.line([None, None]) == ""
    low, high = (
        [(0.0, 9.0), None, (2.0, 9.0), (3.0, 8.0)],
        [(0.0, 1.0), None, (2.0, 1.0), (3.0, 2.0)],
    )
    assert charts.band(low, high, 0.5) == (
        "M-0.5 1.0L0.5 1.0L0.5 9.0L-0.5 9.0ZM2.0 1.0L3.0 2.0L3.0 8.0L2.0 9.0Z"
    )


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 0.8)), min_size=1, max_size=120), st.integers(2, 40)
)
def test_merged_panes_keep_their_extremes(scores: list[float | None], most: int) -> None:
    panes = ledgers.entries(1) * len(scores)
    panes = [
        entry.model_copy(deep=True, update={"pane": number}) for number, entry in enumerate(panes)
    ]
    for entry, value in zip(panes, scores, strict=True):
        entry.attributes["gender"].pane.dr = value
    places = charts.columns(list(map(spans.from_entry, panes)), most)
    assert len(places) <= most
    assert [each.first for each in places[1:]] == [
        each.last + 1 for each in places[:-1]
    ] and places[-1].last == len(scores) - 1
    cells = [each.attributes["gender"] for each in places]
    known = [value for value in scores if value is not None]
    assert max((cell.high for cell in cells if cell.high is not None), default=None) == max(
        known, default=None
    )
    assert min((cell.low for cell in cells if cell.low is not None), default=None) == min(
        known, default=None
    )


@given(st.floats(1e-6, 1e9))
def test_an_axis_holds_its_highest_value_and_reads_well(highest: float) -> None:
    top, ticks = charts.axis(highest)
    assert top >= highest * (1 - 1e-9)
    assert 3 <= len(ticks) <= 7
    assert ticks[0].at == 100 and abs(ticks[-1].at) < 1e-9
    values = [float(tick.label.replace(",", "")) for tick in ticks]
    assert values[0] == 0 and all(a < b for a, b in pairwise(values))
    assert values[-1] == pytest.approx(top)


@given(st.integers(1, 600), st.integers(0, 2000))
def test_ticks_lie_on_the_axis(panes: int, first: int) -> None:
    entries = ledgers.entries(1) * panes
    places = [
        spans.from_entry(entry.model_copy(update={"pane": first + number}))
        for number, entry in enumerate(entries)
    ]
    ticks = charts.ticks(charts.columns(places))
    assert 1 <= len(ticks) <= 13
    assert all(0 <= tick.at <= 100 for tick in ticks) and all(
        a.at < b.at for a, b in pairwise(ticks)
    )


@given(st.integers(1, 60), st.integers(0, 5))
def test_a_chart_stays_in_its_plot(panes: int, seed: int) -> None:
    chart = charts.dr_chart(
        list(map(spans.from_entry, ledgers.entries(panes, seed))), "age", 0.25, 0.45
    )
    assert len(chart.dots.split("M")) == panes + 1
    for path in (chart.rolling, chart.band, chart.cumulative, chart.dots):
        numbers = [float(one) for one in NUMBER.findall(path)]
        assert all(-0.1 <= x <= charts.WIDTH + 0.1 for x in numbers[::2])
        assert all(-0.1 <= y <= charts.HEIGHT + 0.1 for y in numbers[1::2])


@pytest.mark.parametrize(("panes", "tiles"), [(1, 1), (400, 400), (401, 201), (5000, 385)])
def test_tiles(panes: int, tiles: int) -> None:
    entries = ledgers.entries(1) * panes
    strip = charts.columns(list(map(spans.from_entry, entries)), view.MOST_TILES)
    assert len(strip) == tiles <= view.MOST_TILES


def test_spells_cover_each_pane_that_was_not_open_once() -> None:
    entries = ledgers.entries(200)
    spells = view.spells(list(map(spans.from_entry, entries)))
    covered = [number for spell in spells for number in range(spell.first, spell.last + 1)]
    assert covered == [entry.pane for entry in entries if entry.verdict.state != "open"]
    for spell in spells:
        assert spell.panes == spell.last - spell.first + 1 and spell.first <= spell.at <= spell.last
        assert entries[spell.at].verdict.reason == spell.reason


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "<bdi>plain</bdi>"),
        ("<b>&'\"", "<bdi>&lt;b&gt;&amp;&#39;&#34;</bdi>"),
        ("a\0b\u202ec\ud800d\ne", "<bdi>a\\u0000b\\u202ec\\ud800d e</bdi>"),
        (
            "1234567890123456789012345678901",
            '<bdi title="1234567890123456789012345678901">12345678901234567890123456789…</bdi>',
        ),
    ],
)
def test_outside_text(value: str, expected: str) -> None:
    assert text.outside(value, 30) == expected


@given(st.text(st.characters(), max_size=60))
def test_no_text_can_leave_its_element(value: str) -> None:
    for shown in (text.outside(value, 20), text.lines(value)):
        inside = re.sub(r"</?bdi( title=\"[^\"<>]*\")?>", "", str(shown))
        assert "<" not in inside and ">" not in inside
        assert inside.replace("\n", "").isprintable()
        shown.encode("utf-8")


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (words.number(1234567), "1,234,567"),
        (words.number(None), "–"),
        (words.percent(0.7215), "72.2%"),
        (words.percent(0.0001), "< 0.1%"),
        (words.percent(0.0), "0.0%"),
        (words.points(-0.1938), "−19.4"),
        (words.points(0.00001), "0.0"),
        (words.size(999), "999 B"),
        (words.size(1_640_000), "1.6 MB"),
        (words.size(5_000_000_000), "5.0 GB"),
        (text.FILTERS["percent"](0.0001), "&lt; 0.1%"),
        (text.FILTERS["size"](999), "999 B"),
        (words.duration(13.84), "14 s"),
        (words.duration(3725), "62 min"),
        (words.interval(0.1, None), "–"),
        (words.estimate(0.1234, 0.1, 0.2), "0.123 (0.100–0.200)"),
        (text.moment(0), "1970-01-01 00:00:00"),
    ],
)
def test_figures_are_written_for_people(shown: str, expected: str) -> None:
    assert shown.replace("&nbsp;", " ") == expected
