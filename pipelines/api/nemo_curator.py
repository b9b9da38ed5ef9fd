"""A filter of documents for NeMo Curator, and a score: how unevenly a document names groups.

from nemo_curator.stages.text.filters import Score, ScoreFilter

Score(MentionsOf("gender", "female"), score_field="female")
ScoreFilter(UnevenDocuments("gender", most_dr=0.4), score_field="dr")
"""

from __future__ import annotations

from nemo_curator.stages.text.filters.doc_filter import DocumentFilter

from evenflow.annotator import Annotator
from evenflow.document_dr import DocumentDr
from evenflow.schemas.config import ConfigError
from evenflow.settings import Configuration

__all__ = ["MentionsOf", "UnevenDocuments"]
NO_SCORE = -1.0  # of a document with too few mentions: a column of scores holds numbers alone


class MentionsOf:
    """Counts the mentions of a group; for `Score`, whose field then adds up over documents.

    Raises:
        ConfigError: The configuration cannot be used, or has no such group.
    """

    def __init__(self, attribute: str, group: str, config: Configuration = None):
        self.annotator, self.attribute, self.group = Annotator(config), attribute, group
        groups = {words.attribute: words.groups for words in self.annotator.finder.lists}
        if group not in groups.get(attribute, ()):
            raise ConfigError(f"no group {group!r} of an attribute {attribute!r} is measured")

    def __call__(self, text: str) -> int:
        """Count in a text. Raises TextError where it is none."""
        return self.annotator.annotate(text).counts[self.attribute][self.group]


class UnevenDocuments(DocumentFilter):
    """Drops documents that name the groups of an attribute too unevenly.

    The score is the document's DR, or NO_SCORE where it has fewer mentions than `min_mentions`;
    such a document is kept. Most texts about one person are uneven alone and even together: to
    judge a corpus, count with `MentionsOf` or use the gate.

    Args:
        most_dr: The highest DR of a document that is kept, 0 to 1.
        min_mentions: With fewer mentions there is no score.

    Raises:
        ConfigError: The configuration cannot be used, or does not have the attribute.
    """

    def __init__(
        self,
        attribute: str = "gender",
        most_dr: float = 0.4,
        min_mentions: int = 20,
        config: Configuration = None,
    ):
        super().__init__()
        self._name = f"uneven_{attribute}"
        self._dr, self._most = DocumentDr(attribute, min_mentions, config), most_dr

    def score_document(self, text: str) -> float:
        """The DR of a text, or NO_SCORE. Raises TextError where it is no text."""
        found = self._dr.of(self._dr.annotator.annotate(text))
        return NO_SCORE if found is None else found

    def keep_document(self, scores: float) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Whether a document with this score is kept."""
        return scores <= self._most
