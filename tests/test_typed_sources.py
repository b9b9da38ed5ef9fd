"""The type checker reads packages that are not installed as stubs, and no others."""

from __future__ import annotations

from pathlib import Path

import typed_sources


def test_a_package_that_is_absent_has_a_stub_of_each_module(tmp_path: Path) -> None:
    for room in (*typed_sources.ROOMS, "pipelines/api"):
        (tmp_path / room).mkdir(exist_ok=True)
    (tmp_path / "gates" / "one.py").write_text(
        "import numpy\nimport torch\n\ndef f():\n    from torch.nn.functional import relu\n"
    )
    to = tmp_path / "build" / "src"
    found = typed_sources.lay_out(tmp_path, to, {"torch", "peft"})
    assert found == [Path("gates/one.py")]
    stubs = {str(path.parent.relative_to(to)) for path in to.rglob("*.pyi")}
    assert stubs == {"torch", "torch/nn", "torch/nn/functional"}
    assert (to / "evenflow" / "gates" / "one.py").samefile(tmp_path / "gates" / "one.py")
    assert typed_sources.lay_out(tmp_path, to, set()) == [] and not list(to.rglob("*.pyi"))


def test_absent_are_the_requirements_that_are_not_installed() -> None:
    assert not {"numpy", "pytest", "types-PyYAML"} & typed_sources.absent()
