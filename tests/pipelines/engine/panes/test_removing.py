"""gate.scope: documents sets aside what weighs, and accepts the rest of the pane."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import evenflow
from evenflow.gates.ledger.files import read_entries
from evenflow.gates.ledger.history import History
from evenflow.pipelines.pages.report.why import why
from evenflow.schemas.config import ConfigError, load
from evenflow.transforms.storage.storage import at

CONFIG = {
    "pane.docs": 300,
    "gate.warn": 0.1,
    "gate.block": 0.15,
    "gate.min_mentions": 50,
    "gate.scope": "documents",
}


def pane(number: int, odd: int = 11) -> list[dict[str, Any]]:
    """300 documents: most name nobody, 40 name both, and some name men four times more."""
    texts = ["It rained."] * (260 - odd) + ["She met him."] * 40
    texts += ["He and his father met him and his uncle, and he left."] * odd
    return [{"id": f"{number}-{i}", "text": text, "n": i} for i, text in enumerate(texts)]


class KilledError(Exception):
    pass


def kill(progress: Any) -> None:
    raise KilledError


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two panes; the run is killed after the first, and goes on with two workers."""
    root = tmp_path_factory.mktemp("removing")
    gate = evenflow.Gate(CONFIG, attributes=["gender"])
    rows = pane(0) + pane(1)
    with pytest.raises(KilledError):
        gate.run(rows, root / "out", on_pane=kill)
    result = gate.run(rows, root / "out")
    assert result["removed"]["documents"] == result["quarantined"] > 0
    assert result["removed"]["documents"] + result["accepted"] == 600
    gate.run(rows, root / "again", workers=2)
    first, second = read_entries(root / "out"), read_entries(root / "again")
    assert [each.shards for each in first] == [each.shards for each in second]
    assert [each.removed for each in first] == [each.removed for each in second]
    return root / "out"


def test_the_pane_is_accepted_and_what_weighs_is_not(output: Path) -> None:
    removed = [entry for entry in read_entries(output) if entry.removed is not None]
    assert removed
    for entry in removed:
        assert entry.removed is not None and entry.removed.is_done
        assert entry.folder == "accepted" and 0 < entry.removed.documents <= 11
        assert entry.set_aside is not None and entry.set_aside.rows == entry.removed.documents
        assert entry.documents + entry.set_aside.rows == 300
        gone = pq.read_table(output / "quarantine" / entry.set_aside.name).to_pylist()
        assert all("father" in row["text"] and row["n"] >= 289 for row in gone)
        assert "gate.scope: documents" in gone[0]["reason"]
        kept = pq.read_table(output / "accepted" / entry.shards[0].name)
        assert not {row["id"] for row in gone} & set(kept["id"].to_pylist())
        assert (
            sum(kept["mentions_gender_male"].to_pylist())
            == (entry.attributes["gender"].sums.counts[1])
        )
        assert entry.removed.least_tokens <= entry.removed.tokens


def test_it_is_told(output: Path) -> None:
    entry = next(entry for entry in read_entries(output) if entry.removed is not None)
    assert entry.removed is not None
    config = load(None, CONFIG)
    told = why(at(output), History(output, config), config, entry.pane).removed
    assert f"{entry.removed.documents} of 300 documents" in told and "were set aside" in told
    assert "(gate.scope: documents)" in (output / "report.html").read_text()


def test_if_most_would_go_the_whole_pane_goes(tmp_path: Path) -> None:
    rows = [{"text": "He and his father met him."}] * 60
    config = {**CONFIG, "pane.docs": 60}
    result = evenflow.Gate(config, attributes=["gender"]).run(rows, tmp_path / "out")
    [entry] = read_entries(tmp_path / "out")
    assert (result["quarantined"], entry.folder) == (60, "quarantine")
    assert entry.removed is not None and not entry.removed.is_done
    assert "so the pane went whole" in entry.removed.told


def test_it_is_not_for_weighted_panes() -> None:
    with pytest.raises(ConfigError, match=r"gate\.scope.*beside weights"):
        load(None, {"gate.scope": "documents", "repair.mode": "weight"})
