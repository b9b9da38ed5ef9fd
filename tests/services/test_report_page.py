"""The report in a real browser: its policy lets its own style in, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import report_ledgers
from places import ROOT
from services.browser import SCHEMES, WIDTHS, Tabs, flaws, width_of

from evenflow.pipelines.lab.paper.page import page as experiment_page
from evenflow.pipelines.pages.report.report import build


def test_the_page_is_drawn_and_a_script_that_got_in_does_not_run(
    tmp_path: Path, tabs: Tabs
) -> None:
    report_ledgers.write(tmp_path, report_ledgers.entries(12), report_ledgers.settings())
    page = tabs.open(Path(build(tmp_path)).as_uri())
    assert page.evaluate("getComputedStyle(document.querySelector('.card')).borderTopStyle") == (
        "solid"
    )
    assert tabs.complaints == []
    altered = tmp_path / "altered.html"
    script = "<script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\">"
    text = (tmp_path / "report.html").read_text("utf-8")
    altered.write_text(text.replace("</main>", f"{script}<style>* {{}}</style></main>"), "utf-8")
    assert "Evenflow report" in tabs.open(altered.as_uri()).title()
    refused = " ".join(tabs.complaints)
    assert ("script" in refused and "style" in refused and "img" in refused) or "image" in refused
    tabs.complaints.clear()


def test_pages_suit_everybody(tmp_path: Path, tabs: Tabs) -> None:
    """Each page in both widths and in both schemes."""
    panes = report_ledgers.hostile(12)
    report_ledgers.write(tmp_path, panes, report_ledgers.settings())
    other = tmp_path / "experiment.html"
    found = json.loads((ROOT / "docs" / "experiment" / "speeches.json").read_text("utf-8"))
    other.write_text(experiment_page(found), "utf-8")
    for path, schemes in ((Path(build(tmp_path)), SCHEMES), (other, SCHEMES[::-1])):
        for width, scheme in zip(WIDTHS.values(), schemes, strict=True):
            page = tabs.open(path.as_uri(), width, scheme)
            page.evaluate(
                "document.querySelectorAll('details').forEach((each) => (each.open = true))"
            )
            assert flaws(page) == []
            assert width_of(page) <= width, path.name
