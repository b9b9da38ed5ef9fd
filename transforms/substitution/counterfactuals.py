"""Counterfactuals: a document with one group's words exchanged for another's.

There are two methods. `gc`, grammar and context aware (main paper, 4.2.4, GC-CDA), uses forms that
fit the sentence and keeps the words for a person together over sentences. A learnt judge in the
place of the paper's LLM decides whether an exchange is right. `base` (BaseCDA, same section)
exchanges every label for one of the other group and tells only her, his and him apart.

    text -> mentions -> chains of items (gendered.py, bygroup.py) -> sets with edits -> the judge
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.substitution import base_cda
from evenflow.transforms.substitution.decisions import Decisions
from evenflow.transforms.substitution.judges import Asked, Bar, ExchangeJudge
from evenflow.transforms.substitution.reading import DocumentJudge
from evenflow.transforms.substitution.sets import DOUBTED, Edit, Refusal, Set, apply
from evenflow.transforms.substitution.substituter import Method, Substituter
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists.loader import WordList


@dataclass(frozen=True)
class Rewritten:
    """A text with every eligible set exchanged.

    `targets`: The group that each set went to; None: it stayed.
    """

    text: str
    edits: tuple[Edit, ...]
    sets: tuple[Set, ...]
    targets: tuple[str | None, ...]


def rewrite(
    text: str,
    lists: Sequence[WordList],
    attribute: str,
    method: Method = "gc",
    source: str | None = None,
    target: str | None = None,
    min_probability: float = 0.8,
    judge: ExchangeJudge | None = None,
) -> Rewritten:
    """Exchange every eligible set of a text, without a repair plan.

    Args:
        source: Exchange only sets of this group; None: of every group.
        target: The group that they go to; None: a hash of the text chooses among those that a set
            may go to.
        min_probability: The least probability of being right that an exchange needs.
        judge: Gives this probability; None: every set whose form allows it is exchanged.

    Raises:
        ValueError: The lists do not have the attribute or a group.
    """
    by_line = isinstance(judge, DocumentJudge)
    substituter = Substituter(lists, attribute, method, by_line=by_line)
    for group in (source, target):
        if group is not None and group not in substituter.words.groups:
            known = ", ".join(substituter.words.groups)
            raise ValueError(
                f"group {group!r}: the list {attribute} has no such group; it has {known}"
            )
    found = LabelFinder(lists)
    every = found.find_all(text)
    sentences = trimmed(text, uncut(bounds(text), every).tolist())
    proposed = substituter.propose(text, sentences, found.named(every))
    judge = judge if method == "gc" else None
    return exchanged(text, proposed, min_probability, chooser(text, source, target), judge)


def exchanged(
    text: str,
    proposed: Sequence[Set],
    min_probability: float,
    wanted: Callable[[Set], str | None],
    judge: ExchangeJudge | None = None,
    bar: Bar | None = None,
    doubted: str = DOUBTED,
) -> Rewritten:
    """Have the proposed sets of a text judged, and exchange those that may be.

    Args:
        min_probability: The least probability of being right that an exchange needs.
        wanted: Gives the group that a set should go to, None for none.
        judge: Gives this probability; None: the sets' own.
        bar: Bars exchanges that the judge may accept; None: none.
        doubted: The reason of a set with a lower probability.
    """
    decisions = Decisions[None](min_probability, judge, bar, doubted)
    asked = [
        (place, target)
        for place, each in enumerate(proposed)
        if (target := wanted(each)) is not None and not decisions.reason(None, place, each)
    ]
    if asked:
        decisions.ask({None: asked}, lambda _, exchanges: Asked(text, proposed, exchanges))
    targets: dict[int, str] = {}
    for place, target in asked:
        if not decisions.reason(None, place, proposed[place]) and not decisions.follows(
            None, place
        ):
            targets |= dict.fromkeys(decisions.joined(None, place), target)
    edits = sorted(
        edit for place, group in targets.items() for edit in proposed[place].edits[group]
    )
    decided: list[Set] = []
    for place, each in enumerate(proposed):
        reason = decisions.reason(None, place, each)
        refusals = (Refusal(each.mentions[0], reason),) if reason else ()
        decided.append(replace(decisions.decided(None, place, each), refusals=refusals))
    groups = tuple(map(targets.get, range(len(proposed))))
    return Rewritten(apply(text, edits), tuple(edits), tuple(decided), groups)


def chooser(
    text: str,
    source: str | None = None,
    target: str | None = None,
    unwanted: Collection[str] = (),
) -> Callable[[Set], str | None]:
    """Make a function that chooses a target group for each set of a text, without a repair plan.

    `unwanted`: Groups to which nothing goes unless `target` names one of them.

    Returns:
        A function that gives a set's target group, None for none.
    """
    # One number for the text, so that all of it goes to the same of several groups
    number = base_cda.draw_for(text)

    def wanted(proposed: Set) -> str | None:
        able = [each for each in proposed.targets if each not in unwanted]
        group = target or (able[number % len(able)] if able else None)
        if group is None or (source is not None and proposed.source != source):
            return None
        return group if group in proposed.edits else None

    return wanted
