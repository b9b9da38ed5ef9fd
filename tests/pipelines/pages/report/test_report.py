"""The page and report.json are well-formed, self-contained, complete, the same for one ledger."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
import report_ledgers as ledgers
from jinja2 import DictLoader, Environment

from evenflow.gates import hold
from evenflow.gates.ledger.files import LedgerError
from evenflow.pipelines.pages.report.report import Compiled, build
from evenflow.schemas.ledger import PaneEntry, Position, StreamPane
from evenflow.schemas.words import said

VOID = {"meta", "br", "img", "input", "link", "hr"}
FORBIDDEN = {"script", "img", "iframe", "link", "object", "embed", "form", "base"}
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class Page(HTMLParser):
    """What a browser sees: text, ids, links, and whether every element is closed properly."""

    def __init__(self, markup: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.titles: list[str] = []
        self.texts: list[str] = []
        self.policies: list[str] = []
        self.style = ""
        self.feed(markup)
        self.close()
        assert not self.open, f"left open: {self.open}"
        self.text = "".join(self.texts)
        self.flat = " ".join(" ".join(self.texts).replace("\xa0", " ").split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        found = {name: value or "" for name, value in attrs}
        assert len(found) == len(attrs), f"an attribute twice: {attrs}"
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found[name] for name in ("href", "src", "xlink:href") if name in found]
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policies.append(found["content"])
        self.titles += [found["title"]] if "title" in found else []
        if tag not in VOID and not (
            tag in ("path", "rect", "line", "circle") and self.get_starttag_text().endswith("/>")
        ):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> within {self.open}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.texts.append(data)


def made(root: Path, panes: list[PaneEntry], meta: dict | None = None) -> Page:
    ledgers.write(root, panes, ledgers.settings() if meta is None else meta)
    return Page(Path(build(root)).read_bytes().decode("utf-8"))


@pytest.mark.parametrize("panes", [0, 1, 2, 12, 120, 450])
def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(
    tmp_path: Path, panes: int
) -> None:
    page = made(tmp_path / "out", ledgers.entries(panes))
    assert not FORBIDDEN & set(page.tags)
    assert not [name for name in page.names if name.startswith("on") or name == "style"]
    [policy] = page.policies
    digest = b64encode(sha256(page.style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}';" in policy
    assert "url(" not in page.style and "@import" not in page.style
    assert not re.search("https?:", (tmp_path / "out" / "report.html").read_text("utf-8"))
    assert len(page.ids) == len(set(page.ids))
    assert all(link.removeprefix("#") in page.ids for link in page.links if link.startswith("#"))
    assert page.tags.count("h1") == 1 and page.tags.count("table") == page.tags.count("caption")


def test_text_from_outside_stays_text(tmp_path: Path) -> None:
    plain = made(tmp_path / "plain", ledgers.entries(40))
    page = made(tmp_path / "hostile", ledgers.hostile())
    raw = (tmp_path / "hostile" / "report.html").read_bytes().decode("utf-8")
    assert set(page.tags) <= set(plain.tags) and page.names <= plain.names
    assert not UNSEEN.search(raw)
    for text in (
        ledgers.HOSTILE[0],
        ledgers.HOSTILE[1],
        ledgers.HOSTILE[2],
        "{{ 7 * 7 }}{% raw %}",
        "&lt;b&gt; &amp; ]]> <!-- -->",
    ):
        assert text in page.text
    assert "nul \\u0000 bell \\u0007 escape \\u001b[31m" in page.text
    assert "bidi \\u202egnp.exe\\u2069 \\u2067x" in page.text
    assert all(link.startswith(("#", "dead-letter/", "checks/")) for link in page.links)
    assert any(len(title) > 1000 for title in page.titles) and len(max(page.titles, key=len)) < 1200


def test_the_json_is_the_same_for_the_same_ledger(tmp_path: Path) -> None:
    one = ledgers.write(tmp_path / "one", ledgers.entries(12), ledgers.settings())
    two = ledgers.write(tmp_path / "two", ledgers.entries(12), ledgers.settings())
    ledgers.write_timings(two, ledgers.entries(12))
    build(one), build(two), build(two)
    assert (one / "report.json").read_bytes() == (two / "report.json").read_bytes()
    assert (one / "report.html").read_bytes() == (two / "report.html").read_bytes()


def test_the_figures_add_up_and_all_of_them_are_on_the_page(tmp_path: Path) -> None:
    panes = ledgers.entries(40)
    page = made(tmp_path / "out", panes)
    found = json.loads((tmp_path / "out" / "report.json").read_bytes())
    blocked = [entry for entry in panes if entry.folder == "quarantine"]
    assert blocked
    assert found["quarantined"] == sum(entry.documents for entry in blocked)
    assert (
        found["accepted"] + found["quarantined"]
        == found["documents"]
        == sum(entry.documents for entry in panes)
    )
    assert sum(found["states"].values()) == found["panes"] == len(found["by_pane"]) == 40
    for key in ("accepted", "quarantined", "dead_letters"):
        assert f"{found[key]:,}" in page.flat
    for state, count in found["states"].items():
        assert f"{said(state)} {count} pane" in page.flat
    assert f"{found['input_bytes'] / 1e6:.1f} MB" in page.flat
    for name, each in found["attributes"].items():
        assert name in page.flat
        assert sum(each["panes"].values()) == 40
        for i, row in enumerate(each["groups"]):
            assert row["mentions"] == sum(entry.attributes[name].sums.counts[i] for entry in panes)
            assert f"{row['group']} {row['share']:.1%} {row['target']:.1%}" in page.flat
        for kind in ("rolling", "cumulative"):
            score = each[kind]
            assert f"{score['dr']:.3f} ({score['low']:.3f}–{score['high']:.3f})" in page.flat
        assert len(each["heavy"]) == 8
        for label in each["labels"]:
            assert f"{label['mentions']:,}" in page.flat
    for row in found["dead_by_reason"]:
        assert f"{row['reason']} {row['count']}" in page.flat
    for entry in panes:
        assert entry.shards[0].name in page.flat and entry.shards[0].sha256 in page.titles
    for failure in found["checks"]["failures"]:
        assert f"{failure['pane']} {failure['expectation']} {failure['subject']}" in page.flat


def test_an_empty_ledger_says_so(tmp_path: Path) -> None:
    page = made(tmp_path / "out", [], ledgers.settings(finished=False))
    assert "no pane yet" in page.flat and "svg" not in page.tags
    nothing = ledgers.write(tmp_path / "bare", [], None)
    assert Page(Path(build(nothing)).read_text("utf-8")).tags.count("table") == 0
    assert json.loads((nothing / "report.json").read_bytes())["panes"] == 0


def test_one_pane_has_figures_and_no_course(tmp_path: Path) -> None:
    page = made(tmp_path / "out", ledgers.entries(1))
    assert 'class="plot' not in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "One pane alone has no course" in page.flat
    assert "0 warn" in page.flat or "1 warn" in page.flat


def test_an_attribute_without_a_mention_has_no_chart(tmp_path: Path) -> None:
    panes = ledgers.entries(5)
    for entry in panes:
        each = entry.attributes["age"]
        each.sums.counts, each.labels, each.heavy, each.sums.documents = [0, 0, 0], {}, [], 0
        each.pane = each.rolling = each.cumulative = ledgers.score([0, 0, 0], 0)
    page = made(tmp_path / "out", panes)
    assert "None of its labels was found" in page.flat
    assert page.tags.count("figure") == 1  # gender's
    groups = json.loads((tmp_path / "out" / "report.json").read_bytes())["attributes"]["age"][
        "groups"
    ]
    assert [row["share"] for row in groups] == [None] * 3


def test_a_long_ledger_makes_a_light_page(tmp_path: Path) -> None:
    panes = ledgers.entries(1200)
    page = made(tmp_path / "out", panes)
    assert (tmp_path / "out" / "report.html").stat().st_size < 350_000
    assert "A tile stands for 3 neighbouring panes" in page.flat
    assert "1,200 panes are drawn 3 at a time" in page.flat
    assert len(json.loads((tmp_path / "out" / "report.json").read_bytes())["by_pane"]) == 1200


def test_links_lead_to_what_is_there(tmp_path: Path) -> None:
    panes = ledgers.entries(12)
    root = ledgers.write(tmp_path / "b", panes, ledgers.settings())
    page = Page(Path(build(root)).read_text("utf-8"))
    letters = {f"dead-letter/{entry.dead_letters.name}" for entry in panes if entry.dead_letters}
    assert letters and letters <= {link for link in page.links if link.startswith("dead-letter/")}


@pytest.mark.parametrize(
    ("policy", "finished", "expected"),
    [
        ("quarantine", True, "in quarantine/, "),
        ("quarantine", False, "the run is not finished"),
        ("halt", False, "Held · Evenflow report"),
    ],
)
def test_the_head_says_how_the_run_stands(
    tmp_path: Path, policy: str, finished: bool, expected: str
) -> None:
    panes = ledgers.entries(18)
    assert panes[-1].folder == "quarantine"
    page = made(tmp_path / "out", panes, ledgers.settings(finished, **{"gate.on_block": policy}))
    assert expected in page.flat


def test_words_of_people_are_shown(tmp_path: Path) -> None:
    root = ledgers.write(tmp_path / "out", ledgers.entries(4), ledgers.settings(finished=False))
    hold.add_event(root, "hold", "the <new> crawl first", 4)
    page = Page(Path(build(root)).read_text("utf-8"))
    assert page.flat.count("the <new> crawl first") == 2  # in the head and in the table


def test_panes_of_a_stream_have_their_time(tmp_path: Path) -> None:
    panes = ledgers.entries(3)
    for number, entry in enumerate(panes):
        span = 1_700_000_000_000 + 60_000 * number if number < 2 else 10**19
        entry.stream = StreamPane(span=span, part=0, positions={"0": Position(next=5, time=span)})
    page = made(tmp_path / "out", panes)
    assert "2023-11-14 22:14:20" in page.flat and f"{10**19} ms" in page.flat


def test_a_ledger_without_usable_configuration_still_makes_a_page(tmp_path: Path) -> None:
    page = made(
        tmp_path / "out",
        ledgers.entries(3),
        {"version": 1, "configuration": {"of": "another version"}, "finished": True},
    )
    assert "DR over the panes" in page.flat and "of: another version" in page.flat


def test_a_broken_ledger_is_named_and_nothing_written(tmp_path: Path) -> None:
    root = ledgers.write(tmp_path / "out", ledgers.entries(2), ledgers.settings())
    (root / "ledger" / "00000001.json").write_text("{")
    with pytest.raises(LedgerError, match=r"00000001\.json"):
        build(root)
    assert not (root / "report.html").exists() and not (root / "report.json").exists()


def test_compiled_templates_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    for folder in (tmp_path, tmp_path, tmp_path / "missing"):
        made = Environment(loader=DictLoader({"a": "x"}), bytecode_cache=Compiled(str(folder)))
        assert made.get_template("a").render() == "x"
    assert len(list(tmp_path.iterdir())) == 1
