"""What could be substituted in a block's documents: found where the block is read, used once its pane has a plan.

Lies beside the staged block as JSON lines: first what the plan is made of, added up over the block, then a document a
line. So a pane is planned from the first lines alone, and its documents are looked at one block at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from evenflow.schemas.config import Config
from evenflow.transforms import eligibility
from evenflow.transforms.counterfactuals import Substituter
from evenflow.transforms.eligibility import Eligible
from evenflow.transforms.labels import Mention
from evenflow.transforms.substitution.judges import Judge
from evenflow.transforms.substitution.sets import Bar, Edit, Set
from evenflow.transforms.substitution.wordsets import WordSets
from evenflow.wordlists.loader import WordList

SUFFIX = ".sets"  # of a block's file


@dataclass(frozen=True)
class Proposed:
    """A document's sets by attribute, in its order. ordinal: its place in its file. counts: its mentions (M,) by attribute."""

    ordinal: int
    id: str
    sets: Mapping[str, Sequence[Set]]
    counts: Mapping[str, Sequence[int]]


@dataclass
class Summary:
    """What a pane's plan is made of, additive: eligible by attribute, how many sets there are, and the barred by reason."""

    eligible: dict[str, Eligible] = field(default_factory=dict)
    sets: dict[str, int] = field(default_factory=dict)
    barred: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, other: Summary) -> None:
        """Add another block's."""
        for name, each in other.eligible.items():
            self.eligible[name] = eligibility.add(self.eligible[name], each) if name in self.eligible else each
        for name, number in other.sets.items():
            self.sets[name] = self.sets.get(name, 0) + number
        for name, reasons in other.barred.items():
            known = self.barred.setdefault(name, {})
            for reason, number in reasons.items():
                known[reason] = known.get(reason, 0) + number


class Proposer:
    """Proposes substitutions for the attributes that a configuration repairs by changing text; judge: the embedded one if None.

    Raises RoleMapError.
    """

    def __init__(self, config: Config, lists: Sequence[WordList], judge: Judge | None = None):
        self.modes = {words.attribute: config.mode(words.attribute) for words in lists}
        self.strictness = {words.attribute: config.strictness(words.attribute) for words in lists}
        self._groups = {words.attribute: words.groups for words in lists}
        self._substituters = {
            name: Substituter(lists, name, config.repair.method, self.strictness[name], judge)
            for name, mode in self.modes.items()
            if mode in ("substitute", "augment")
        }

    @property
    def attributes(self) -> tuple[str, ...]:
        """Those whose sets are proposed."""
        return tuple(self._substituters)

    def propose(
        self, ordinal: int, identity: str, text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[Mention]
    ) -> Proposed | None:
        """A document's sets; None where there are none. sentences, mentions: all of the text's (see `Substituter.propose`)."""
        words = WordSets(text, sentences)
        found = {name: each.propose(text, sentences, mentions, identity, words) for name, each in self._substituters.items()}
        sets = {name: proposed for name, proposed in found.items() if proposed}
        counts = {}
        for name in sets:
            if self.modes[name] == "augment":
                said = [mention.group for mention in mentions if mention.attribute == name]
                counts[name] = [said.count(group) for group in self._groups[name]]
        return Proposed(ordinal, identity, sets, counts) if sets else None

    def summary(self, documents: Iterable[Proposed]) -> Summary:
        """What a plan is made of."""
        documents = list(documents)
        total = Summary()
        for name in self._substituters:
            groups, strictness = self._groups[name], self.strictness[name]
            own = [each for each in documents if name in each.sets]
            sets = [proposed for each in own for proposed in each.sets[name]]
            if self.modes[name] == "augment":
                eligible = Eligible(tuple(groups), {})
                copies = [eligibility.for_augmentation(groups, each.counts[name], each.sets[name], strictness) for each in own]
                eligible = eligibility.add(eligible, *copies)
            else:
                eligible = eligibility.for_substitution(groups, sets, strictness)
            total.eligible[name], total.sets[name] = eligible, len(sets)
            reasons: dict[str, int] = {}
            for proposed in sets:
                if not eligibility.is_eligible(proposed, strictness):
                    reasons[proposed.reason] = reasons.get(proposed.reason, 0) + 1
            total.barred[name] = reasons
        return total


def write(path: Path, documents: Sequence[Proposed], proposer: Proposer) -> None:
    """Write a block's file; a replay writes the same name again. Raises OSError."""
    summary = proposer.summary(documents)
    head = {
        "eligible": {name: each.to_json() for name, each in summary.eligible.items()},
        "sets": summary.sets,
        "barred": summary.barred,
    }
    with path.open("wb") as file:
        file.write(orjson.dumps(head) + b"\n")
        for each in documents:
            file.write(orjson.dumps(_to_json(each), option=orjson.OPT_SERIALIZE_NUMPY) + b"\n")


def read_summary(path: Path) -> Summary:
    """The first line of a block's file."""
    with path.open("rb") as file:
        head = orjson.loads(file.readline())
    eligible = {name: Eligible.from_json(each) for name, each in head["eligible"].items()}
    return Summary(eligible, head["sets"], head["barred"])


def read(path: Path) -> Iterator[Proposed]:
    """The documents of a block's file, one by one."""
    with path.open("rb") as file:
        file.readline()
        for line in file:
            yield _from_json(orjson.loads(line))


def drop(path: Path, ordinals: Iterable[int], proposer: Proposer) -> None:
    """Take documents out of a block's file."""
    gone = set(ordinals)
    kept = [each for each in read(path) if each.ordinal not in gone]
    part = path.with_suffix(".part")
    write(part, kept, proposer)
    part.replace(path)


def _to_json(document: Proposed) -> dict[str, Any]:
    sets = {
        name: [
            {
                "from": each.source,
                "sure": each.confidence,
                "in": each.sentences,
                "said": [[mention.start, mention.end, mention.label] for mention in each.mentions],
                "to": {target: [list(edit) for edit in edits] for target, edits in each.edits.items()},
                "why": each.reason,
            }
            for each in proposed
        ]
        for name, proposed in document.sets.items()
    }
    return {"at": document.ordinal, "id": document.id, "sets": sets, "counts": document.counts}


def _from_json(data: dict[str, Any]) -> Proposed:
    sets = {name: [_set(name, each) for each in proposed] for name, proposed in data["sets"].items()}
    return Proposed(data["at"], data["id"], sets, data["counts"])


def _set(attribute: str, data: dict[str, Any]) -> Set:
    source = data["from"]
    mentions = tuple([Mention(start, end, label, attribute, source) for start, end, label in data["said"]])
    edits = {target: tuple(map(Edit._make, made)) for target, made in data["to"].items()}
    barred = (Bar(mentions[0], data["why"]),) if data["why"] else ()
    return Set(attribute, source, edits, data["sure"], tuple(data["in"]), mentions, barred)
