"""Sums of mentions over any windowing, and representation in sliding windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import apache_beam as beam
import numpy as np
import numpy.typing as npt
from apache_beam import typehints
from apache_beam.transforms import trigger, window
from apache_beam.utils.windowed_value import PaneInfoTiming

from evenflow.beam.elements import Configured, checked
from evenflow.gates.judge import PaneJudge
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Sums
from evenflow.settings import Configuration
from evenflow.transforms.measures.representation.dr import score

# Of an attribute with M groups: documents that name it, counts (M,), products (M, M)
_Sums: TypeAlias = tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]


class CountMentions(beam.CombineFn):
    """Sum the mentions of annotated documents, with DR and its interval.

    For `beam.CombineGlobally`, or `beam.CombinePerKey` with the number of a pane as the key. The
    result maps each attribute to a dict: dr (0 is even; None without a mention), corrected, low
    and high (the interval; None for fewer than two documents), mentions, documents (that name the
    attribute), counts by group, and products (M, M), the sums over documents that the interval
    rests on. Results of parts of the input add up.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values.
        wordlists: Paths of further word lists, as for `AnnotateDocuments`.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> import apache_beam as beam
        >>> from evenflow.beam import AnnotateDocuments
        >>> documents = [{"id": "a", "text": "She came."}, {"id": "b", "text": "He and his son."}]
        >>> with beam.Pipeline("FnApiRunner") as pipeline:
        ...     _ = (
        ...         pipeline
        ...         | beam.Create(documents)
        ...         | AnnotateDocuments(attributes=["gender"])
        ...         | beam.CombineGlobally(CountMentions(attributes=["gender"]))
        ...         | beam.Map(lambda sums: print(sums["gender"]["counts"], sums["gender"]["dr"]))
        ...     )
        {'female': 1, 'male': 3} 0.25
    """

    def __init__(self, config: Configuration = None, **named: Sequence[str]):
        super().__init__()
        settings = checked(config, **named)
        judge = PaneJudge(settings, lists := settings.word_lists(), Totals())
        self._groups = {words.attribute: list(words.groups) for words in lists}
        self._targets = {words.attribute: judge.target(words) for words in lists}
        self._confidence = settings.gate.confidence

    def create_accumulator(self) -> dict[str, _Sums]:
        """Begin with no document.

        Returns:
            Sums by attribute; an attribute that was not named yet is absent.
        """
        return {}

    def add_input(
        self, mutable_accumulator: dict[str, _Sums], element: Mapping[str, Any]
    ) -> dict[str, _Sums]:
        """Add a document.

        Args:
            mutable_accumulator: The sums so far; they are changed.
        """
        for name, counts in element["counts"].items():
            values = np.array(list(counts.values()), np.int64)
            if values.any():
                one = (1, values, np.outer(values, values))
                mutable_accumulator[name] = _added(mutable_accumulator.get(name), one)
        return mutable_accumulator

    def merge_accumulators(self, accumulators: Iterable[dict[str, _Sums]]) -> dict[str, _Sums]:
        """Add up parts."""
        total: dict[str, _Sums] = {}
        for part in accumulators:
            for name, sums in part.items():
                total[name] = _added(total.get(name), sums)
        return total

    def extract_output(self, accumulator: dict[str, _Sums]) -> dict[str, dict[str, Any]]:
        """Score the sums."""
        result: dict[str, dict[str, Any]] = {}
        for name, groups in self._groups.items():
            sums = Sums.empty(len(groups))
            if name in accumulator:
                documents, counts, products = accumulator[name]
                sums = Sums(documents=documents, counts=counts.tolist(), products=products.tolist())
            found = score(sums, self._targets[name], self._confidence)
            result[name] = {
                **found.model_dump(),
                "counts": dict(zip(groups, sums.counts, strict=True)),
                "products": sums.products,
            }
        return result


class RollingRepresentation(Configured):
    """Score sliding windows of event time; late documents correct what was put out.

    The input's elements are annotated documents with timestamps. The output's elements are dicts:
    start and end of the window (seconds since 1970, the end is not in it), firing (number of the
    result of this window, from 0), is_late, and attributes, as `CountMentions` gives them. A window
    is put out once the watermark has passed it, and again after each late document, with all its
    documents so far.

    Args:
        every: Seconds from the start of a window to that of the next.
        allowed_lateness: For so many seconds behind the watermark documents still count.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.
        ValueError: A length is not above 0, or the lateness is below 0.

    Example:
        >>> import apache_beam as beam
        >>> from evenflow.beam import AnnotateDocuments
        >>> texts = [(0, "She came."), (50, "He came."), (70, "He left.")]
        >>> with beam.Pipeline("FnApiRunner") as pipeline:
        ...     _ = (
        ...         pipeline
        ...         | beam.Create([({"id": str(at), "text": text}, at) for at, text in texts])
        ...         | beam.MapTuple(beam.window.TimestampedValue)
        ...         | AnnotateDocuments(attributes=["gender"])
        ...         | RollingRepresentation(120, 120, attributes=["gender"])
        ...         | beam.Map(lambda each: print(each["end"], each["attributes"]["gender"]["dr"]))
        ...     )
        120.0 0.166667
    """

    def __init__(
        self,
        seconds: float,
        every: float,
        allowed_lateness: int = 0,
        config: Configuration = None,
        **named: Sequence[str],
    ):
        super().__init__(config, **named)
        if seconds <= 0 or every <= 0 or allowed_lateness < 0:
            raise ValueError(
                f"windows of {seconds} s every {every} s with {allowed_lateness} s of lateness:"
                " lengths above 0 and a lateness of 0 or more were expected"
            )
        self._seconds, self._every, self._lateness = seconds, every, allowed_lateness

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: A PCollection of annotated documents with timestamps.
        """
        windows = beam.WindowInto(
            window.SlidingWindows(self._seconds, self._every),
            trigger=trigger.AfterWatermark(late=trigger.AfterCount(1)),
            accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
            allowed_lateness=self._lateness,
        )
        count = CountMentions(Config.model_validate(self.settings))
        return (
            input_or_inputs
            | "Sliding windows" >> windows
            | "Count" >> beam.CombineGlobally(count).without_defaults()
            | "Name the window" >> beam.ParDo(_NameWindow())
        )


@typehints.with_output_types(dict[str, Any])
class _NameWindow(beam.DoFn):
    """Adds a window's bounds to its scores."""

    def process(
        self,
        element: Mapping[str, Any],
        window: Any = beam.DoFn.WindowParam,
        pane: Any = beam.DoFn.PaneInfoParam,
    ) -> Any:
        """Name the window of an element."""
        yield {
            "start": float(window.start),
            "end": float(window.end),
            "firing": max(pane.index, 0),
            "is_late": pane.timing == PaneInfoTiming.LATE,
            "attributes": dict(element),
        }


def _added(total: _Sums | None, part: _Sums) -> _Sums:
    """Sums of both."""
    if total is None:
        return part
    return total[0] + part[0], total[1] + part[1], total[2] + part[2]
