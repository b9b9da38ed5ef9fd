"""The checks of a candidate. Each has a reason, by which rejected candidates are counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from evenflow.prompts import loader
from evenflow.transforms.lab.generation.items import OBJECT, RELATION, SUBJECT, Draft, Item
from evenflow.transforms.lab.generation.limits import PERPLEXITY, STEREOTYPE, Limit
from evenflow.transforms.lab.generation.support import WORD, Support
from evenflow.transforms.lab.generation.templates import (
    LONGEST,
    Corpus,
    GroupCounter,
    name_spans,
    without,
)
from evenflow.transforms.lab.generation.writers import PROMPT, names
from evenflow.transforms.measures.coverage.knowledge import Knowledge

# Reason → what the writer is told
REASONS: dict[str, str] = {
    "no answer": "there was no usable answer",
    "form": f"it is not one line of at most {LONGEST} characters",
    "markup": "it has characters of markup or code",
    "prompt": "it takes over words of the instructions",
    "example": "it takes over an example",
    "entities": "the subject or the object is not in it exactly once",
    "relation": "the relation is not stated",
    "facts": "it states something that is not known",
    "attributes": "it does not name exactly the groups that were asked for",
    "support": "it has a name or a number that was not given",
    "duplicate": "it is nearly a sentence that is there already",
    STEREOTYPE: "it says what a group is like",
    PERPLEXITY: "it reads unlike the collection",
}
RUN = 6  # words in a row that a text has from the instructions only by copying
SHINGLE = 3  # words
NEAR = 0.8  # Jaccard similarity of shingles from which texts are near duplicates
# Of texts without labels and names, by runs of two words: one other word of twelve leaves 0.69
MASKED, NEAR_MASKED = 2, 0.6
# What a sentence is written with besides letters and digits
PLAIN = frozenset(" .,;:!?'\"’‘“”()-–—…%$£€&")
QUOTES = frozenset("'\"‘“")
DIGITS = 4  # of a figure
LONGEST_NAME = 8  # words of a name that is looked for


class Shingles:
    """Texts by their runs of words; exact, as MinHash would estimate."""

    def __init__(self, texts: Iterable[str] = (), size: int = SHINGLE):
        self._size = size
        self._places: dict[tuple[str, ...], list[int]] = {}
        self._sizes: list[int] = []
        for each in texts:
            self.add(each)

    def add(self, text: str) -> None:
        """Add a text."""
        own = runs(text, self._size)
        for each in own:
            self._places.setdefault(each, []).append(len(self._sizes))
        self._sizes.append(len(own))

    def nearest(self, text: str) -> float:
        """How near the nearest of the texts is.

        Returns the largest Jaccard similarity of shingles, 0 to 1.
        """
        own = runs(text, self._size)
        shared: dict[int, int] = {}
        for each in own:
            for place in self._places.get(each, ()):
                shared[place] = shared.get(place, 0) + 1
        return max(
            (common / (len(own) + self._sizes[place] - common) for place, common in shared.items()),
            default=0.0,
        )


def runs(text: str, size: int) -> set[tuple[str, ...]]:
    """The runs of so many words of a text; the whole of a shorter one."""
    words = [each.casefold() for each in WORD.findall(text)]
    return {tuple(words[i : i + size]) for i in range(max(len(words) - size + 1, 1))}


class Checker:
    """Checks candidates one after the other; an accepted one is there for those that follow.

    `knowledge`: What is known; None: nothing is.
    """

    def __init__(
        self,
        corpus: Corpus,
        counter: GroupCounter,
        knowledge: Knowledge | None,
        limits: Sequence[Limit] = (),
    ):
        self._counter, self._knowledge, self._limits = counter, knowledge, limits
        self._cues = corpus.cues()
        self._seen = Shingles(each.text for each in corpus.templates)
        prompt = loader.load(PROMPT)
        self._instructions = runs(prompt.system, RUN)
        # Copied but for the names
        self._styles = Shingles(each.masked for each in corpus.templates if each.spans)
        texts = [each.text for each in corpus.templates]
        self._support = Support(counter.finder, texts)
        self._masked = Shingles(map(self._support.masked, texts), MASKED)
        self._examples = Shingles(str(answer["text"]) for _, answer in prompt.examples)

    def check(self, draft: Draft, item: Item) -> tuple[Draft | None, str | None]:
        """Check a candidate."""
        if not draft.text:
            return None, "no answer"
        spans = {} if draft.fact is None else name_spans(draft.text, names(draft.fact))
        passed: dict[str, float | bool] = {}
        for reason, passes, figure in self._checks(
            replace(draft, spans=spans or {}), item, spans is not None
        ):
            if not passes:
                return None, reason
            passed[reason] = True if figure is None else round(figure, DIGITS)
        self._seen.add(draft.text)
        self._masked.add(self._support.masked(draft.text))
        return replace(draft, spans=spans or {}, checks=passed), None

    def _checks(
        self, draft: Draft, item: Item, has_entities: bool
    ) -> Iterator[tuple[str, bool, float | None]]:
        """The checks in their order: reason, whether the text passes, and the figure if any."""
        text = draft.text
        is_line = bool(text.strip()) and "\n" not in text and len(text) <= LONGEST
        yield "form", is_line, None
        yield from self._of_prompts(draft)
        yield "entities", has_entities, None
        if draft.fact is not None:
            yield "relation", self._states(draft), None
            yield "facts", self._is_known(draft, item), None
        yield "attributes", self._names_as_planned(draft, item), None
        given = [*draft.asked, *(names(draft.fact).values() if draft.fact else ())]
        yield "support", not self._support.unsupported(text, given), None
        near = self._seen.nearest(text)
        yield "duplicate", near < NEAR, near
        near = self._masked.nearest(self._support.masked(text))
        yield "duplicate", near < NEAR_MASKED, near
        for limit in self._limits:
            yield limit.reason, *limit.check(text)

    def _of_prompts(self, draft: Draft) -> Iterator[tuple[str, bool, float | None]]:
        """The checks of what a language model wrote."""
        text, plain = draft.text, without(draft.text, draft.spans)
        begins = text[:1].isalnum() or text[:1] in QUOTES
        yield "markup", begins and all(each.isalnum() or each in PLAIN for each in plain), None
        yield "prompt", not self._instructions & runs(text, RUN), None
        masked = without(text, draft.spans, instead="_")
        near = max(self._examples.nearest(text), self._styles.nearest(masked))
        yield "example", near < NEAR, near

    def _states(self, draft: Draft) -> bool:
        """Whether words outside of the names state the relation.

        The model says which of its words state the relation; they must be there, with one that is
        common in the relation's own sentences.
        """
        if draft.evidence is None or draft.fact is None:
            return True
        outside = without(draft.text, draft.spans)
        if not draft.evidence.strip() or draft.evidence not in draft.text:
            return False
        said = {each.casefold() for each in WORD.findall(draft.evidence)}
        said &= {each.casefold() for each in WORD.findall(outside)}
        cues = self._cues.get(draft.fact.relation)
        return bool(said & cues) if cues else bool(said)

    def _is_known(self, draft: Draft, item: Item) -> bool:
        """Whether the fact, the values, and other objects that the text names are known."""
        knowledge, fact = self._knowledge, draft.fact
        if knowledge is None or fact is None:
            return fact is None
        own = names(fact)
        wanted = item.fields.get(RELATION, fact.relation)
        if fact.relation != wanted or not knowledge.holds(own[SUBJECT], wanted, own[OBJECT]):
            return False
        for side, values in item.sides.items():
            if any(knowledge.value(own[side], name) != value for name, value in values.items()):
                return False
        objects, text = knowledge.objects(fact.relation), without(draft.text, draft.spans)
        words = list(WORD.finditer(text))
        return not any(
            (name := text[words[i].start() : words[j].end()]) in objects
            and not knowledge.holds(own[SUBJECT], fact.relation, name)
            for i in range(len(words))
            for j in range(i, min(i + LONGEST_NAME, len(words)))
        )

    def _names_as_planned(self, draft: Draft, item: Item) -> bool:
        """Whether the text counts as planned.

        Of a triple the subject's and object's groups may be named, and no other ones. Any other
        text is one record with exactly the planned groups.
        """
        counter = self._counter
        if draft.fact is not None:
            allowed = {
                (name, value) for each in item.sides.values() for name, value in each.items()
            } | set(item.groups.items())
            asked = {name for name, _ in allowed}
            outside = without(draft.text, draft.spans)
            found = {(each.attribute, each.group) for each in counter.finder.find(outside)}
            return all(pair in allowed for pair in found if pair[0] in asked)
        records = counter.records(draft.text)
        return len(records) == 1 and all(
            records[0][name] == [group] for name, group in item.groups.items()
        )
