"""`evenflow.measure` and `evenflow.explain`: figures and sentences, nothing written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evenflow.inputs import Inputs, blocks
from evenflow.pipelines.explain.explainer import Explainer
from evenflow.pipelines.terminal import summaries
from evenflow.results import Explanation, Measurement
from evenflow.schemas.documents import Figures
from evenflow.settings import Configuration, configuration, wrong
from evenflow.transforms.annotation import people
from evenflow.transforms.annotation.annotate import Annotator


def measure(
    inputs: Inputs,
    config: Configuration = None,
    *,
    attributes: Sequence[str] = (),
    wordlists: Sequence[str] = (),
) -> Measurement:
    """Count labels and score Demographic Representation (DR), per attribute.

    Args:
        inputs: A path, folder or glob (a str or Path), or a list of Paths; or documents: texts,
            mappings, a Hugging Face dataset, a pandas frame, or a table
            of Arrow (polars, pyarrow, duckdb).
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values. Its
            fields.text and fields.id name the text and the id.
        attributes: Names of the attributes that are measured; empty for all.
        wordlists: Paths of word lists that are measured too.

    Returns:
        What `evenflow measure --json` prints, and a table (`frame`): documents, dead_letters
        (records that are no documents), and of each attribute dr (0 is even; None without a
        mention), low and high (its confidence interval), counts, shares and target by group, and
        its convergence.

    Raises:
        ConfigError: The configuration cannot be used.
        InputError: No file matches, or a table has no column of the text's name.
        OSError: A device fails.
        TypeError: An argument is of another type, or a document neither text nor a mapping.
        WordListError: A word list cannot be used.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"body": ["She met her sister.", "He left."]})
        >>> result = measure(frame, {"fields.text": "body"}, attributes=["gender"])
        >>> result.documents, result.attributes["gender"]["counts"]
        (2, {'female': 3, 'male': 1})
        >>> result
        2 documents
        attribute  dr      low     high    mentions  counts
        gender     0.2500  0.0000  0.5000  4         female 3, male 1
    """
    settings = configuration(config, attributes, wordlists)
    annotator = Annotator(settings)
    total, course = Figures(), summaries.Course()
    for block in blocks(inputs, settings):
        total.add(annotator.measure(block))
        course.note(total)
    people.resolve(total, settings)
    return Measurement.of(summaries.measured(total, settings, course))


def explain(
    text: str,
    config: Configuration = None,
    *,
    attributes: Sequence[str] = (),
    wordlists: Sequence[str] = (),
    counterfactual: Literal["gc", "base"] | None = None,
    source: str | None = None,
    target: str | None = None,
    stereotypes: bool = False,
) -> Explanation:
    """Find the sentences of a text with the labels that they name.

    Args:
        attributes: Names of the attributes that are looked for; empty for all.
        wordlists: Paths of word lists that are looked for too.
        counterfactual: Method that rewrites every eligible sentence: gc (grammar and context) or
            base (BaseCDA). None rewrites nothing.
        source: Only mentions of this group are rewritten; None for any group.
        target: Mentions are rewritten to this group only; None for any group.
        stereotypes: Whether sentences that name a group are judged, which loads a model.

    Returns:
        What `evenflow explain --json` prints, and a table (`frame`): the text and its sentences,
        each with start and end (character offsets), sent_text, labels, words_per_group,
        counts_per_group and relevant_sentence; with counterfactual, text_cda and sets; with
        stereotypes, potential_stereotype, score_scsc and the reasons. Of a long text the beginning
        is explained, and left_out says how many characters follow it.

    Raises:
        ConfigError: The configuration cannot be used.
        TypeError: An argument is of another type.
        ValueError: No attribute has the group source or target.
        WordListError: A word list cannot be used.
        ModelError: A shipped model cannot be loaded.

    Example:
        >>> document = explain("She came. It rained.", attributes=["gender"])
        >>> [row["sent_text"] for row in document.sentences]
        ['She came.', 'It rained.']
        >>> document["sentences"][0]["counts_per_group"]
        {'gender': {'female': 1, 'male': 0}}
        >>> changed = explain("She came.", attributes=["gender"], counterfactual="base")
        >>> changed["text_cda"]
        {'gender': 'He came.'}
    """
    if not isinstance(text, str):
        raise wrong("text", "a text", text)
    settings = configuration(config, attributes, wordlists)
    explainer = Explainer(settings, counterfactual, source, target, stereotypes)
    return Explanation.of(explainer.explain("text", text))
