"""Pages of the documentation in a real browser: contrast and names, and search from files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import report_ledgers
from pictures import PICTURES, metadata
from places import ROOT
from services.browser import SCHEMES, WIDTHS, Tabs, flaws, width_of

from evenflow.pipelines.pages.report.report import build

pytest_plugins = ["built_site"]
COMBINATIONS = [(scheme, width) for scheme in SCHEMES for width in WIDTHS.values()]


def test_pages_can_be_read_by_all(site: Path, tabs: Tabs) -> None:
    """Each page in one of four ways by turns: what differs between pages is what they show."""
    pages = sorted(each for each in site.glob("*.html") if each.name != "404.html")
    found: dict[tuple[str, str, int], list[str]] = {}
    for number, path in enumerate(pages):
        scheme, width = COMBINATIONS[number % len(COMBINATIONS)]
        page = tabs.open(path.as_uri(), width, scheme)
        found[path.name, scheme, width] = [*flaws(page), *["too wide"] * (width_of(page) > width)]
        page.context.close()
    found = {key: bad for key, bad in found.items() if bad}
    tabs.complaints.clear()  # axe asks for style sheets, which a browser refuses for files
    assert found == {}


def test_search_works_from_files(site: Path, tabs: Tabs) -> None:
    page = tabs.open((site / "index.html").as_uri())
    page.fill("[data-md-component=search-query]", "hysteresis")
    page.wait_for_selector(".md-search-result__item", state="attached", timeout=120_000)
    assert "hysteresis" in (page.locator(".md-search-result__list").text_content() or "").lower()


def test_pictures_are_taken_of_a_run_once(tmp_path: Path, tabs: Tabs) -> None:
    run, folder = tmp_path / "demo", tmp_path / "docs"
    report_ledgers.write(run, report_ledgers.entries(4), report_ledgers.settings())
    build(run)
    command = [sys.executable, ROOT / "docs" / "pictures.py", run, folder]
    subprocess.run(command, check=True, capture_output=True)
    taken = {name: (folder / name).stat().st_mtime_ns for name in PICTURES}
    assert all(metadata(folder / name)["Comment"].startswith("4 panes, ") for name in PICTURES)
    subprocess.run(command, check=True, capture_output=True)
    assert taken == {name: (folder / name).stat().st_mtime_ns for name in PICTURES}
    page = tabs.open((folder / "pages/board_narrow.png").as_uri())
    assert page.evaluate("document.querySelector('img').naturalWidth") == 400
