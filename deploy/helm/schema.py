"""Prints values.schema.json of the chart; `make chart-schemas` writes it.

The part `config` is the configuration's own JSON Schema. Of the other values, their shape is that
of values.yaml: a value has the type of its default, and there is no other key.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from evenflow.schemas.config import Config

VALUES = Path(__file__).parent / "evenflow" / "values.yaml"
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}
FREE = (
    "resources",
    "labels",
    "workers",
    "operatorLabels",
)  # objects of Kubernetes: the chart's reader checks them


def shape(value: Any) -> dict[str, Any]:
    """The schema of values like a default."""
    if isinstance(value, dict):
        parts = {
            key: {"type": "object"} if key in FREE else shape(each) for key, each in value.items()
        }
        return {"type": "object", "additionalProperties": False, "properties": parts}
    if isinstance(value, list):
        return {"type": "array"}
    return {"type": TYPES[type(value)]}


def schema() -> dict[str, Any]:
    """The schema of all values."""
    config = Config.model_json_schema()
    found = shape(yaml.safe_load(VALUES.read_text(encoding="utf-8")))
    # Helm itself puts this into the values of a chart that others depend on
    found["properties"] |= {"config": {"$ref": "#/$defs/Config"}, "global": {"type": "object"}}
    names = {"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]*$"}}
    found["properties"]["secrets"]["properties"] = {"env": names, "files": names}
    found["properties"]["stream"]["properties"]["replicas"]["minimum"] = 1
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": config.pop("$defs") | {"Config": config},
        **found,
    }


def text() -> str:
    """The file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(text(), end="")
