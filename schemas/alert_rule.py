"""What a rule of an alert consists of, and the words that rules share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MINUTE = 60


@dataclass(frozen=True)
class Alert:
    """An alert.

    Attributes:
        name: Its name, after `Evenflow`.
        expr: When it is due, in PromQL.
        wait: Seconds for which that must hold.
        severity: critical wakes a person, warning waits for the day.
        summary: What is the matter, in a sentence with Prometheus' templates.
        reason: Why, with the figures.
    """

    name: str
    expr: str
    wait: int
    severity: Literal["critical", "warning"]
    summary: str
    reason: str

    @property
    def runbook(self) -> str:
        """Name of its page in docs/runbooks."""
        return "".join(f"_{each.lower()}" if each.isupper() else each for each in self.name)[1:]


def ratio(part: str, whole: str, window: str, over: str) -> str:
    """Write the share of one counter's increase in another's, in PromQL."""
    return (
        f"sum without ({over}) (increase({part}[{window}]))"
        f" / sum without ({over}) (increase({whole}[{window}]))"
    )


def value(metric: str, labels: str = "gate") -> str:
    """Write a template for the value of another metric with the same labels."""
    names = labels.split()
    match = ",".join(f"{name}='%s'" for name in names)
    arguments = " ".join(f"$labels.{name}" for name in names)
    inner = metric.replace("{", f"{{{match},") if "{" in metric else f"{metric}{{{match}}}"
    return (
        f'{{{{ with printf "{inner}" {arguments} | query }}}}'
        '{{ . | first | value | printf "%.4g" }}{{ end }}'
    )


NUMBER = '{{ $value | printf "%.4g" }}'
SHARE = "{{ $value | humanizePercentage }}"
TIME = "{{ $value | humanizeDuration }}"
