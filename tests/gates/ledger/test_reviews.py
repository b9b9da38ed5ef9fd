import tempfile
from pathlib import Path

import pytest
import report_ledgers as ledgers
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.gates import hold
from evenflow.gates.ledger import reviews
from evenflow.gates.ledger.files import LedgerError, write_entry
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import load
from evenflow.schemas.ledger import PaneEntry, Verdict
from evenflow.transforms.storage.storage import at

CONFIG = load(None, {"pane.rolling": 4})
HALT = load(None, {"gate.on_block": "halt"})
PANES = 12
DECISIONS = st.lists(
    st.tuples(
        st.sampled_from(["accept", "reject", "undo"]), st.integers(0, PANES - 1), st.integers(1, 5)
    ),
    max_size=8,
)


def stream(panes: int = PANES) -> list[PaneEntry]:
    """Panes of which each third is blocked."""
    out: list[PaneEntry] = []
    for entry in ledgers.entries(panes):
        if entry.pane % 3 == 2:
            entry.verdict, entry.folder = Verdict(state="block", reason="uneven"), "quarantine"
        else:
            entry.folder = "accepted"
        out.append(entry)
    return out


def written(root: Path, panes: int = PANES) -> list[PaneEntry]:
    made = stream(panes)
    for entry in made:
        write_entry(root, entry)
    return made


@settings(max_examples=30)
@given(DECISIONS, st.integers(0, PANES))
def test_sums_are_those_of_panes_in_the_folders_where_they_count(
    decisions: list[tuple[reviews.Action, int, int]], then: int
) -> None:
    """Also for a reader that was there before some decisions and panes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        made = stream()
        for entry in made[: max(then, 1)]:
            write_entry(root, entry)
        reader = History(root, CONFIG)
        for entry in made[max(then, 1) :]:
            write_entry(root, entry)
        for action, first, count in decisions:
            panes = range(PANES)[first : first + count]
            reviews.add(root, action, panes, "read")
        reader.follow()
        history = History(root, CONFIG)
        assert reader.totals == history.totals
        moved = [each.model_copy(update={"folder": history.folder(each)}) for each in made]
        expected = Totals.of(moved, CONFIG)
        found = history.totals
        for key in ("panes", "states", "accepted", "blocked_panes", "blocked", "folder"):
            assert getattr(found, key) == getattr(expected, key), key
        assert found.recent_accepted == expected.recent_accepted
        assert {n: each.accepted for n, each in found.attributes.items()} == {
            n: each.accepted for n, each in expected.attributes.items()
        }


def test_the_same_decision_is_written_once_and_the_last_one_counts(tmp_path: Path) -> None:
    made = written(tmp_path)
    pane = next(each.pane for each in made if each.folder == "quarantine")
    first = reviews.add(tmp_path, "accept", range(pane, pane + 1), "one author", "Ada")
    assert first is not None and first.who.startswith("Ada on ")
    assert reviews.add(tmp_path, "accept", range(pane, pane + 1), "again", "Bob") is None
    history = History(tmp_path, CONFIG)
    assert history.folder(made[pane]) == "accepted"
    assert history.totals.reviewed.model_dump() == {
        "accepted": 1,
        "rejected": 0,
        "confirmed": 0,
        "documents": made[pane].documents,
        "decided": [],
    }
    assert reviews.add(tmp_path, "undo", range(pane, pane + 1), "read again") is not None
    assert reviews.add(tmp_path, "undo", range(pane, pane + 1), "read again") is None
    assert history.look() and not history.look()
    assert history.totals == Totals.of(made, CONFIG)
    assert [each.action for each in history.decisions] == ["accept", "undo"]
    with pytest.raises(ValueError, match="needs a reason"):
        reviews.add(tmp_path, "accept", range(1), " ")


def test_of_two_at_the_same_time_both_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, 3)
    read = reviews.read
    late = [True]

    def racing(root: object, after: int = 0) -> list[reviews.Review]:
        known = read(tmp_path, after)
        if late.pop() if late else False:
            reviews.add(tmp_path, "reject", range(1), "first", "Bob")
        return known

    monkeypatch.setattr(reviews, "read", racing)
    made = reviews.add(tmp_path, "reject", range(1, 2), "second", "Ada")
    assert made is not None and made.number == 1
    assert at(tmp_path).names(reviews.FOLDER) == ["00000000.json", "00000001.json"]


def test_accepting_the_last_pane_ends_a_halt_and_leaves_the_checkpoint_alone(
    tmp_path: Path,
) -> None:
    made = written(tmp_path)
    last = max(each.pane for each in made if each.folder == "quarantine")
    for entry in made[last + 1 :]:
        (tmp_path / f"ledger/{entry.pane:08d}.json").unlink()
    history = History(tmp_path, CONFIG)
    assert hold.held_reason(tmp_path, history.totals, HALT) is not None
    reviews.add(tmp_path, "accept", range(last, last + 1), "right", "Ada")
    assert history.look()
    assert hold.held_reason(tmp_path, history.totals, HALT) is None
    assert history.totals.state == "open" and history.totals.reason.startswith("accepted by Ada")
    assert last not in history.totals.blocked


def test_a_decision_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    written(tmp_path, 1)
    folder = tmp_path / reviews.FOLDER
    folder.mkdir()
    (folder / "00000000.json").write_text("{}")
    with pytest.raises(LedgerError, match=r"00000000\.json: not a review"):
        History(tmp_path)
