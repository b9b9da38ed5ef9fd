"""BaseCDA (main paper, 4.2.4): exchanges every label for one of another group.

It is the baseline that benchmarks compare with. It tells only her, his and him apart. The caller
draws which half of the sentences is exchanged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.substitution import agreement
from evenflow.transforms.substitution.sets import Edit, Set
from evenflow.transforms.text import pronouns
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList


def propose(
    text: str,
    sentences: Sequence[tuple[int, int]],
    mentions: Sequence[Mention],
    words: WordList,
    with_pronouns: bool,
) -> list[Set]:
    """Propose a set for each sentence and group."""
    by_place: dict[tuple[int, str], list[Mention]] = {}
    place = 0
    for mention in mentions:
        while place + 1 < len(sentences) and sentences[place + 1][0] <= mention.start:
            place += 1
        by_place.setdefault((place, mention.group), []).append(mention)
    out: list[Set] = []
    for (at, group), own in by_place.items():
        edits = {
            target: tuple(
                Edit(each.start, each.end, _word(text, each, target, words, with_pronouns))
                for each in own
            )
            for target in words.groups
            if target != group
        }
        out.append(Set(words.attribute, group, edits, 1.0, (at,), (sentences[at],), tuple(own)))
    return out


def _word(text: str, mention: Mention, target: str, words: WordList, with_pronouns: bool) -> str:
    """A counterpart of the list's pairs if there is one, else any label of the target."""
    original = text[mention.start : mention.end]
    label = spelling.fold(mention.label)
    if with_pronouns and label in pronouns.PRONOUNS:
        return agreement.recase(
            original, label, pronouns.find_counterpart(text, mention.start, mention.end, label)[0]
        )
    group = words.groups.index(target)
    paired = [
        other for other in words.counterparts.get(mention.label, ()) if words.labels[other] == group
    ]
    candidates = paired or [each for each, number in words.labels.items() if number == group]
    return agreement.recase(original, label, candidates[draw(text, mention.start, len(candidates))])


def draw(text: str, place: int, size: int) -> int:
    """Draw a number that depends on a text and a place in it, the same on every run.

    The blank at the text's end does not count: a line that is read may end in a line break.

    Args:
        place: Any number, such as an offset.
        size: Number of possible results, at least 1.

    Returns:
        A number from 0 to size - 1.
    """
    digest = hashlib.blake2b(
        text.rstrip().encode("utf-8", "surrogatepass"), digest_size=8, salt=str(place).encode()[:16]
    )
    return int.from_bytes(digest.digest(), "big") % size


def draw_for(text: str) -> int:
    """Draw a number for a text, which chooses the same one of several words throughout.

    Returns A number from 0 to 2³² - 1.
    """
    return draw(text, 0, 1 << 32)
