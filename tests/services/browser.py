"""A real browser for tests of pages: Debian's Chromium, driven by Playwright, with axe-core.

A test of another page needs its own server only: it gets a tab from the fixture `tabs`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = "chromium"
WIDTHS = {"narrow": 400, "wide": 1400}
SCHEMES = ("light", "dark")
MILLISECONDS = 15_000  # that a tab waits for what a test expects


def installed() -> str | None:
    """None if there is a browser; else what is missing and the line that brings it."""
    if shutil.which(CHROMIUM) is None:
        return "no chromium: run `make browser` (Debian's apt-get)"
    for package in ("playwright", "axe_playwright_python"):
        if importlib.util.find_spec(package) is None:
            return f"no Python package {package}: run `make install`"
    return None


@contextmanager
def running() -> Iterator[Browser]:
    """A browser for some tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium's own sandbox needs rights that containers and root do not have
        browser = playwright.chromium.launch(
            executable_path=shutil.which(CHROMIUM), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


class Tabs:
    """Opens tabs for a test, and collects what pages complain about.

    complaints: Errors of scripts, and what the content security policy refused.
    """

    def __init__(self, browser: Browser):
        self._browser, self.complaints = browser, []
        self._contexts: list[Any] = []

    def open(
        self, address: str, width: int = WIDTHS["wide"], scheme: Any = "light", **settings: Any
    ) -> Page:
        """Open an address in a fresh context, which shares no cookie with other tabs."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **settings
        )
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(MILLISECONDS)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.on(
            "console",
            lambda said: (
                self.complaints.append(said.text)
                if said.type == "error" and "Failed to load resource" not in said.text
                else None
            ),
        )
        page.goto(address)
        return page

    def close(self) -> None:
        """Close all of them."""
        for context in self._contexts:
            context.close()


class Served:
    """Commands that serve pages, until the end of a test. folder: of what they say."""

    def __init__(self, folder: Path):
        self._said = folder / "said.err"
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, kind: str, *words: object, **environment: str) -> str:
        """Start one; the address that it prints behind a word."""
        code = "import sys; from evenflow.pipelines.cli.app import main; main(sys.argv[1:])"
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, words)],
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=self._said.open("w"),
            text=True,
        )
        self.processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(f"{kind}: http"), self._said.read_text()
        return line.split()[1]

    def stop(self) -> None:
        """End all, without a traceback."""
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) in (143, -signal.SIGKILL)
            assert "Traceback" not in self._said.read_text()


def flaws(page: Page) -> list[str]:
    """What axe-core finds wrong with a page for people with disabilities: rule, and where."""
    import axe_playwright_python

    script = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")
    # The page's policy refuses a script element; the debugger's evaluation is not of the page
    page.evaluate(script)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')[:300]}"
        for each in found["violations"]
        for node in each["nodes"][:3]
    ]


def width_of(page: Page) -> int:
    """How wide the content of a page is, in pixels."""
    return page.evaluate("document.documentElement.scrollWidth")
