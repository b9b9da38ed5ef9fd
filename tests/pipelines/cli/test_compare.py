"""`evenflow compare`: what was kept beside what was removed, and versions of a corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Call

from evenflow.pipelines.corpus.compare import names_of

pytest_plugins = ["commands"]

EVEN, MEN, WOMEN = "She met him.", "He met his brother.", "She met her sister."


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows(source: str, text: str, number: int, first: str = "") -> list[dict[str, Any]]:
    return [{"id": f"{first}{source}{at}", "text": text, "source": source} for at in range(number)]


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """The filter removes mostly news, where men are named; within a source it is blind."""
    kept = [*rows("forum", EVEN, 90), *rows("news", MEN, 30), {"id": "none", "text": None}]
    removed = [*rows("forum", EVEN, 30, "r"), *rows("news", MEN, 90, "r")]
    return write(tmp_path / "kept.jsonl", kept), write(tmp_path / "removed.jsonl", removed)


def test_the_mix_of_sources_is_told_from_the_filter(call: Call, sides: tuple[Path, Path]) -> None:
    done = call("compare", *sides, "--by", "source", "-a", "gender", "--json")
    found = json.loads(done.out)
    own = found["attributes"]["gender"]
    assert (found["documents"], found["dead_letters"], found["shared"]) == ([120, 120], [1, 0], 0)
    assert own["all"]["dr"]["high"] < 0
    assert own["same_mix"]["dr"]["value"] == pytest.approx(0, abs=1e-6)
    assert set(own["sources"]) == {"forum", "news"}
    shown = call("compare", *sides, "--by", "source", "-a", "gender").out
    assert "The mix of sources makes the difference" in shown
    assert "not compared: 1 record without" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_equal_ids_make_versions_and_ids_that_are_made_do_not(call: Call, tmp_path: Path) -> None:
    older = write(tmp_path / "a.jsonl", [*rows("x", EVEN, 20), *rows("y", MEN, 20)])
    newer = write(tmp_path / "b.jsonl", rows("x", EVEN, 20))
    shown = call("compare", older, newer, "-a", "gender").out
    assert "40 in a and 20 in b, 20 ids in both: versions" in shown
    assert "60.0% of all mentions were removed" in shown
    shown = call("compare", older, newer, "--unpaired").out
    assert "differences: b less a" in shown and "removed" not in shown
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    for folder in ("one", "two"):
        write(tmp_path / folder / "same.jsonl", [{"text": EVEN}] * 3)
    assert 'shared": 0' in call("compare", tmp_path / "one", tmp_path / "two", "--json").out


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("news/january/*.jsonl.gz", "news/february/*.jsonl.gz", ["january", "february"]),
        ("a/articles_2025_v2.jsonl", "b/articles_2026_v2.jsonl", ["2025", "2026"]),
        ("out/accepted/", "out/quarantine", ["accepted", "quarantine"]),
        ("web", "web_filtered", ["web", "web_filtered"]),
        ("a/x", "x", ["a/x", "x"]),
        ("x", "x", ["x", "x again"]),
    ],
)
def test_inputs_have_short_names(first: str, second: str, names: list[str]) -> None:
    assert names_of(first, second) == names


def test_sources_are_sorted_worst_first(call: Call, tmp_path: Path) -> None:
    sources = {"even": EVEN, "fell": MEN, f"long-{'name ' * 9}": EVEN}
    for month, text in (("january", MEN), ("february", EVEN)):
        own = [row for name, one in sources.items() for row in rows(name, one, 90, month)]
        own += rows("changed", text, 90, month)
        write(tmp_path / f"news_{month}.jsonl", own)
    files = [tmp_path / f"news_{month}.jsonl" for month in ("january", "february")]
    shown = call("compare", *files, "--by", "source", "-a", "gender").out
    assert "360 in january and 360 in february" in shown and "removed" not in shown
    lines = [line.split()[0] for line in shown.splitlines() if " → " in line]
    assert lines.index("changed") < lines.index("even")
    assert all(len(line) <= 80 and "…" not in line for line in shown.splitlines())
    out = call("measure", files[0], "--by", "source", "-a", "gender", "-q").out
    assert "gender by source, worst first" in out and "male 100.0%" in out
    found = call("measure", files[0], "--by", "source", "-a", "gender", "--json").json
    own = found["attributes"]["gender"]["sources"]
    assert list(own)[-1] not in ("fell", "changed") and own["fell"]["all_documents"] == 90
    assert own["fell"]["counts"] == {"female": 0, "male": 270}
    assert "no document has the field 'x'" in call("measure", files[0], "--by", "x").err


def test_a_source_that_turned_round_is_first_though_its_dr_is_the_same(
    call: Call, tmp_path: Path
) -> None:
    files: list[Path] = []
    for month, women in (("january", 70), ("february", 30)):
        own = [*rows("even", EVEN, 90, month), *rows("turned", WOMEN, women, month)]
        own += rows("turned", MEN, 100 - women, f"m{month}")
        files.append(write(tmp_path / f"{month}.jsonl", own))
    shown = call("compare", *files, "--by", "source", "-a", "gender").out
    assert "february less january, so + is more in february" in shown
    first, second = [line.split() for line in shown.splitlines() if " → " in line]
    assert first[:5] == ["turned", "female", "70.0%", "30.0%", "-40.0"]
    assert first[-3] == first[-1] == "0.200" and second[0] == "even"


@pytest.mark.parametrize(
    ("options", "status", "says"),
    [
        (("--by", "domain"), 2, "no record has the field 'domain'"),
        (("--set", "fields.text=body"), 2, "no field 'body'"),
        (("-a", "colour"), 2, "no list of that name is shipped"),
    ],
)
def test_wrong_fields_are_named(
    call: Call, sides: tuple[Path, Path], options: tuple[str, ...], status: int, says: str
) -> None:
    ended = call("compare", *sides, *options)
    assert (ended.status, says in ended.err) == (status, True), ended.err


def test_an_empty_side_is_no_comparison(call: Call, sides: tuple[Path, Path]) -> None:
    sides[1].write_text("")
    ended = call("compare", *sides)
    assert ended.status == 3 and "120 in kept and 0 in removed" in ended.out
