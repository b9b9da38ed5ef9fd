"""What makes large imports cheaper."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from evenflow.gates.expectations.importing import deferred, uncollected


def test_a_deferred_module_is_loaded_when_something_of_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("put_off", "used_within"):
        (tmp_path / f"{name}.py").write_text("seven = 7\n")
    with deferred("put_off", "used_within"):
        import put_off  # pyright: ignore[reportMissingImports]
        import used_within  # pyright: ignore[reportMissingImports]

        assert used_within.seven == 7
        assert hasattr(sys.modules["used_within"], "__file__")
    assert "put_off" not in sys.modules
    assert put_off.seven == 7
    assert sys.modules["put_off"].seven == 7
    with pytest.raises(AttributeError):
        _ = put_off.eight


def test_what_is_made_uncollected_is_not_looked_through() -> None:
    frozen = gc.get_freeze_count()
    with uncollected():
        assert not gc.isenabled()
        made = [[i] for i in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= frozen + len(made)
