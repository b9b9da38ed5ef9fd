"""What the words beside a label of age or faith say against its exchange.

Another sense («child's play», «catholic tastes»), one half of a compound («child actor»), a name or an office («Bishop Wilmot»,
«the Vicar of Dibley»), an organisation («the Baptist press»), or a fact of the faith's own («Christian theology»).
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from evenflow.transforms import english, people
from evenflow.transforms.substitution import ages, believers, leads, sets
from evenflow.transforms.substitution.binding import may_be_name
from evenflow.transforms.substitution.leads import NUMBERS, POSSESSIVES
from evenflow.transforms.substitution.placing import ADVERBS, DETERMINER, is_compound, is_third_person
from evenflow.transforms.substitution.roles import ADJECTIVE, COLLECTIVE, NOUN, Role
from evenflow.transforms.substitution.sets import Item

CLERGY = frozenset(("clergy", "senior clergy"))
OWNED = re.compile(
    r"(?:\b(?:my|your|his|her|our|their|its|whose|own)|['’]s?(?!\s+(?:an?|the)\s))\s+(?:[\w-]+\s+){0,2}$", re.IGNORECASE
)
OFFSPRING = english.words("offspring")
SMALL_CHILDREN = english.words("small_children")
SMALL = leads.after("young|little|small|tiny|unborn|illegitimate|healthy|sick|adopted|missing|grown|eldest|youngest")
AGED_ALREADY = leads.after("young|younger|youngest|old|older|oldest|ageing|aging")
# One person alone: what ends in s behind it is a verb («a retiree volunteers»).
ONE = leads.after("an?|this|that|each|every|one|another", 1, leads.PLAIN)
OURS = leads.after(f"{POSSESSIVES}|the", 1, leads.PLAIN)  # «our rabbi keeps bees»
# A verb with its object follows: «a parishioner left her umbrella».
ACTS_ON = re.compile(
    r"\s+[\w'’-]+\s+(?:an?|the|his|her|their|its|my|our|your|this|that|these|those|me|us|him|them|it|himself|herself)\b",
    re.IGNORECASE,
)
NON = re.compile(r"\bnon[\s-]$", re.IGNORECASE)
SIMILE = leads.after(r"like\s+an?", 2, leads.PLAIN)
VOCATIVE = re.compile(r"[,!?]\s*$|\b(?:now|ok|okay|hey|hi|hello|well|remember|sorry)\s+$", re.IGNORECASE)
# Determined as a number of people, not as somebody's.
COUNTED = re.compile(
    r"\b(?:an?|this|that|these|those|some|many|most|several|few|every|each|all|two|three|four|five|six|seven|eight|nine|ten|dozen|"
    r"hundreds of|group of|bunch of|another|one|any|\d+)\s+"
    r"(?:(?!(?:to|of|for|with|at|in|on|by|from)\b)[\w'’-]+\s+)?$|^\W*the\s+(?:[\w'’-]+\s+)?$",
    re.IGNORECASE,
)
# «…, children bully him»
CLAUSE = re.compile(r"(?:^|[,;:(–—]|\b(?:because|but|when|that|if|so|while|since|though|where))\s*(?:the\s+)?$", re.IGNORECASE)
ACTS = re.compile(
    r"\s+(?:(?:are|were|have|had|do|did|will|would|can|could|should|may|might|always|never|often)\b|"
    r"[\w'’-]+\s+(?:me|you|him|her|us|them|it|the|my|his|their|our|your)\b)",
    re.IGNORECASE,
)
# Certain children, not children as such.
CERTAIN_ONES = leads.after(
    rf"the|this|that|these|those|some|{NUMBERS}|dozen|several|few|bunch of|group of|\d+", 1, but="to|of|for|with|at|in|on|by|from"
)
PASTS = "|".join(sorted(english.words("irregular_pasts") | {"saw", "left", "found"}))
HAPPENED = re.compile(
    rf"(?<!\bbe )(?<!\bbeing )(?<!\bare )(?<!\bis )\b(?:was|were|had|did|[a-z]{{3,}}ed|{PASTS})\b", re.IGNORECASE
)
# Groups of which the aged are but one: «the poor, the sick and the elderly»
OTHERS_TOO = re.compile(
    r"\bthe\s+(?:young|poor|sick|disabled|weak|needy|unemployed|infirm|handicapped|homeless|blind|poverty[ -]stricken)\b",
    re.IGNORECASE,
)
GENERAL = leads.after("every|all|most|many|some|not all|no|any|few", 1, leads.PLAIN)
PREDICATE = re.compile(r"\b(?:as|is|was|be|being|become|became|of|or|and|non|a)[\s-]+(?:\w+\s+)?$", re.IGNORECASE)
# Adjectives that are true of things and of some moment too: of people only where they stand before these.
BEFORE_PEOPLE_ALONE = english.words("before_people_alone")
# Nouns that say an age or a kinship themselves: «adolescent boys» are not elderly ones.
AGED_NOUNS = english.words("aged_nouns")
PEOPLE_AFTER = english.words("people_after")
# Things of a faith that are facts of its own: another faith's name makes them false.
OWN_THINGS = english.words("own_things")
# Where some country of many is meant, it may be another faith's.
SOME = re.compile(r"(?<!\bis )(?<!\bwas )(?<!\bnot )(?<!\bas )\b(?:an?|any|another|some|in|from)\s+$", re.IGNORECASE)
COUNTRY = "country"
# A faith as such, unless it is somebody's: «people of the Jewish faith», «raised in the Jewish faith».
THE_FAITH = leads.after("(?:of|in|to) the")
THE = leads.after("the", 1, leads.PLAIN)
FAITH_NAMES = frozenset(("islam", "christianity", "judaism", "hinduism", "buddhism"))
FAITHS = frozenset(("faith", "religion"))
TEMPLES = frozenset(("temple", "temples"))
ORGANISATIONS = english.words("organisations")
ORGANISED = re.compile(r"\s+[\w'’-]+\s+([\w'’-]+)")  # «the calvinist youth convention»
# Members of a church that is one all over the world; a building of it stands somewhere.
WORLDWIDE = english.words("worldwide_churches")
SOMEWHERE = re.compile(
    r"\s+church(?:\s+(?:[\w-]+\s+){0,2})?\s*(?:on|at|near|next|across|down|around|behind|opposite|where|there|here|by the|"
    r"in (?:our|my|the|this)|open\w*|hall|choir|organ|bells?|tower|door\w*|roof|basement|yard|parking)\b",
    re.IGNORECASE,
)
OFFICE_OF = re.compile(r"\s+of\s+(?:the\s+)?(?-i:[A-Z])")
# «The Book of Mormon»
TITLE_OF = re.compile(r"\b(?-i:[A-Z])[\w’']*\s+of\s+$")
BY_SOMEBODY = leads.after(f"an?|{POSSESSIVES}|this|that|some|any|every|each", 1, leads.PLAIN)
# Whoever is called one thing or the other, not a part that is played («likable as christian»).
AS = leads.after("as")
CALLED_SO = re.compile(
    r"\b(?:identif\w+|rais\w+|regist\w+|describ\w+|regard\w+|count\w*|known|seen|see|sees|view\w*|label\w*|perceiv\w+|treat\w*|"
    r"think|thought|pos\w+|dress\w*|pass\w*|liv\w+|grew|brought|born|baptis\w+|just|such|same|(?:him|her|them|my|your|our)sel\w+)\b"
    r"[^,.;]{0,25}$",
    re.IGNORECASE,
)
ENDS_CLAUSE = re.compile(r"\s*(?:[,.;:!?()]|$)")
# Broad, of what somebody likes or reads; written small where faiths are not.
BROAD = re.compile(
    r"\b(?:tastes?|interests?|reading|appetites?|range|repertoire|curiosity|palate|choices?|mind|approach)\b", re.IGNORECASE
)
# What a curate is not: that which somebody curates.
OBJECT_AFTER = re.compile(
    r"\s+(?:an?|the|my|your|his|her|our|their|its|this|these|exhibit\w*|content|playlists?|collections?)\b", re.I
)
CAPITALISED = re.compile(r",?\s+(?-i:[A-Z][a-z])")
FULL_NAME = re.compile(r"\s+(?-i:[A-Z][a-z]+ [A-Z])")
NAMED_SO = frozenset(("christian", "muslim", "jewish"))  # where a capital follows, a people's or a place's name may
NO, BARELY, UNSURE, JUST = 0.1, 0.3, 0.45, 0.55  # confidence that is left; from 0.5 a mention passes by default


@dataclass(frozen=True)
class Beside:
    """What stands around a label in its sentence. thing: the next word in small letters, if one follows right away.

    before, after: parts of the sentence, up to 80 characters. caseless: whether capitals say nothing in the text.
    of_work: whether the text is without capitals and about a film, play or book. bare: whether the label begins a headline.
    titled: whether the label has a capital of its own, as in a title («The Kid»). of_faith: whether the text is a comment that
    speaks of a faith or of its followers, so that «christian» is hardly a first name.
    """

    before: str
    after: str
    thing: str
    said: str
    caseless: bool
    of_work: bool
    bare: bool
    titled: bool
    of_faith: bool


def weigh(item: Item, role: Role, beside: Beside, attribute: str, listed: Container[str]) -> None:
    """Lower an item's confidence by what stands beside it. role: what it is there. listed: the words of the role map."""
    if NON.search(beside.before) and not beside.caseless:
        item.lower(0.2, sets.COMPARED)
    if GENERAL.search(beside.before):
        item.lower(JUST, sets.DOCTRINE)
    if item.kind == ADJECTIVE:
        _weigh_adjective(item, beside, listed)
    else:
        _weigh_noun(item, role, beside)
    if not beside.bare:
        _weigh_capitals(item, beside)
    if attribute == "age":
        _weigh_age(item, role, beside)
    if attribute == "religion":
        _weigh_religion(item, role, beside, listed)


