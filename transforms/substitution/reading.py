"""Judges the exchanges of a document with the document in sight, by the reader of `models`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.models.passages import Place
from evenflow.transforms.substitution.judges import Asked, ExchangeJudge, Judged
from evenflow.transforms.substitution.plugin_judge import PluginJudge
from evenflow.transforms.substitution.sets import Set

if TYPE_CHECKING:
    from evenflow.transforms.models.reader import Reader, Reading

STRICTNESS = 0.8  # where there is no table of precision: the first stage, BaseCDA, a plug-in


def strictness(config: Config, attribute: str) -> float:
    """Find the least probability that an attribute's exchanges need.

    Args:
        config: The configuration.
        attribute: The attribute.

    Returns:
        `repair.strictness`, or the probability from which the shipped reader's exchanges reach
        `repair.precision`; 1 where none does.

    Raises:
        ModelError: See `Reader.shipped`.
    """
    own = config.strictness(attribute)
    if own is not None:
        return own
    if config.repair.judge != "careful" or config.repair.method == "base":
        return STRICTNESS
    return _reader().cut(attribute, config.repair.precision)


def judge_of(config: Config) -> ExchangeJudge | None:
    """The judge of a configuration's exchanges; None: the first stage decides.

    Raises:
        ModelError: See `Reader.shipped`.
        PluginError: A plug-in cannot be used.
    """
    if config.repair.judge == "fast" or config.repair.method == "base":
        return None
    if config.repair.judge == "careful":
        return DocumentJudge.shipped()
    return PluginJudge(config.repair.judge)


def _reader() -> Reader:
    """The reader of this package. Its libraries take a part of a second to load."""
    from evenflow.transforms.models.reader import Reader

    return Reader.shipped()


class DocumentJudge:
    """Judges sets by what a reader says of all mentions of the document.

    A set is right if the document stays right and no mention of the same person stays. Sets of one
    person are joined. What is said of a set for a target depends on the document alone, not on what
    else is asked.

    Args:
        reader: The reader.
    """

    def __init__(self, reader: Reader):
        self._reader = reader

    @classmethod
    def shipped(cls) -> DocumentJudge:
        """The judge with the reader of this package; see `Reader.shipped`."""
        return cls(_reader())

    def exchanges(self, documents: Iterable[Asked]) -> Iterator[list[Judged]]:
        """Judge exchanges, see `judges.ExchangeJudge`."""
        return (self._document(*each) for each in documents)

    def _document(
        self, text: str, sets: Sequence[Set], asked: Sequence[tuple[int, str]]
    ) -> list[Judged]:
        """Judge the exchanges of a document."""
        shows = bool(sets) and self._reader.shows(sets[0].attribute)
        documents: dict[str | None, JoinedSets] = {}
        out: list[Judged] = []
        for number, target in asked:
            shown = target if shows else None
            if shown not in documents:
                mentions, places = places_of(sets, shown)
                documents[shown] = JoinedSets(self._reader.read(text, places), mentions, sets)
            document = documents[shown]
            joined = document.of(number, target)
            own, staying = document.divide(joined)
            answer = self._reader.judge(sets[number].attribute, document.reading, own, staying)
            out.append(Judged(*answer, joined))
        return out


class JoinedSets:
    """Joins the sets of a document that name one person, as a reader links their mentions.

    Args:
        reading: The reading of the document.
        mentions: Its mentions in the reading's order.
        sets: All its sets of one attribute.

    Attributes:
        reading: As given.
    """

    def __init__(self, reading: Reading, mentions: Sequence[Mention], sets: Sequence[Set]):
        self.reading, self._mentions, self._sets = reading, mentions, sets
        at = {mention.start: index for index, mention in enumerate(mentions)}
        self._own = [[at[each.start] for each in one.mentions] for one in sets]
        self._owner = {index: number for number, own in enumerate(self._own) for index in own}

    def of(self, number: int, target: str) -> tuple[int, ...]:
        """Find the sets that change with a set.

        Args:
            number: The index of the set.
            target: The group that it goes to.

        Returns:
            The indices of the sets of the same person that can go there too, in order.
        """
        source = self._sets[number].source
        found, todo = {number}, [number]
        while todo:
            for index in self._own[todo.pop()]:
                for other, value in self.reading.said(index).links.items():
                    owner = self._owner[other]
                    if (
                        value > 0
                        and owner not in found
                        and self._sets[owner].source == source
                        and target in self._sets[owner].edits
                    ):
                        found.add(owner)
                        todo.append(owner)
        return tuple(sorted(found))

    def divide(self, joined: Sequence[int]) -> tuple[list[int], set[int]]:
        """Divide the mentions of a group.

        Args:
            joined: Indices of sets that change together.

        Returns:
            The indices of their mentions, and those of the group's other mentions.
        """
        own = sorted(index for number in joined for index in self._own[number])
        source = self._sets[joined[0]].source
        return own, {
            index for index, each in enumerate(self._mentions) if each.group == source
        } - set(own)


def places_of(sets: Sequence[Set], target: str | None) -> tuple[list[Mention], list[Place]]:
    """Find the mentions of a document's sets, with what would stand in their place.

    Args:
        sets: All sets of one attribute.
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
