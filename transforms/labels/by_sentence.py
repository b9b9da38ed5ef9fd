"""The mentions of a text by its sentences; `run` and `explain` both group them here."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from evenflow.transforms.labels.finder import Found, Ints, Mention, uncut
from evenflow.transforms.text.sentences import bounds


def sentence_starts(text: str, found: Sequence[Found]) -> Ints:
    """Find where sentences start; a bound inside a mention does not count.

    Args:
        text: The text, or texts joined by `finder.BETWEEN`.
        found: Its mentions, one Found an attribute.

    Returns:
        Start offsets in characters, (S,), ascending.
    """
    return uncut(bounds(text), found)


def by_sentence(
    sentences: Sequence[tuple[int, int]], mentions: Iterable[Mention]
) -> dict[int, dict[str, list[Mention]]]:
    """Group mentions by the sentence that they start in and by attribute.

    Args:
        sentences: Start and end of each sentence, ascending.
        mentions: Mentions, each within a sentence.

    Returns:
        Sentence number to attribute to mentions, in the order given.
    """
    starts = [start for start, _ in sentences]
    grouped: dict[int, dict[str, list[Mention]]] = {}
    for mention in mentions:
        number = bisect_right(starts, mention.start) - 1
        grouped.setdefault(number, {}).setdefault(mention.attribute, []).append(mention)
    return grouped


def words_per_group(groups: Iterable[str], mentions: Iterable[Mention]) -> dict[str, list[str]]:
    """Collect the labels that name each group.

    Args:
        groups: The groups of an attribute.
        mentions: Mentions of the attribute.

    Returns:
        Group to labels, in the order of the groups and the mentions.
    """
    words: dict[str, list[str]] = {group: [] for group in groups}
    for mention in mentions:
        words[mention.group].append(mention.label)
    return words
