"""BaseCDA (main paper, 4.2.4): every label for one of another group, as the baseline that
benchmarks compare with.

Only her, his and him are told apart. Which half of the sentences is exchanged is for the caller to
draw.
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
    """A set a sentence and group, of confidence 1; the mentions are of one attribute, in the text's
    order.
    """
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
        out.append(
            Set(
                words.attribute, group, edits, 1.0, (at,), (sentences[at],), tuple(own), judged=True
            )
        )
    return out


def _word(text: str, mention: Mention, target: str, words: WordList, with_pronouns: bool) -> str:
    """A counterpart of the list's pairs if it has any, else any label of the target."""
    said = text[mention.start : mention.end]
    label = spelling.fold(mention.label)
    if with_pronouns and label in pronouns.PRONOUNS:
        return agreement.recase(
            said, label, pronouns.counterpart(text, mention.start, mention.end, label)[0]
        )
    group = words.groups.index(target)
    paired = [
        other for other in words.counterparts.get(mention.label, ()) if words.labels[other] == group
    ]
    candidates = paired or [each for each, number in words.labels.items() if number == group]
    return agreement.recase(said, label, candidates[drawn(text, mention.start, len(candidates))])


def drawn(text: str, place: int, size: int) -> int:
    """A number below size that the text and a place in it decide, the same on every run."""
    digest = hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), digest_size=8, salt=str(place).encode()[:16]
    )
    return int.from_bytes(digest.digest(), "big") % size
