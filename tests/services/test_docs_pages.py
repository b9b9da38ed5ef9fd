"""Pages of the documentation in a real browser: contrast and names, and search from files."""

from __future__ import annotations

from pathlib import Path

from services.browser import SCHEMES, WIDTHS, Tabs, flaws, width_of

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
