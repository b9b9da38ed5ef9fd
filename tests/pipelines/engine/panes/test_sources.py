"""Documents of sources that have shifted, taken out of a pane's shards."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenflow.pipelines.engine.panes.closing import Ready
from evenflow.pipelines.engine.panes.sources import split
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import Shard, Verdict
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.fields import EXTRA
from evenflow.transforms.measures.shift.measure import Shift, Shifted
from evenflow.transforms.measures.shift.strata import OTHER
from evenflow.transforms.storage.storage import at

SHARD = "part-00000003-0000.parquet"
ASIDE = "part-00000003-aside.parquet"
OFF: dict[str, Any] = {"panes": 1, "mentions": 9, "documents": 3, "observed": [], "expected": []}


@pytest.fixture
def ready(tmp_path: Path) -> Ready:
    """A pane of three documents, of which one has a field outside of the columns."""
    columns = {
        "id": ["0", "1", "2"],
        "text": ["She met her.", "He met him.", "She left."],
        "reason": ["x", "y", "z"],
        EXTRA.name: ['{"odd": 1}', None, '{"odd": 2, "even": 3}'],
    }
    (tmp_path / "staged").mkdir()
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "staged" / SHARD)
    shard = Shard(name=SHARD, rows=3, bytes=0, sha256="")
    runs = [("rare-1", 1), ("a", 1), ("rare-2", 1)]
    return Ready(Figures(input_bytes=77), [shard], None, strata=runs)


def shift(strata: list[str], blocked: str) -> Shift:
    """What was judged of sources, of which one is blocked."""
    off = Shifted(state="block", shift=0.5, low=None, high=None, ratio=1.0, **OFF)
    return Shift(
        strata={name: (1, {}) for name in strata},
        off={blocked: {"gender": off}},
        verdict=Verdict(state="block", reason="why"),
    )


def taken(tmp_path: Path, ready: Ready, judged: Shift) -> Ready | None:
    """The rest of the pane."""
    config = Config.model_validate({"attributes": {"gender": {}}})
    return split(at(tmp_path), "staged", 3, ready, judged, Annotator(config))


@pytest.mark.parametrize(
    ("strata", "blocked", "left"),
    [
        (["a", "rare-1", "rare-2"], "rare-1", ["1", "2"]),
        (["a", OTHER], OTHER, ["1"]),  # the sources that were judged together go together
        (["a", OTHER], "a", ["0", "2"]),
    ],
)
def test_the_documents_of_what_is_blocked_go(
    tmp_path: Path, ready: Ready, strata: list[str], blocked: str, left: list[str]
) -> None:
    rest = taken(tmp_path, ready, shift(strata, blocked))
    assert rest is not None and rest.set_aside is not None
    kept = pq.read_table(tmp_path / "staged" / SHARD)
    moved = pq.read_table(tmp_path / "staged" / ASIDE)
    assert kept["id"].to_pylist() == left
    assert sorted(left + moved["id"].to_pylist()) == ["0", "1", "2"]
    assert set(moved["reason'"].to_pylist()) == {"gate.scope: source: why"}
    assert "reason" in moved.column_names  # the input's own
    assert (rest.shards[0].rows, rest.set_aside.rows) == (len(left), 3 - len(left))
    assert rest.figures.documents == len(left) and rest.figures.input_bytes == 77
    assert rest.figures.extra == sum(each in ("0", "2") for each in left)
    assert rest.figures.attributes["gender"].documents == len(left)


def test_a_pane_of_which_nothing_would_stay_stays_whole(tmp_path: Path, ready: Ready) -> None:
    ready.strata = [("a", 3)]
    assert taken(tmp_path, ready, shift(["a"], "a")) is None
    assert not (tmp_path / "staged" / ASIDE).exists()
