"""The board in a real browser, served by its command while a ledger grows."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import board_ledgers
import pytest
import report_ledgers
from services.browser import SCHEMES, WIDTHS, Served, Tabs, flaws, width_of

from evenflow.gates import hold
from evenflow.gates.ledger.files import canonical, entry_name

if TYPE_CHECKING:
    from playwright.sync_api import Page

TOKEN = "correct-horse-battery-staple"
PANES = 40
LAST = PANES - 1
Serve = Callable[..., str]


@pytest.fixture
def serve(served: Served) -> Serve:
    """Starts `evenflow gate board` on a free port: serve(DIR…) -> its address, without a slash."""
    words, token = ("--port", 0, "--allow-actions"), {"EVENFLOW_BOARD_TOKEN": TOKEN}
    return lambda *outputs: served.start("board", "gate", "board", *outputs, *words, **token)[:-1]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """An output of 40 panes; the last has documents, changed sentences and dead letters."""
    root = board_ledgers.long(tmp_path / "news", LAST)
    entry = board_ledgers.at_minute(report_ledgers.entries(1)[0], LAST)
    rows = [{"id": f"doc/{number}", "sentence": {"id": f"doc/{number}"}} for number in range(3)]
    entry = board_ledgers.documents(root, entry, rows)
    entry = board_ledgers.dead(root, entry, [b"\xff\xfe raw", b"<b>bold</b>"])
    (root / entry_name(LAST)).write_bytes(canonical(entry.model_dump()))
    return root


def heading(page: Page) -> str:
    """The first sentence of a gate's page."""
    return page.locator(".said span").first.inner_text()


def test_a_page_follows_commits_and_disturbs_nobody(tabs: Tabs, serve: Serve, output: Path) -> None:
    address = serve(output)
    page, other = tabs.open(f"{address}/gate/news"), tabs.open(address)
    assert heading(page).startswith("May one train on accepted/: ")
    page.get_by_text("live", exact=True).wait_for()
    other.get_by_text("live", exact=True).wait_for()
    page.get_by_label("from pane").fill("12")
    page.locator("summary", has_text="Glossary").click()
    page.evaluate("window.same = document.querySelector('main')")
    for number in range(PANES, PANES + 3):
        entry = board_ledgers.commit(output, number)
        page.locator(f".strip a[aria-label^='Pane {number} from']").wait_for()
        other.locator("#gate-news", has_text=f"{number + 1} panes").wait_for()
        tile = page.locator(".strip a").last
        assert tile.get_attribute("aria-label").startswith(f"Pane {number} from")
        assert f"t-{entry.verdict.state}" in tile.get_attribute("class")
    assert page.evaluate("window.same === document.querySelector('main')"), "it was loaded again"
    assert page.get_by_label("from pane").input_value() == "12"
    assert page.evaluate("document.activeElement.closest('details')?.open")
    # A blocked pane waits for a decision
    assert page.locator("#news").inner_text().split(";")[0].lower() == "block"


def test_a_gate_that_vanishes_is_said_and_followed_again(
    tabs: Tabs, serve: Serve, output: Path, tmp_path: Path
) -> None:
    page = tabs.open(f"{serve(output)}/gate/news")
    output.rename(tmp_path / "away")
    page.get_by_text("there is no such directory").wait_for()
    assert heading(page).startswith("May one train on accepted/: ")
    (tmp_path / "away").rename(output)
    page.get_by_text("there is no such directory").wait_for(state="detached")
    (output / entry_name(PANES)).write_text('{"pane": 40, "ver')
    page.get_by_text("not a ledger entry").wait_for()
    (output / entry_name(PANES)).unlink()
    board_ledgers.commit(output, PANES)
    page.locator(f".strip a[aria-label^='Pane {PANES} from']").wait_for()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_zoom_and_search(tabs: Tabs, serve: Serve, output: Path, scripts: bool) -> None:
    page = tabs.open(f"{serve(output)}/gate/news", java_script_enabled=scripts)
    assert page.locator(".strip a").count() == PANES
    page.get_by_label("from pane").fill("10")
    page.get_by_label("to pane").fill("19")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("heading", name="Panes that are shown: 10 to 19").wait_for()
    assert page.locator(".strip a").count() == 10
    assert (
        page.locator("figure svg[role=img]")
        .first.get_attribute("aria-label")
        .startswith("DR of age over 10 panes")
    )
    page.get_by_role("link", name="later").click()
    page.get_by_role("heading", name="Panes that are shown: 20 to 29").wait_for()
    page.get_by_label("or from (UTC)").fill("2026-01-01T00:05")
    page.locator("#until").fill("2026-01-01T00:07")
    page.get_by_label("from pane").fill("")
    page.get_by_label("to pane").fill("")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("heading", name="Panes that are shown: 5 to 7").wait_for()
    page.locator(".strip a").nth(1).click()
    page.get_by_role("heading", name="Pane 6", exact=True).wait_for()
    page.get_by_label("Document id").fill("doc/1")
    page.get_by_role("button", name="Find").click()
    page.get_by_text(f"panes {LAST} to {LAST} were looked at").wait_for()
    assert page.locator("del").inner_text() == "sister"
    assert page.locator("ins").inner_text() == "brother"
    page.get_by_role("cell", name="too unsure").wait_for()
    page.get_by_label("Document id").fill("no such")
    page.get_by_role("button", name="Find").click()
    page.get_by_text("Not found").wait_for()


