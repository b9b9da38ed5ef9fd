"""DR of single documents, for the filters of toolkits that keep or drop one at a time."""

from __future__ import annotations

from evenflow.annotator import Annotation, Annotator
from evenflow.schemas.config import ConfigError
from evenflow.settings import Configuration
from evenflow.transforms.measures.representation.dr import demographic_representation


def target_of(annotator: Annotator, attribute: str) -> list[float] | None:
    """The shares that an attribute should have. Raises ConfigError if it is not measured."""
    lists = {words.attribute: words for words in annotator.finder.lists}
    if attribute not in lists:
        raise ConfigError(f"attribute: {attribute!r} is not measured; {', '.join(lists)} are")
    return annotator.config.target(lists[attribute])


class DocumentDr:
    """Scores single documents; it may be pickled, and threads share it.

    Args:
        min_mentions: A document with fewer mentions of it has no score.

    Raises:
        ConfigError: The configuration cannot be used, or does not have the attribute.
    """

    def __init__(self, attribute: str, min_mentions: int, config: Configuration = None):
        self.annotator, self.attribute = Annotator(config), attribute
        self._least, self._target = min_mentions, target_of(self.annotator, attribute)

    def of(self, annotation: Annotation) -> float | None:
        """The DR of a document; None where it has too few mentions."""
        counts = list(annotation.counts[self.attribute].values())
        enough = sum(counts) >= max(self._least, 1)
        return demographic_representation(counts, self._target) if enough else None
