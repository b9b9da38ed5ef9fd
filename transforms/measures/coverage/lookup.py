"""What section `coverage` has looked up in an extract of a knowledge base.

An attribute COLUMN.PROPERTY is a property of whom a field of the document names by id or name. An
attribute text.PROPERTY is one of those whom a sentence names: the extract's names are searched like
labels, as whole words in their case. A name whose bearers differ has no value, and hides the names
within it.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from evenflow.schemas.config.coverage import CoverageSettings
from evenflow.transforms.io.files import InputError
from evenflow.transforms.measures.coverage.columns import looked_up
from evenflow.transforms.measures.coverage.knowledge import Knowledge
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList
from evenflow.wordlists.parsing import label_problem

TEXT = "text"  # the column that stands for the names in a text
UNKNOWN = ""  # the group of names without a value
SAID = 10  # contradictions that are told


def knowledge(settings: CoverageSettings) -> Knowledge | None:
    """The extract of a configuration, read once a process; None if it names none.

    Raises:
        InputError: It cannot be read.
    """
    if settings.entities is None:
        return None
    return _read(settings.entities, tuple(sorted(settings.properties.items())))


@lru_cache(maxsize=1)
def _read(path: str, properties: tuple[tuple[str, str], ...]) -> Knowledge:
    return Knowledge.read(Path(path), dict(properties))


def is_of_text(attribute: str, settings: CoverageSettings) -> bool:
    """Whether an attribute is a property of those whom a text names."""
    pair = looked_up(attribute, knowledge(settings))
    return pair is not None and pair[0] == TEXT


def look(settings: CoverageSettings, on_note: Callable[[str], None]) -> None:
    """Look through the extract before a run begins."""
    _read.cache_clear()  # a run begins with the file as it is now
    known = knowledge(settings) if settings.tau is not None else None
    if known is None:
        return
    if not (properties := asked(settings, known)):
        names = ", ".join(settings.named()) or "none is given"
        raise InputError(
            f"{settings.entities}: no attribute COLUMN.PROPERTY of coverage has a property of this"
            f" knowledge base: {names}"
        )
    tell(known, properties, on_note)


def asked(settings: CoverageSettings, known: Knowledge) -> set[str]:
    """The properties that attributes are looked up for."""
    pairs = [looked_up(name, known) for name in settings.named()]
    return {pair[1] for pair in pairs if pair is not None}


def tell(known: Knowledge, names: set[str], on_note: Callable[[str], None]) -> None:
    """Tell of the contradictions of some properties; of the first ones in full."""
    found = known.contradictions(sorted(names))
    for line in found[:SAID]:
        on_note(f"contradiction: {line}")
    if len(found) > SAID:
        on_note(f"and {len(found) - SAID:,} more contradictions")


def digests(settings: CoverageSettings) -> dict[str, str]:
    """What a ledger's settings keep of the extract, `entities`; nothing if none is looked at."""
    if settings.tau is None or settings.entities is None:
        return {}
    with Path(settings.entities).open("rb") as file:
        return {"entities": hashlib.file_digest(file, "sha256").hexdigest()}


def names(known: Knowledge, attribute: str, name: str) -> WordList:
    """The names of an extract as labels of an attribute."""
    groups = (*sorted(known.domain(name)), UNKNOWN)
    values: dict[str, set[str]] = defaultdict(set)
    for each in known.names:
        text = unicodedata.normalize("NFC", each)
        if not label_problem(text):
            values[spelling.spell(text)].add(known.value(each, name) or UNKNOWN)
    labels = {
        text: groups.index(own.copy().pop() if len(own) == 1 else UNKNOWN)
        for text, own in values.items()
    }
    return WordList(attribute, groups, labels, frozenset(labels), {}, "", "", "")
