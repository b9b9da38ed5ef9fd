"""Folders to work in that stay where something fails."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def kept_where_it_fails() -> Iterator[Path]:
    """An empty folder. It is removed at the end, unless something is raised: then a line on stderr
    says where it is.
    """
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    except BaseException:
        print(f"what is left is in {folder}", file=sys.stderr, flush=True)
        raise
    shutil.rmtree(folder)