def _weigh_adjective(item: Item, beside: Beside, listed: Container[str]) -> None:
    thing = beside.thing
    if thing and beside.said[0].islower() and may_be_name(thing):
        known = thing in ADVERBS or people.is_person_noun(thing) or thing in PEOPLE_AFTER or thing in listed
        if not known:
            item.lower(0.4, sets.NAMED)  # «the jewish guido»


def _weigh_noun(item: Item, role: Role, beside: Beside) -> None:
    before, after, thing = beside.before, beside.after, beside.thing
    does = ONE.search(before) or (role.name in CLERGY and OURS.search(before))
    verb = (role.number == "singular" and is_third_person(thing) and does) or ACTS_ON.match(after) is not None
    verb = verb or ages.TAUGHT.search(before) is not None  # «teaching the kids chess»
    compound = role.number == "singular" or item.word in SMALL_CHILDREN  # «kids show», but not «youths rescue»
    if item.kind == NOUN and compound and not verb and not beside.bare and is_compound(thing):
        item.lower(NO, sets.SENSE)  # «child actor», «kid brother»
    if re.match(r"-\w", after) and item.kind == NOUN:
        item.lower(NO, sets.SENSE)  # «child-rearing»
    alone = not DETERMINER.search(before) and not beside.bare
    subject = beside.of_faith and believers.is_subject(after)
    if item.kind == NOUN and role.number == "singular" and alone and not subject and not PREDICATE.search(before):
        item.lower(BARELY, sets.SENSE)  # a name, or one half of a compound
    if role.name in CLERGY and alone and not OWNED.search(before):
        item.lower(BARELY, sets.NAMED)  # «terrific as Bishop»
    if item.kind == COLLECTIVE and thing in people.first_names():
        item.lower(NO, sets.NAMED)


