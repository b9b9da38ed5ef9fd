"""The review of a draft in a real browser, by the keyboard alone, while its server is killed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import word_drafts
from services.browser import SCHEMES, WIDTHS, Served, Tabs, flaws, width_of

from evenflow.transforms.lab.word_lists import draft
from evenflow.transforms.lab.word_lists.agreement import agreement
from evenflow.transforms.lab.word_lists.journal import Journal

if TYPE_CHECKING:
    from playwright.sync_api import Page

WORDS = 60


def begin(tabs: Tabs, address: str, name: str, **settings: object) -> Page:
    """Open the printed address, and give a name by the keyboard."""
    page = tabs.open(address, **settings)  # type: ignore[arg-type]
    assert "token" not in page.url
    page.wait_for_selector("input:focus")  # a key before that is lost, and "da" is another reviewer
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 bdi")
    return page


def press(page: Page, key: str) -> None:
    """Press a key that loads a page, once the page before has its script."""
    page.wait_for_load_state()
    with page.expect_navigation():
        page.keyboard.press(key)


def word_of(page: Page) -> str:
    """The word that is shown."""
    return page.inner_text("h1 bdi")


def test_a_review_by_keyboard_survives_a_kill(tmp_path: Path, tabs: Tabs, served: Served) -> None:
    path = word_drafts.written(tmp_path, WORDS)
    address = served.start("review", "words", "review", path)
    page = begin(tabs, address, "Ada")
    expected: dict[str, str] = {}
    for number in range(WORDS // 2):
        expected[word_of(page)] = key = "yn12"[number % 4]
        press(page, key)
    # A wrong decision is taken back; a reload decides nothing
    press(page, "n")
    press(page, "u")
    assert word_of(page) == f"word{WORDS // 2}"
    page.reload()
    assert word_of(page) == f"word{WORDS // 2}"
    # A counterpart and a comment are typed; letters in a field are no commands
    page.keyboard.press("c")
    page.keyboard.type("yes, no, undo")
    press(page, "Enter")
    assert "yes, no, undo" in page.inner_text("main")
    page.context.close()
    served.processes[0].kill()
    served.processes[0].wait(30)
    address = served.start("review", "words", "review", path)
    page = begin(tabs, address, "Ada")
    for number in range(WORDS // 2, WORDS):
        expected[word_of(page)] = key = "yn12"[number % 4]
        press(page, key)
    assert "Every word is decided" in page.inner_text("main")
    journal = Journal(draft.read(path), path)
    own = journal.state().opinions["Ada"]
    meant = {"n": None, "1": "wood", "2": "metal"}
    for number in range(WORDS):
        key = expected[f"word{number}"]
        group = ("wood", "metal")[number % 2] if key == "y" else meant[key]
        assert own[f"word{number}"].decided and own[f"word{number}"].group == group
    # The second reviewer sees the first one's decisions, and differs about one word
    other = begin(tabs, address, "Ben")
    assert "Ada" in other.inner_text("main")
    press(other, "n")
    assert agreement(journal.state().opinions).disputed == ("word0",)
    with other.expect_navigation():
        other.click("text=1 disputed")
    press(other, "y")
    assert not agreement(journal.state().opinions).disputed


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_accessible(
    tmp_path: Path, tabs: Tabs, served: Served, width: str, scheme: str
) -> None:
    address = served.start("review", "words", "review", word_drafts.written(tmp_path))
    page = tabs.open(address, width=WIDTHS[width], scheme=scheme)
    assert not flaws(page)
    page.keyboard.type("Ada")
    press(page, "Enter")
    assert not flaws(page)
    assert width_of(page) <= WIDTHS[width]
    assert "alert(" in page.inner_text("main")
    for _ in range(4):
        press(page, "y")
    assert "Every word is decided" in page.inner_text("main")
    assert not flaws(page)
