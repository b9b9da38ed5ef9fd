"""Stereotypes as a measure: where they stand in entries, checkpoints and reports."""

from typing import Any

import pytest
from report_ledgers import entries

from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config.loading import load
from evenflow.schemas.ledger import Filtered, PaneEntry
from evenflow.transforms.measures import registry

NAMES = ("gender", "race", "nationality")


def found(**strong: int) -> dict[str, Any]:
    """What the filter counts of a pane: the strong ones by attribute or kind of group."""
    seen = {name: Filtered(action="flag", threshold=0.66) for name in NAMES}
    for name, count in strong.items():
        seen[name].asked, seen[name].potential, seen[name].strong = 10, count, count
    return {name: each.model_dump() for name, each in seen.items()}


@pytest.fixture
def panes() -> list[PaneEntry]:
    """Two panes of the attribute gender, with what was found of stereotypes."""
    config = load(None, {}, ["gender"])
    out = entries(2)
    for entry, counted in zip(out, (found(gender=2), found(gender=1, race=3)), strict=True):
        measure = registry.SHIPPED["stereotypes"]
        entry.measures["stereotypes"] = measure.judge(config, config.word_lists(), counted, None)
    return out


def test_they_stand_by_attribute_and_groups_without_a_list_apart(panes: list[PaneEntry]) -> None:
    found = [entry.model_dump()["measures"]["stereotypes"] for entry in panes]
    assert [each["attributes"]["gender"]["strong"] for each in found] == [2, 1]
    assert [list(each["unlisted"]) for each in found] == [[], ["race"]]


def test_a_checkpoint_gives_the_same_sums_back(panes: list[PaneEntry]) -> None:
    totals = Totals.of(panes)
    stored = totals.model_dump(mode="json")
    last = stored["measures"]["stereotypes"]["last"]
    assert last["attributes"]["gender"]["strong"] == last["unlisted"]["race"]["strong"] == 3
    assert Totals.model_validate(stored) == totals
    nothing = Totals.of(entries(1))
    stored = nothing.model_dump(mode="json")
    assert stored["measures"] == {}
    assert Totals.model_validate(stored) == nothing


def test_triggers_cards_and_notes_read_them(panes: list[PaneEntry]) -> None:
    measure, totals = registry.SHIPPED["stereotypes"], Totals.of(panes).measures["stereotypes"]
    record: Any = panes[0].measures["stereotypes"]
    assert measure.figure(record, "gender") == 0.2 and measure.figure(record, "age") is None
    [line] = measure.said(totals, "gender")
    assert line == ("gender: 3 strong stereotypes were found among 20 sentences (action flag).")
    assert not list(measure.said(totals, "age")) and not list(measure.notes(record))
    own = {"action": "remove", "threshold": 0.66, "read": 61, "right": 45}
    record.attributes["gender"] = Filtered.model_validate(own)
    [line] = measure.notes(record)
    assert line.startswith("stereotypes were flagged and not taken out")
    assert line.endswith("(gender: 0.74 of 61 read)")
    record.attributes["gender"] = Filtered.model_validate({**own, "cut": 0.7})
    [line] = measure.notes(record)
    assert "were taken out" in line and line.endswith("(gender: 0.74 of 61 read)")
    record.attributes["gender"] = Filtered.model_validate({**own, "cut": 0.7, "right": 55})
    assert not list(measure.notes(record))
