"""Gendered words in a text as items: what each would become on the other side, and which are no person's at all.

For lists that have «she» and «he» among their labels. Generic «man», verbs («to father a child»), God's «He», pairs that are
even already («he or she», «men and women») and capitalised names («Dairy Queen») keep little or no confidence.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache

from evenflow.transforms import agreement, coordination, english, people, placing, pronouns, sets
from evenflow.transforms.labels import Mention
from evenflow.transforms.roles import Companions, RoleMap
from evenflow.transforms.sets import Item
from evenflow.transforms.wordsets import WordSets
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

TITLES = frozenset(("mr", "mrs", "ms"))
ADJECTIVES = frozenset(("female", "male", "feminine", "masculine"))
ABSTRACT = english.words("abstract")
# Singular in spite of their s.
SINGULAR_S = frozenset(("alumnus", "sis", "mrs", "ms", "hers", "his"))
PLURALS = frozenset(("men", "women", "alumni", "alumnae"))
# Written with a capital as a name within the family, or in address.
CALLED_SO = english.words("called_so")
DETERMINED = re.compile(
    r"(?:\b(?:an?|the|this|that|these|those|my|your|his|her|its|our|their|some|any|no|every|each|another|other|one|two|three|"
    r"four|five|six|seven|ten|first|last|next|same|which|what|whose|such|only|single|many|few|several|either|neither|of|"
    r"\d[\w-]*)|['’]s?)\s+(?:(?!(?:of|to|and|or|but|that|who|when|is|was|are|were|at|in|on|for|with|from|by|as|into|than|like|if)\b)[\w'’-]+,?\s+){0,4}$",
    re.IGNORECASE,
)
DESCRIBED = re.compile(r"\b(?:little|young|old|poor|good|dear|stupid|pretty)\s+$", re.IGNORECASE)
MANKIND = re.compile(
    r"\b(?:among|between|all|by|free|leave|our|(?:affairs|rights|sons|hearts|minds|race|souls|lives|brotherhood|children|history|"
    r"works|nature|equality|fellowship|reason|spirit|freedom|sins) of)\s+$",
    re.IGNORECASE,
)
MANKIND_OF = re.compile(
    r"\b(?:master|servant|enemy|history|works|nature|son|heart|mind|spirit|rights|family|fall) of\s+$", re.IGNORECASE
)
VERB_BEFORE = re.compile(
    r"\b(?:to|will|would|can|could|should|must|may|might|let['’]s|they|we|you|i|don['’]t|didn['’]t|who|help|and)\s+$",
    re.IGNORECASE,
)
OBJECT_AFTER = re.compile(
    r"\s+(?:the|an?|his|her|their|its|our|my|your|it|them|this|that|younger|children|kids)\b", re.IGNORECASE
)
VERBS = frozenset(("man", "father", "mother", "husband", "groom", "grooms", "don", "king", "queen", "lord", "butler"))
AROUND = 300  # characters about a pronoun in which a deity or a ship may be meant by it
# Words that are often the first half of a thing's name.
CROWNED = english.words("first_halves")
DEITIES = english.words("deities")
DEITY = re.compile(rf"\b(?:{'|'.join(sorted(map(str.capitalize, DEITIES)))})\b")
VESSELS = english.words("vessels")
NOT_VESSEL = re.compile(r"\s*(?:[.,;!?]|$)")  # «named the boat after her»
VESSEL = re.compile(rf"\b(?:{'|'.join(sorted(VESSELS))})\b", re.IGNORECASE)
EGYPT = re.compile(
    r"\b(?:egypt\w*|tombs?|pharaoh\w*|pyramids?|dna|curse|sarcophag\w*|embalm\w*|museum|mummif\w*|ice ?man|king tut|"
    r"mummy expert)\b",
    re.I,
)
HEADLINED = frozenset(("woman", "lady", "girl", "boy", "guy"))  # may begin a headline without an article
HEADLINE_VERB = re.compile(r"\s+(?!friends\b|girls\b|boys\b)[^\W\d_]+(?:[^s\W]s|ed)\s")
# The one of whom that can be said is known by name: «the world's richest man».
SUPERLATIVE = re.compile(r"\bthe\s+(?:[\w-]+['’]s?\s+)(?:\w+est|most\s+\w+)\s+$", re.IGNORECASE)
PREFIX = re.compile(r"(?<=\s)(?:ex|step|half|great|god)-$", re.IGNORECASE)
LAST_WORD = re.compile(r"([^\W\d_]+)\s+$")
# In a text without capitals: a deity before «he», unless it is but an exclamation.
ANY_DEITY = re.compile(
    rf"(?<!my )(?<!omg )(?<!for )(?<!thank )\b(?:{'|'.join(sorted(DEITIES - {'lord'}))})\b"
    r"(?! (?:damn|sake|knows|bless|i|you|do|how|what)\b)",
    re.IGNORECASE,
)
VOCATIVE_MAN = re.compile(r"(?:^|[,.!?]\s*)$")
PEOPLE_NEXT = re.compile(r"\s+\w+\s+(?:man|men|woman|women|people)\b")
QUOTE_OPEN = "\"“‘'(*_-–—:[>/"


def is_gendered(words: WordList) -> bool:
    """Whether a list has «she» and «he» in different groups, of two."""
    return len(words.groups) == 2 and words.labels.get("she", 0) != words.labels.get("he", 0)


class Gendered:
    """The items of a list that has pronouns."""

    def __init__(self, words: WordList, roles: RoleMap):
        self.words = words
        self.roles = roles
        self.female = words.groups[words.labels["she"]]
        self.male = words.groups[words.labels["he"]]
        self.sexes = {self.female: people.FEMALE, self.male: people.MALE}
        self._pair: dict[str, str] = {}
        for label in words.labels:
            key = spelling.fold(label)
            others = words.counterparts.get(label, ())
            other = roles.prefer.get(key) or (others[0] if others else "")
            self._pair[key] = "" if spelling.fold(other) == key else other
        self._words = {label: spelling.fold(label) for label in words.labels}
        self._companion = Companions(roles)

    def other(self, group: str) -> str:
        """The other group."""
        return self.male if group == self.female else self.female

    def items(self, text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[Mention], words: WordSets) -> list[Item]:
        """The items of a text in its order; mentions are in order too, each within a sentence."""
        starts = [start for start, _ in sentences]
        items: list[Item] = []
        taken: set[int] = set()
        for mention in mentions:
            sentence = bisect_right(starts, mention.start) - 1
            if sentence < 0 or mention.end > sentences[sentence][1]:
                continue
            word = self._words[mention.label]
            items.append(Item(mention.start, mention.end, word, mention.group, _kind(word), sentence, mention))
            taken.add(sentence)
        items += self._companions(text, sentences, sorted(taken), items, words)
        items.sort(key=lambda item: item.start)
        capitals = not people.is_caseless(text)
        known: dict[str, bool] = {}  # surnames, and whether their bearer is known by a first name
        first = -1  # where the sentence's first female word begins
        for number, item in enumerate(items):
            if not number or items[number - 1].sentence != item.sentence:
                first = -1
            if first < 0 and item.group == self.female:
                first = item.start
            self._check(text, sentences[item.sentence], item, capitals, known, words[item.sentence])
            possible = item.kind == "pronoun" and item.group == self.female and words[item.sentence] & VESSELS
            if possible and self._is_vessel(text, item, sentences[item.sentence][0], max(first, 0)):
                item.lower(0.45, sets.SENSE)
            self._replace(text, item)
        coordination.bar_even(text, items, self._pair)
        return items

    @staticmethod
    def _is_vessel(text: str, item: Item, start: int, first: int) -> bool:
        """Whether a «she» may be a ship or a country: one that was there before any woman."""
        return not NOT_VESSEL.match(text, item.end) and VESSEL.search(text, start, first) is not None

    def _companions(
        self, text: str, sentences: Sequence[tuple[int, int]], places: Sequence[int], items: Sequence[Item], words: WordSets
    ) -> list[Item]:
        spans = sorted((item.start, item.end) for item in items)
        out: list[Item] = []
        for place in places:
            for match in self._companion.find(text, *sentences[place], words[place]):
                at = bisect_left(spans, (match.end(),)) - 1
                if at >= 0 and spans[at][1] > match.start():
                    continue
                word = spelling.fold(match[0])
                role = self.roles.by_word[word][0]
                kind = "adjective" if role.part == "adjective" else _kind(word)
                out.append(Item(match.start(), match.end(), word, self.roles.groups[word], kind, place, None))
        return out

    def _replace(self, text: str, item: Item) -> None:
        """Set what the item would become."""
        said = text[item.start : item.end]
        if item.kind == "pronoun":
            word, sure = pronouns.counterpart(text, item.start, item.end)
            if sure < 0.8:
                item.lower(max(sure, 0.5), sets.UNSURE)
        else:
            label = item.word if item.mention is None else self._words[item.mention.label]
            word = self._pair.get(label) or ""
            if not word and label in self.roles.by_word:
                word = self.roles.by_word[label][0].target(self.other(item.group)) or ""
        if not word:
            item.lower(0.0, sets.NO_COUNTERPART)
            return
        item.replacements[self.other(item.group)] = agreement.recase(said, said.lower(), word)

    def _check(
        self, text: str, sentence: tuple[int, int], item: Item, capitals: bool, known: dict[str, bool], words: frozenset[str]
    ) -> None:
        start, end = sentence
        said = text[item.start : item.end]
        before = text[max(start, item.start - 60) : item.start]
        begins = not before.strip(QUOTE_OPEN + " \n\t") if item.start - start <= 60 else False
        if item.kind == "pronoun":
            self._check_pronoun(text, sentence, item, said, before, begins, words)
            if not capitals and item.group == self.male and words & DEITIES and ANY_DEITY.search(text, start, item.start):
                item.lower(0.3, sets.DOCTRINE)
            return
        if item.kind == "title":
            _check_title(text, item, text[item.end : item.end + 40], known)  # a bound after «Mrs.» is often none
            return
        after = text[item.end : min(end, item.end + 40)]
        if capitals and said[0].isupper() and not begins and not _shouted(said) and item.word not in CALLED_SO:
            previous = before.rstrip()[-1:]
            if previous not in ".!?:" and not before.rstrip().endswith(("“", '"')):
                item.lower(0.2, sets.WORK)
        whole = PREFIX.sub("", before)  # «my ex-girlfriend»
        described = DETERMINED.search(whole) or DESCRIBED.search(whole)
        told = begins and item.word in HEADLINED and HEADLINE_VERB.match(after)  # «woman asks for help»
        if not capitals and item.kind == "noun" and not described and not told and item.word not in CALLED_SO:
            item.lower(0.4, sets.UNSURE)  # perhaps a title or a name in small letters
        if item.word == "man" and not DETERMINED.search(before):
            item.lower(0.1, sets.GENERIC)
        if item.kind == "noun" and SUPERLATIVE.search(before):
            item.lower(0.3, sets.NAMED)
        if item.word == "man" and MANKIND_OF.search(before) and re.match(r"\s*(?:[.,;:!?]|$)", after):
            item.lower(0.1, sets.GENERIC)  # «the master of man»
        if item.word == "men" and MANKIND.search(before):
            item.lower(0.3, sets.GENERIC)
        if (
            item.word in ("man", "boy", "brother", "bro", "guys")
            and VOCATIVE_MAN.search(before)
            and re.match(r"\s*[,.!?]|$", after)
        ):
            item.lower(0.1, sets.IDIOM)
        if item.word in ("guys", "fellas", "boys", "gals") and re.match(r"\s*(?:[.!?]|$)", after):
            last = LAST_WORD.search(before)
            code = pronouns.shipped().classes.get(last[1].lower(), "") if last is not None else "4"
            if code[:1] in "34" and code:
                item.lower(0.1, sets.IDIOM)  # «give it a chance guys.»
        if item.word in VERBS:
            if VERB_BEFORE.search(before) and OBJECT_AFTER.match(after):
                item.lower(0.0, sets.SENSE)
            if item.word in ("groom", "grooms", "don") and not DETERMINED.search(before):
                item.lower(0.0, sets.SENSE)
        if item.word == "prior" and not (DETERMINED.search(before) and re.match(r"\s+(?:of|who|was|is|said)\b|[,.]", after)):
            item.lower(0.0, sets.SENSE)
        if item.word in ("mummy", "mummies") and EGYPT.search(text, start, end):
            item.lower(0.0, sets.SENSE)
        if item.word in ("god", "lord") and (said[0].isupper() or not DETERMINED.search(before)):
            item.lower(0.0, sets.DOCTRINE)
        if item.word in ("sister", "mother", "brother") and re.match(r"[- ](?:board|ship|tongue|nature)", after):
            item.lower(0.0, sets.SENSE)
        following = re.match(r"\s+([^\W\d_][\w'’-]*)", after)
        thing = following[1] if following is not None and following[1] not in pronouns.CLOSED else ""
        of_people = not thing or people.is_person_noun(thing) or PEOPLE_NEXT.match(after)
        if item.word in ("male", "female") and not of_people:
            item.lower(0.4, sets.SENSE)  # «female mice», «male voice»
        if item.word in ("bro", "sis") and not DETERMINED.search(before):
            item.lower(0.4, sets.IDIOM)
        if item.word in CROWNED and thing and placing.is_compound(thing.lower()) and not of_people:
            item.lower(0.3, sets.SENSE)  # «king protea», «queen bed»
        if item.word in ADJECTIVES and re.match(r"\s+(?:\w+\s+)?(?:connector|plug|socket|voice ?mail|end|thread|adapter)", after):
            item.lower(0.0, sets.SENSE)

    def _check_pronoun(
        self, text: str, sentence: tuple[int, int], item: Item, said: str, before: str, begins: bool, words: frozenset[str]
    ) -> None:
        start, end = sentence
        if item.group == self.male:
            previous = before.rstrip()
            mid = not begins and previous[-1:] not in '.!?:"”“…' and previous[-1:] != ""
            if said[0].isupper() and mid and not _shouted(said):
                item.lower(0.1, sets.DOCTRINE)
            elif not DEITIES.isdisjoint(words) and DEITY.search(
                text, max(start, item.start - AROUND), min(end, item.end + AROUND)
            ):
                item.lower(0.3, sets.DOCTRINE)


def _shouted(said: str) -> bool:
    return len(said) > 1 and said.isupper()


@lru_cache(1 << 12)
def _kind(word: str) -> str:
    if word in pronouns.PRONOUNS:
        return "pronoun"
    if word in TITLES:
        return "title"
    if word in ADJECTIVES:
        return "adjective"
    if word in ABSTRACT:
        return "other"
    last = word.split(" ")[-1]
    if word in SINGULAR_S or last.endswith("ss"):
        return "noun"
    if last in PLURALS or last.endswith(("men", "s")) or re.match(r"\w+s-in-law", last):
        return "plural"
    return "noun"


def _check_title(text: str, item: Item, after: str, known: dict[str, bool]) -> None:
    """Mr and Ms before a surname alone may change; with a first name, or one known from elsewhere, they are somebody's."""
    match = re.match(r"\.?\s+((?:[A-Z][\w'’-]*\.?\s?)+)", after)
    if match is None:
        item.lower(0.3, sets.NAMED)
        return
    names = match[1].split()
    surname = names[0].rstrip(".").removesuffix("'s").removesuffix("’s")
    if len(names) > 1 or surname.lower() in OFFICES:
        item.lower(0.1, sets.NAMED)
        return
    if surname not in known:
        known[surname] = surname in KNOWN_SURNAMES or _has_first_name(text, surname)
    if known[surname]:
        item.lower(0.1, sets.NAMED)
        return
    item.word = f"{item.word} {surname}"
    item.lower(0.6, sets.NAMED)


def _has_first_name(text: str, surname: str) -> bool:
    """Whether somebody of the surname has a first name in a text: then it is known who is meant."""
    at = 0
    while (at := text.find(surname, at)) >= 0:
        if FIRST_NAME.search(text, max(0, at - 30), at):
            return True
        at += len(surname)
    return False


FIRST_NAME = re.compile(r"(?<![\w.])(?!(?:Mr|Mrs|Ms|Miss|Dr|The|And|But)\b)[A-Z][a-z]+\s+(?:[A-Z]\.\s+)?$")
OFFICES = english.words("offices")
KNOWN_SURNAMES = english.words("known_surnames")
