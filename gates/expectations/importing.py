"""Makes large imports cheaper: no garbage collection, and rarely used modules are deferred."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def uncollected() -> Generator[None, None, None]:
    """Suspend garbage collection; objects that exist at the end are never examined again.

    Use this for objects that live as long as the process. An import makes so many objects that
    examining them repeatedly takes a quarter of its time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def deferred(*names: str) -> Generator[None, None, None]:
    """Replace modules by stand-ins that load the module when one of its names is used.

    Python's own LazyLoader already loads a module at its second import statement.
    """
    stand_ins = {name: _stand_in(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in stand_ins.items():
            _remove(name, module)


def _stand_in(name: str) -> ModuleType:
    """A module that loads the real one when an attribute is used."""
    module = ModuleType(name)

    def load(attribute: str) -> Any:
        _remove(name, module)
        return getattr(importlib.import_module(name), attribute)

    module.__dict__["__getattr__"] = load
    return module


def _remove(name: str, module: ModuleType) -> None:
    """Remove a stand-in, unless the real module has replaced it."""
    if sys.modules.get(name) is module:
        del sys.modules[name]