def _weigh_capitals(item: Item, beside: Beside) -> None:
    if beside.said[0].isupper() and CAPITALISED.match(beside.after) and item.word not in NAMED_SO:
        item.lower(0.15, sets.NAMED)  # «Bishop Wilmot», «Pastor John»
    if item.kind != ADJECTIVE and FULL_NAME.match(beside.after):
        item.lower(0.15, sets.NAMED)


def _weigh_age(item: Item, role: Role, beside: Beside) -> None:
    before, after, thing = beside.before, beside.after, beside.thing
    if re.match(r"-\w", after):
        item.lower(NO, sets.SENSE)  # «child-rearing»
    if beside.titled:
        item.lower(0.2, sets.WORK)
    if item.kind == ADJECTIVE:
        of_people = people.is_person_noun(thing)
        if (thing and not of_people) or (item.word in BEFORE_PEOPLE_ALONE and not of_people):
            item.lower(BARELY, sets.SENSE)
        if thing in AGED_NOUNS:
            item.lower(NO, sets.SENSE)
        return
    many = role.number == "plural"
    anybody = beside.caseless and ages.may_be_anybody(item.word, many, before, after, thing, beside.of_work)
    if beside.of_work and item.kind == NOUN and not anybody and not (many and ages.are_some_people(before)):
        item.lower(0.4, sets.WORK)  # «two very ugly teenagers» of a film, and who would like it
    if item.kind == NOUN and AGED_ALREADY.search(before):
        item.lower(0.2, sets.SENSE)  # «an old pensioner» is no old teenager
    if item.word in SMALL_CHILDREN and re.match(r"['’]", after):
        item.lower(NO, sets.SENSE)  # «child's play»
    if item.word in OFFSPRING:
        _weigh_offspring(item, before, after, many, anybody)
    if item.kind == COLLECTIVE and (OTHERS_TOO.search(before) or OTHERS_TOO.search(after)):
        item.lower(0.2, sets.COMPARED)
    if item.word == "youth":
        ages.weigh_youth(item, before, after)


