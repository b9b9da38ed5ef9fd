"""Interventions: what is put in the place of the words that name a group (Thakur et al. 2023).

Section 4 and appendix A.4 of the paper define them:

- naive-masking: “person” for every word.
- neutral-masking: the neutral word that a list has for the word; pronouns become forms of “they”,
  and the verb beside them a plural.
- random-phrase-masking: a phrase that names both groups; the phrase and its order are drawn.
- female-first-random-phrase-masking: the same, with the first group of the list always first.
- fixed-phrase-masking-1 to -4: one of the four phrases, with the word's own group first.
- counterfactual: the counterpart alone, as CDA has it (Zmigrod et al. 2019), the paper's baseline.

The paper does not say how pronouns, verbs, articles and titles follow; here they do. Of three or
more groups, a phrase names the word's own and a drawn one. A pair that a sentence names already
(“he or she”) stays, except with naive-masking and neutral-masking. First names stay.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

from evenflow.transforms.lab.masking import neutral, verbs
from evenflow.transforms.lab.masking.sentences import Sentence, Word, replaced
from evenflow.transforms.substitution import agreement, sets
from evenflow.transforms.substitution.sets import Edit
from evenflow.transforms.text import english
from evenflow.transforms.text.pronouns import find_counterpart
from evenflow.wordlists.loader import WordList

PERSON = "person"
# In neutral-masking, for words without a neutral word; words of other kinds stay
OTHERS = {"noun": PERSON, "plural": "people", "collective": "people"}
PHRASES = ("both {0} and {1}", "{0} and {1}", "{0} or {1}", "either {0} or {1}")
SHORT = PHRASES[1:3]  # without “both” and “either”
RANDOM, FIRST = "random-phrase-masking", "female-first-random-phrase-masking"
NAIVE, NEUTRAL = "naive-masking", "neutral-masking"
FIXED = {f"fixed-phrase-masking-{number}": each for number, each in enumerate(PHRASES, 1)}
COUNTERFACTUAL = "counterfactual"
NAMES = (NAIVE, NEUTRAL, RANDOM, FIRST, *FIXED, COUNTERFACTUAL)
SUBJECTS = frozenset(("she", "he"))
ARTICLE = re.compile(r"(?<![\w'’])(?:the|an?)\s+$", re.IGNORECASE)
BEFORE = re.compile(r"([\w'’-]+)\s+$")  # the word right before
# Before them a noun phrase may begin, so that “both” or “either” fits
OUTSIDE = english.words("prepositions") | frozenset(("and", "or", "but", "that", "than", "as"))
# What joins two words: “or” any two, “and” two plurals
JOINED = re.compile(r"\s+or\s+|\s*/\s*")
JOINED_PLURALS = re.compile(r"\s+(?:and|or)\s+|\s*/\s*")
FORMS = {
    "she": "subject",
    "he": "subject",
    "him": "object",
    "hers": "possessive",
    "herself": "reflexive",
    "himself": "reflexive",
    "shes": "contracted",
    "hes": "contracted",
}
# What the counterpart of “her” or “his” says of its form
BY_COUNTERPART = {"his": "determiner", "him": "object", "her": "determiner", "hers": "possessive"}


@dataclass(frozen=True)
class Intervened:
    """A sentence after an intervention."""

    text: str
    spans: tuple[tuple[int, int], ...]


class Intervention:
    """An intervention on the sentences of one attribute."""

    def __init__(self, name: str, words: WordList, seed: int = 0):
        if name not in NAMES:
            raise ValueError(f"{name!r}: no such intervention; there are {', '.join(NAMES)}")
        self.name, self._list, self._seed = name, words, seed
        self._edit: Callable[[Sentence, Word], list[Edit]] = self._phrase
        if name == NAIVE:
            self._edit = _naive
        elif name == NEUTRAL:
            listed = neutral.of(words)
            self._edit = lambda sentence, word: _neutral(sentence.text, word, listed)

    def __call__(self, sentence: Sentence) -> Intervened:
        """Intervene on a sentence."""
        edits = [edit for word in sentence.words for edit in self._edit(sentence, word)]
        put_in = {(word.start, word.end) for word in sentence.words}
        if self.name == NEUTRAL:
            edits += _once(sentence, edits)
        kept: list[Edit] = []
        # Two subjects may share a verb; of edits that overlap, the first and longest counts
        for edit in sorted(set(edits), key=lambda edit: (edit.start, -edit.end, edit.replacement)):
            if not kept or edit.start >= kept[-1].end:
                kept.append(edit)
        return Intervened(sets.apply(sentence.text, kept), _spans(kept, put_in))

    def _phrase(self, sentence: Sentence, word: Word) -> list[Edit]:
        """A phrase of the word and its counterpart."""
        if word.even or not word.counterparts:
            return []
        text, draw = sentence.text, _draws(self._seed, sentence.text, word.start)
        # One other group for the whole sentence, as far as its words have it
        groups = self._list.groups
        turn = _draws(self._seed, text, -1)(len(groups))
        target = next(each for each in groups[turn:] + groups[:turn] if each in word.counterparts)
        if self.name == COUNTERFACTUAL:
            return replaced(text, word, word.counterparts[target])
        phrases = PHRASES if _begins_phrase(text, word) else SHORT
        phrase = FIXED.get(self.name) or phrases[draw(len(phrases))]
        at = self._list.groups.index
        turned = (
            draw(2) == 1
            if self.name == RANDOM
            else self.name == FIRST and at(target) < at(word.group)
        )
        end = _title_end(text, word)
        own, other = text[word.start : end], word.counterparts[target]
        if end > word.end:
            other += "."
        pair = (other, own) if turned else (own, other)
        edits = _fitted(text, word, phrase, pair, end)
        if " and " in phrase and (
            word.folded in SUBJECTS or (word.kind == "noun" and verbs.is_subject(text, word.start))
        ):
            edits += _verb(text, word)
        return edits


def _naive(sentence: Sentence, word: Word) -> list[Edit]:
    """“person” for the word; a title's full stop goes."""
    text = sentence.text
    end = _title_end(text, word)
    return replaced(text, word, _recased(text, word, PERSON), end if end > word.end else None)


