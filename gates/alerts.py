"""Alert and recording rules for Prometheus, in `alerts.yaml`.

Rules compare metrics with metrics: thresholds are exported (`gates.metrics.thresholds`), so that a
change of them changes no rule. What a configuration does change is where its runbooks are.

Four things are promised in the long run: the gate is not behind its topic, no record waits long,
few records are unreadable, a closed pane soon has its verdict. A budget is the share of time,
records or panes for which that may be false. Burn is how many times the budget is being used up.
Both a long and a short window must burn: the long one says that it matters, the short one that it
goes on. Windows and rates are those that chapter 5 of The Site Reliability Workbook (Beyer et al.,
2018) recommends for a budget of 30 days: 14.4 for an hour takes 2 % of a month's budget, 6 for six
hours 5 %; 3 for a day and 1 for three days take 10 %.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from evenflow.schemas.config import Config

RULES = Path(__file__).with_name("alerts.yaml")


def rules(config: Config, most_wait: int | None = None) -> str:
    """Write the rules of a configuration.

    Args:
        most_wait: No alert waits for more seconds than this; None: each has its own wait.
    """
    text = RULES.read_text(encoding="utf-8")
    head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    found = yaml.safe_load(text)
    for rule in found["groups"][0]["rules"]:
        if "alert" not in rule:
            continue
        book = config.alerts.runbooks.replace("{name}", rule["alert"].lower())
        rule["annotations"]["runbook_url"] = book
        if most_wait is not None and "for" in rule:
            wait = min(int(rule["for"].removesuffix("s")), most_wait)
            rule |= {"for": f"{wait}s"}
    return head + yaml.safe_dump(found, sort_keys=False, width=100)
