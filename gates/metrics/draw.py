"""Families of metrics from plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prometheus_client.core import CounterMetricFamily, Exemplar, GaugeMetricFamily, Metric

from evenflow.transforms.measures.measure import Family

Values = Mapping[Any, float | None]  # by the labels' values, a tuple of texts
Exemplars = Mapping[tuple[str, ...], Exemplar]


def counter(
    name: str,
    about: str,
    labels: Sequence[str],
    values: Values,
    exemplars: Exemplars | None = None,
) -> Metric:
    """Make a counter.

    Args:
        name: Its name, without `_total`.
        about: What it counts.
        labels: Names of its labels.
        values: Its values; one that is None has no sample.
        exemplars: An example of what was counted, where one is known.

    Returns:
        The family.
    """
    family = CounterMetricFamily(name, about, labels=labels)
    for key, value in sorted(values.items()):
        if value is not None:
            family.add_metric(key, value, exemplar=(exemplars or {}).get(key))
    return family


def gauge(name: str, about: str, labels: Sequence[str], values: Values) -> Metric:
    """Make a gauge.

    Args:
        name: Its name.
        about: What it says.
        labels: Names of its labels.
        values: Its values; one that is None has no sample.

    Returns:
        The family.
    """
    family = GaugeMetricFamily(name, about, labels=labels)
    for key, value in sorted(values.items()):
        if value is not None:
            family.add_metric(key, value)
    return family


def family(of: Family) -> Metric:
    """Make the family that a measure describes."""
    draw = counter if of.is_counter else gauge
    return draw(f"evenflow_{of.name}", of.about, of.labels, of.values)


def one(name: str, about: str, value: float | None) -> Metric:
    """Make a gauge without labels; None: it has no sample."""
    return gauge(name, about, (), {(): value})