def test_hold_and_release_by_keyboard(tabs: Tabs, serve: Serve, output: Path) -> None:
    address = serve(output)
    page, other = tabs.open(f"{address}/gate/news"), tabs.open(f"{address}/gate/news")

    def press_to(text: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent").strip() == text:
                return
        raise AssertionError(f"{text} is not reached by Tab")

    press_to("Hold…")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Token").wait_for()
    page.locator("#token").focus()
    page.keyboard.type("wrong-token-wrong")
    page.keyboard.press("Enter")
    page.get_by_text("that is not the token").wait_for()
    page.locator("#token").focus()
    page.keyboard.type(TOKEN)
    page.keyboard.press("Enter")
    for action, done in (("Hold", "Release…"), ("Release", "Hold…")):
        page.get_by_role("heading", name=f"{action} news").wait_for()
        page.locator("#who").focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("Ada <b>L</b>")
        page.keyboard.press("Tab")
        page.keyboard.type(f"{action}: <script>alert(1)</script>")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_role("link", name=done).wait_for()
        other.get_by_role("link", name=done).wait_for()  # another viewer sees it without loading
        if action == "Hold":
            other.get_by_text("Hold: <script>alert(1)</script>").first.wait_for()
            press_to("Release…")
            page.keyboard.press("Enter")
    assert [(each.action, each.reason) for each in hold.read_events(output)] == [
        ("hold", "Hold: <script>alert(1)</script>"),
        ("release", "Release: <script>alert(1)</script>"),
    ]


def test_tiles_are_walked_with_arrows(tabs: Tabs, serve: Serve, output: Path) -> None:
    page = tabs.open(f"{serve(output)}/gate/news")
    page.locator(".strip a[tabindex='0']").focus()
    for key in ("ArrowLeft", "ArrowUp", "Home", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Pane 11 ")
    assert page.locator(".strip a[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Pane 11", exact=True).wait_for()


def test_pages_suit_everybody(tabs: Tabs, serve: Serve, output: Path) -> None:
    """Each page in both widths and in both schemes."""
    shutil.copytree(output, output.parent / "second")
    hold.add_event(output.parent / "second", "hold", "a reason", PANES)
    address = serve(output, output.parent / "second", output.parent / "missing")
    opened = []
    for width, scheme in product(WIDTHS.values(), SCHEMES):
        page = tabs.open(f"{address}/unlock?gate=news", width, scheme)
        page.locator("#token").fill(TOKEN)
        page.get_by_role("button").last.click()
        page.get_by_role("heading", name="Hold news").wait_for()
        opened.append((width, page))
    found = {}
    paths = (
        "/",
        "/gate/news",
        "/gate/second?from=3&to=1",
        "/gate/missing",
        f"/gate/news/pane/{LAST}",
        f"/gate/news/dead/{LAST}",
        "/gate/news/document?id=doc/2",
        "/act/news",
        "/unlock",
        "/nowhere",
    )
    for number, path in enumerate(paths):
        for which in ((0, 3), (1, 2))[number % 2]:
            width, page = opened[which]
            page.goto(f"{address}{path}")
            page.evaluate(
                "document.querySelectorAll('details').forEach((each) => (each.open = true))"
            )
            found[path, which] = flaws(page)
            assert width_of(page) <= width, path
            wide = "each => each.scrollWidth > each.clientWidth"
            assert not page.locator(".cards").evaluate_all(f"all => all.some({wide})"), path
    assert not any(found.values()), found


def test_a_page_in_print(tabs: Tabs, serve: Serve, output: Path) -> None:
    page = tabs.open(f"{serve(output)}/gate/news")
    page.emulate_media(media="print")
    assert not page.get_by_role("button", name="Show").is_visible()
    assert not page.get_by_role("link", name="Hold…").is_visible()
    assert page.locator("figure svg[role=img]").first.is_visible()
    assert page.locator(".glossary").is_visible(), "what is folded is printed"
    assert page.pdf().startswith(b"%PDF")


def test_a_clock_that_jumps_changes_no_age(tabs: Tabs, serve: Serve, output: Path) -> None:
    page = tabs.open(f"{serve(output)}/gate/news")
    page.get_by_text("live", exact=True).wait_for()
    page.evaluate("const now = Date.now; Date.now = () => now() + 864e5 * 3")
    page.wait_for_timeout(1500)
    age = page.locator("time[data-at]").first.inner_text()
    assert age.endswith(("s ago", "min ago"))
    future = str(2**42)
    page.evaluate(f"document.querySelector('time').dataset.at = {future}")
    page.get_by_text("ahead of the server's clock").wait_for()