def _neutral(text: str, word: Word, listed: neutral.Neutral) -> list[Edit]:
    """The neutral word; without one “person” or “people”, and none for other kinds of word."""
    original = text[word.start : word.end]
    if word.kind == "pronoun" and listed.pronouns:
        form = _form(text, word)
        by = agreement.recase(original, original.lower(), listed.pronouns[form])
        verb = _verb(text, word) if form == "subject" else []
        return [Edit(word.start, word.end, by), *verb]
    by = listed.words.get(word.folded) or OTHERS.get(word.kind)
    if by is None:
        return []
    return replaced(text, word, _recased(text, word, by))


def _once(sentence: Sentence, edits: list[Edit]) -> list[Edit]:
    """Edits that say once what two joined words became: “men and women”, “people”."""
    by_start = {edit.start: edit for edit in edits}
    found: list[Edit] = []
    for word, other in itertools.pairwise(sentence.words):
        first, second = by_start.get(word.start), by_start.get(other.start)
        if first and second and first.replacement.lower() == second.replacement.lower():
            joint = JOINED_PLURALS if word.kind in ("plural", "collective") else JOINED
            if joint.fullmatch(sentence.text, first.end, second.start):
                found.append(Edit(first.start, second.end, first.replacement))
    return found


def _begins_phrase(text: str, word: Word) -> bool:
    """Whether a word, with its article, begins a noun phrase: not “the old man”, “our boys”."""
    if word.kind == "pronoun":
        return True
    start = word.start - len(_article(text, word.start))
    before = BEFORE.search(text[:start])
    return before is None or before[1].lower() in OUTSIDE


def _recased(text: str, word: Word, by: str) -> str:
    """A replacement with the capitals of a word, but for those that it has everywhere."""
    original = text[word.start : word.end]
    if word.proper and not original.isupper():
        return by[:1].upper() + by[1:] if _begins(text, word.start) else by
    return agreement.recase(original, word.folded, by)


def _form(text: str, word: Word) -> str:
    """The form of a pronoun."""
    if word.folded in FORMS:
        return FORMS[word.folded]
    return BY_COUNTERPART[find_counterpart(text, word.start, word.end, word.folded)[0]]


def _fitted(text: str, word: Word, phrase: str, pair: tuple[str, str], end: int) -> list[Edit]:
    """The edits that put a phrase in a word's place."""
    original, start = text[word.start : end], word.start
    shouted = len(original) > 1 and original.isupper()
    begins = _begins(text, start) and original[:1].isupper() and not shouted
    if begins and not word.proper:
        pair = (pair[0][:1].lower() + pair[0][1:], pair[1][:1].lower() + pair[1][1:])
    if not phrase.startswith("{0}") and (article := _article(text, start)):
        # “the woman” → “both the woman and the man”
        start -= len(article)
        begins = article[0].isupper()
        pair = (_with_article(article, pair[0]), _with_article(article, pair[1]))
    by = phrase.format(*pair)
    by = by.upper() if shouted else by
    by = by[:1].upper() + by[1:] if begins else by
    if end > word.end:  # a title with its full stop has no possessive
        return replaced(text, word, by, end)
    if start == word.start:
        return replaced(text, word, by)
    stop, by = agreement.fit_possessive(text, end, original, by)
    return [Edit(start, stop, by)]


def _article(text: str, start: int) -> str:
    """The article and the blank before text[start:], empty where there is none."""
    match = ARTICLE.search(text[:start])
    return match[0] if match else ""


def _with_article(article: str, word: str) -> str:
    """A word with its own a, an or the."""
    if article.strip().lower() == "the":
        return f"the {word}"
    return f"{'an' if agreement.starts_with_vowel_sound(word) else 'a'} {word}"


def _begins(text: str, start: int) -> bool:
    """Whether a sentence begins here, but for quotation marks."""
    return not any(each.isalnum() for each in text[:start])


def _verb(text: str, word: Word) -> list[Edit]:
    """The edit of the verb that becomes a plural."""
    found = verbs.agree(text, word.start, word.end)
    return [found] if found else []


def _title_end(text: str, word: Word) -> int:
    """Where a word ends, with the full stop of a title."""
    return word.end + (word.kind == "title" and text[word.end : word.end + 1] == ".")


def _draws(seed: int, text: str, place: int) -> Callable[[int], int]:
    """A function that draws from 0 to n - 1, the same for the same sentence and place."""
    key = f"{seed}/{place}/{text}".encode("utf-8", "surrogatepass")
    state = int.from_bytes(hashlib.blake2b(key, digest_size=16).digest())

    def draw(size: int) -> int:
        nonlocal state
        state, drawn = divmod(state, size)
        return drawn

    return draw


def _spans(edits: list[Edit], put_in: set[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Where the replacements of words stand in the new text; edits of verbs and articles do not."""
    out: list[tuple[int, int]] = []
    moved = 0
    for start, end, by in edits:
        if any(first < end and start < last for first, last in put_in):
            out.append((start + moved, start + moved + len(by)))
        moved += len(by) - (end - start)
    return tuple(out)
