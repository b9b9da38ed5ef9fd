"""Groups that stand beside each other: where a statement sets one against another, neither is exchanged.

Comments without capitals put one thought on a line, list groups of which the same is said, and speak of those outside of a faith
together with those inside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.roles import ADJECTIVE, RoleMap
from evenflow.transforms.substitution.sets import Item
from evenflow.wordlists import spelling

# Confidence that is left to groups beside each other, and to those inside and outside of a faith, who change together.
BESIDE, TOGETHER = 0.2, 0.55
# Roles whose first words name all of a faith, and whose others a branch of it; SAME_BRANCH: where two words name one.
ADHERENTS = frozenset(("adherent", "adherents", "of the faith"))
NO_BRANCH = frozenset(("moslem", "evangelical", "churchgoer", "congregant", "parishioner", "congregationalist"))
SAME_BRANCH = {
    "shia": "shiite",
    "hasidic": "hasid",
    "chasid": "hasid",
    "haredi": "hasid",
    "ultra-orthodox": "hasid",
    "salafist": "salafi",
}
# «not all muslims are terrorists not all christians are racists»
OF_ALL = re.compile(r"\b(?:all|every)\s+[\w'’-]+(?:\s+(?!(?:are|is)\b)[\w'’-]+)?\s+(?:are|is)\b", re.IGNORECASE)
NON = re.compile(r"\bnon[\s-]$", re.IGNORECASE)
OUTSIDE = "non"  # what words for those outside begin with where they are one («nonmuslims»)


def bar(
    text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item], branches: Mapping[str, str], caseless: bool
) -> None:
    """Lower the confidence where groups stand beside each other in a sentence, or branches of one («Sunni and Shia»).

    branches: word -> branch of its group. caseless: whether the text is written without capitals.
    """
    groups: dict[tuple[int, int], set[str]] = {}
    named: dict[tuple[int, str], set[str]] = {}
    inside: set[tuple[int, str]] = set()
    modifies = _modifying(text, items, branches) if caseless else set[int]()
    lines = [text.count("\n", sentences[item.sentence][0], item.start) if caseless else 0 for item in items]
    for item, line in zip(items, lines, strict=True):
        if item.weight and id(item) not in modifies:
            groups.setdefault((item.sentence, line), set()).add(item.group)
        branch = branches.get(item.word)
        if branch is not None:
            named.setdefault((item.sentence, item.group), set()).add(branch)
        if not _is_outside(text, item):
            inside.add((item.sentence, item.group))
    for item, line in zip(items, lines, strict=True):
        if _is_outside(text, item):
            item.lower(TOGETHER if caseless and (item.sentence, item.group) in inside else BESIDE, sets.COMPARED)
        others = groups.get((item.sentence, line), ())
        if id(item) in modifies:
            item.lower(BESIDE, sets.COMPARED)
            continue
        in_a_row = caseless and len(others) > 1 and len(OF_ALL.findall(text, *sentences[item.sentence])) > 1
        if len(named.get((item.sentence, item.group), ())) > 1 or (len(others) > 1 and not in_a_row):
            item.lower(BESIDE, sets.COMPARED)
        elif in_a_row:  # none becomes another that is in it
            item.lower(TOGETHER, sets.COMPARED)
            item.replacements = {group: word for group, word in item.replacements.items() if group not in others}


def _modifying(text: str, items: Sequence[Item], branches: Mapping[str, str]) -> set[int]:
    """Words for a branch that a comment puts before those of another faith: «a shia hindu» is one of them, beside nobody."""
    return {
        id(first)
        for first, second in pairwise(items)
        if first.kind == ADJECTIVE and second.kind != ADJECTIVE and first.group != second.group
        if first.word in branches and text[first.end : second.start] == " "
    }


def _is_outside(text: str, item: Item) -> bool:
    """Whether those of no such faith are meant: «non-muslims», «nonmuslims»."""
    return item.word.startswith(OUTSIDE) or NON.search(text, max(0, item.start - len("non-")), item.start) is not None


def branches_of(roles: RoleMap) -> dict[str, str]:
    """Words for the members of one branch of a faith -> the branch, in the singular («shiites» -> shiite, not «muslims»)."""
    adherents = [(word, each) for word, known in roles.by_word.items() for each in known if each.name in ADHERENTS]
    whole = {spelling.fold(each.words[group][0]) for _, each in adherents for group in each.words}
    found = {word: word.removesuffix("s") for word, _ in adherents if word not in whole}
    return {word: SAME_BRANCH.get(branch, branch) for word, branch in found.items() if branch not in NO_BRANCH}
