"""Judges the exchanges of a document with the document in sight, by the reader of `models`."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.models import cuts
from evenflow.transforms.models.passages import Place
from evenflow.transforms.substitution.judges import Asked, ExchangeJudge, Judged
from evenflow.transforms.substitution.sets import DOUBTED, Set

if TYPE_CHECKING:
    from evenflow.transforms.models.reader import Reader, Reading, Said

MIN_PROBABILITY = 0.8  # where there is no table of precision: the first stage, BaseCDA, a plug-in
# With a first probability below this one a judge is not asked. In the documents kept for the report
# it clears 2,329 of 5,122 sets, and 6 of the 468 right ones
UNLIKELY = 0.015
# The same where the shipped reader judges. Of 553 exchanges that it accepts in documents that it
# has not learnt from, 4 are such ones, 0.7 % [0.3, 1.8]
UNREAD = 0.04
# A judge that accepts exchanges of less than this probability is asked about all: by sentence, of
# religion's right exchanges more than half have an unlikely first one
EAGER = 0.3
WORTH_ASKING = 0.4  # by document, a language model is asked about nothing of a lower probability
TOGETHER = 64  # documents whose texts are held for the threads
KEPT = 200_000  # links between mentions that are kept: some 20 MiB, and thousands of passages


def min_probability(config: Config, attribute: str) -> float:
    """Find the least probability that an attribute's exchanges need.

    Returns:
        `repair.min_probability`, or the probability from which the exchanges of the user's review,
        or else of the shipped reader, reach `repair.target_precision`; 1 where none does.

    Raises:
        ModelError: See `cuts.cuts`; or a review's file cannot be used.
    """
    if bounds := _reviewed(config, attribute):
        precision = config.target_precision(attribute)
        return next((least for least, _, low, _ in bounds if low >= precision), 1.0)
    if not _by_table(config, attribute):
        own = config.min_probability(attribute)
        return MIN_PROBABILITY if own is None else own
    found = _cut(config, attribute)
    return 1.0 if found is None else found.probability


def _reviewed(config: Config, attribute: str) -> Sequence[tuple[float, float, float, float]]:
    """What the user's review says of an attribute's exchanges.

    Returns:
        Of each probability from there on the share of right ones, and the ends of its interval;
        empty: it is not reviewed, or has a probability of its own.
    """
    path = config.repair.min_probability
    if not isinstance(path, str) or config.min_probability(attribute) is not None:
        return ()
    bounds = cuts.reviewed(Path(path), "repair.min_probability").bounds
    return sorted(bounds.get(cuts.EXCHANGE + attribute, ()))


def _cut(config: Config, attribute: str) -> cuts.Cut | None:
    """What labels show at the standard and the precision asked for."""
    return cuts.cut(attribute, config.target_precision(attribute), config.repair.standard)


def promise(config: Config, attribute: str) -> str:
    """Say what is done with an attribute's exchanges, and how often labelled ones are right.

    Raises:
        ModelError: See `cuts.cuts`.
    """
    standard, least = config.repair.standard, min_probability(config, attribute)
    done = f"{attribute}: exchanged from probability {least:g}"
    if bounds := _reviewed(config, attribute):
        _, *seen = next((each for each in bounds if each[0] == least), bounds[-1])
        right = "{:.2f} [{:.2f}, {:.2f}] right".format(*seen)
        return f"{done if least < 1 else f'off for {attribute}: best'} by your review: {right}"
    unknown = f"{done}; nobody measured how often right"
    if not _by_table(config, attribute):
        return unknown
    found, own = _cut(config, attribute), config.attributes[attribute]
    # The figures of all labelled attributes choose for one without, and are not its own
    of_others = not cuts.is_labelled(attribute, standard) or own.wordlist or own.finder
    if found and of_others:
        return unknown
    if found is None:
        wanted = f"{config.target_precision(attribute):.2f} by {standard}"
        shown = [] if of_others else cuts.cuts(attribute, standard)[-1:]
        return f"off for {attribute}: no labels show {wanted}" + "".join(
            f"; best {each.share} from probability {each.probability:g}" for each in shown
        )
    also = f"; by document {found.document / found.made:.2f}" if standard != "document" else ""
    return f"{attribute}: by {standard} from probability {least:g}: {found.share} right{also}"


def promises(config: Config, every: bool = False) -> list[str]:
    """Say of each attribute that is exchanged what is done; `every`: of all that are measured.

    Raises:
        ModelError: See `cuts.cuts`.
    """
    return [
        promise(config, name)
        for name in config.attributes
        if every or config.mode(name) in ("substitute", "augment")
    ]


def doubted(config: Config, attribute: str) -> str:
    """Why an exchange stays whose probability is too low: what it needs."""
    least = min_probability(config, attribute)
    if least >= 1 and config.min_probability(attribute) is None:
        return promise(config, attribute)
    return f"{DOUBTED}, it needs a probability of {least:g}"


def worth_asking(config: Config, attribute: str) -> float:
    """Find the probability from which a language model is asked about exchanges.

    From there on more than a third are right, so that a change takes fewer than three requests.

    Raises:
        ModelError: See `cuts.cuts`.
    """
    if config.repair.standard == "document":
        return WORTH_ASKING
    known = cuts.cuts(attribute, config.repair.standard)
    return next((each.probability for each in known if 3 * each.right >= each.made), UNLIKELY)


def _by_table(config: Config, attribute: str) -> bool:
    """Whether the shipped reader's table of labels chooses the least probability."""
    own = config.repair
    careful = own.judge == "careful" and own.method != "base"
    return careful and config.min_probability(attribute) is None


