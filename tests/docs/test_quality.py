"""The quality page has the numbers of cases that its command prints."""

import re

import pytest
from places import ROOT

PAGE = ROOT / "docs" / "pages" / "quality.md"


def test_the_documents_of_stereotypes_are_those_that_the_command_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "benchmarks"))
    import stereotype_documents as figures

    kept, left_out = figures.documents()
    found = [
        figures.stated(each["text"], figures.sentences(each["text"]), each["stereotypes"])
        for each in kept
    ]
    kinds = [kind for each, *_ in found for kind in each]
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    listed, other = (kinds.count(kind) for kind in (figures.LISTED, figures.OTHER))
    assert f"{left_out} are left out" in page
    assert f"That leaves {len(kept)} documents with {len(kinds):,} sentences. {listed} of" in page
    assert f"{other} more one of other groups" in page


def test_readme_repeats_the_figures_of_the_quality_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = set(re.findall(r"\d\.\d\d \[\d\.\d\d, \d\.\d\d\]", readme))
    assert len(figures) == 6
    page = PAGE.read_text(encoding="utf-8")
    assert not {figure for figure in figures if figure not in page}
