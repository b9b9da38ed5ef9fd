"""Keys of the configuration that had another name: a file with one is refused, a ledger is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenflow.schemas.guards import is_mapping

# Old and new name, `attribute` is the section of one; nothing behind =: the key has left
_PAIRS = (
    "alerts.stereotype_least= attribute.strictness=min_probability finetune.clip="
    " finetune.held_out= finetune.patience= gate.notify= gate.policy=on_block llm.cache_mib="
    " llm.requests= repair.distance= repair.leave=protect repair.precision=target_precision"
    " repair.realise=output_as repair.strictness=min_probability stereotypes.encoder="
    " stereotypes.policy=action stereotypes.precision=target_precision"
)
NAMES = {old: new for old, _, new in (pair.partition("=") for pair in _PAIRS.split())}


def new_name(key: Sequence[str]) -> str:
    """What a key is called now, by its parts from the outside in; empty where it had no other."""
    above = "attribute" if len(key) == 3 and key[0] == "attributes" else "".join(key[-2:-1])
    return NAMES.get(f"{above}.{key[-1]}", "")


def renamed(kept: Mapping[str, Any], section: str = "") -> dict[str, Any]:
    """The configuration of a ledger with the names of now."""
    found: dict[str, Any] = {}
    for key, value in kept.items():
        below = "attribute" if section == "attributes" else key
        if name := NAMES.get(f"{section}.{key}", key):
            found[name] = renamed(value, below) if is_mapping(value) else value
    if (section, found.get("creeds")) == ("stereotypes", "policy"):
        found["creeds"] = "action"
    return found
