"""Judges panes by the last model's benchmark: gate.require of the configuration."""

from __future__ import annotations

from collections.abc import Mapping

from evenflow.gates.triggers import last_figures
from evenflow.schemas.config.gate import Requirement
from evenflow.schemas.ledger import State, Verdict
from evenflow.transforms.measures.verdict import worst
from evenflow.transforms.storage.storage import Place


def judge(output: Place, required: Mapping[str, Requirement]) -> Verdict:
    """Judge the benchmark that a trigger did last.

    Returns:
        The worst state of the suites whose whole interval is outside of its limits, so that chance
        alone blocks no pane; too few where there is no benchmark.

    Raises:
        OSError: A result cannot be read.
    """
    found = last_figures(output)
    if found is None:
        return Verdict(state="not_judged", reason="no benchmark is done yet")
    states: list[tuple[State, str]] = []
    for suite, limits in required.items():
        figure = found.figures.get(suite, {})
        value = figure.get("figure")
        if value is None:
            states.append(("open", f"{suite} was not measured"))
            continue
        low, high = figure.get("low"), figure.get("high")
        low, high = value if low is None else low, value if high is None else high
        outside = (limits.low is not None and high < limits.low) or (
            limits.high is not None and low > limits.high
        )
        bounds = [
            f"at {word} {limit:g}"
            for word, limit in (("least", limits.low), ("most", limits.high))
            if limit is not None
        ]
        text = (
            f"{suite} of the model after pane {found.pane} is {value:.4g} [{low:.4g}, {high:.4g}]"
        )
        states.append((limits.state if outside else "open", f"{text}, {' and '.join(bounds)}"))
    state = worst([each for each, _ in states])
    return Verdict(state=state, reason="; ".join(text for each, text in states if each == state))
