"""How often a language model's yes was right on labelled rows, which says how far it is believed.

The figures stand in a JSON file beside the cache of answers, by model, prompt and tier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import orjson
from annotated_types import Ge
from pydantic import BaseModel, TypeAdapter, ValidationError

from evenflow.prompts import loader
from evenflow.schemas.config import Config
from evenflow.transforms import wilson
from evenflow.transforms.llm import worker
from evenflow.transforms.llm.client.settings import InferenceError
from evenflow.transforms.llm.questions import Asker
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.storage.storage import at

PROMPT = "stereotypes"
FILE = "llm_measured.json"
MOST_BYTES, MOST_ROWS = 1 << 20, 100_000
Count = Annotated[int, Ge(0)]


class Seen(NamedTuple):
    """What a language model said of the labelled rows of an attribute that it was asked about.

    `true`: How many are stereotypes. `yes`: How many it called so, `right` of them rightly.
    """

    asked: Count = 0
    true: Count = 0
    yes: Count = 0
    right: Count = 0


class Row(BaseModel):
    """A labelled sentence."""

    sentence: str
    attribute: str
    label: bool


# Model → prompt and tier → attribute
KEPT = TypeAdapter(dict[str, dict[str, dict[str, Seen]]])


def believed(config: Config) -> Mapping[str, float]:
    """The probability of a stereotype after a yes, of the attributes where that may remove one.

    It is the lower bound of the share of right ones (95 %, Wilson), if it reaches what the
    configuration asks of removal.

    Raises:
        InferenceError: The file of figures is damaged.
    """
    own = config.stereotypes
    wanted = own.remove_from if isinstance(own.remove_from, float) else own.target_precision
    model, prompt = _key(config)
    shares = {
        name: wilson.interval(each.right / each.yes, each.yes)[0]
        for name, each in _kept(_path(config)).get(model, {}).get(prompt, {}).items()
        if each.yes
    }
    return {name: share for name, share in shares.items() if share >= wanted}


def measure(config: Config, rows: Path, asker: Asker | None = None) -> dict[str, Seen]:
    """Ask a language model about labelled rows as a run would, and keep what it said.

    Args:
        rows: Lines of JSON: sentence, attribute, label.
        asker: By default the configured server with its cache.

    Raises:
        InferenceError: The server, the rows or the file of figures cannot be used.
    """
    from evenflow.transforms.measures.stereotypes.judging import StereotypeJudge
    from evenflow.transforms.measures.stereotypes.llm_detector import NO, tiered

    given = list(_rows(rows))
    own = StereotypeJudge(config, list(config.attributes), every=True)
    texts = [Relevant(0, each.sentence, [(0, len(each.sentence))], ()) for each in given]
    wanted = [
        each for each in own.candidates(texts) if each.attribute == given[each.document].attribute
    ]
    if config.llm.url is None:
        raise InferenceError("llm.url is not set; give the server of the model that is measured")
    asker = asker or worker.Tier(config).client
    answers = replace(tiered(config, asker), acting=(), shown={}).judge(
        [given[each.document].sentence for each in wanted], [each.spans for each in wanted]
    )
    found: dict[str, Seen] = {}
    for each, answer in zip(wanted, answers, strict=True):
        if answer.origin == "embedded":
            continue
        yes = answer.origin != "fallback" and answer.value != NO
        label = given[each.document].label
        new = 1, int(label), int(yes), int(yes and label)
        before = found.get(each.attribute, Seen())
        found[each.attribute] = Seen(*(a + b for a, b in zip(before, new, strict=True)))
    path, (model, prompt) = _path(config), _key(config)
    kept = _kept(path)
    kept.setdefault(model, {})[prompt] = found
    at(path.parent).write(path.name, orjson.dumps(KEPT.dump_python(kept)))
    return found


def _path(config: Config) -> Path:
    """The file of figures."""
    return worker.cache_path(config).with_name(FILE)


def _key(config: Config) -> tuple[str, str]:
    """The model that detects, and its prompt with the tier."""
    model = config.llm.models.detection or config.llm.model or ""
    return model, f"{loader.load(PROMPT).digest} {config.llm.detection}"


def _kept(path: Path) -> dict[str, dict[str, dict[str, Seen]]]:
    """The figures of a file; none without one."""
    try:
        with path.open("rb") as file:
            return KEPT.validate_json(file.read(MOST_BYTES), strict=False)
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        raise InferenceError(f"{path}: no figures of a language model; delete it") from error


def _rows(path: Path) -> Iterator[Row]:
    """The labelled rows of a file."""
    try:
        with path.open("rb") as file:
            for number, line in zip(range(MOST_ROWS), file, strict=False):
                try:
                    yield Row.model_validate_json(line)
                except ValidationError as error:
                    raise InferenceError(
                        f"{path}, line {number + 1}: sentence, attribute and label were expected"
                    ) from error
    except OSError as error:
        raise InferenceError(f"{path}: {error.strerror}") from error
