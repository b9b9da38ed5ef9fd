"""Pages of the documentation in a real browser: contrast and names, and search from files."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from services.browser import SCHEMES, WIDTHS, Tabs, flaws, width_of

pytest_plugins = ["built_site"]


def test_pages_can_be_read_by_all(site: Path, tabs: Tabs) -> None:
    """Each page in one of four ways by turns: what differs between pages is what they show."""
    pages = sorted(each for each in site.glob("*.html") if each.name != "404.html")
    opened = [
        (width, tabs.open(pages[0].as_uri(), width, scheme))
        for width, scheme in product(WIDTHS.values(), SCHEMES)
    ]
    found: dict[str, list[str]] = {}
    for number, path in enumerate(pages):
        width, page = opened[number % len(opened)]
        page.goto(path.as_uri())
        found[path.name] = [*flaws(page), *["too wide"] * (width_of(page) > width)]
    tabs.complaints.clear()  # axe asks for style sheets, which a browser refuses for files
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_search_works_from_files(site: Path, tabs: Tabs) -> None:
    page = tabs.open((site / "index.html").as_uri())
    page.fill("[data-md-component=search-query]", "hysteresis")
    page.wait_for_selector(".md-search-result__item", state="attached", timeout=120_000)
    assert "hysteresis" in (page.locator(".md-search-result__list").text_content() or "").lower()
