"""«Mr» and «Ms»."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.titles import AMONG_NAMED, SURNAME_ALONE, Titles


def weights(text: str, report: bool = False) -> list[float]:
    titles, items = Titles(text), list[Item]()
    at = text.find("Mr ")
    while at >= 0:
        items.append(Item(at, at + 2, "mr", "male", "title", 0, None))
        titles.check(items[-1])
        at = text.find("Mr ", at + 1)
    titles.settle(items, report)
    return [item.weight for item in items]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Mr Okoro left.", [SURNAME_ALONE]),
        ("Mr John Okoro left.", [0.1]),
        ("Mr President left.", [0.1]),
        ("Mr Churchill left.", [0.1]),
        ("Ada Okoro came. Mr Okoro left.", [0.1]),
        ("Ada Okoro came. Mr Okoro met Mr Lyle.", [0.1, AMONG_NAMED]),
        ("Mr Okoro met Mr Lyle.", [SURNAME_ALONE, SURNAME_ALONE]),
        ("the Mr left", [0.3]),
    ],
)
def test_who_is_known_by_name(text: str, wanted: list[float]) -> None:
    assert weights(text) == wanted


def test_in_a_report_who_has_a_title_was_named() -> None:
    assert weights("Mr Okoro left.", report=True) == [AMONG_NAMED]
