"""Lays out build/src for the type checker: the package under its import name, and an empty stub
for each optional package that is not installed.

The checker does not follow the editable install's mapping of folders: it gets links instead. A stub
gives every name of its package the type Any. Where the package is installed there is no stub, and
the calls into it are checked: build/untyped names the files for which this remains to be done.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

from places import ROOT

ROOMS = ("pipelines", "transforms", "gates", "schemas", "wordlists", "prompts")
IMPORT = re.compile(r"^\s*(?:from|import) ([\w.]+)", re.MULTILINE)
STUB = "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n"


def absent(package: str = "evenflow") -> set[str]:
    """The requirements, of any extra, that are not installed, by what is imported of them."""
    found: set[str] = set()
    for requirement in requires(package) or ():
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        try:
            distribution(name)
        except PackageNotFoundError:
            imported = name.replace("-", "_")
            found |= {imported, imported.removeprefix("py_")}
    return found


def imports(root: Path, packages: set[str]) -> Iterator[tuple[Path, str]]:
    """The modules of these packages that the sources import, each with its file."""
    for room in ROOMS:
        for path in (root / room).rglob("*.py"):
            for name in IMPORT.findall(path.read_text(encoding="utf-8")):
                if name.partition(".")[0] in packages:
                    yield path, name


def lay_out(root: Path, to: Path, packages: set[str]) -> list[Path]:
    """Make the folder anew, with stubs of these packages; the files that import them."""
    shutil.rmtree(to, ignore_errors=True)
    evenflow = to / "evenflow"
    evenflow.mkdir(parents=True)
    for room in ROOMS:
        (evenflow / room).symlink_to(root / room)
    for path in (root / "pipelines" / "api").iterdir():
        (evenflow / path.name).symlink_to(path)
    untyped: set[Path] = set()
    for path, name in imports(root, packages):
        untyped.add(path.relative_to(root))
        folder = to.joinpath(*name.split("."))
        for each in (folder, *folder.parents):
            if each == to:
                break
            each.mkdir(parents=True, exist_ok=True)
            (each / "__init__.pyi").write_text(STUB)
    return sorted(untyped)


if __name__ == "__main__":
    files = lay_out(ROOT, ROOT / "build" / "src", absent())
    (ROOT / "build" / "untyped").write_text("".join(f"{path}\n" for path in files))
