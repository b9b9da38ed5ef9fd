"""Knowledge bases: CSV and Wikidata's lines, patterns, contradictions, names of several people."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from evenflow.transforms.io.files import InputError
from evenflow.transforms.measures.coverage.columns import read
from evenflow.transforms.measures.coverage.knowledge import Knowledge

CSV = """id,name,gender,ancestry,employer,birthplace
1,Ada,female,asian,M,Rome
1,Ada,,,N,
2,Bo,male,asian,M,Paris
3,Cy,female,,M,Rome
3,Cy,male,,,
4,Di,female,african,,
5,Di,female,asian,N,Rome
M,Mill & Sons,,,,
N,North,,,,
"""


@pytest.fixture
def known(tmp_path: Path) -> Knowledge:
    path = tmp_path / "kb.csv"
    path.write_text(CSV)
    return Knowledge.read(path)


def test_values_are_looked_up_and_never_guessed(known: Knowledge) -> None:
    assert known.value("Ada", "gender") == known.value("1", "gender") == "female"
    assert known.value("Cy", "gender") is None  # contradictory
    assert known.value("Di", "gender") == "female"  # both of them
    assert known.value("Di", "ancestry") is None
    assert known.value("5", "ancestry") == "asian"
    assert known.value("Eve", "gender") is None


def test_contradictions_are_told_with_their_places(known: Knowledge) -> None:
    assert known.contradictions(["gender"]) == [
        "3 (Cy): gender is female (kb.csv:5) and male (kb.csv:6)"
    ]


def test_facts_fit_the_pattern_and_do_not_repeat(known: Knowledge) -> None:
    found = list(known.collect("employer", {"gender": "female"}, {}))
    pairs = [(each.subject.name, each.object_name) for each in found]
    assert sorted(pairs) == [("Ada", "Mill & Sons"), ("Ada", "North"), ("Di", "North")]
    # Each subject once before one comes again
    assert {pairs[0][0], pairs[1][0]} == {"Ada", "Di"}
    assert {each.place for each in found} == {"kb.csv:2", "kb.csv:3", "kb.csv:8"}
    left = known.collect("employer", {"gender": "female"}, {}, known=pairs[:1])
    assert [(each.subject.name, each.object_name) for each in left] == pairs[1:]
    assert not list(known.collect("employer", {"gender": "female"}, {"gender": "male"}))
    assert not list(known.collect("nothing", {}, {}))


def test_what_holds(known: Knowledge) -> None:
    assert known.holds("Ada", "employer", "North")
    assert not known.holds("Bo", "employer", "North")
    assert known.objects("birthplace") == {"Rome", "Paris"}


def entity(identity: str, label: str | None, **claims: Any) -> dict[str, Any]:
    def claim(value: Any, rank: str = "normal") -> dict[str, Any]:
        kind = {"snaktype": "value", "datavalue": {"value": value}}
        return {"rank": rank, "mainsnak": kind if value is not None else {"snaktype": "novalue"}}

    return {
        "id": identity,
        "labels": {} if label is None else {"en": {"language": "en", "value": label}},
        "claims": {
            name: [claim(*(each if isinstance(each, tuple) else (each,))) for each in values]
            for name, values in claims.items()
        },
    }


@pytest.mark.parametrize("packed", [False, True])
def test_wikidata(tmp_path: Path, packed: bool) -> None:
    rows = [
        entity("Q1", "Ada", P21=[{"id": "Q90"}], P27=[{"id": "Q7"}, ({"id": "Q8"}, "preferred")]),
        entity("Q2", "Bo", P21=[({"id": "Q90"}, "deprecated"), None], P1477=[{"text": "Bob"}]),
        entity("Q8", "Peru", P30=[{"id": "Q18"}]),
        entity("Q18", "South America"),
        entity("Q90", "female"),
    ]
    text = "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n"
    path = tmp_path / f"kb.json{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    known = Knowledge.read(path, {"gender": "P21", "ancestry": "P27/P30"})
    assert known.value("Ada", "gender") == "female"
    assert known.value("Q1", "ancestry") == "South America"
    assert known.values(known.entities["Q1"], "ancestry") == {
        "South America": f"{path.name}:2, {path.name}:4"
    }
    assert known.value("Bo", "gender") is None
    assert known.value("Bo", "P1477") == "Bob"
    assert known.is_property("ancestry") and not known.is_property("P30x")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "a,b\n1,2\n"),
        ("a.csv", "id,name\n1,2,3\n"),
        ("a.csv", 'id,name\n1,"2\n'),
        ("a.json", "[1]"),
        ("a.json", '{"labels": {}}'),
        ("a.json", '{"id": "Q1", "claims": {"P1": [{}]}}'),
        ("a.csv.gz", "id,name\n"),
    ],
)
def test_what_is_no_knowledge_base_is_refused(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match="no knowledge base"):
        Knowledge.read(path)


def test_columns_are_looked_up(known: Knowledge, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    people = ["Ada", "Bo", "Cy", "Eve", None, "2"]
    path.write_text("".join(json.dumps({"subject": each}) + "\n" for each in people))
    table = read([str(path)], ["subject.gender", "subject.ancestry"], "value", known)
    # The values of the knowledge base are there, whether a row has them or not
    assert table.values == (("(missing)", "female", "male"), ("(missing)", "african", "asian"))
    assert table.total == 6
