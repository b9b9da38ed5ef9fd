"""What the words beside a gendered noun or adjective say against its exchange.

Generic «man», verbs («to father a child»), another sense («queen to d5», «male connector»), names with capitals («Dairy
Queen»), calls («come on, man») and whoever can be but one («the world's richest man»).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from evenflow.transforms import english, people
from evenflow.transforms.substitution import calling, capitals, leads, mankind, placing, pronouns, same_sex, sets
from evenflow.transforms.substitution.leads import CLAUSE_WORDS, POSSESSIVES
from evenflow.transforms.substitution.said import Said, is_shouted
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordkinds import ADJECTIVES

DETERMINED = leads.after_possessor(
    rf"an?|the|this|that|these|those|{POSSESSIVES}|its|some|any|no|every|each|another|other|one|"
    r"two|three|four|five|six|seven|ten|first|last|next|same|which|what|whose|such|only|single|many|few|several|either|neither|of|\d[\w-]*",
    4,
    leads.WITH_COMMA,
    but=f"of|to|and|or|but|that|who|when|is|was|are|were|{CLAUSE_WORDS}",
)
A_GOD = leads.after(
    "an?|the|no|every|any|this|that|which|what|some|another|one",
    2,
    leads.PLAIN,
    but="to|of|from|in|by|for|with|and|or|but|that|how|why|as|against|before",
)
DESCRIBED = leads.after("little|young|old|poor|good|dear|stupid|pretty")
EXISTS = re.compile(r"\s+(?:(?:can|could|may|might|does|doesn['’]?t|really|actually|even|not)\s+)*(?:exists?|existed|existing)\b")
BELIEVED = re.compile(
    r"\b(?:believ\w+ in|belief in|there['’]?s|there (?:is|isn['’]?t|was)|is there|existence of|worship\w*|"
    r"pray\w* to)\s+(?:an?|no|any|some|one)\s+$",
    re.IGNORECASE,
)
MANKIND = leads.after(
    "among|between|all|by|free|leave|our|(?:affairs|rights|sons|hearts|minds|race|souls|lives|brotherhood|children|history|"
    "works|nature|equality|fellowship|reason|spirit|freedom|sins) of"
)
ALL_MEN = leads.after("all")  # in a comment those of one side: «all men are trash»
MANKIND_OF = leads.after("(?:master|servant|enemy|history|works|nature|son|heart|mind|spirit|rights|family|fall) of")
MILITARY = english.words("military")
COUNTED = leads.after(r"\d[\d,.]*|thousand|hundred|million|few|many|of", 1, leads.PLAIN)
VERB_BEFORE = leads.after("to|will|would|can|could|should|must|may|might|let['’]s|they|we|you|i|don['’]t|didn['’]t|who|help|and")
OBJECT_AFTER = re.compile(
    r"\s+(?:the|an?|his|her|their|its|our|my|your|it|them|this|that|younger|children|kids)\b", re.IGNORECASE
)
VERBS = frozenset(("man", "father", "mother", "husband", "groom", "grooms", "don", "king", "queen", "lord", "butler"))
CALLS = frozenset(("man", "boy", "brother", "bro", "guys", "dude"))
CROWDS = frozenset(("guys", "fellas", "boys", "gals", "ladies", "girls", "gentlemen", "dudes"))
# «right now ladies.», «thanks for this boys!»: no noun that a verb or a preposition asks for can follow these.
BEFORE_CALL = english.words("adverbs") | frozenset(("me", "him", "them", "it", "this", "u", "you", "too", "either", "well"))
ABSTRACT_NOUN = re.compile(r"\w{2,}(?:tion|sion|nion|ness|ment|ance|ence|ism|ship)")
# Words that are often the first half of a thing's name, and things that are somebody's («a male voice»).
CROWNED = english.words("first_halves")
OF_SOMEBODY = english.words("of_somebody")
# Pieces, cards and bees.
PIECES = frozenset(("king", "kings", "queen", "queens", "knight", "knights"))
GAMES = english.words("games")
SQUARE = re.compile(
    r"\b[a-h][1-8]\b|\b(?-i:White|Black)(?:['’]s)? (?:gives|gave|plays|played|takes|took|wins|won|resigns|resigned|sacrifices|"
    r"castles|moves|attacks|can|must|has)\b|\bmates? (?:follows|in \w+)\b|\bin \w+ moves\b|\b(?:knights?|queen|king) (?:\w+ )?"
    r"(?:pinned|forked|skewered|en prise)\b|\bblunder(?:ed|s|ing)? (?:my|his|her|a|the) |\b(?:on|at|by) move \w+"
)
STABLE = frozenset(
    ("horse", "horses", "colt", "filly", "mare", "stallion", "pony", "ponies", "stable", "stables", "paddock", "foal", "jockey")
)
# Of ants, bees and wasps.
NEST = re.compile(
    r"\b(?:(?:stop|start|begin|resum|finish|keep)\w* laying|lay(?:s|ing)? (?:\w+ )?eggs|ants?|anthills?|wasps?|hornets?|"
    r"termites?|the workers|bumblebees?|honeybees?|brood|drones|worker bees|apiar\w+|beekeep\w+)\b",
    re.IGNORECASE,
)
# «the Ptolemaic queens», «a Saxon king»: those of a people's history
RULERS = english.words("rulers")
OF_A_PEOPLE = re.compile(r"[a-z,]\s+[A-Z][a-z]+(?:ic|an|ish|ese|on|ine|ian|ite|id|ch)\s+$")
EGYPT = re.compile(
    r"\b(?:egypt\w*|tombs?|pharaoh\w*|pyramids?|dna|curse|sarcophag\w*|embalm\w*|museum|mummif\w*|ice ?man|king tut|"
    r"mummy expert)\b",
    re.IGNORECASE,
)
# The one of whom that can be said is known by name: «the world's richest man».
SUPERLATIVE = re.compile(r"\bthe\s+(?:[\w-]+['’]s?\s+)(?:\w+est|most\s+\w+)\s+$", re.IGNORECASE)
PREFIX = re.compile(r"(?<=\s)(?:ex|step|half|great|god)-$", re.IGNORECASE)
LAST_WORD = re.compile(r"([^\W\d_]+)\s+$")
# «Girl, you are not ready»: called so among friends
CALLED_GIRL = re.compile(r",\s+(?:you|i|we|please|that|this|what|let|don['’]t|how|bye)\b", re.IGNORECASE)
VOCATIVE_MAN = re.compile(r"(?:^|[,.!?]\s*)$")
CROWD_ENDS = re.compile(r"\s*(?:[.!?\n]|$)")
ENDS = re.compile(r"\s*(?:[.,;:!?]|$)")
PRIOR_GOES_ON = re.compile(r"\s+(?:of|who|was|is|said)\b|[,.]")
BOARD = re.compile(r"[- ](?:board|ship|tongue|nature)")
NEXT = re.compile(r"\s+([^\W\d_][\w'’-]*)")
# «the Ohio State women's ice hockey team»
TEAM = re.compile(
    r"\s?['’]s?\s+(?:[\w-]+\s+){0,3}(?:team|side|squad|league|tour|championships?|tournament|cup|open|crew)\b", re.IGNORECASE
)
NATIONAL = re.compile(r"\s?['’]s?\s+(?:u-?\d+\s+|under-\d+\s+)?national\s")
OF_A_NAME = re.compile(r"\w\s+[A-Z][\w.&’'-]*\s+(?:(?:national|senior|junior|under-\d+|u-?\d+)\s+)?$")
SECOND = re.compile(r"\s+\S+\s+([\w'’]+)")
PEOPLE_NEXT = re.compile(r"\s+\w+\s+(?:man|men|woman|women|people)\b")
PLUGGED = re.compile(
    r"\s+(?:\w+\s+)?(?:connectors?|plugs?|sockets?|voice ?mail|end|thread(?:s|ed)?|adapters?|headers?|jacks?|fittings?|ports?|"
    r"pins?|couplings?|usb|xlr)\b"
)


def check(said: Said, item: Item) -> None:
    """Lower the confidence of a noun or an adjective that is no person, or none who may be anybody."""
    form = said.text[item.start : item.end]
    before, after = said.before(item.start), said.after(item.end)
    begins = said.begins(item.start, before)
    headlined = capitals.is_headlined(said, item, before, after, begins)
    if headlined:
        said.introduced.add(item.group)
    elif said.capitals and form[0].isupper() and not capitals.may_have_one(item, before, begins) and not is_shouted(form):
        previous = before.rstrip()[-1:]
        item.lower(1.0 if previous and previous in '.!?:“"' else 0.2, sets.WORK)
    if item.kind == "noun":
        _check_noun(said, item, before, after, headlined)
    if begins and not headlined and item.word in capitals.SURNAMES and capitals.is_surname(said, form, after):
        item.lower(0.2, sets.NAMED)
    for check_word in CHECKS.get(item.word, ()):
        check_word(said, item, before, after)


def _check_noun(said: Said, item: Item, before: str, after: str, headlined: bool) -> None:
    if not said.capitals and not headlined and item.word not in capitals.CALLED_SO:
        whole = PREFIX.sub("", before) if before.endswith("-") else before  # «my ex-girlfriend»
        if not (DETERMINED.search(whole) or DESCRIBED.search(whole)):
            item.lower(0.4, sets.UNSURE)  # perhaps a title or a name in small letters
    if "the" in said.words and SUPERLATIVE.search(before):
        item.lower(0.3, sets.NAMED)
    if item.word == "man" and not headlined:
        of = MANKIND_OF.search(before) is not None and ENDS.match(after) is not None  # «the master of man»
        if of or not DETERMINED.search(before) or (said.capitals and mankind.is_meant(before)):
            item.lower(0.1, sets.GENERIC)


def _check_men(said: Said, item: Item, before: str, after: str) -> None:
    of_mankind = MANKIND.search(before) is not None and (said.capitals or not ALL_MEN.search(before))
    if item.word == "men" and (of_mankind or (not MILITARY.isdisjoint(said.words) and COUNTED.search(before))):
        item.lower(0.3, sets.GENERIC)
    if said.capitals and mankind.are_soldiers(item.word, before, after, said.words):
        item.lower(0.3, sets.HISTORY)


def _check_team(said: Said, item: Item, before: str, after: str) -> None:
    if TEAM.match(after) and (OF_A_NAME.search(before) or "national" in before[-12:] or NATIONAL.match(after)):
        item.lower(0.3, sets.WORK)


def _check_called(said: Said, item: Item, before: str, after: str) -> None:
    if calling.is_called(item.word, before, after):
        item.lower(0.1, sets.IDIOM)


def _check_call(said: Said, item: Item, before: str, after: str) -> None:
    if item.word in CALLS and VOCATIVE_MAN.search(before) and capitals.CALL_ENDS.match(after):
        item.lower(0.0, sets.IDIOM)
    if item.word == "girl" and VOCATIVE_MAN.search(before) and CALLED_GIRL.match(after):
        item.lower(0.0, sets.IDIOM)
    if item.word in CROWDS and CROWD_ENDS.match(after):
        last = LAST_WORD.search(before)
        word = last[1].lower() if last is not None else ""
        code = pronouns.shipped().classes.get(word, "") if last is not None else "4"
        compound = item.word in ("ladies", "girls", "gentlemen") and word != "all"  # «school girls»
        if (code[:1] in "34" and code and not compound) or word in BEFORE_CALL or ABSTRACT_NOUN.fullmatch(word):
            item.lower(0.1, sets.IDIOM)  # «give it a chance guys.»
    if item.word in CALLS and CROWD_ENDS.match(after):
        last = LAST_WORD.search(before)
        if last is not None and (ABSTRACT_NOUN.fullmatch(last[1].lower()) or last[1].lower() in BEFORE_CALL):
            item.lower(0.1, sets.IDIOM)  # «just my opinion man!»


def _check_verb(said: Said, item: Item, before: str, after: str) -> None:
    if OBJECT_AFTER.match(after) and VERB_BEFORE.search(before):
        item.lower(0.0, sets.SENSE)
    if item.word in ("groom", "grooms") and not STABLE.isdisjoint(said.words):
        item.lower(0.1, sets.SENSE)  # who looks after horses
    if item.word in ("groom", "grooms", "don") and not DETERMINED.search(before):
        item.lower(0.0, sets.SENSE)


def _check_deity(said: Said, item: Item, before: str, after: str) -> None:
    if said.text[item.start].isupper() or not A_GOD.search(before[before.rfind("\n") + 1 :]):
        item.lower(0.0, sets.DOCTRINE)
    elif EXISTS.match(after) or BELIEVED.search(before):  # «there is no god»
        item.lower(0.1, sets.DOCTRINE)


def _check_prior(said: Said, item: Item, before: str, after: str) -> None:
    if not (DETERMINED.search(before) and PRIOR_GOES_ON.match(after)):
        item.lower(0.0, sets.SENSE)


def _check_mummy(said: Said, item: Item, before: str, after: str) -> None:
    if EGYPT.search(said.text, said.start, said.end):
        item.lower(0.0, sets.SENSE)


def _check_board(said: Said, item: Item, before: str, after: str) -> None:
    if BOARD.match(after):
        item.lower(0.0, sets.SENSE)


def _check_bro(said: Said, item: Item, before: str, after: str) -> None:
    # «hate to hear this bro but …»: somebody is called so whom nothing else tells of.
    if not DETERMINED.search(before) or calling.is_heard(before, after):
        item.lower(0.4, sets.IDIOM)


def _check_another(said: Said, item: Item, before: str, after: str) -> None:
    if same_sex.is_pair(item.word, before, said.words):
        item.lower(0.3, sets.DOCTRINE)


def _check_piece(said: Said, item: Item, before: str, after: str) -> None:
    if not GAMES.isdisjoint(said.words) or SQUARE.search(said.text, said.start, said.end):
        item.lower(0.1, sets.SENSE)
    if item.word in ("queen", "queens") and NEST.search(said.text, said.start, said.end):
        item.lower(0.1, sets.SENSE)


def _check_ruler(said: Said, item: Item, before: str, after: str) -> None:
    if said.capitals and OF_A_PEOPLE.search(before):
        item.lower(0.3, sets.HISTORY)


def _check_thing(said: Said, item: Item, before: str, after: str) -> None:
    """What the word is said of, or makes a compound with: «female mice», «queen bed»."""
    sex = item.word in ("male", "female")
    following = NEXT.match(after)
    thing = following[1] if following is not None and following[1] not in pronouns.CLOSED else ""
    of_people = not thing or people.is_person_noun(thing) or PEOPLE_NEXT.match(after)
    if sex and not of_people and thing.lower() not in OF_SOMEBODY:
        item.lower(0.4, sets.SENSE)
    compound = item.word in CROWNED and bool(thing) and placing.is_compound(thing.lower()) and not of_people
    if compound and not _is_done(thing.lower(), after):
        item.lower(0.3, sets.SENSE)
    if item.word in ADJECTIVES and PLUGGED.match(after):
        item.lower(0.0, sets.SENSE)


def _is_done(word: str, after: str) -> bool:
    """Whether the word behind a noun is what somebody does («the king sleeps», «the lady brings a letter»), not «queen bed»."""
    then = SECOND.match(after)
    if then is not None and (then[1].lower() in pronouns.OBJECTS or pronouns.CLOSED.get(then[1].lower()) == "determiner"):
        return True
    stem = pronouns.shipped().classes.get(word.removesuffix("s"), "0000")
    return word == "left" or (word.endswith("s") and stem[2] not in "0?")


def _by_word() -> dict[str, tuple[Callable[[Said, Item, str, str], None], ...]]:
    """What is checked of each word."""
    words = {
        _check_men: mankind.SOLDIERS,
        _check_called: calling.CALLED,
        _check_team: ("men", "women", "boys", "girls", "ladies"),
        _check_call: CALLS | CROWDS | {"girl"},
        _check_verb: VERBS,
        _check_deity: ("god", "lord"),
        _check_prior: ("prior",),
        _check_mummy: ("mummy", "mummies"),
        _check_board: ("sister", "mother", "brother"),
        _check_bro: ("bro", "sis"),
        _check_piece: PIECES,
        _check_another: same_sex.PEOPLE,
        _check_ruler: RULERS,
        _check_thing: CROWNED | ADJECTIVES,
    }
    every = {word for own in words.values() for word in own}
    return {word: tuple(check_word for check_word, own in words.items() if word in own) for word in every}


CHECKS = _by_word()
