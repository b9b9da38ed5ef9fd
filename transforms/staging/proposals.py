"""Proposes what could be substituted in a block's documents.

Proposals are made where the block is read, and used when its pane is closed. Until then they are a
part of the staged block, with one line of JSON for each document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.judges import FirstScorer
from evenflow.transforms.substitution.sets import Edit, Refusal, Set
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.wordlists.loader import WordList


@dataclass(frozen=True)
class Proposed:
    """What could be substituted in a document.

    Attributes:
        ordinal: The document's place in its file.
        sets: Its substitutable sets by attribute, in the text's order.
        counts: Its mentions (M,) by attribute; only of attributes in mode augment. Empty where a
            swapped copy is due (bias_score.mode augment); its sets then are of the joined texts
            (see `substitution.joined`).
    """

    ordinal: int
    id: str
    sets: Mapping[str, Sequence[Set]]
    counts: Mapping[str, Sequence[int]]

    def line(self) -> bytes:
        """The document as a line of JSON, with its end."""
        data = {
            "ordinal": self.ordinal,
            "id": self.id,
            "sets": {name: list(map(_to_json, sets)) for name, sets in self.sets.items()},
            "counts": self.counts,
        }
        return orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def from_line(cls, line: bytes, attribute: str | None = None) -> Proposed:
        """Read what `line` made.

        Args:
            attribute: The only attribute whose sets are wanted; None: all.
        """
        data = orjson.loads(line)
        sets = {
            name: [_from_json(name, each) for each in proposed]
            for name, proposed in data["sets"].items()
            if attribute is None or name == attribute
        }
        return cls(data["ordinal"], data["id"], sets, data["counts"])


class Proposer:
    """Proposes substitutions for the attributes that a configuration repairs by changing text.

    Args:
        first: The model that gives each set its first probability.

    Raises:
        RoleMapError: A role map that cannot be read.
    """

    def __init__(
        self,
        config: Config,
        lists: Sequence[WordList],
        first: FirstScorer | None = None,
    ):
        self._swaps, own, by_line = config.swaps, config.repair, reading.joins_lines(config)
        self.modes = {words.attribute: config.mode(words.attribute) for words in lists}
        self._groups = {words.attribute: words.groups for words in lists}
        self._substituters = {
            name: Substituter(lists, name, own.method, first, True, own.protect, by_line)
            for name, mode in self.modes.items()
            if mode in ("substitute", "augment")
        }

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes whose sets are proposed."""
        return tuple(self._substituters)

    def propose(
        self,
        ordinal: int,
        identity: str,
        text: str,
        sentences: Sequence[tuple[int, int]],
        mentions: Sequence[Mention],
        whole: tuple[str, Sequence[tuple[int, int]], Sequence[Mention]] | None = None,
    ) -> Proposed | None:
        """Find what could be substituted in a document.

        Args:
            ordinal: The document's place in its file.
            sentences: All sentences of the text, as (start, end) in characters.
            mentions: All mentions of labels in the text, in order.
            whole: Its joined texts, read in the same way, if a swapped copy of it is due.

        Returns:
            The document's sets; None if it has none and no swapped copy is due.
        """
        found: dict[str, Sequence[Set]] = {}
        counts: dict[str, list[int]] = {}
        for name, each in self._substituters.items():
            if not self._swaps(name):
                found[name] = each.propose(text, sentences, mentions)
            elif whole is not None:
                found[name], counts[name] = each.propose(*whole), []
        sets = {name: proposed for name, proposed in found.items() if proposed}
        for name in sets:
            if name not in counts and self.modes[name] == "augment":
                named = [mention.group for mention in mentions if mention.attribute == name]
                counts[name] = [named.count(group) for group in self._groups[name]]
        return Proposed(ordinal, identity, sets, counts) if sets or counts else None


def _to_json(proposed: Set) -> dict[str, Any]:
    """A set as plain data."""
    return {
        "source": proposed.source,
        "confidence": proposed.confidence,
        "sentences": proposed.sentences,
        "spans": proposed.spans,
        "mentions": [[each.start, each.end, each.label] for each in proposed.mentions],
        "edits": {target: list(map(list, edits)) for target, edits in proposed.edits.items()},
        "reason": proposed.reason,
    }


def _from_json(attribute: str, data: dict[str, Any]) -> Set:
    """Read a set that `_to_json` made."""
    mentions = tuple(
        [
            Mention(start, end, label, attribute, data["source"])
            for start, end, label in data["mentions"]
        ]
    )
    return Set(
        attribute,
        data["source"],
        {target: tuple(map(Edit._make, edits)) for target, edits in data["edits"].items()},
        data["confidence"],
        tuple(data["sentences"]),
        tuple([(start, end) for start, end in data["spans"]]),
        mentions,
        (Refusal(mentions[0], data["reason"]),) if data["reason"] else (),
    )
