"""The compressions of a file that consists of whole members."""

import bz2
import gzip
import lzma

import pytest
import zstandard

_PACKS = [("gz", gzip), ("zst", zstandard), ("bz2", bz2), ("xz", lzma)]
PACKS = pytest.mark.parametrize(("kind", "pack"), [(kind, each.compress) for kind, each in _PACKS])
