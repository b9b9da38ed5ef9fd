"""A draft of a word list: what is proposed, one JSON file that nothing changes after it is made.

The decisions of reviewers are in a journal beside it (`journal.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from evenflow.schemas.errors import UsageError
from evenflow.transforms.lab.word_lists import criteria, forms
from evenflow.transforms.lab.word_lists.corpus import EXAMPLES, Mentions, count
from evenflow.transforms.lab.word_lists.criteria import KnownWords, Weakness
from evenflow.transforms.lab.word_lists.proposals import SEED, Proposal
from evenflow.transforms.storage.storage import at
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList
from evenflow.wordlists.parsing import NAME, label_problem

# More candidates than a group of people reviews; a list of that many is a mistake
MOST = 100_000
LISTED = "the list that was typed"

Counterparts = Callable[[Mapping[str, Sequence[str]]], Mapping[str, Mapping[str, str]]]


class DraftError(UsageError):
    """A draft or journal that cannot be used; the message names the file."""


class _Model(BaseModel):
    """Data of a draft: unknown keys are refused, so that an edit by hand is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Candidate(_Model):
    """A word with its singular or plural, which are reviewed together.

    `order`: Its place in the order of generation in its group, from 1. `band`, `of`: Of a sentence
    (see `flagged`), its band of probability, and how many flagged sentences are in that.
    """

    word: str
    group: str
    forms: dict[str, int]
    sources: tuple[str, ...]
    order: int
    examples: tuple[str, ...] = ()
    warnings: tuple[Weakness, ...] = ()
    counterparts: dict[str, str] = {}
    band: int | None = None
    of: int = 0

    @property
    def mentions(self) -> int:
        """Mentions of all its forms."""
        return sum(self.forms.values())

    @property
    def is_seed(self) -> bool:
        """Whether it is right by its being given: reviewers need not decide about it."""
        return SEED in self.sources


class Draft(_Model):
    """A draft.

    `option`: A (by frequency) or B (in the order of generation), as in Algorithm 1.
    """

    format: Literal["evenflow-word-list-draft"] = "evenflow-word-list-draft"
    version: Literal[1] = 1
    attribute: str
    groups: tuple[str, ...]
    source: str
    licence: str
    documents: int
    option: Literal["A", "B"]
    candidates: tuple[Candidate, ...]
    exact: tuple[str, ...] = ()
    pairs: tuple[tuple[str, ...], ...] = ()
    target: dict[str, float] = {}


def check_names(attribute: str, groups: Sequence[str]) -> None:
    """Refuse names that a word list cannot have. Raises DraftError."""
    for name in (attribute, *groups):
        if not NAME.fullmatch(name):
            raise DraftError(f"{name!r}: a name has letters, digits, _ and - only")
    if len({each.lower() for each in groups}) < max(2, len(groups)):
        raise DraftError("two groups or more were expected, each once")


def folded(proposals: Mapping[str, Sequence[Proposal]]) -> list[list[Proposal]]:
    """Fold proposals that are one word: spellings, and a plural into its singular."""
    # By turns of the groups
    every = (each for turn in zip_longest(*proposals.values()) for each in turn if each)
    out: dict[str, list[Proposal]] = {}
    for each in islice(every, MOST):
        key = spelling.fold(forms.singular(each.word) or each.word)
        out.setdefault(key, []).append(each)
    return list(out.values())


