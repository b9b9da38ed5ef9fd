"""`evenflow.Annotator` and `evenflow.counterfactual`: one text at a time, in any pipeline.

Neither Beam nor Great Expectations is imported. Models are loaded at their first use.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from evenflow.schemas.config import Config, ConfigError
from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.settings import Configuration, configuration, shown
from evenflow.transforms.labels.finder import Found, LabelFinder, Mention

if TYPE_CHECKING:
    from evenflow.pipelines.explain.explainer import Explainer
    from evenflow.results import Measurement
    from evenflow.schemas.documents import Figures

TOGETHER = 1 << 18  # characters that are searched together: their words stay in a core's cache
SUMMED = 1 << 12  # annotations that are summed together


class TextError(EvenflowError, ValueError):
    """What was given as a text is none, or is too long."""

    status = USAGE


class Annotation:
    """What an annotator finds in a text. Sentences are looked for once they are asked for.

    Attributes:
        counts: Number of mentions, by attribute and group.
    """

    def __init__(self, annotator: Annotator, text: str, found: Sequence[Found]):
        self.text = text
        self._annotator, self._found = annotator, found
        self.counts: dict[str, dict[str, int]] = {}
        for words, own in zip(annotator.finder.lists, found, strict=True):
            groups = own.groups.tolist()  # counted faster than by numpy where there are few
            self.counts[words.attribute] = {
                group: groups.count(number) for number, group in enumerate(words.groups)
            }

    @cached_property
    def mentions(self) -> list[Mention]:
        """The mentions, attribute by attribute; start and end are characters of the text."""
        return self._annotator.finder.named(self._found)

    @cached_property
    def sentences(self) -> list[dict[str, Any]]:
        """The sentences, as `evenflow.explain` gives them.

        Where it was asked for, each has potential_stereotype (a probability by attribute) and the
        reasons, or sets (what could be exchanged, with its probability, confidence).
        """
        return self._explained["sentences"]

    @property
    def left_out(self) -> int:
        """How many characters at the end of a very long text are in no sentence."""
        return self._explained.get("left_out", 0)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: text, counts, mentions and sentences."""
        return {
            "text": self.text,
            "counts": self.counts,
            "mentions": [vars(each) for each in self.mentions],
            "sentences": self.sentences,
            "left_out": self.left_out,
        }

    @cached_property
    def _explained(self) -> dict[str, Any]:
        return self._annotator.explained(self.text)

    def __getstate__(self) -> dict[str, Any]:
        """Everything is looked for before it travels: the annotator stays behind."""
        return {
            "text": self.text,
            "counts": self.counts,
            "mentions": self.mentions,
            "_explained": self._explained,
        }

    def __repr__(self) -> str:
        return f"Annotation({shown(self.text)}, {self.counts})"


