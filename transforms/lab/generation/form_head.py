"""A linear model of the form that a word for a group has in its place: “two women”, not “two her”.

It reads the two words before and after a label and says how likely each form is there: singular,
plural, or a kind of pronoun. It learnt from the labels and other nouns of real documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.models import files
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.substitution import roles
from evenflow.wordlists.loader import WordList

FORMAT, VERSION = "evenflow-form-head", 1
MANIFEST, TENSORS = "forms.json", "forms.npz"
TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[.,;:!?]")
EDGE = "#"  # stands before the first word and after the last
PLURAL, SINGULAR = "plural", "singular"
# Pronouns among the labels, by what can stand in their place
PRONOUNS = {
    "she": "subject",
    "he": "subject",
    "him": "object",
    "her": "her",
    "his": "his",
    "herself": "self",
    "himself": "self",
}


class Context(NamedTuple):
    """A label in its place.

    Attributes:
        form: Its form.
        features: What stands around it.
    """

    form: str
    features: tuple[str, ...]


def forms_of(lists: Sequence[WordList]) -> dict[str, str]:
    """The form of each label that has one form alone: “Muslim” is a noun and an adjective.

    A noun is singular, and another plural, where both are in the list.

    Args:
        lists: The word lists.

    Returns:
        SINGULAR, PLURAL or a value of PRONOUNS by label.
    """
    out: dict[str, str] = {}
    for words in lists:
        own = roles.of(words).by_word
        for label in words.labels:
            parts = {each.part for each in own.get(label, ())} or {roles.NOUN}
            plural = next((each for each in _plurals(label) if each in words.labels), None)
            # The name of a group, such as “female”, is an adjective more often
            if plural is not None and parts == {roles.NOUN} and label not in words.groups:
                out |= {label: SINGULAR, plural: PLURAL}
    return out | PRONOUNS


def _plurals(word: str) -> tuple[str, ...]:
    """What the plural of a word can be."""
    regular = (f"{word}s", f"{word}es", f"{word[:-1]}ies", f"{word[:-1]}ves", f"{word[:-2]}ves")
    return (*regular, f"{word[:-2]}en") if word.endswith("man") else regular


def contexts(text: str, finder: LabelFinder, forms: Mapping[str, str]) -> Iterator[Context]:
    """The labels of a text that have one form, in their places.

    Args:
        text: The text.
        finder: Finds labels.
        forms: What `forms_of` returned.
    """
    tokens = [(each[0].lower(), each.start(), each.end()) for each in TOKEN.finditer(text)]
    words = [word for word, *_ in tokens]
    places = {start: number for number, (_, start, _) in enumerate(tokens)}
    for each in finder.find(text):
        form = forms.get(text[each.start : each.end].lower())
        first = places.get(each.start)
        if form is None or first is None:
            continue
        last = first
        while last + 1 < len(tokens) and tokens[last + 1][2] <= each.end:
            last += 1
        yield Context(form, around(words, first, last))


def around(words: Sequence[str], first: int, last: int) -> tuple[str, ...]:
    """What stands around words[first] to words[last]: features by place and word."""
    two, one, after, next_after = (
        words[at] if 0 <= at < len(words) else EDGE
        for at in (first - 2, first - 1, last + 1, last + 2)
    )
    return f"-1 {one}", f"-2 {two}", f"+1 {after}", f"+2 {next_after}", f"-2 {two} {one}"


class FormHead:
    """The model of a folder.

    Args:
        folder: A folder with a manifest and the tensors.

    Attributes:
        most: Misfit that 15 in a thousand labels of unseen real documents exceed.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """

    def __init__(self, folder: Path):
        path = folder / MANIFEST
        about = files.manifest(path, FORMAT, VERSION)
        try:
            with np.load(folder / TENSORS, allow_pickle=False) as tensors:
                rows = {name: number for number, name in enumerate(tensors["features"].tolist())}
                self._weights = tensors["weights"].astype(np.float64)
                self._shifts = tensors["shifts"].astype(np.float64)
            self._rows, self._forms = rows, list(map(str, about["forms"]))
            self.most = float(about["most"])
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                f"{path}: the model cannot be used ({error}); {files.REBUILD}"
            ) from error

    def misfit(self, context: Context) -> float:
        """How much less likely a label's form is than the likeliest one there.

        Args:
            context: The label in its place.

        Returns:
            The difference of the logits, 0 or more.
        """
        known = [self._rows[each] for each in context.features if each in self._rows]
        logits = self._weights[known].sum(0) + self._shifts
        return float(logits.max() - logits[self._forms.index(context.form)])


@cache
def shipped() -> FormHead:
    """The model of this package, loaded once a process. Raises what `FormHead` raises."""
    return FormHead(files.SHIPPED)
