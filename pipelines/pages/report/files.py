"""Opens files that a ledger names."""

from __future__ import annotations

import errno
from typing import BinaryIO

from evenflow.transforms.storage.storage import Storage


def open_named(storage: Storage, folder: str, name: str) -> BinaryIO:
    """Open a file of an output.

    Args:
        storage: The output.
        folder: Its folder.
        name: Its name, as the ledger has it. A ledger may come from elsewhere, so the name may lead
            nowhere else.

    Returns:
        The open file.

    Raises:
        OSError: It cannot be opened, or the name is that of no file in the folder.
    """
    if "/" in name or "\\" in name or not name.isprintable() or name in ("", ".", ".."):
        raise OSError(errno.EINVAL, "not the name of a file", name)
    return storage.open(f"{folder}/{name}")
