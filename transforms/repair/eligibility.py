"""What may be changed in a pane for an attribute, summed up: classes of sets that may go to the
same groups, and their sizes.

See `planning` for what is made of a summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenflow.transforms.substitution.sets import Set


class Class(NamedTuple):
    """What may go from one group to the same others; targets sorted."""

    source: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class ClassSize:
    """A class's size. units: sets, or documents to copy. mentions: of its source that would change,
    at most.

    sentences (T,): to change for each of the class's targets. changes (T, M): added to the counts
    if all go there.
    """

    units: int
    mentions: int
    sentences: tuple[int, ...]
    changes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Eligible:
    """What may be changed in a pane for an attribute: tallies by class, over M groups in the list's
    order.
    """

    groups: tuple[str, ...]
    tallies: Mapping[Class, ClassSize]


def class_of(proposed: Set) -> Class:
    """The class of a set: its group, and the others that it has edits for."""
    targets = sorted(
        target for target, edits in proposed.edits.items() if edits and target != proposed.source
    )
    return Class(proposed.source, tuple(targets))


def of_set(groups: Sequence[str], proposed: Set) -> tuple[Class, ClassSize]:
    """Mode substitute: the class and size of a set. Raises ValueError for a group that groups does
    not have.
    """
    place = _places(groups)
    kind = class_of(proposed)
    changes = tuple(tuple(_moved(place, len(groups), proposed, target)) for target in kind.targets)
    return kind, ClassSize(
        1, len(proposed.mentions), (len(proposed.sentences),) * len(kind.targets), changes
    )


def to_copy(groups: Sequence[str], sets: Sequence[Set]) -> tuple[Class, list[Set]] | None:
    """Mode augment: a document's class and those of its eligible sets that change in its copy; None
    where there are none.

    They are of the group of which most mentions may change (of equal ones, the first in the list);
    the copy for a target changes those of them that can go there.
    """
    place = _places(groups)
    by_group: dict[str, list[Set]] = {}
    for each in sets:
        by_group.setdefault(each.source, []).append(each)
    if not by_group:
        return None
    source = min(
        by_group,
        key=lambda group: (-sum(len(each.mentions) for each in by_group[group]), place(group)),
    )
    targets = {target for each in by_group[source] for target in class_of(each).targets}
    return Class(source, tuple(sorted(targets))), by_group[source]


def of_copy(
    groups: Sequence[str], counts: Sequence[int], sets: Sequence[Set]
) -> tuple[Class, ClassSize] | None:
    """Mode augment: the class and size of a document of (M,) counts. Raises as of_set."""
    place = _places(groups)
    found = to_copy(groups, sets)
    if found is None:
        return None
    kind, chosen = found
    sentences: list[int] = []
    changes: list[tuple[int, ...]] = []
    for target in kind.targets:
        going = [each for each in chosen if target in class_of(each).targets]
        sentences.append(len({at for each in going for at in each.sentences}))
        moved = [_moved(place, len(groups), each, target) for each in going]
        changes.append(tuple(map(sum, zip(map(int, counts), *moved, strict=True))))
    return kind, ClassSize(
        1, sum(len(each.mentions) for each in chosen), tuple(sentences), tuple(changes)
    )


def summed(groups: Sequence[str], found: Iterable[tuple[Class, ClassSize]]) -> Eligible:
    """The summary of some classes and sizes."""
    rows: dict[Class, list[ClassSize]] = {}
    for kind, tally in found:
        rows.setdefault(kind, []).append(tally)
    tallies = {
        kind: ClassSize(
            sum(each.units for each in own),
            sum(each.mentions for each in own),
            tuple(map(sum, zip(*(each.sentences for each in own), strict=True))),
            tuple(
                tuple(map(sum, zip(*rows, strict=True)))
                for rows in zip(*(each.changes for each in own), strict=True)
            ),
        )
        for kind, own in rows.items()
    }
    return Eligible(tuple(groups), tallies)


def _moved(place: Callable[[str], int], groups: int, proposed: Set, target: str) -> list[int]:
    """What a set adds to the counts (M,) when it goes to a target; a mention whose edit leaves no
    word arrives nowhere.
    """
    moved = [0] * groups
    source, to = place(proposed.source), place(target)
    for mention in proposed.mentions:
        over = [
            edit
            for edit in proposed.edits[target]
            if edit.start < mention.end and mention.start < edit.end
        ]
        moved[source] -= bool(over)
        moved[to] += any(edit.replacement for edit in over)
    return moved


def _places(groups: Sequence[str]) -> Callable[[str], int]:
    def place(group: str) -> int:
        if group not in groups:
            raise ValueError(f"group {group!r}: there are only {', '.join(groups)}")
        return list(groups).index(group)

    return place