def judge_of(config: Config, threads: int = 1, alone: bool = False) -> ExchangeJudge | None:
    """The judge of a configuration's exchanges; None: the first stage decides.

    Args:
        alone: Whether each person is judged and changes alone, since another judge decides.

    Raises:
        ModelError: See `Reader.shipped`.
        PluginError: A plug-in cannot be used.
    """
    if config.repair.judge == "fast" or config.repair.method == "base":
        return None
    if config.repair.judge == "careful":
        # Its libraries take a part of a second to load
        from evenflow.transforms.models.reader import Reader

        least = None if alone else cache(partial(min_probability, config))
        return DocumentJudge(Reader.shipped(config.repair.device), least, threads)
    from evenflow.transforms.substitution.plugin_judge import PluginJudge

    return PluginJudge(config.repair.judge)


def joins_lines(config: Config) -> bool:
    """Whether the reader alone judges, which joins a person's words of several lines."""
    alone = config.llm.url is None or config.llm.substitution == "embedded"
    return alone and config.repair.judge == "careful"


def least(judge: ExchangeJudge | None, min_probability: float) -> float:
    """Find the first probability below which a set does not change and no judge is asked.

    `judge`: The judge; None: the first probability decides.
    """
    if judge is None:
        return min_probability
    if min_probability < EAGER:
        return 0.0
    if isinstance(judge, DocumentJudge):
        return UNREAD if min_probability < 1 else 1.0
    return UNLIKELY


# An exchange: the key of its document's reading, the document, attribute, set and target
Case = tuple[bytes, "JoinedSets", str, int, str]
Person = tuple[int, ...]  # the indices of their sets, in order


