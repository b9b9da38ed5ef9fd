"""File systems of a test's own, in a mount name space."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def _can_mount() -> bool:
    """Whether this user may have mounts of its own."""
    words = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return (
        bool(shutil.which("unshare")) and not subprocess.run(words, capture_output=True).returncode
    )


mounting = pytest.mark.skipif(not _can_mount(), reason="needs the right to mount")
