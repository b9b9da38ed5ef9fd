"""The measured lists against what was read of their labels."""

from __future__ import annotations

import pytest
from benchmarks import label_precision

from evenflow.wordlists.loader import ORIGINAL, load

COUNTERPARTS = {"goddess", "prioress", "doña", "sisterhood"}  # of god, prior, don, brotherhood
RETOLD = {"middle", "middles"}  # of table 13: replaced by “middle aged”


def test_what_mostly_names_nobody_has_left_the_measured_lists() -> None:
    out = {
        each for each, kinds in label_precision.evidence().items() if label_precision.leaves(kinds)
    }
    assert out >= {("age", "veteran"), ("gender", "prior"), ("religion", "cohen")}
    assert not [each for each in out if each[1] in load(each[0]).labels]


@pytest.mark.parametrize("name", ORIGINAL)
def test_nothing_else_has_left(name: str) -> None:
    table = load(name)
    out = {
        label
        for (attribute, label), kinds in label_precision.evidence().items()
        if attribute == table.attribute and label_precision.leaves(kinds)
    }
    left = table.labels.keys() - load(table.attribute).labels.keys()
    assert left - COUNTERPARTS - RETOLD <= out
