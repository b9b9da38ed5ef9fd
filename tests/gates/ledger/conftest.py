"""An output without a pane, in a folder and in memory."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from report_ledgers import settings

from evenflow.gates.ledger import segments
from evenflow.gates.ledger.files import write_meta
from evenflow.transforms.storage.storage import Storage, at


@pytest.fixture(params=["directory", "memory"])
def begun(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Storage:
    """An output that was begun; four panes are a segment."""
    monkeypatch.setattr(segments, "EVERY", 4)
    storage = at(tmp_path if request.param == "directory" else f"memory://{uuid4().hex}/out")
    write_meta(storage, settings())
    return storage