def _weigh_offspring(item: Item, before: str, after: str, many: bool, anybody: bool) -> None:
    """Children that are somebody's, are small, or are spoken of as children: nobody of another age is meant by that."""
    small = item.word in SMALL_CHILDREN
    if (
        OWNED.search(before)
        or ages.BORN.search(before)
        or SMALL.search(before)
        or (small and ages.KIN.search(before))
        or ages.is_offspring(before, after)
    ):
        item.lower(NO, sets.SENSE)
    if re.match(r"\s*(?:[.,!?\n]|$)", after) and (VOCATIVE.search(before) or (many and ages.CALLED_UPON.search(before))):
        item.lower(0.2, sets.IDIOM)
    if ages.COOKED.search(before):
        item.lower(NO, sets.SENSE)
    if SIMILE.search(before):
        item.lower(BARELY, sets.IDIOM)
    given = ages.are_given(before, after)
    certain = given or (CERTAIN_ONES.search(before) is not None and not ages.are_said_so(before, many))
    if small and not anybody and not certain and not _is_told(before, after):
        item.lower(UNSURE, sets.GENERIC)  # what is said of children in general is seldom true of others
    acts = anybody or (CLAUSE.search(before) is not None and ACTS.match(after) is not None)
    if (
        small
        and not acts
        and not given
        and before.strip(" \"“‘'")
        and (ages.are_said_so(before, many) or not COUNTED.search(before))
    ):
        item.lower(UNSURE, sets.SENSE)


def _is_told(before: str, after: str) -> bool:
    """Whether something is told that happened, to a label's bearers or to somebody beside them."""
    happened = HAPPENED.search(before) is not None or HAPPENED.search(after) is not None
    return happened or ages.ON_SOMEBODY.match(after) is not None or ages.is_there(before)


def _weigh_religion(item: Item, role: Role, beside: Beside, listed: Container[str]) -> None:
    before, after, thing = beside.before, beside.after, beside.thing
    if beside.of_work and not believers.may_be_anybodys(before, after):
        item.lower(0.4, sets.WORK)  # its priests and believers are those of the work
    of_people = people.is_person_noun(thing) or thing in PEOPLE_AFTER or thing in listed
    if TITLE_OF.search(before) and beside.said[0].isupper() and not of_people:
        item.lower(0.2, sets.WORK)
    if role.name in CLERGY and OFFICE_OF.match(after) and not BY_SOMEBODY.search(before):
        item.lower(0.2, sets.NAMED)  # «the Vicar of Dibley», «the Bishop of Durham»
    if item.word == "curate" and OBJECT_AFTER.match(after):
        item.lower(NO, sets.SENSE)
    if item.word == "catholic" and beside.said[0].islower() and BROAD.search(before + after) and thing not in listed:
        item.lower(NO, sets.SENSE)
    if item.kind != ADJECTIVE:
        return
    if AS.search(before) and ENDS_CLAUSE.match(after) and not CALLED_SO.search(before):
        item.lower(BARELY, sets.NAMED)
    any_faiths = beside.caseless and believers.may_be_any_faiths(item.word, thing, before, after)
    if any_faiths or (thing == COUNTRY and SOME.search(before)):
        item.lower(JUST, sets.DOCTRINE)
    elif (thing in OWN_THINGS and not believers.goes_on(thing, after)) or thing in FAITH_NAMES:  # «Shia Islam»
        item.lower(BARELY, sets.DOCTRINE)
    elif thing in FAITHS and THE.search(before) and not THE_FAITH.search(before):
        item.lower(UNSURE, sets.DOCTRINE)
    elif thing == "church" and item.word in WORLDWIDE and THE.search(before) and not SOMEWHERE.match(after):
        item.lower(0.2, sets.WORK)
    elif (
        thing and not people.is_person_noun(thing) and thing not in PEOPLE_AFTER and thing not in listed and thing not in TEMPLES
    ):
        item.lower(0.6, sets.DOCTRINE)
    organised = ORGANISED.match(after)
    if thing in ORGANISATIONS or (organised is not None and thing not in listed and organised[1].lower() in ORGANISATIONS):
        item.lower(BARELY, sets.WORK)