class DocumentJudge:
    """Judges sets by what a reader says of all mentions of the document.

    A set is right if the document stays right and no mention of the same person stays. Sets of one
    person are joined. Those of a document's persons of a group who may change do so together, since
    two of them may be one, whom the reader did not recognise. What is said of a set for a target
    depends on the document alone, not on what else is asked.

    Args:
        min_probability: The probability from which an exchange of an attribute is made. A set with
            a mention that alone refuses it is read no further. None: all is read, and each person
            is judged and changes alone.
        threads: Documents that are read at once; their answers are the same for any number.
    """

    def __init__(
        self,
        reader: Reader,
        min_probability: Callable[[str], float] | None = None,
        threads: int = 1,
    ):
        self._reader, self._min_probability, self._threads = reader, min_probability, threads
        self._kept = Kept()  # a draw asks about a document in many of its rounds

    def exchanges(self, documents: Iterable[Asked]) -> Iterator[list[Judged]]:
        """Judge exchanges, see `judges.ExchangeJudge`."""
        opened = map(self._open, documents)
        if self._threads == 1 and not self._reader.batches:
            yield from map(self._document, opened)
            return
        with ThreadPoolExecutor(self._threads) as threads:
            while together := list(islice(opened, TOGETHER)):
                if self._reader.batches:
                    self._read_ahead([*chain.from_iterable(together)])
                yield from threads.map(self._document, together)

    def _open(self, document: Asked) -> list[Case]:
        """Begin to read a document for its exchanges."""
        text, sets, asked = document
        shows = bool(sets) and self._reader.shows(sets[0].attribute)
        by_word: dict[str | None, tuple[bytes, JoinedSets]] = {}
        out: list[Case] = []
        for number, target in asked:
            shown = target if shows else None
            if shown not in by_word:
                mentions, places = places_of(sets, shown)
                reading, key = self._reader.read(text, places), key_of(text, places)
                reading.known |= self._kept.get(key)
                by_word[shown] = key, JoinedSets(self._reader, reading, mentions, sets)
            out.append((*by_word[shown], sets[number].attribute, number, target))
        return out

    def _read_ahead(self, cases: Sequence[Case]) -> None:
        """Read in batches what answers need: the asked sets, and all of those not refused so."""
        asked = (document.mentions([number]) for _, document, _, number, _ in cases)
        self._reader.read_ahead(chain.from_iterable(asked))
        left = [each for each in cases if self._refusing(*each[1:4]) is None]
        more = (own.mentions(own.able(own.source(at), to)) for _, own, _, at, to in left)
        self._reader.read_ahead(chain.from_iterable(more))

    def _document(self, cases: Sequence[Case]) -> list[Judged]:
        """Judge the exchanges of a document."""
        out = [self._answer(*case[1:]) for case in cases]
        for key, document in {key: document for key, document, *_ in cases}.items():
            self._kept.put(key, document.reading.known)
        return out

    def _refusing(self, document: JoinedSets, attribute: str, number: int) -> int | None:
        """The first mention of a set that alone refuses it."""
        if self._min_probability is not None:
            for index in document.own[number]:
                greatest = self._reader.at_most(attribute, document.reading.said(index))
                if greatest < self._min_probability(attribute):
                    return index
        return None

    def _answer(self, document: JoinedSets, attribute: str, number: int, target: str) -> Judged:
        """Judge a set with those of the same person; by itself where that refuses it."""
        least = 0.0 if self._min_probability is None else self._min_probability(attribute)
        if (index := self._refusing(document, attribute, number)) is not None:
            answer = self._reader.judge(attribute, document.reading, [index], ())
            return Judged(*answer, (number,))
        key = document.source(number), target
        if key not in document.changing:
            people = document.people(*key)
            alone = self._min_probability is None
            changing = {} if alone else document.together(key[0], people.values(), least)
            document.changing[key] = people, changing, document.staying(key[0], changing)
        people, changing, staying = document.changing[key]
        person = people[number]
        joined = sorted(chain(*changing)) if person in changing else person
        return Judged(*document.judge(person, staying), tuple(joined))


