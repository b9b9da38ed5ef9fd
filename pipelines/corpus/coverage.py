"""Coverage of files: the records of tables or texts, and the gaps where their attributes meet."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from evenflow.pipelines.corpus.measure import measure
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.schemas.threshold import Threshold
from evenflow.transforms.io.files import InputError
from evenflow.transforms.io.first_records import FieldError
from evenflow.transforms.measures.coverage import columns, lookup
from evenflow.transforms.measures.coverage.gaps import summary
from evenflow.transforms.measures.coverage.knowledge import Knowledge
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.named import Intersections
from evenflow.transforms.measures.coverage.table import Table


class Records:
    """The records of files.

    Args:
        inputs: Paths, folders or globs.
        config: Its section coverage says what is counted.
        exact: Whether the share itself is compared with tau, not the upper bound of its interval.
        is_table: Whether all attributes are columns, and no text is read.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        config: Config,
        missing: str = "open",
        exact: bool = False,
        is_table: bool = False,
    ):
        self.config = config
        self._inputs, self._missing, self._exact = list(inputs), missing, exact
        is_table = is_table or any(name.endswith(columns.CSV) for name in inputs)
        self.of_text = not is_table and any(
            name in config.attributes or lookup.is_of_text(name, config.coverage)
            for name in config.coverage.named()
        )

    @property
    def things(self) -> tuple[str, str]:
        """What a record is called, one and several."""
        unit = self.config.coverage.unit if self.of_text else "record"
        return unit, f"{unit}s"

    @cached_property
    def known(self) -> Knowledge | None:
        """The knowledge base; its contradictions are said on the standard error stream.

        Raises:
            InputError: It cannot be read.
        """
        settings = self.config.coverage
        known = lookup.knowledge(settings)
        if known is not None:
            asked = lookup.asked(settings, known)
            lookup.tell(known, asked, lambda line: print(visible(line), file=sys.stderr))
        return known

    @cached_property
    def parts(self) -> dict[str | None, Coverage]:
        """Count the records, and find their gaps.

        Returns:
            The coverage of all records, under None, or of those of each value of `by`.

        Raises:
            InputError: A file cannot be read as what it should be.
        """
        settings = self.config.coverage
        whole = self._table()
        confidence = None if self._exact else self.config.gate.confidence
        threshold = Threshold.parse(str(settings.tau))
        parts = {None: whole} if settings.by is None else whole.split(settings.by)
        return {name: Coverage(part, threshold, confidence) for name, part in parts.items()}

    def summaries(self, depth: int | None, most: int | None) -> dict[str | None, dict[str, Any]]:
        """The gaps (`coverage.gaps.summary`), by value of `by`, or under None.

        `depth`: Most attributes that meet in a pattern; None: all. `most`: Most gaps that are
        listed; None: all.
        """
        confidence = self.config.gate.confidence
        return {name: summary(part, confidence, depth, most) for name, part in self.parts.items()}

    def _table(self) -> Table:
        """The records as a table."""
        settings = self.config.coverage
        if not self.of_text:
            missing: Any = self._missing
            return columns.read(self._inputs, settings.named(), missing, self.known)
        total = Figures()
        try:
            for figures in measure(self._inputs, self.config):
                total.add(figures)
        except FieldError as error:
            raise InputError(f"{error}; if the attributes are columns, say --table") from None
        if not total.documents and total.dead_reasons:
            raise InputError(
                f"no document could be read ({', '.join(total.dead_reasons)}); if the attributes"
                " are columns, say --table"
            )
        return Intersections(settings, self.config.word_lists()).table(total.measures["coverage"])
