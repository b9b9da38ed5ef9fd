"""Makes large imports cheaper: garbage is not looked for meanwhile, and what is seldom used is
imported when it is used.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def uncollected() -> Iterator[None]:
    """Within the block garbage is not looked for, and what was made by its end never is looked
    through.

    For what lives as long as the process: an import makes so many objects that looking through them
    again and again takes a quarter of its time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Within the block, who imports one of these modules gets a stand-in, which loads the module
    when something of it is used.

    Python's own LazyLoader loads a module at its second import statement already.
    """
    stand_ins = {name: _stand_in(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in stand_ins.items():
            _remove(name, module)


def _stand_in(name: str) -> ModuleType:
    module = ModuleType(name)

    def used(attribute: str) -> Any:
        _remove(name, module)
        return getattr(importlib.import_module(name), attribute)

    module.__dict__["__getattr__"] = used
    return module


def _remove(name: str, module: ModuleType) -> None:
    if sys.modules.get(name) is module:
        del sys.modules[name]
