"""What the report is made of: figures, geometry, timings, sentences and how text is shown."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest
import report_ledgers as ledgers
from hypothesis import given
from hypothesis import strategies as st

from evenflow.gates.ledger import spans
from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.pages.report import charts, text, timings, view, words
from evenflow.pipelines.pages.report.figures import configuration, figures
from evenflow.schemas.ledger import Score
from evenflow.transforms.storage.storage import at
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
    said = words.convergence_sentence(row)
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
    assert Totals.of(panes).attributes["gender"].states["too few"] == 0
    for each in panes[0].attributes.values():
        each.verdict.state = "too few"
    few = figures(Totals.of(panes), panes, ledgers.settings(**{"gate.min_mentions": 10_000}))
    assert few["attributes"]["gender"]["panes"]["too few"] == 1
    assert "too few mentions to judge" in words.attribute_sentence(few["attributes"]["gender"], 1)
    weighted = few["attributes"]["gender"] | {"mentions": 1330.30852200000004}
    assert "Of 1,330 mentions in" in words.attribute_sentence(weighted, 1)


def test_labels_are_grouped_by_the_word_list_only_where_it_agrees() -> None:
    meta = ledgers.settings()
    panes = ledgers.entries(3)
    found = figures(Totals.of(panes), panes, meta)["attributes"]["gender"]
    config = configuration(meta)
    assert loader.load("gender").labels["she"] == 0
    grouped = view.label_groups("gender", found, config)
    assert [(group.group, [bar.label for bar in group.bars]) for group in grouped] == [
        ("female", ["she"]),
        ("male", ["he"]),
    ]
    # Not in the list; more than the group has
    for panes_labels in ({"she": 1, "xyzzy": 1}, {"she": 10**6}):
        for entry in panes:
            entry.attributes["gender"].labels = panes_labels
        alone = view.label_groups(
            "gender", figures(Totals.of(panes), panes, meta)["attributes"]["gender"], config
        )
        assert [group.group for group in alone] == [""]
    assert [group.group for group in view.label_groups("gender", found, None)] == [""]


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


@given(st.integers(1, 100_000), st.integers(1, 600))
def test_pane_ticks_lie_on_the_axis(panes: int, most: int) -> None:
    ticks = charts.pane_ticks(panes, most)
    assert 1 <= len(ticks) <= 13 and ticks[0].label == "0"
    assert all(0 <= tick.at <= 100 for tick in ticks) and all(
        a.at <= b.at for a, b in pairwise(ticks)
    )


@given(st.integers(1, 60), st.integers(0, 5))
def test_a_chart_stays_in_its_plot(panes: int, seed: int) -> None:
    chart = charts.dr_chart(
        list(map(spans.from_entry, ledgers.entries(panes, seed))), "age", 0.25, 0.45
    )
    assert len(chart.dots.split("M")) == panes + 1 and len(chart.hovers) == panes
    for path in (chart.rolling, chart.band, chart.cumulative, chart.dots):
        numbers = [float(one) for one in NUMBER.findall(path)]
        assert all(-0.1 <= x <= charts.WIDTH + 0.1 for x in numbers[::2])
        assert all(-0.1 <= y <= charts.HEIGHT + 0.1 for y in numbers[1::2])


@pytest.mark.parametrize(("panes", "tiles"), [(1, 1), (400, 400), (401, 201), (5000, 385)])
def test_tiles(panes: int, tiles: int) -> None:
    entries = ledgers.entries(1) * panes
    strip = view.tiles(list(map(spans.from_entry, entries)))
    assert len(strip) == tiles <= view.MOST_TILES
    assert sum(map(len, view.tens(strip))) == tiles


def test_spells_cover_each_pane_that_was_not_open_once() -> None:
    entries = ledgers.entries(200)
    spells = view.spells(list(map(spans.from_entry, entries)))
    covered = [number for spell in spells for number in range(spell.first, spell.last + 1)]
    assert covered == [entry.pane for entry in entries if entry.verdict.state != "open"]
    for spell in spells:
        assert spell.panes == spell.last - spell.first + 1 and spell.first <= spell.at <= spell.last
        assert entries[spell.at].verdict.reason == spell.reason


ROW = {
    "pane": 0,
    "seconds": 2.0,
    "input_bytes": 4_000_000,
    "documents": 10,
    "stages": {"checks": 0.5, "read": 1.0},
}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], {}),
        ([json.dumps(ROW)], {0: 2.0}),
        # Written again after a kill
        ([json.dumps(ROW), json.dumps(ROW | {"seconds": 3.0})], {0: 3.0}),
        ([json.dumps(ROW), json.dumps(ROW | {"pane": 1})[:40]], {0: 2.0}),  # torn
        # A pane the ledger does not have
        ([json.dumps(ROW | {"pane": 7}), json.dumps(ROW)], {0: 2.0}),
        (
            [
                "[]",
                "null",
                '"x"',
                "\0\0\0",
                "{}",
                json.dumps(ROW | {"seconds": 0}),
                '{"pane": NaN}',
                json.dumps(ROW),
            ],
            {0: 2.0},
        ),
    ],
)
def test_timings(tmp_path: Path, lines: list[str], expected: dict[int, float]) -> None:
    assert timings.read_timings(tmp_path, 3) == {}
    (tmp_path / "gate").mkdir()
    (tmp_path / "gate" / "timings.jsonl").write_text("\n".join(lines))
    found = timings.read_timings(tmp_path, 3)
    assert {pane: timing.seconds for pane, timing in found.items()} == expected
    speed = timings.throughput(found.values())
    assert (speed is None) == (not expected)
    if speed is not None:
        assert sum(stage.share for stage in speed.stages) == pytest.approx(1)
        assert (
            speed.share("checks") == pytest.approx(0.5 / expected[0])
            and speed.share("paint") is None
        )
        assert speed.bytes_a_second == pytest.approx(4e6 / expected[0])


def test_timings_of_a_store_are_its_last_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timings, "LATEST", 2)
    output = at(f"memory://{uuid4().hex}/out")
    for last in (2, 4, 6):
        rows = [ROW | {"pane": pane, "seconds": pane + 1.0} for pane in (last - 2, last - 1)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        output.write(f"gate/timings/{last:012d}.jsonl", lines.encode())
    found = timings.read_timings(output, 5)
    assert {pane: each.seconds for pane, each in found.items()} == {2: 3.0, 3: 4.0, 4: 5.0}


def test_stages_of_several_workers_are_shares_of_their_sum() -> None:
    speed = timings.throughput([timings.Timing(0, 1.0, 100, 1, {"read": 3.0, "checks": 1.0})])
    assert speed is not None and [(stage.name, stage.share) for stage in speed.stages] == [
        ("read", 0.75),
        ("checks", 0.25),
    ]


def test_rates_are_means_over_timed_panes() -> None:
    timed = {
        number: timings.Timing(number, 1.0 + number, 6_000_000, 30, {}) for number in (0, 1, 3)
    }
    assert timings.rates(timed, range(4), window=2) == [(6.0, 30.0), (4.0, 20.0), None, (2.0, 10.0)]


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
        (text.number(1234567), "1,234,567"),
        (text.number(None), "–"),
        (text.percent(0.7215), "72.2 %"),
        (text.percent(0.0001), "&lt; 0.1 %"),
        (text.percent(0.0), "0.0 %"),
        (text.points(-0.1938), "−19.4"),
        (text.points(0.00001), "0.0"),
        (text.size(999), "999 B"),
        (text.size(1_640_000), "1.6 MB"),
        (text.size(5_000_000_000), "5.0 GB"),
        (text.rate(0.123), "0.12"),
        (text.rate(2209.4), "2,209"),
        (text.duration(13.84), "13.8 s"),
        (text.duration(3725), "1:02:05 h"),
        (text.interval(0.1, None), "–"),
        (text.moment(0), "1970-01-01 00:00:00"),
    ],
)
def test_figures_are_written_for_people(shown: str, expected: str) -> None:
    assert shown.replace("&nbsp;", " ") == expected


def test_a_series_that_is_nowhere_above_zero() -> None:
    path, _, ticks = charts.series_chart([0.0, None, 0.0])  # documents a second of dead letters
    assert path and [tick.label for tick in ticks] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
