"""The rooms import each other in the order that the page “Architecture” states."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT

PAGE = ROOT / "docs" / "pages" / "architecture.md"


def ranks() -> dict[str, int]:
    """Rank of each room by the page: imports go from a lower to a higher rank."""
    text = PAGE.read_text(encoding="utf-8").partition("Imports point downward only:")[2]
    across, within = (block.strip() for block in text.split("\n\n    ")[1:3])
    tops = across.split("\n\n")[0].split(" → ")
    rooms = within.split("\n\n")[0].splitlines()
    found = {name.strip(): rank for rank, top in enumerate(tops) for name in top.split(",")}
    return found | {
        f"transforms.{name.strip()}": rank
        for rank, line in enumerate(rooms)
        for name in line.split(",")
    }


def imports(path: Path) -> Iterator[str]:
    """Names of the modules of Evenflow that a file imports, without the package's name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("evenflow."):
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("evenflow."))


@pytest.mark.parametrize(("depth", "top"), [(1, ""), (2, "transforms")])
def test_imports_point_downward(depth: int, top: str) -> None:
    known = ranks()
    wrong: list[str] = []
    seen = 0
    for name in ("pipelines", "gates", "transforms", "schemas", "wordlists", "prompts"):
        if top and name != top:
            continue
        for path in sorted((ROOT / name).rglob("*.py")):
            own = ".".join(path.relative_to(ROOT).parent.parts[:depth])
            for module in imports(path):
                other = ".".join(module.split(".")[1 : depth + 1])
                if own == other or own not in known or other not in known:
                    continue
                seen += 1
                if known[own] >= known[other]:
                    wrong.append(f"{path.relative_to(ROOT)} imports {other}")
    assert seen > 20
    assert not wrong, "\n".join(wrong)
