"""The filter of `evenflow.datatrove`: it judges panes of documents as the gate does."""

from __future__ import annotations

from collections import deque
from functools import reduce
from typing import Any

import numpy as np
from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.writers.disk_base import DiskWriter

from evenflow.annotator import Annotation, Annotator, TextError
from evenflow.gates.ledger.combine import add_sums
from evenflow.schemas.ledger import State, Sums
from evenflow.settings import Configuration
from evenflow.transforms.measures.representation.dr import score, sums
from evenflow.transforms.measures.verdict import Thresholds, decide

NO_TEXT = "no_text"  # the reason of a document without a text, or with one that is too long


class RepresentationFilter(BaseFilter):
    """Drops the panes of a task that the gate would block; a document without a text is dropped.

    A pane is `pane_docs` documents in a row. Its verdict is of the pane and the last ones that were
    kept (pane.rolling), by the lower bound of DR, with gate.warn, gate.block and gate.hysteresis.
    Each task judges its own documents. The state is in the metadata of each document (evenflow).

    Args:
        pane_docs: Documents of a pane; so many are held in memory.
        exclusion_writer: Writes the dropped documents, with filter_reason: no_text, gender_block, …
    """

    name = "⚖ Representation"

    def __init__(
        self,
        config: Configuration = None,
        pane_docs: int = 1000,
        exclusion_writer: DiskWriter | None = None,
    ):
        super().__init__(exclusion_writer, batch_size=pane_docs)  # pyright: ignore[reportArgumentType]
        self.annotator = Annotator(config)
        self._begin()

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Any:
        """Judge the documents of a task."""
        self._begin()
        yield from super().run(data, rank, world_size)

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Judge a pane of one document; datatrove calls filter_batch."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Judge a pane.

        Returns:
            For each document whether it is kept, or the reason why it is not.
        """
        found: list[Annotation | None] = []
        for each in batch:
            try:
                found.append(self.annotator.annotate(each.text))
            except TextError:
                found.append(None)
                if not isinstance(each.text, str):  # datatrove's writers cannot write it
                    each.metadata["evenflow_text"], each.text = repr(each.text), ""
        blocked = self._judge([each for each in found if each is not None])
        states = dict(self._states)
        for each in batch:
            each.metadata["evenflow"] = states
        verdict = (False, f"{blocked}_block") if blocked else True
        return [(False, NO_TEXT) if each is None else verdict for each in found]

    def _begin(self) -> None:
        config = self.annotator.config
        self._states: dict[str, State] = {}
        self._kept: deque[dict[str, Sums]] = deque(maxlen=config.pane.rolling - 1)

    def _judge(self, found: list[Annotation]) -> str | None:
        """The first attribute that blocks a pane; notes the states, and the sums of a kept pane."""
        config, pane = self.annotator.config, {}
        for words in self.annotator.finder.lists if found else ():
            name = words.attribute
            rows = [list(each.counts[name].values()) for each in found]
            pane[name] = sums(np.array(rows, np.int64))
            window = reduce(add_sums, (each[name] for each in self._kept), pane[name])
            rolling = score(window, config.target(words), config.gate.confidence)
            gate = config.gate
            limits = Thresholds(*config.thresholds(name), gate.min_mentions, gate.hysteresis)
            self._states[name] = decide(rolling, limits, self._states.get(name)).state
        blocked = next((name for name, state in self._states.items() if state == "block"), None)
        if pane and blocked is None:
            self._kept.append(pane)
        return blocked
