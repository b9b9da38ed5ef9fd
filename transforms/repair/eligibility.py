"""Sums up what may be changed in a pane: classes of sets that may go to the same groups.

`plan` computes rates from such a summary.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenflow.transforms.substitution.sets import Set


class Class(NamedTuple):
    """A class of sets, or of documents to copy: one source group and the same possible targets."""

    source: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class ClassSize:
    """The size of a class with T targets, over M groups.

    `sentences`: Sentences to change for each target, (T,). `changes`: What is added to the counts
    if all go to a target, (T, M).
    """

    mentions: int
    sentences: tuple[int, ...]
    changes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Eligible:
    """What may be changed in a pane for an attribute."""

    groups: tuple[str, ...]
    tallies: Mapping[Class, ClassSize]


def class_of(proposed: Set) -> Class:
    """The class of a set: its group, and the other groups that it has edits for."""
    targets = sorted(
        target for target, edits in proposed.edits.items() if edits and target != proposed.source
    )
    return Class(proposed.source, tuple(targets))


def measure_set(groups: Sequence[str], proposed: Set) -> tuple[Class, ClassSize]:
    """The class and size of a set (mode substitute).

    `groups`: The attribute's groups, (M,).
    """
    kind = class_of(proposed)
    changes = tuple(tuple(_moved(groups, proposed, target)) for target in kind.targets)
    sentences = (len(proposed.sentences),) * len(kind.targets)
    return kind, ClassSize(len(proposed.mentions), sentences, changes)


def choose_copied(groups: Sequence[str], sets: Sequence[Set]) -> tuple[Class, list[Set]] | None:
    """The class of a document, and the sets that change in its copy (mode augment).

    The sets are those of the group of which most mentions may change; of equal groups, the first in
    the list. The copy for a target changes those of them that can go there.

    `groups`: The attribute's groups, (M,).
    """
    by_group = {group: [each for each in sets if each.source == group] for group in groups}
    source = max(groups, key=lambda group: sum(len(each.mentions) for each in by_group[group]))
    if not by_group[source]:
        return None
    targets = {target for each in by_group[source] for target in class_of(each).targets}
    return Class(source, tuple(sorted(targets))), by_group[source]


def measure_copy(
    groups: Sequence[str], counts: Sequence[int], sets: Sequence[Set]
) -> tuple[Class, ClassSize] | None:
    """The class and size of a document to copy (mode augment).

    `groups`: The attribute's groups, (M,). `counts`: The document's mentions, (M,).
    """
    if (found := choose_copied(groups, sets)) is None:
        return None
    kind, chosen = found
    sentences: tuple[int, ...] = ()
    changes: tuple[tuple[int, ...], ...] = ()
    for target in kind.targets:
        changing = [each for each in chosen if target in class_of(each).targets]
        sentences += (len({at for each in changing for at in each.sentences}),)
        moved = (_moved(groups, each, target) for each in changing)
        changes += (tuple(map(sum, zip(map(int, counts), *moved, strict=True))),)
    return kind, ClassSize(sum(len(each.mentions) for each in chosen), sentences, changes)


def add_up(groups: Sequence[str], found: Iterable[tuple[Class, ClassSize]]) -> Eligible:
    """Add up classes and sizes.

    `groups`: The attribute's groups, (M,).
    """
    rows: dict[Class, list[ClassSize]] = {}
    for kind, size in found:
        rows.setdefault(kind, []).append(size)
    tallies = {
        kind: ClassSize(
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


def _moved(groups: Sequence[str], proposed: Set, target: str) -> list[int]:
    """What a set adds to the counts (M,) when it goes to a target.

    A mention whose edit leaves no word leaves its group and goes to no other.
    """
    moved = [0] * len(groups)
    source, to = groups.index(proposed.source), groups.index(target)
    edits = sorted(proposed.edits[target], key=lambda edit: edit.start)  # none overlaps another
    starts, ends = [edit.start for edit in edits], [edit.end for edit in edits]
    for mention in proposed.mentions:
        over = edits[bisect_right(ends, mention.start) : bisect_left(starts, mention.end)]
        moved[source] -= bool(over)
        moved[to] += any(edit.replacement for edit in over)
    return moved
