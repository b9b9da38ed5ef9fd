"""What passes between the transforms, and the settings that all of them take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, cast

import apache_beam as beam

from evenflow.schemas.config import Config, ConfigError
from evenflow.schemas.messages import shown
from evenflow.settings import Configuration, configuration
from evenflow.transforms.io.record_parser import UnusableError
from evenflow.transforms.measures.shift.measure import ShiftMeasure

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

    def __init__(self, config: Configuration = None, **named: Sequence[str]):
        super().__init__()
        self.settings = checked(config, **named).model_dump()


class SteppedTransform(Configured):
    """A transform that is one step, a DoFn of the settings. Arguments are those of `Configured`."""

    _step: ClassVar[Any]
    _outputs: ClassVar[tuple[str, ...]] = ()  # the main output and tags, where there are several

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: A PCollection of what the step takes.

        Returns:
            A PCollection of what the step yields, or its outputs.
        """
        step = beam.ParDo(self._step(self.settings))
        if not self._outputs:
            return input_or_inputs | step
        main, *tags = self._outputs
        return input_or_inputs | step.with_outputs(*tags, main=main)


def checked_document(element: Any) -> Document:
    """An element that is a document. Raises UnusableError where it is no dict."""
    if not isinstance(element, Mapping):
        raise UnusableError("not an object", f"a dict was expected, not {shown(element)}")
    return cast(Document, element)


def checked(
    config: Configuration, attributes: Sequence[str] = (), wordlists: Sequence[str] = ()
) -> Config:
    """The configuration of a transform. Raises ConfigError where it counts people."""
    made = configuration(config, attributes, wordlists)
    if made.measure.count == "people":
        raise ConfigError(
            "measure.count: people are estimated over a whole corpus; the transforms count words"
        )
    ShiftMeasure().look(made, lambda note: None)
    return made