class Summary:
    """Sums over annotations; sums of several processes add up."""

    def __init__(self, config: Config, figures: Figures):
        self.config, self.figures = config, figures

    def add(self, other: Summary) -> Summary:
        """Add the sums of other documents in place; the order does not matter."""
        self.figures.add(other.figures)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as plain data, for `Annotator.summary`."""
        from dataclasses import asdict

        return asdict(self.figures)

    def measurement(self) -> Measurement:
        """Score the sums.

        Returns:
            What `evenflow.measure` returns of the same documents.
        """
        from evenflow.pipelines.terminal import summaries
        from evenflow.results import Measurement

        course = summaries.Course()
        course.note(self.figures)
        return Measurement.of(summaries.measured(self.figures, self.config, course))


class Annotator:
    """Annotates texts one by one. It is built once a process, may be pickled, and threads share it.

    Args:
        attributes: Names of the attributes that are looked for; empty for all.
        wordlists: Paths of word lists that are looked for too.
        stereotypes: Whether sentences that name a group are judged, which loads a model.
        exchanges: Whether exchanges are proposed and judged, which loads models.

    Raises:
        ConfigError: The configuration cannot be used, or counts people, which takes a whole corpus.
        WordListError: A word list cannot be used.
        TypeError: An argument is of another type.

    Example:
        >>> annotator = Annotator(attributes=["gender"])
        >>> annotation = annotator.annotate("She met her brother.")
        >>> annotation.counts
        {'gender': {'female': 2, 'male': 1}}
        >>> [(each.start, each.end, each.label) for each in annotation.mentions]
        [(0, 3, 'she'), (8, 11, 'her'), (12, 19, 'brother')]
        >>> annotator.summarise(annotator.annotate_many(["He left.", "He came."])).measurement()
        2 documents
        attribute  dr      low     high    mentions  counts
        gender     0.5000  0.0000  0.5000  2         female 0, male 2
    """

    def __init__(
        self,
        config: Configuration = None,
        *,
        attributes: Sequence[str] = (),
        wordlists: Sequence[str] = (),
        stereotypes: bool = False,
        exchanges: bool = False,
    ):
        self.config = configuration(config, attributes, wordlists)
        if self.config.measure.count == "people":
            raise ConfigError(
                "measure.count: people are estimated over a whole corpus, and an annotator sees one"
                " document; use words, or evenflow.measure"
            )
        self._stereotypes, self._exchanges = stereotypes, exchanges
        self.finder = LabelFinder(self.config.word_lists())
        self._lock = threading.Lock()
        self._explainer: Explainer | None = None

    def annotate(self, text: str) -> Annotation:
        """Annotate a text.

        Args:
            text: The text; lone surrogates may be in it.

        Raises:
            TextError: It is no text, or is longer than max_text_mib allows.
        """
        return Annotation(self, text, self.finder.find_all(checked(text, self.config)))

    def annotate_many(self, texts: Iterable[str]) -> Iterator[Annotation]:
        """Annotate texts, some of them together, which is faster where they are short.

        Yields:
            Their annotations, in their order.

        Raises:
            TextError: One of them is none; those before it have been given.
        """
        batch: list[str] = []
        size = 0
        for number, text in enumerate(texts):
            try:
                size += len(checked(text, self.config))
            except TextError as error:
                yield from self._together(batch)
                raise TextError(f"text {number}: {error}") from error
            batch.append(text)
            if size >= TOGETHER:
                yield from self._together(batch)
                batch, size = [], 0
        yield from self._together(batch)

    def summarise(self, annotations: Iterable[Annotation]) -> Summary:
        """Sum annotations up."""
        from evenflow.schemas.documents import AttributeFigures
        from evenflow.transforms.measures.representation.dr import sums

        total, left = self.summary(), iter(annotations)
        while chunk := list(islice(left, SUMMED)):
            part = self.summary().figures
            part.documents = len(chunk)
            part.text_bytes = sum(len(each.text.encode("utf-8", "surrogatepass")) for each in chunk)
            for words in self.finder.lists:
                rows = [list(each.counts[words.attribute].values()) for each in chunk]
                own = sums(np.array(rows, np.int64)).model_dump()
                part.attributes[words.attribute] = AttributeFigures(**own)
            total.figures.add(part)
        return total

    def summary(self, *parts: Mapping[str, Any]) -> Summary:
        """Add sums up that were kept as plain data.

        Args:
            *parts: What `Summary.to_dict` returned, in this process or another.
        """
        from evenflow.schemas.documents import Figures

        total = Figures()
        for each in parts:
            total.add(Figures.read(dict(each)))
        return Summary(self.config, total)

    def explained(self, text: str) -> dict[str, Any]:
        """The sentences of a text, as `evenflow.explain` gives them."""
        if not (self._stereotypes or self._exchanges):
            from evenflow.pipelines.explain import document

            return document.explain("text", text, self.finder)
        with self._lock:  # models are loaded once, and asked by one thread at a time
            if self._explainer is None:
                from evenflow.pipelines.explain.explainer import Explainer

                method = "gc" if self._exchanges else None
                self._explainer = Explainer(self.config, method, stereotypes=self._stereotypes)
            return self._explainer.explain("text", text)

    def _together(self, texts: Sequence[str]) -> Iterator[Annotation]:
        """The annotations of texts that are searched as one."""
        joined, begins, every = self.finder.find_together(texts)
        edges = [np.searchsorted(own.starts, [*begins, len(joined)]) for own in every]
        for number, (text, begin) in enumerate(zip(texts, begins.tolist(), strict=True)):
            parts = [slice(own[number], own[number + 1]) for own in edges]
            yield Annotation(
                self,
                text,
                [
                    Found(
                        own.starts[part] - begin,
                        own.ends[part] - begin,
                        own.labels[part],
                        own.groups[part],
                    )
                    for own, part in zip(every, parts, strict=True)
                ],
            )

    def __getstate__(self) -> dict[str, Any]:
        """The settings alone: the other side reads the lists again, in some 50 ms."""
        return {
            "config": self.config,
            "stereotypes": self._stereotypes,
            "exchanges": self._exchanges,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)


def counterfactual(text: str, source: str, target: str, config: Configuration = None) -> str:
    """Exchange every word for a group for the word for another that fits the sentence.

    Words for one person change together. No judge is asked whether the person may change;
    `evenflow.explain(text, counterfactual="gc")` asks it.

    Args:
        source: The group whose words are exchanged.

    Returns:
        The text. What has no counterpart stays as it is.

    Raises:
        TextError: It is no text, or too long; or no attribute has both groups.
        ConfigError: The configuration cannot be used.

    Example:
        >>> counterfactual("He lost his keys. The car was his, too.", "male", "female")
        'She lost her keys. The car was hers, too.'
    """
    from evenflow.transforms.substitution.counterfactuals import rewrite

    settings = configuration(config)
    checked(text, settings)
    lists = settings.word_lists()
    for words in lists:
        if source in words.groups and target in words.groups:
            done = rewrite(text, [words], words.attribute, "gc", source, target, min_probability=0)
            return done.text
    groups = "; ".join(f"{words.attribute}: {', '.join(words.groups)}" for words in lists)
    raise TextError(
        f"no attribute has both groups {shown(source)} and {shown(target)}; there are {groups}"
    )


def checked(text: object, config: Config) -> str:
    """A text that is one, and not longer than max_text_mib allows. Raises TextError."""
    if not isinstance(text, str):
        raise TextError(f"a text was expected, not {shown(text)} ({type(text).__name__})")
    if len(text) > config.max_text_mib << 20:
        from evenflow.pipelines.explain.document import too_long

        raise TextError(too_long(text, config.max_text_mib << 20))
    return text
