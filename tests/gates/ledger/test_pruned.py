"""What a gate no longer needs is deleted; the ledger and what counts as accepted stay."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pane_files import written
from report_ledgers import settings

from evenflow.gates.lease import Lease
from evenflow.gates.ledger import output_files, pruned, reviews
from evenflow.gates.ledger.files import write_meta
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.pruned import KINDS, Old
from evenflow.transforms.storage.storage import Storage, Stored, at

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]
DAY = 86_400 * 10**9


@pytest.fixture
def output(begun: Storage) -> Storage:
    """An output with eight panes, four of them in a segment; 1, 3 and 5 were blocked."""
    history = History(begun)
    for pane in range(8):
        history.commit(written(begun, pane, (1, 3, 5), set_aside="-aside.parquet"))
        begun.write(f"checks/gx/validations/gate/pane-{pane:08d}/now/batch.json", b"{}")
    begun.write("staged/left/000.arrow", b"of a run that was killed")
    return begun


def quarantined(*panes: int, aside: bool = True) -> list[str]:
    """The files of quarantine of panes 1, 3 and 5, and of all others if `aside`."""
    names = [f"quarantine/part-{pane:08d}-0000.parquet" for pane in panes]
    return sorted(names + [f"quarantine/part-{n:08d}-aside.parquet" for n in range(8) if aside])


def files(output: Storage) -> set[str]:
    return {each.name for each in output.tree() if not each.name.startswith("gate/")}


def test_nothing_is_deleted_without_a_word(call: Call, output: Storage) -> None:
    before = files(output)
    ended = call("gate", "verify", output, "--prune", "0B")
    assert ended.status == 0 and files(output) == before
    assert ended.out.splitlines() == [
        "checks: 8 files, 16 bytes",
        "quarantine: 11 files, 415 bytes",
        "staged: 1 file, 24 bytes",
        "nothing was deleted; --delete does it",
    ]


def test_all_goes_but_the_ledger_and_what_is_accepted(call: Call, output: Storage) -> None:
    reviews.add(output, "accept", range(3, 4), "one author")
    before = files(output)
    assert call("gate", "verify", output, "--prune", "0B", "--delete").status == 0
    gone = before - files(output)
    assert {name for name in gone if name.startswith("quarantine/")} == {*quarantined(1, 5)}
    assert {name.partition("/")[0] for name in gone} == {"quarantine", "checks", "staged"}
    ended = call("gate", "verify", output, "--files")
    assert ended.status == 0, ended.out
    assert "pruned: 10 files, as ledger/pruned/ says" in ended.out
    assert output_files.strays(output, History(output)) == ([], [], 0)
    assert call("gate", "status", output).status == 3  # still blocked, by the ledger


def test_a_pane_that_was_pruned_is_not_accepted(call: Call, output: Storage) -> None:
    call("gate", "verify", output, "--what", "quarantine", "--prune", "0B", "--delete")
    ended = call("gate", "accept", output, "--pane", "1", "--reason", "read")
    assert ended.status == 2 and "the documents of pane 1 were pruned" in ended.err
    assert reviews.in_force(reviews.read(output)) == {}
    # Documents that were set aside one by one are no part of an accepted pane
    assert call("gate", "accept", output, "--pane", "2", "--reason", "read").status == 0


def test_a_pane_that_is_accepted_meanwhile_keeps_its_documents(
    output: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(output)
    chosen = pruned.chosen(pruned.candidates(output, history, ["quarantine"]), most=0)
    look = history.look

    def decided() -> bool:  # after the note, before the files go
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pruned, "notes", lambda root: {})  # the person saw none
            reviews.add(output, "accept", range(5, 6), "just now")
        return look()

    monkeypatch.setattr(history, "look", decided)
    done = pruned.prune(output, history, chosen, "somebody")[0]
    assert sorted(each.file.name for each in done) == quarantined(1, 3)
    assert output.exists("quarantine/part-00000005-0000.parquet")
    assert pruned.notes(output).keys() == {*quarantined(1, 3)}


def test_a_decision_that_comes_too_late_is_taken_back(
    output: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: Iterator[set[str]] = iter([set(), {*quarantined(1)}])
    monkeypatch.setattr(pruned, "notes", lambda root: next(seen))
    with pytest.raises(reviews.PrunedError):
        reviews.add(output, "accept", range(1, 2), "too late")
    assert reviews.in_force(reviews.read(output)) == {}


def test_a_prune_that_was_killed_is_finished_by_the_next(call: Call, output: Storage) -> None:
    history = History(output)
    chosen = pruned.chosen(pruned.candidates(output, history, ["quarantine"]), most=0)
    pruned._note(output, [each.file.name for each in chosen], "somebody")
    assert call("gate", "verify", output, "--files").status == 0
    call("gate", "verify", output, "--what", "quarantine", "--prune", "0B", "--delete")
    assert output.names("quarantine") == []


def test_staged_of_a_run_that_goes_on_stays(call: Call, output: Storage) -> None:
    is_local = output.local is not None
    with Lease(output) if is_local else nullcontext():
        if not is_local:  # a claim: the next run finishes the commit from staged/
            output.write("ledger/claims/00000008-0.json", b"{}")
        ended = call("gate", "verify", output, "--prune", "0B", "--delete")
    assert ended.status == 0 and "staged/ stays: " in ended.out
    assert output.exists("staged/left/000.arrow") and output.names("quarantine") == []


def test_age_is_that_of_the_file(call: Call, tmp_path: Path) -> None:
    write_meta(tmp_path, settings())
    history = History(tmp_path)
    for pane in range(4):
        history.commit(written(at(tmp_path), pane, (1, 3, 5), set_aside="-aside.parquet"))
    old = tmp_path / "quarantine" / "part-00000001-0000.parquet"
    os.utime(old, ns=(0, old.stat().st_mtime_ns - 31 * DAY))
    words = ("gate", "verify", tmp_path, "--prune", "30d", "--delete", "--json")
    assert call(*words).json["kinds"] == {"quarantine": {"files": 1, "bytes": 37}}
    assert not old.exists() and len([*(tmp_path / "quarantine").iterdir()]) == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--delete"], "say what goes"),
        (["--prune", "tomorrow"], "an age (12h, 30d) or a size (20GiB) is needed"),
        (["--prune", "3 GB"], "an age (12h, 30d) or a size (20GiB) is needed"),
        (
            ["--prune", "1GiB", "--what", "accepted"],
            "'accepted' is not one of 'staged', 'quarantine', 'checks'",
        ),
    ],
)
def test_wrong_words_are_refused(call: Call, tmp_path: Path, words: list[str], said: str) -> None:
    write_meta(tmp_path, settings())
    ended = call("gate", "verify", tmp_path, *words)
    assert ended.status == 2 and said in " ".join(ended.err.split())


STORED = st.builds(
    Old,
    st.sampled_from(KINDS),
    st.builds(Stored, st.text(min_size=1), st.integers(0, 9), st.integers(0, 9) | st.none()),
)


@given(st.lists(STORED), st.integers(0, 10) | st.none(), st.integers(0, 40) | st.none())
def test_the_oldest_go_and_only_as_many_as_must(
    found: list[Old], before: int | None, most: int | None
) -> None:
    gone = pruned.chosen(found, before, most)
    for kind in KINDS:
        of_kind = [each.file for each in found if each.kind == kind]
        mine = [each.file for each in gone if each.kind == kind]
        rest = sum(each.bytes for each in of_kind) - sum(each.bytes for each in mine)
        assert most is None or rest <= most
        for each in mine:
            is_old = before is not None and each.modified is not None and each.modified < before
            assert is_old or most is not None
        if before is None and most is not None and mine:
            assert rest + mine[-1].bytes > most  # without the last one too much would be left
