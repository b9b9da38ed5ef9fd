"""`evenflow gate export --list` and others on a ledger, in a directory and an object store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from report_ledgers import entries, settings

from evenflow.gates.ledger import segments
from evenflow.gates.ledger.files import write_meta
from evenflow.gates.ledger.history import History
from evenflow.schemas.ledger import PaneEntry, Shard
from evenflow.transforms.storage.storage import Storage, at

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

PANES = 11


@pytest.fixture(params=["directory", "memory"])
def output(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Storage:
    """An output with PANES panes, most of them in segments, and a file that no entry names."""
    monkeypatch.setattr(segments, "EVERY", 4)
    place = tmp_path / "a b%20c" if request.param == "directory" else f"memory://{uuid4().hex}/a b"
    storage = at(place)
    write_meta(storage, settings())
    history = History(storage)
    for entry in made():
        history.commit(entry)
    storage.write("accepted/part-00000099-0000.parquet", b"left by a kill")
    return storage


def made() -> list[PaneEntry]:
    """Panes with files in every folder; each third pane is blocked."""

    def file(name: str, pane: int) -> Shard:
        return Shard(name=name, rows=pane, bytes=10 * pane, sha256=f"{pane:064x}")

    return [
        each.model_copy(
            update={
                "folder": "quarantine" if each.pane % 3 == 2 else "accepted",
                "shards": [
                    file(f"part-{each.pane:08d}-{n:04d}.parquet", each.pane) for n in (0, 1)
                ],
                "dead_letters": file(f"part-{each.pane:08d}.jsonl", each.pane),
                "set_aside": file(f"part-{each.pane:08d}-aside.parquet", each.pane),
                "sentence_table": None,
            }
        )
        for each in entries(PANES)
    ]


def listed(call: Call, *words: object) -> list[tuple[str, int]]:
    """Address and pane of each line."""
    ended = call("gate", "export", "--list", "accepted", *words)
    assert (ended.status, ended.err) == (0, "")
    rows = [line.split("\t") for line in ended.out.splitlines()]
    assert all(row[3] == f"{int(row[1]):064x}" and int(row[2]) == 10 * int(row[1]) for row in rows)
    return [(row[0], int(row[4])) for row in rows]


def test_what_the_ledger_accepts_is_listed_and_nothing_else(call: Call, output: Storage) -> None:
    accepted = [pane for pane in range(PANES) if pane % 3 != 2]
    assert listed(call, output) == [
        (output.address(f"accepted/part-{pane:08d}-{n:04d}.parquet"), pane)
        for pane in accepted
        for n in (0, 1)
    ]
    blocked = listed(call, output, "--list", "quarantine")
    assert {pane for address, pane in blocked if "aside" not in address} == {2, 5, 8}
    assert {pane for address, pane in blocked if "aside" in address} == set(range(PANES))
    letters = listed(call, output, "--list", "dead-letter")
    assert [pane for _, pane in letters] == list(range(PANES))
    assert listed(call, output, "--list", "sentences") == []


@pytest.mark.parametrize(
    ("given", "panes"),
    [
        ("3..6", [3, 4, 5, 6]),
        ("9..", [9, 10]),
        ("7", [7]),
        ("10..99", [10]),
        ("11..", []),
        ("6..3", []),
    ],
)
def test_panes_of_a_range(call: Call, output: Storage, given: str, panes: list[int]) -> None:
    found = listed(call, output, "--list", "dead-letter", "--pane", given)
    assert [pane for _, pane in found] == panes


@pytest.mark.parametrize("given", ["-1", "a", "1-3", "..", "1..2..3"])
def test_what_is_no_range_is_wrong_usage(call: Call, output: Storage, given: str) -> None:
    ended = call("gate", "export", "--list", "accepted", output, f"--pane={given}")
    assert ended.status == 2 and "--pane" in ended.err


@pytest.mark.parametrize("given", ["11", "99", "12..40"])
def test_a_pane_that_is_not_there_is_named(call: Call, output: Storage, given: str) -> None:
    ended = call("gate", "export", "--list", "accepted", output, "--pane", given)
    assert ended.status == 2 and "there are panes 0..10" in ended.err


def test_a_pane_that_a_person_accepted_is_listed_where_its_files_are(
    call: Call, output: Storage
) -> None:
    assert listed(call, output, "--pane", "2") == []
    for _ in range(2):  # the second time nothing is written
        ended = call("gate", "accept", output, "--pane", "2..3", "--reason", "read", "--by", "Ada")
        assert ended.status == 0
    assert "nothing was written" in ended.out
    assert output.names("ledger/reviews") == ["00000000.json"]
    told = call("gate", "export", "--list", "accepted", output, "--json", "--pane", "2").out
    addresses = [json.loads(line)["address"] for line in told.splitlines()]
    assert addresses[0] == output.address("quarantine/part-00000002-0000.parquet")
    undone = call("gate", "accept", "--undo", output, "--pane", "2", "--reason", "read again")
    assert undone.status == 0
    assert listed(call, output, "--pane", "2") == []
    own = call("gate", "accept", output, "--pane", "1..2", "--pane", "4", "--reason", "read")
    assert "the gate itself had accepted 1 of 2\npane 4: accept by " in own.out
    wrong = call("gate", "accept", "--reject", output, "--pane", "9..11", "--reason", "read")
    assert wrong.status == 2 and "there is no pane 11" in wrong.err
    assert call("gate", "accept", output, "--pane", "2", "--reason", " ").status == 2


def test_a_folder_that_is_none_is_wrong_usage(call: Call, output: Storage) -> None:
    ended = call("gate", "export", "--list", "staged", output)
    assert ended.status == 2 and "--list" in ended.err


def test_json_is_an_object_a_line(call: Call, output: Storage) -> None:
    lines = call(
        "gate", "export", "--list", "accepted", output, "--json", "--pane", "1"
    ).out.splitlines()
    assert [json.loads(line) for line in lines] == [
        {
            "address": output.address(f"accepted/part-00000001-{n:04d}.parquet"),
            "rows": 1,
            "bytes": 10,
            "sha256": f"{1:064x}",
            "pane": 1,
        }
        for n in (0, 1)
    ]


def test_the_other_commands_work_there_too(call: Call, output: Storage) -> None:
    assert call("gate", "status", output, "--json").json["panes"] == PANES
    assert "held by" in call("gate", "hold", output, "--reason", "a look").out
    assert call("gate", "status", output, "--json").json["held"].endswith("a look")
    assert "released by" in call("gate", "release", output, "--reason", "seen").out
    output.write(segments.CHECKPOINT, b"no JSON")
    assert call("gate", "verify", output).status == 1
    assert call("gate", "verify", output, "--rebuild", "--json").json["panes"] == PANES
    assert call("gate", "report", output).out.strip() == output.address("report.html")
    assert json.loads(output.read("report.json"))["panes"] == PANES


def test_where_no_ledger_is_it_says_so(call: Call) -> None:
    place = f"memory://{uuid4().hex}/nothing"
    for command in ("export --list accepted", "status", "report", "verify"):
        ended = call("gate", *command.split(), place)
        assert (ended.status, ended.out) == (2, "")
        assert ended.err == (
            f"evenflow: {place}: no ledger here; give the --output directory of a run\n"
        )
