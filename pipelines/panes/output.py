"""The output directory of a run."""

from __future__ import annotations

from pathlib import Path

from evenflow.pipelines.panes.epochs import RunError

# Folders whose leftovers a run removes
FOLDERS = ("accepted", "quarantine", "dead-letter", "sentences", "staged")


def refuse_foreign(output: Path) -> None:
    """Refuse a directory with somebody else's files: a run clears its folders.

    Args:
        output: The directory; it need not exist.

    Raises:
        RunError: It has no ledger, and files in a folder that a run would clear.
    """
    if (output / "ledger").is_dir():
        return
    for name in FOLDERS:
        if (output / name).is_dir() and any((output / name).iterdir()):
            raise RunError(
                f"{output} has a folder {name} with files in it but no ledger: it is no run's"
                " output. Give an empty or new directory"
            )
