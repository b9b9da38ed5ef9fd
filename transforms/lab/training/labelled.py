"""Documents whose mentions were labelled by reading them whole (tests/data/documents_README.md)."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evenflow.transforms.models.passages import Place
from evenflow.transforms.models.reader import REASONS, WHO

FILE = "documents.jsonl.gz"
TRAIN, REPORT, UNSEEN = "train", "report", "unseen"
LETTERS = "NPGCFKX"  # the annotators' letters, in the order of `reader.WHO`
WRONG = "w"


@dataclass(frozen=True)
class Meant:
    """A person, group or thing that some mentions of a document name."""

    mentions: tuple[int, ...]
    who: int
    right: bool
    reason: int


@dataclass(frozen=True)
class Labelled:
    """The labelled mentions of one attribute in a document."""

    number: int
    document: str
    source: str
    split: str
    attribute: str
    text: str
    places: tuple[Place, ...]
    groups: tuple[str, ...]
    meant: tuple[Meant, ...]

    @property
    def owners(self) -> dict[int, int]:
        """By mention, the index of whom it names."""
        return {at: number for number, each in enumerate(self.meant) for at in each.mentions}


def read(path: Path, texts: Mapping[str, str] | None = None) -> list[Labelled]:
    """Read labelled documents."""
    out: list[Labelled] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                text = row.get("text") or (texts or {}).get(row["sha256"])
                if text is None:
                    continue
                if hashlib.sha256(text.encode()).hexdigest() != row["sha256"]:
                    raise ValueError("the text is not the one that was labelled")
                out += _of_row(row, text)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: {error}") from error
    return out


def _of_row(row: Mapping, text: str) -> Iterator[Labelled]:
    """The labels of a row, by attribute."""
    reasons = list(REASONS)
    for attribute in dict.fromkeys(each["attribute"] for each in row["entities"]):
        own = [each for each in row["mentions"] if each["attribute"] == attribute]
        at = {each["number"]: index for index, each in enumerate(own)}
        yield Labelled(
            row["number"],
            f"{row['id']}:{row['start']}",
            row["source"],
            row["split"],
            attribute,
            text,
            tuple(Place(each["start"], each["end"], each.get("new", "")) for each in own),
            tuple(each["group"] for each in own),
            tuple(
                Meant(
                    tuple(at[each] for each in entity["mentions"]),
                    LETTERS.index(entity["who"]),
                    entity["label"] != WRONG,
                    reasons.index(entity["reason"]) if entity["label"] == WRONG else -1,
                )
                for entity in row["entities"]
                if entity["attribute"] == attribute
            ),
        )


def is_calibration(document: str) -> bool:
    """Whether a document is held out for the calibration: one in eight, by hash."""
    hashed = hashlib.blake2b(f"cal{document}".encode(), digest_size=8).digest()
    return int.from_bytes(hashed, "big") % 8 == 0


def part(documents: Iterable[Labelled], *splits: str) -> list[Labelled]:
    """Select the documents of some splits."""
    return [each for each in documents if each.split in splits]


assert len(LETTERS) == len(WHO)
