"""Imports parts of a large package without the rest of it.

Packages of Great Expectations import all of their modules: cloud clients, databases, sixty
expectations. That is half of the time in which a run starts. Here a package imports a module when
somebody asks for a name that the module defines. A name that no import statement of the package
defines runs the whole package, as Python does.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import resolve_name
from types import ModuleType
from typing import Any

GREAT_EXPECTATIONS = "great_expectations"
METRICS = f"{GREAT_EXPECTATIONS}.expectations.metrics"  # importing it registers what it imports


def light() -> None:
    """Let Great Expectations import only what is asked of it, unless the process has it already.

    A program that uses Great Expectations beside the gate gets all of it: the package itself runs
    whole when one of its names is used.
    """
    if GREAT_EXPECTATIONS in sys.modules:
        return
    finder = _Finder(GREAT_EXPECTATIONS, METRICS)
    sys.meta_path.insert(0, finder)
    package = importlib.import_module(GREAT_EXPECTATIONS)
    package.__dict__["__version__"] = importlib.import_module(
        f"{GREAT_EXPECTATIONS}._version"
    ).get_versions()["version"]


def whole() -> None:
    """Import all of Great Expectations: every expectation that it has is registered then."""
    _ = importlib.import_module(GREAT_EXPECTATIONS).get_context


class _Finder(MetaPathFinder):
    """Finds the packages of one top-level package, and loads them by name."""

    def __init__(self, root: str, plain: str):
        self._root = root
        self._plain = plain
        self.packages: list[tuple[_LazyLoader, ModuleType]] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The place of a package; None for modules, and for those of others."""
        if fullname.partition(".")[0] != self._root or fullname.startswith(self._plain):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.submodule_search_locations is None or spec.origin is None:
            return spec
        spec.loader = _LazyLoader(fullname, spec.origin, self)
        return spec

    def whole(self) -> None:
        """Run all packages that were imported by name, and import others as Python does."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        # The root comes last: it counts what the others have registered
        for loader, module in reversed(self.packages):
            loader.run(module)


class _LazyLoader(SourceFileLoader):
    """Makes a package that imports what its names mean when they are used."""

    def __init__(self, fullname: str, path: str, finder: _Finder):
        super().__init__(fullname, path)
        self._finder = finder
        self._homes: dict[str, tuple[str, str]] = {}

    def exec_module(self, module: ModuleType) -> None:
        """Read which module defines which name; import none."""
        tree = ast.parse(self.get_data(self.path))
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                home = resolve_name("." * node.level + (node.module or ""), module.__name__)
                for alias in node.names:
                    self._homes[alias.asname or alias.name] = (home, alias.name)
        module.__dict__["__getattr__"] = partial(self._attribute, module)
        self._finder.packages.append((self, module))

    def run(self, module: ModuleType) -> None:
        """Run the package as Python does."""
        if module.__dict__.pop("__getattr__", None) is not None:
            super().exec_module(module)

    def _attribute(self, module: ModuleType, name: str) -> Any:
        """The value of a name. Raises AttributeError for a submodule, which Python then imports."""
        if name.startswith("__"):
            raise AttributeError(name)
        package = module.__name__
        if PathFinder.find_spec(f"{package}.{name}", module.__path__) is not None:
            raise AttributeError(name)
        if package == GREAT_EXPECTATIONS or name not in self._homes:
            self._finder.whole() if package == GREAT_EXPECTATIONS else self.run(module)
            return getattr(module, name)
        home, original = self._homes[name]
        value = getattr(importlib.import_module(home), original)
        setattr(module, name, value)
        return value
