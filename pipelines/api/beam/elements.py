"""What passes between the transforms, and the settings that all of them take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import apache_beam as beam

from evenflow.schemas.config import Config, ConfigError
from evenflow.settings import Configuration, configuration

Document: TypeAlias = dict[str, Any]
Pane: TypeAlias = tuple[int, list[Document]]  # a pane's number, and all its documents
ADDED = ("mentions", "sentences", "counts")  # keys that AnnotateDocuments adds


class Configured(beam.PTransform):
    """A transform with a configuration.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values.
        attributes: Names of the attributes; empty for all.
        wordlists: Paths of further word lists; workers read them there.

    Attributes:
        settings: The configuration as plain data, which travels to the workers.

    Raises:
        ConfigError: The configuration cannot be used, or counts people.
        WordListError: A word list cannot be used.
    """

    def __init__(
        self,
        config: Configuration = None,
        *,
        attributes: Sequence[str] = (),
        wordlists: Sequence[str] = (),
    ):
        super().__init__()
        self.settings = checked(config, attributes, wordlists).model_dump()


def checked(
    config: Configuration, attributes: Sequence[str] = (), wordlists: Sequence[str] = ()
) -> Config:
    """The configuration of a transform. Raises ConfigError where it counts people."""
    made = configuration(config, attributes, wordlists)
    if made.measure.count == "people":
        raise ConfigError(
            "measure.count: people are estimated over a whole corpus; the transforms count words"
        )
    return made
