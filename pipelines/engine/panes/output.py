"""The output of a run."""

from __future__ import annotations

from evenflow.gates.ledger.files import has_ledger
from evenflow.pipelines.engine.panes.epochs import RunError
from evenflow.transforms.storage.storage import Place, at

# Folders whose leftovers a run removes
FOLDERS = ("accepted", "quarantine", "dead-letter", "sentences", "staged")


def refuse_foreign(output: Place) -> None:
    """Refuse a directory with somebody else's files: a run clears its folders.

    Args:
        output: The output; it need not exist.

    Raises:
        RunError: It has no ledger, and files in a folder that a run would clear.
    """
    storage = at(output)
    if has_ledger(storage):
        return
    for name in FOLDERS:
        if next(storage.tree(name), None) is not None:
            raise RunError(
                f"{storage} has a folder {name} with files in it but no ledger: it is no run's"
                " output. Give an empty or new directory"
            )
