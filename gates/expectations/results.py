"""Results of Great Expectations: in the ledger's terms, and as files of their own.

The ledger's are short, and the same in every run. The files have every expectation.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard, cast

import numpy as np
import orjson

from evenflow.schemas.guards import is_mapping
from evenflow.schemas.ledger import CheckFailure
from evenflow.transforms.storage.storage import Place, at

SHOWN_CHARACTERS = 200  # of an unexpected value, which may be a text
# Address of an object in a message: it would differ from run to run
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


def simplify(result: Any) -> None:
    """Reduce the results of a suite to plain JSON, with texts cut and without tracebacks."""
    for each in result.results:
        each.success = bool(each.success)  # some are numpy's, which is not JSON
        each.result = _plain(each.result)
        each.exception_info = _without_traceback(each.exception_info)


def failure(result: Any) -> CheckFailure:
    """Describe a check that failed."""
    config = result.expectation_config
    return CheckFailure(
        expectation=config.type,
        subject=_subject(config.kwargs),
        observed=_observed(config.type, result),
        severity=getattr(config.severity, "value", config.severity),
    )


def _subject(kwargs: Mapping[str, Any]) -> str:
    """What an expectation is about: its attribute or columns, or the pane."""
    for key in ("attribute", "column", "columns", "column_list"):
        if kwargs.get(key):
            value = kwargs[key]
            return value if isinstance(value, str) else ", ".join(map(str, value))
    pair = [str(kwargs[key]) for key in ("column_A", "column_B") if key in kwargs]
    return ", ".join(pair) or "pane"


def _observed(kind: str, result: Any) -> str:
    """What was seen, in words."""
    from great_expectations.expectations.registry import get_expectation_impl

    from evenflow.gates.expectations.base import StatedExpectation

    if message := _message(result.exception_info):
        return f"could not be checked: {message}"
    implementation: Any = get_expectation_impl(kind)
    seen = result.to_json_dict()["result"]
    if issubclass(implementation, StatedExpectation):
        return implementation.describe_result(seen)
    if seen.get("unexpected_count"):
        of = f" of {seen['element_count']}" if "element_count" in seen else ""
        unexpected: list[Any] = seen.get("partial_unexpected_list") or []
        values = ", ".join(map(_cut, unexpected))
        return f"{seen['unexpected_count']}{of}" + (f": {values}" if values else "")
    return _cut(seen.get("observed_value"))


def _cut(value: object) -> str:
    """A value as text, cut short."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _plain(value: Any) -> Any:
    """A value as JSON has it, with texts cut; lists and mappings too."""
    if is_mapping(value):
        return {str(key): _plain(each) for key, each in value.items()}
    if _is_collection(value):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = cast("Any", value).item()
    return value if value is None or isinstance(value, bool | int | float) else _cut(value)


def _is_collection(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value is written as a list."""
    return isinstance(value, list | tuple | set | frozenset | np.ndarray)


def _exceptions(info: Any) -> list[dict[str, Any]]:
    """The exceptions of a result: there is one, or one for each metric that raised it."""
    if not is_mapping(info):
        return []
    found: list[dict[str, Any]] = (
        [info]
        if "raised_exception" in info
        else [each for each in info.values() if is_mapping(each)]
    )
    return [each for each in found if each["raised_exception"]]


def _message(info: Any) -> str:
    """The messages of a result's exceptions; empty without any."""
    messages = sorted(
        {" ".join(str(each["exception_message"]).split()) for each in _exceptions(info)}
    )
    return _cut(ADDRESS.sub("0x…", "; ".join(messages)))


def _without_traceback(info: Any) -> dict[str, Any]:
    """A result's exceptions without tracebacks, which name paths and do not help a reader."""
    message = _message(info)
    return {
        "raised_exception": bool(message),
        "exception_message": message,
        "exception_traceback": "",
    }


VALIDATIONS = "checks/gx/validations"


def kept(pane: int, result: Any) -> dict[str, Any]:
    """Describe a suite's result on a pane as JSON that `keep` can store."""
    now, name = datetime.datetime.now(datetime.UTC), _run_name(pane)
    result.meta["run_id"] = {"run_name": name, "run_time": now.isoformat()}
    every, result.results = result.results, []  # as part of the whole each would be copied twice
    data = result.to_json_dict() | {"results": [_as_json(each) for each in every]}
    file = f"{result.suite_name}/{name}/{now:%Y%m%dT%H%M%S.%fZ}/{result.batch_id}.json"
    return {"name": file, "result": data}


def _as_json(result: Any) -> dict[str, Any]:
    """An expectation's result, which `simplify` reduced, as JSON.

    What a suite expects is the same in every pane; it is made into JSON once, and kept with it.
    """
    config = result.expectation_config
    if not hasattr(config, "as_json"):
        config.as_json = result.to_json_dict()
    own = ("success", "result", "exception_info")
    return config.as_json | {name: getattr(result, name) for name in own}


def keep(root: Place, pane: int, results: Iterable[Mapping[str, Any]]) -> None:
    """Store the results of a pane's suites, in place of earlier ones.

    Args:
        results: What `kept` returned of each suite.

    Raises:
        OSError: A file cannot be written.
    """
    storage = at(root)
    for each in results:
        suite = each["name"].partition("/")[0]
        if storage.local is not None:  # a replayed pane has a result of another time
            storage.remove_tree(f"{VALIDATIONS}/{suite}/{_run_name(pane)}")
        storage.write_soon(f"{VALIDATIONS}/{each['name']}", orjson.dumps(each["result"]))


def _run_name(pane: int) -> str:
    """Name of a pane's results."""
    return f"pane-{pane:08d}"
