"""Families of metrics from plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from prometheus_client.core import CounterMetricFamily, Exemplar, GaugeMetricFamily, Metric

from evenflow.transforms.measures.measure import Family

Values: TypeAlias = Mapping[Any, float | None]  # by the labels' values, a text or a tuple of texts
# Name without `evenflow_`, what it is, its labels with blanks between them, and its values; a
# number alone is the value without labels, None: there is no sample
Row: TypeAlias = tuple[str, str, str, Values | float | None]


def family(of: Family, exemplars: Mapping[tuple[str, ...], Exemplar] | None = None) -> Metric:
    """Make a family of metrics; exemplars: those of a counter."""
    kind: Any = CounterMetricFamily if of.is_counter else GaugeMetricFamily
    made = kind(f"evenflow_{of.name}", of.about, labels=of.labels)
    for key, value in sorted(of.values.items()):
        if value is not None:
            more = {"exemplar": exemplars[key]} if exemplars and key in exemplars else {}
            made.add_metric(key, value, **more)
    return made


def rows(table: Iterable[Row], is_counter: bool = False) -> Iterator[Metric]:
    """Make the families of a table."""
    for name, about, labels, values in table:
        known = values if isinstance(values, Mapping) else {(): values}
        every = {(key,) if isinstance(key, str) else key: value for key, value in known.items()}
        yield family(Family(name, about, labels.split(), every, is_counter))