def make(
    attribute: str,
    proposals: Mapping[str, Sequence[Proposal]],
    texts: Iterable[Sequence[str]],
    *,
    option: Literal["A", "B"],
    top: int,
    source: str,
    licence: str,
    known: Iterable[str] = (),
    associations: Mapping[str, str] | None = None,
    counterparts: Counterparts | None = None,
    typed: WordList | None = None,
) -> Draft:
    """Make a draft: steps 2 and 3 of Algorithm 1 of the main paper.

    `counterparts`: From words by group to their counterparts by word and group; None: no
    counterparts are proposed. `typed`: The list that somebody typed and the proposals are of; every
    label is kept as it is, and none is added. None: there is none.
    """
    check_names(attribute, tuple(proposals))
    proposals = {
        group: [
            each for each in own if typed or each.source == SEED or not criteria.is_stop(each.word)
        ]
        for group, own in proposals.items()
    }
    candidates = folded(proposals)
    groups = _groups(proposals)
    exact = frozenset() if typed is None else typed.exact
    written = [
        _forms(own, groups) if typed is None else [each.word for each in own] for own in candidates
    ]
    mentions = _counted(written, exact, texts)
    frequency = {spelling.fold(word): n for word, n in mentions.frequencies.items()}
    context = KnownWords(
        groups=groups,
        known=frozenset(known),
        mentions=frequency,
        associations=associations or {},
    )
    orders: dict[str, int] = dict.fromkeys(proposals, 0)
    made: list[Candidate] = []
    for own, words in zip(candidates, written, strict=True):
        first = own[0]
        orders[first.group] += 1
        counts = {word: frequency.get(spelling.fold(word), 0) for word in words}
        is_seed = any(each.source == SEED for each in own)
        given = {each.word for each in own if typed is not None or each.source == SEED}
        present = {word: number for word, number in counts.items() if number or word in given}
        if not present:
            continue
        by_form = [mentions.examples.get(word, []) for word in present]
        examples = [text for some in zip_longest(*by_form) for text in some if text]
        made.append(
            Candidate(
                word=first.word,
                group=first.group,
                forms=present,
                sources=tuple(dict.fromkeys(each.source for each in own)),
                order=orders[first.group],
                examples=tuple(dict.fromkeys(examples))[:EXAMPLES],
                # A seed is right by its being given
                warnings=() if is_seed else tuple(criteria.check(first.word, context)),
            )
        )
    if not made:
        raise DraftError("the corpus has none of the proposed words")
    kept = [
        each
        for group in proposals
        for each in ranked([each for each in made if each.group == group], option)[:top]
    ]
    if counterparts is not None:
        others = counterparts(
            {group: [each.word for each in kept if each.group == group] for group in proposals}
        )
        kept = [
            each.model_copy(update={"counterparts": others.get(each.word, {})}) for each in kept
        ]
    return Draft(
        attribute=attribute,
        groups=tuple(proposals),
        source=source,
        licence=licence,
        documents=mentions.documents,
        option=option,
        candidates=tuple(kept),
        exact=tuple(sorted(exact)),
        pairs=() if typed is None else typed.pairs,
        target={} if typed is None else typed.target,
    )


def of_list(typed: WordList, texts: Iterable[Sequence[str]], **context: Any) -> Draft:
    """Make a draft of a list that somebody typed, so that it can be reviewed."""

    def paired(own: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
        words = {word for each in own.values() for word in each}
        return {
            word: {typed.groups[typed.labels[other]]: other for other in others if other in words}
            for word, others in typed.counterparts.items()
        }

    proposed = {group: list[Proposal]() for group in typed.groups}
    for label, number in typed.labels.items():
        group = typed.groups[number]
        proposed[group].append(Proposal(label, group, typed.provenance.get(label, LISTED)))
    return make(
        typed.attribute,
        proposed,
        texts,
        option="B",
        top=MOST,
        source=typed.source,
        licence=typed.licence,
        counterparts=paired,
        typed=typed,
        **context,
    )


def ranked(candidates: list[Candidate], option: str) -> list[Candidate]:
    """Order the candidates of a group."""
    by = (lambda each: (-each.mentions, each.order)) if option == "A" else lambda each: each.order
    return sorted(candidates, key=by)


def _forms(proposals: Sequence[Proposal], groups: Mapping[str, frozenset[str]]) -> list[str]:
    """Words with their singular or plural, each spelling once.

    A form that was proposed for another group is none: “mrs” is no plural of “mr”.
    """
    every = [form for each in proposals for form in (each.word, forms.other_number(each.word))]
    own = frozenset(each.group for each in proposals)
    usable = [
        each
        for each in every
        if each and not label_problem(each) and own & groups.get(spelling.fold(each), own)
    ]
    return list({spelling.fold(each): each for each in reversed(usable)}.values())[::-1]


def _counted(
    written: Sequence[Sequence[str]], exact: frozenset[str], texts: Iterable[Sequence[str]]
) -> Mentions:
    """Count all forms as labels of one group: they need not exclude each other."""
    labels = {spelling.fold(word): word for words in written for word in words}
    words = WordList(
        "draft", ("candidates",), dict.fromkeys(labels.values(), 0), exact, {}, "", "", ""
    )
    return count(texts, [words], EXAMPLES)[0]


def _groups(proposals: Mapping[str, Sequence[Proposal]]) -> dict[str, frozenset[str]]:
    """The groups that each folded word was proposed for."""
    out: dict[str, frozenset[str]] = {}
    for group, own in proposals.items():
        for each in own:
            word = spelling.fold(each.word)
            out[word] = out.get(word, frozenset()) | {group}
    return out


def write(path: Path, draft: Draft) -> None:
    """Write a draft. Raises OSError."""
    text = draft.model_dump_json(indent=1) + "\n"
    at(path.parent).write(path.name, text.encode())


def read(path: Path) -> Draft:
    """Read a draft."""
    try:
        draft = Draft.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DraftError(f"{path}: {error.strerror}") from error
    except ValidationError as error:
        first: Any = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise DraftError(f"{path}: no draft of a word list ({place}: {first['msg']})") from error
    check_names(draft.attribute, draft.groups)
    words = [each.word for each in draft.candidates]
    if len(set(words)) < len(words):
        raise DraftError(f"{path}: a word stands twice")
    if wrong := next((each for each in draft.candidates if each.group not in draft.groups), None):
        raise DraftError(f"{path}: {wrong.word!r} is of no group of the draft")
    return draft