class Kept:
    """What a reader said of the documents that were asked about last, without their texts.

    Threads share it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: dict[bytes, tuple[dict[int, Said], int]] = {}  # with its size
        self._size = 0

    def get(self, key: bytes) -> Mapping[int, Said]:
        """What was said of a document; empty where nothing is kept."""
        with self._lock:
            return dict(self._said[key][0]) if key in self._said else {}

    def put(self, key: bytes, said: dict[int, Said]) -> None:
        """Keep what was said of a document, in the place of what was asked for longest ago."""
        size = sum(1 + len(each.links) for each in said.values())
        with self._lock:
            self._size += size - self._said.pop(key, ({}, 0))[1]
            self._said[key] = said, size
            while self._size > KEPT:
                self._size -= self._said.pop(next(iter(self._said)))[1]


def key_of(text: str, places: Sequence[Place]) -> bytes:
    """The digest of what a reading depends on."""
    digest = hashlib.blake2b(repr(places).encode("utf-8", "surrogatepass"), digest_size=16)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


class JoinedSets:
    """Joins the sets of a document that name one person, as a reader links their mentions.

    Args:
        mentions: Its mentions in the reading's order.

    Attributes:
        own: By set, the indices of its mentions.
        changing: By source and target, the person of each set, those who change together, and the
            mentions that stay, as far as that is known.
    """

    def __init__(
        self, reader: Reader, reading: Reading, mentions: Sequence[Mention], sets: Sequence[Set]
    ):
        self._reader, self.reading, self._sets = reader, reading, sets
        at = {mention.start: index for index, mention in enumerate(mentions)}
        self.own = [[at[each.start] for each in one.mentions] for one in sets]
        self._owner = {index: number for number, own in enumerate(self.own) for index in own}
        self.changing: dict[
            tuple[str, str], tuple[dict[int, Person], Collection[Person], set[int]]
        ] = {}

    def source(self, number: int) -> str:
        """The group of a set."""
        return self._sets[number].source

    def able(self, source: str, target: str) -> list[int]:
        """The sets of a group that can go to a target."""
        own = (each for each, one in enumerate(self._sets) if one.source == source)
        return [each for each in own if target in self._sets[each].edits]

    def mentions(self, sets: Iterable[int]) -> Iterator[tuple[Reading, int]]:
        """The mentions of sets, as `Reader.read_ahead` takes them."""
        return ((self.reading, index) for each in sets for index in self.own[each])

    def people(self, source: str, target: str) -> dict[int, Person]:
        """Find the person of each set of a group that can go to a target."""
        near: dict[int, set[int]] = {each: set() for each in self.able(source, target)}
        for one in near:
            for index in self.own[one]:
                for other, value in self.reading.said(index).links.items():
                    if value > 0 and (two := self._owner[other]) in near:
                        near[one].add(two)
                        near[two].add(one)
        found: dict[int, Person] = {}
        while near:
            todo, own = [next(iter(near))], set[int]()
            while todo:
                own.add(one := todo.pop())
                todo += near.pop(one, ())
            found |= dict.fromkeys(own, tuple(sorted(own)))
        return found

    def staying(self, source: str, changing: Iterable[Person]) -> set[int]:
        """The mentions of a group that stay where some people change."""
        change = set(chain(*changing))
        stay = (number for number, one in enumerate(self._sets) if one.source == source)
        return {index for number in stay if number not in change for index in self.own[number]}

    def mentions_of(self, person: Person) -> list[int]:
        """The indices of a person's mentions, in order."""
        return sorted(index for number in person for index in self.own[number])

    def judge(self, person: Person, staying: set[int]) -> tuple[float, str]:
        """Judge the exchange of a person, where other mentions stay; see `Reader.judge`."""
        own, attribute = self.mentions_of(person), self._sets[person[0]].attribute
        others = staying if staying.isdisjoint(own) else staying.difference(own)
        return self._reader.judge(attribute, self.reading, own, others)

    def together(self, source: str, people: Iterable[Person], least: float) -> dict[Person, float]:
        """Find who of a group may change at once, with their probabilities.

        Who is less probable than `least` stays, which may refuse others.
        """
        able, chances = list(dict.fromkeys(people)), dict[Person, float]()
        while len(able) != len(chances):
            staying = self.staying(source, able)
            chances = {one: self.judge(one, staying)[0] for one in able}
            able = [one for one in able if chances[one] >= least]
        return chances


def places_of(sets: Sequence[Set], target: str | None) -> tuple[list[Mention], list[Place]]:
    """Find the mentions of a document's sets, with what would stand in their place.

    Args:
        target: The group that they go to, whose words the reader is shown; None: it is shown none.

    Returns:
        The n mentions in the text's order, and their n places.
    """
    found: list[tuple[Mention, Place]] = []
    for each in sets:
        edits: Mapping[int, str] = (
            {edit.start: edit.replacement for edit in each.edits.get(target, ())} if target else {}
        )
        found += [
            (mention, Place(mention.start, mention.end, edits.get(mention.start, "")))
            for mention in each.mentions
        ]
    found.sort(key=lambda pair: pair[1].start)
    return [mention for mention, _ in found], [place for _, place in found]
