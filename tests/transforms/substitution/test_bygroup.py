"""Words of lists without pronouns, and their replacements."""

from __future__ import annotations

import pytest
from person_chains import chains


@pytest.mark.parametrize(
    ("attribute", "text", "group", "wanted"),
    [
        ("religion", "A Muslim came.", "judaism", {"Muslim": "Jew"}),
        ("religion", "A Muslim school opened.", "judaism", {"Muslim": "Jewish"}),
        ("religion", "The muslim is loud.", "christianity", {"muslim": "christian"}),
        ("religion", "Catholic priests came.", "islam", {"Catholic": "", "priests": "imams"}),
        (
            "religion",
            "An evangelical Christian.",
            "islam",
            {"evangelical": "", "Christian": "Muslim"},
        ),
        (
            "religion",
            "A Christian at church.",
            "islam",
            {"Christian": "Muslim", "church": "the mosque"},
        ),
        ("religion", "The imam's mosque.", "christianity", {"imam": "pastor", "mosque": "church"}),
        ("age", "The elderly are lonely.", "middle", {"elderly": None}),
        ("age", "An elderly baker came.", "young", {"elderly": "youthful"}),
        ("age", "A youthful teenager came.", "old", {"youthful": "", "teenager": "retiree"}),
        ("age", "The kids came.", "old", {"kids": "retirees"}),
        ("age", "The elderly are lonely.", "young", {"elderly": None}),  # no word of that role
    ],
)
def test_what_a_word_would_become(
    attribute: str, text: str, group: str, wanted: dict[str, str | None]
) -> None:
    items = [item for chain in chains(attribute, text) for item in chain]
    assert {text[item.start : item.end]: item.replacements.get(group) for item in items} == wanted
