"""The files of an output are compared with its ledger."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pane_files import written

from evenflow.gates.ledger import output_files
from evenflow.gates.ledger.history import History
from evenflow.transforms.storage.storage import Storage

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


@pytest.fixture
def output(begun: Storage) -> Storage:
    """An output with six panes, four of them in a segment."""
    history = History(begun)
    for pane in range(6):
        history.commit(written(begun, pane, (3,), dead_letters=".jsonl"))
    return begun


def test_every_file_is_there_as_it_was_written(call: Call, output: Storage) -> None:
    ended = call("gate", "verify", output, "--files")
    assert ended.status == 0 and ended.out.splitlines()[-1] == (
        "12 files with 398 bytes are as the ledger says, and there is no other"
    )


def test_what_is_missing_changed_or_unknown_is_named(call: Call, output: Storage) -> None:
    output.remove(["accepted/part-00000000-0000.parquet"])
    output.write("quarantine/part-00000003-0000.parquet", b"Quarantine/part-00000003-0000.parquet")
    output.write("dead-letter/part-00000005.jsonl", b"cut")
    output.write("accepted/part-00000003-0000.parquet", b"of another folder")
    output.write("sentences/mine.parquet", b"")
    output.write("accepted/part-00000006-0000.parquet", b"of a commit that was killed")
    found = {
        "files": 12,
        "bytes": 398,
        "missing": ["accepted/part-00000000-0000.parquet"],
        "changed": ["quarantine/part-00000003-0000.parquet", "dead-letter/part-00000005.jsonl"],
        "pruned": 0,
        "unknown": ["accepted/part-00000003-0000.parquet", "sentences/mine.parquet"],
        "next": ["accepted/part-00000006-0000.parquet"],
    }
    ended = call("gate", "verify", output, "--files", "--json")
    assert ended.status == 1 and json.loads(ended.out)["files"] == found
    ended = call("gate", "verify", output, "--files")
    assert ended.status == 1
    for line in (
        "missing: accepted/part-00000000-0000.parquet",
        "changed: dead-letter/part-00000005.jsonl",
        "not in the ledger: sentences/mine.parquet",
    ):
        assert line in ended.out.splitlines()
    assert call("gate", "verify", output).status == 0  # the entries alone are sound


def test_a_start_names_shards_that_no_recent_pane_has(output: Storage) -> None:
    """Of the four panes in the segment a start counts the files, and reads no entry."""
    history = History(output)
    assert output_files.strays(output, history) == ([], [], 0)
    names = ("mine", "part-00000004-0007", "part-00000006-0000")
    strays = [f"accepted/{name}.parquet" for name in names]
    for name in strays:
        output.write(name, b"")
    assert output_files.strays(output, history) == (strays, [], 0)
    for folder, pane in (("accepted", "00000001-0001"), ("accepted", "00000003-0000")):
        output.write(f"{folder}/part-{pane}.parquet", b"")
    assert output_files.strays(output, history) == (strays, [], 2)
    output.remove([f"accepted/part-{pane:08d}-0000.parquet" for pane in range(3)])
    assert output_files.strays(output, history) == (strays, [], -1)


def test_panes_that_are_committed_meanwhile_are_no_fault(
    output: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, tree = History(output), output.tree

    def listed(folder: str = ""):
        if folder == "accepted":
            History(output).commit(written(output, 6, (3,), dead_letters=".jsonl"))
        return tree(folder)

    monkeypatch.setattr(output, "tree", listed)
    assert output_files.compare(output, history).is_sound
