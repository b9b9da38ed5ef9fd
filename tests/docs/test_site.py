"""The documentation builds without a broken link, and its pages load nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from places import ROOT

from evenflow.transforms.measures.representation import interval

pytest_plugins = ["built_site"]
# Attributes by which a page loads something as it is shown; a link (a href) loads nothing.
LOADING = {"src", "srcset", "data", "poster"}
# Files or folders of the repository, as texts name them
PATH = re.compile(
    r"\b(?:pipelines|gates|transforms|schemas|wordlists|prompts|tests|docs|deploy)/[\w/.*-]+[\w*]/?"
)
ALONE = {"experiment.html"}  # pages that need no other file
STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?([^\"')]+)")


class Resources(HTMLParser):
    """Collects what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            loads = name in LOADING or (tag == "link" and name == "href")
            if value and loads:
                self.found.append(value)
            elif value and name == "style":
                self.found += STYLE.findall(value)


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 20
    elsewhere: list[str] = []
    for path in pages:
        resources = Resources()
        resources.feed(path.read_text(encoding="utf-8"))
        styled = resources.found or path.name in ALONE
        assert styled, f"{path.name} loads no style: the page is not what was meant"
        # For a drawing of this class the theme's script loads Mermaid from a server
        assert 'class="mermaid"' not in path.read_text(encoding="utf-8"), path.name
        elsewhere += [
            f"{path.name}: {each}" for each in resources.found if re.match(r"(\w+:)?//", each)
        ]
    for path in site.rglob("*.css"):
        found = STYLE.findall(path.read_text(encoding="utf-8"))
        elsewhere += [f"{path.name}: {each}" for each in found if re.match(r"(\w+:)?//", each)]
    assert not elsewhere, "\n".join(elsewhere)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_of_the_files_beside_the_code_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)", text)
    assert [each for each in targets if not (ROOT / each).exists()] == []


def test_paths_that_texts_name_are_there() -> None:
    texts = [ROOT / "NOTICE", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    texts += [*ROOT.glob("tests/data/*.md"), *ROOT.glob("transforms/models/shipped/*.md")]
    named = {(path.name, each) for path in texts for each in PATH.findall(path.read_text("utf-8"))}
    assert len(named) > 50
    assert sorted(each for each in named if not [*ROOT.glob(each[1])]) == []


def test_pages_have_what_is_made_from_the_code(site: Path) -> None:
    stated = " ".join(str(interval.__doc__).split()[:4])
    expected = {
        "reference.html": (
            "min_mentions",
            "max_text_mib",
            "evenflow words check",
            "--publish-from",
        ),
        "operations.html": ("evenflow_panes_total", "evenflow_dr_low"),
        "statistics.html": (stated, "documents_until"),
        "architecture.html": ("transforms/", "<svg"),
        "contributing.html": ("Add an attribute",),
        "api.html": ("AnnotateDocuments", "Parameters", "Raises"),
    }
    for name, words in expected.items():
        text = (site / name).read_text(encoding="utf-8")
        assert "<p>::: " not in text, f"{name} has a directive that nothing replaced"
        for word in words:
            assert word in text, f"{name}: {word}"


def test_guides_have_no_tables_of_experiments() -> None:
    """They say what to do; what was measured stands under “How good it is”, with its command."""
    nav = (ROOT / "docs" / "mkdocs.yml").read_text("utf-8")
    guides = re.search(r"- Guides:\n(.*?)\n  - \w", nav, re.S)
    assert guides is not None
    pages = re.findall(r": (\w+\.md)", guides[1])
    assert len(pages) > 12
    texts = {page: (ROOT / "docs" / "pages" / page).read_text("utf-8") for page in pages}
    assert [page for page, text in texts.items() if "tests/benchmarks/" in text] == []
