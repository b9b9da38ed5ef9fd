"""Rooms import rooms below them only, and each says what belongs in it.

A room is an entry of `ORDER`. A folder within a room belongs to it. Two rooms of one line do not
import each other. So no circle of rooms is possible.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# From top to bottom.
ORDER = (
    ("pipelines.examples",),
    ("pipelines.api",),
    ("pipelines.cli.app",),
    ("pipelines.cli.lab",),
    ("pipelines.cli",),
    ("pipelines.lab", "pipelines.triggers"),
    ("pipelines.pages.board", "pipelines.engine.topics"),
    ("pipelines.engine.files", "pipelines.doctor", "pipelines.corpus"),
    ("pipelines.engine.session", "pipelines.engine.loop", "pipelines.engine.runners.making"),
    ("pipelines.engine.loaded",),
    ("pipelines.engine.make", "pipelines.engine.forks"),
    ("pipelines.engine.panes", "pipelines.engine.runners"),
    ("pipelines.engine.one_thread",),
    ("pipelines.metrics", "pipelines.accepted"),
    ("pipelines.pages.report", "pipelines.explain"),
    ("pipelines.terminal",),
    ("gates.why",),
    ("gates.facts",),
    ("gates.judge", "gates.hold", "gates.requirement"),
    ("gates.metrics", "gates.alerts"),
    ("gates.triggers",),
    ("gates.weights",),
    ("gates.ledger", "gates.expectations", "gates.health"),
    ("gates.lease",),
    (
        "gates.verdict",
        "gates.removal",
        "gates.lock",
        "gates.change_point",
        "gates.posting",
        "gates.sheet",
    ),
    ("transforms.lab",),
    ("transforms.repair",),
    ("transforms.annotation",),
    ("transforms.measures.registry", "transforms.measures.associations"),
    ("transforms.measures.bias_score", "transforms.measures.shift"),
    ("transforms.measures.stereotypes", "transforms.measures.coverage"),
    ("transforms.measures.measure",),
    ("transforms.llm",),
    ("transforms.staging",),
    ("transforms.substitution",),
    ("transforms.labels", "transforms.measures.representation", "transforms.kafka"),
    ("transforms.models",),
    ("transforms.text", "transforms.io"),
    ("transforms.storage", "transforms.wilson", "transforms.measures.verdict"),
    ("schemas",),
    ("wordlists", "prompts"),
    ("schemas.errors",),
)
LEVELS = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
TOPS = sorted({room.partition(".")[0] for room in LEVELS})
FILES = sorted(path for top in TOPS for path in (ROOT / top).rglob("*.py"))
FOLDERS = sorted({path.parent for path in FILES})


def room_of(module: str) -> str | None:
    """The room of a module, without `evenflow.`; None for a top folder divided into rooms.

    The package `evenflow` itself is the room pipelines.api.
    """
    if module.partition(".")[0] not in TOPS:
        return "pipelines.api"
    fitting = (room for room in LEVELS if f"{module}.".startswith(f"{room}."))
    return max(fitting, key=len, default=None)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module of each import from the package, inside functions and type checks too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: an import is absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (
            (node.lineno, name.removeprefix("evenflow."))
            for name in names
            if name.startswith("evenflow.")
        )


def test_imports_point_downward() -> None:
    upward, seen = [], set()
    for path in FILES:
        own = room_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
        if own is None:
            assert path.name == "__init__.py", f"{path}: the room is not in ORDER"
        for line, module in imported(path):
            other = room_of(module)
            assert own and other, f"{path}:{line}: {module} is in no room"
            seen.add(own)
            if own != other and LEVELS[own] >= LEVELS[other]:
                upward.append(f"{path.relative_to(ROOT)}:{line}: {module}")
    assert len(seen) > len(LEVELS) / 2, "hardly an import was found"
    assert not upward, "\n".join(upward)


LAB = ("pipelines.lab", "pipelines.cli.lab", "transforms.lab")


def test_nothing_of_the_gate_imports_the_laboratory() -> None:
    found = []
    for path in FILES:
        own = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        rooms = [(line, module, room_of(module)) for line, module in imported(path)]
        if room_of(own) not in LAB:
            found += [f"{own}:{line}: {module}" for line, module, room in rooms if room in LAB]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_room_says_what_belongs_in_it(folder: Path) -> None:
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
