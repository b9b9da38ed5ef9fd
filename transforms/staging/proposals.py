"""What could be substituted in a block's documents: found where the block is read, used when its
pane is closed.

Lies beside the staged block as JSON lines, a document a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.substitution.judges import FirstScorer, SubstitutionJudge
from evenflow.transforms.substitution.sets import Edit, Refusal, Set
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.wordlists.loader import WordList

SUFFIX = ".sets"  # of a block's file


@dataclass(frozen=True)
class Proposed:
    """A document's sets by attribute, in its order. ordinal: its place in its file. counts: its
    mentions (M,) by attribute.
    """

    ordinal: int
    id: str
    sets: Mapping[str, Sequence[Set]]
    counts: Mapping[str, Sequence[int]]


class Proposer:
    """Proposes substitutions for the attributes that a configuration repairs by changing text.

    Args:
        config: The configuration.
        lists: The word lists of its attributes.
        tier: A language model that chooses words and judges; None: there is none.
        first: Who gives each set its first probability.

    Raises:
        RoleMapError: A role map that cannot be read.
    """

    def __init__(
        self,
        config: Config,
        lists: Sequence[WordList],
        tier: SubstitutionJudge | None = None,
        first: FirstScorer | None = None,
    ):
        self.modes = {words.attribute: config.mode(words.attribute) for words in lists}
        self._groups = {words.attribute: words.groups for words in lists}
        self._substituters = {
            name: Substituter(lists, name, config.repair.method, first, tier)
            for name, mode in self.modes.items()
            if mode in ("substitute", "augment")
        }

    @property
    def attributes(self) -> tuple[str, ...]:
        """Those whose sets are proposed."""
        return tuple(self._substituters)

    def propose(
        self,
        ordinal: int,
        identity: str,
        text: str,
        sentences: Sequence[tuple[int, int]],
        mentions: Sequence[Mention],
    ) -> Proposed | None:
        """A document's sets; None where there are none. sentences, mentions: all of the text's (see
        `Substituter.propose`).
        """
        found = {
            name: each.propose(text, sentences, mentions, identity)
            for name, each in self._substituters.items()
        }
        sets = {name: proposed for name, proposed in found.items() if proposed}
        counts = {}
        for name in sets:
            if self.modes[name] == "augment":
                said = [mention.group for mention in mentions if mention.attribute == name]
                counts[name] = [said.count(group) for group in self._groups[name]]
        return Proposed(ordinal, identity, sets, counts) if sets else None


def write(path: Path, documents: Iterable[Proposed]) -> None:
    """Write a block's file; a replay writes the same name again. Raises OSError."""
    with path.open("wb") as file:
        file.writelines(
            orjson.dumps(_to_json(each), option=orjson.OPT_APPEND_NEWLINE) for each in documents
        )


def lines(path: Path) -> list[bytes]:
    """The documents of a block's file, as `read_line` takes them. Raises OSError."""
    return path.read_bytes().splitlines()


def read(path: Path) -> Iterator[Proposed]:
    """The documents of a block's file, one by one."""
    return map(read_line, lines(path))


def read_line(line: bytes, attribute: str | None = None) -> Proposed:
    """A document of a block's file, with the sets of one attribute or of all."""
    data = orjson.loads(line)
    sets = {
        name: [_set(name, each) for each in proposed]
        for name, proposed in data["sets"].items()
        if attribute is None or name == attribute
    }
    return Proposed(data["at"], data["id"], sets, data["counts"])


def drop(path: Path, ordinals: Iterable[int]) -> None:
    """Take documents out of a block's file."""
    gone = set(ordinals)
    kept = [each for each in read(path) if each.ordinal not in gone]
    part = path.with_suffix(".part")
    write(part, kept)
    part.replace(path)


def _to_json(document: Proposed) -> dict[str, Any]:
    sets = {
        name: [
            {
                "from": each.source,
                "sure": each.confidence,
                "judged": each.judged,
                "in": each.sentences,
                "spans": each.spans,
                "said": [[mention.start, mention.end, mention.label] for mention in each.mentions],
                "to": {
                    target: [list(edit) for edit in edits] for target, edits in each.edits.items()
                },
                "why": each.reason,
            }
            for each in proposed
        ]
        for name, proposed in document.sets.items()
    }
    return {"at": document.ordinal, "id": document.id, "sets": sets, "counts": document.counts}


def _set(attribute: str, data: dict[str, Any]) -> Set:
    source = data["from"]
    mentions = tuple(
        [Mention(start, end, label, attribute, source) for start, end, label in data["said"]]
    )
    edits = {target: tuple(map(Edit._make, made)) for target, made in data["to"].items()}
    barred = (Refusal(mentions[0], data["why"]),) if data["why"] else ()
    spans = tuple([(start, end) for start, end in data["spans"]])
    return Set(
        attribute,
        source,
        edits,
        data["sure"],
        tuple(data["in"]),
        spans,
        mentions,
        barred,
        data["judged"],
    )
