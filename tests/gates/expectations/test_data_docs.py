"""The data docs: their pages, which panes they show, and that they escape all data."""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from pane_entries import pane_entry
from pane_shards import LISTS, KeptChecks, changed, pane, write

from evenflow.gates.expectations import data_docs
from evenflow.gates.expectations.own_suite import DrLimit
from evenflow.schemas.ledger import CheckFailure, Checks, PaneEntry

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>${column}'


class Page(HTMLParser):
    """The text of a page, and its tags with their attributes."""

    def __init__(self, path: Path):
        super().__init__()
        self.text, self.tags = "", list[tuple[str, dict[str, str | None]]]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_data(self, data: str) -> None:
        """Collect text."""
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect a tag."""
        self.tags.append((tag, dict(attrs)))

    @property
    def words(self) -> str:
        """The text of the page."""
        return " ".join(self.text.split())

    @property
    def links(self) -> list[str]:
        """The targets of the links."""
        return [
            str(attrs["href"])
            for tag, attrs in self.tags
            if tag == "a" and not str(attrs["href"]).startswith("#")
        ]


def gate(root: Path, **options: Any) -> KeptChecks:
    """Checks with a limit for gender."""
    return KeptChecks(root, lists=LISTS, limits={"gender": DrLimit(0.1, min_mentions=3)}, **options)


def ledger_entry(pane_number: int, failed: bool) -> PaneEntry:
    """An entry whose checks failed or not."""
    failures = [CheckFailure(expectation="e", subject="s", observed="o")] if failed else []
    return pane_entry(
        pane_number, checks=Checks(success=not failed, evaluated=1, failures=failures)
    )


def entry(kind: str, **arguments: Any) -> dict[str, Any]:
    """An entry of a suite, by default for the hostile column."""
    notes = {key: arguments.pop(key) for key in ("notes", "description") if key in arguments}
    return {"type": kind, "kwargs": {"column": HOSTILE, **arguments}, **notes}


def shown(index: Path) -> list[str]:
    """The panes that the index shows."""
    return [
        match.group() for link in Page(index).links if (match := re.search(r"pane-\d{8}", link))
    ]


def test_the_docs_lead_from_the_index_to_each_sentence(tmp_path: Path) -> None:
    table, attributes = pane(["She and her sister saw a man."] * 50)
    checks = gate(tmp_path)
    checks.run(3, write(tmp_path, table), attributes, table.num_rows)
    index = checks.pages()
    assert index == tmp_path / "checks" / "data_docs" / "index.html"
    page = Page(index)
    assert "pane-00000003 evenflow ✗ not all hold" in page.words
    for link in page.links:
        there = Page(index.parent / link)
        assert "must not be above 0.1" in there.words
        assert all((index.parent / link).parent.joinpath(other).is_file() for other in there.links)
    [result] = [Page(index.parent / link) for link in page.links if "pane-" in link]
    assert "The Demographic Representation of gender, half the distance" in result.words
    assert "Fewer than 3 mentions are not judged." in result.words
    assert "A failure is recorded (warning) and does not quarantine the pane." in result.words
    assert "DR 0.250, from 0.2" in result.words
    assert "mentions: 200, documents with any: 50" in result.words
    assert "mentions_gender_female 150, mentions_gender_male 50" in result.words.replace(
        "mentions_age_middle 0, ", ""
    )
    assert "Counting the labels of 200 documents once more" in result.words


def test_what_is_data_is_escaped_and_no_page_runs_or_fetches_anything(tmp_path: Path) -> None:
    table, attributes = pane(field=["a", "b", "c", HOSTILE])
    table = changed(table, "id", {0: HOSTILE, 1: HOSTILE, 2: None}).rename_columns(
        [*table.column_names[:-6], HOSTILE, *table.column_names[-5:]]
    )
    suite = tmp_path / "suite.yaml"
    most_common = "expect_column_most_common_value_to_be_in_set"
    distinct = "expect_column_distinct_values_to_equal_set"
    entries = [
        entry("expect_column_values_to_be_in_set", value_set=["a", HOSTILE], notes=HOSTILE),
        entry("expect_column_values_to_match_regex", regex=HOSTILE, description=HOSTILE),
        entry(most_common, value_set=["z"]),
        entry(distinct, value_set=[HOSTILE]),
        entry("expect_column_mean_to_be_between", column=f"absent {HOSTILE}", min_value=1),
    ]
    names = {"type": "expect_table_columns_to_match_set", "kwargs": {"column_set": [HOSTILE]}}
    suite.write_text(json.dumps([*entries, {**names, "meta": {"notes": HOSTILE}}]))
    checks = gate(tmp_path, user_suite=suite)
    checks.run(0, write(tmp_path, table), attributes, table.num_rows)
    pages = sorted(checks.pages().parent.rglob("*.html"))
    assert len(pages) == 5
    for path in pages:
        page = Page(path)
        assert not {tag for tag, _ in page.tags} & {
            "script",
            "img",
            "link",
            "iframe",
            "object",
            "form",
        }
        assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
        assert not [link for link in page.links if ":" in link]
        policy = [
            attrs["content"] for tag, attrs in page.tags if tag == "meta" and "http-equiv" in attrs
        ]
        assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    together = "".join(path.read_text() for path in pages)
    assert html.escape(HOSTILE, quote=False)[:30] in together.replace("&#34;", '"')
    results = [Page(path) for path in pages if "validations" in path.parts]
    assert all(HOSTILE.replace("${column}", "") in page.text for page in results)


def test_the_latest_panes_and_the_latest_that_failed_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_docs, "LATEST", 3)
    monkeypatch.setattr(data_docs, "LATEST_FAILED", 2)
    table, attributes = pane()
    shards = write(tmp_path, table)
    checks = gate(tmp_path)
    for number in range(9):
        checks.run(number, shards, attributes, table.num_rows)
    entries = [ledger_entry(number, failed=number in (0, 2, 4)) for number in range(9)]
    failed = {entry.pane for entry in entries if entry.checks.failures}
    assert shown(checks.pages(failed)) == [f"pane-{number:08d}" for number in (8, 7, 6, 4, 2)]
    assert shown(gate(tmp_path).pages()) == [f"pane-{number:08d}" for number in (8, 7, 6)]
    assert len([*(tmp_path / "checks" / "gx" / "validations").rglob("*.json")]) == 9


def test_a_pane_that_is_checked_again_has_one_result(tmp_path: Path) -> None:
    table, attributes = pane()
    shards = write(tmp_path, table)
    for _ in range(2):
        checks = gate(tmp_path)
        checks.run(0, shards, attributes, table.num_rows)
        checks.run(0, shards, attributes, table.num_rows)
        assert shown(checks.pages()) == ["pane-00000000"]
    assert len([*(tmp_path / "checks" / "gx").rglob("pane-shards.json")]) == 1


@pytest.mark.parametrize("damage", ["", "{", "\x00" * 100, "[]"])
def test_what_a_kill_left_half_written_breaks_no_next_start(tmp_path: Path, damage: str) -> None:
    table, attributes = pane()
    shards = write(tmp_path, table)
    checks = gate(tmp_path)
    for number in range(3):
        checks.run(number, shards, attributes, table.num_rows)
    checks.pages()
    project = tmp_path / "checks"
    for path in [
        *project.rglob("*.yml"),
        *project.rglob("*.html"),
        *(project / "gx" / "expectations").rglob("*.json"),
    ]:
        path.write_text(damage)
    for path in (project / "gx" / "validations" / "evenflow" / "pane-00000001").rglob("*.json"):
        path.write_text(damage)
    again = gate(tmp_path)
    assert again.run(3, shards, attributes, table.num_rows).success
    assert shown(again.pages()) == ["pane-00000003", "pane-00000002", "pane-00000000"]
    assert again.run(1, shards, attributes, table.num_rows).success
    assert len(shown(again.pages())) == 4


def test_the_project_opens_with_great_expectations_alone(tmp_path: Path) -> None:
    import great_expectations as gx

    table, attributes = pane()
    checks = gate(tmp_path)
    checks.run(0, write(tmp_path, table), attributes, table.num_rows)
    checks.pages()
    context: Any = gx.get_context(mode="file", context_root_dir=tmp_path / "checks" / "gx")
    [key] = context.validation_results_store.list_keys()
    assert context.validation_results_store.get(key).success
    assert [suite.name for suite in context.suites.all()] == ["evenflow"]
    context.build_data_docs()
    assert "pane-00000000" in (tmp_path / "checks" / "data_docs" / "index.html").read_text()


def test_odd_paths_are_paths(tmp_path: Path) -> None:
    table, attributes = pane()
    root = tmp_path / "a b $HOME ${X} é #1 %20"
    root.mkdir()
    checks = gate(root)
    assert checks.run(0, write(root, table), attributes, table.num_rows).success
    assert shown(checks.pages()) == ["pane-00000000"]
