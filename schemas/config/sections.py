"""Sections of the configuration that are small."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

# Allowed error of the sum of a target's shares: three thirds written with seven digits pass
SHARES_TOLERANCE = 1e-6

Share = Annotated[float, Field(ge=0, le=1)]


def _share_or_file(value: float | str | None) -> float | str | None:
    """Refuse a number that is no probability."""
    if isinstance(value, float) and not 0 <= value <= 1:
        raise ValueError(f"a probability from 0 to 1, or a file, was expected, not {value}")
    return value


ShareOrFile = Annotated[float | str | None, AfterValidator(_share_or_file)]
# YAML 1.1 reads an off without quotes as false
OFF = BeforeValidator(lambda value: "off" if value is False else value)


class Section(BaseModel):
    """Base of the sections: unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def section(kind: type[Section], means: str) -> Any:
    """The field of a section: all its keys have their defaults."""
    return Field(default_factory=kind, description=means)


class PaneSettings(Section):
    """Section `pane`."""

    docs: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Most documents (of a topic, offsets) in a pane. null: 262,144, or as many as mib"
            " allows."
        ),
    )
    mib: int = Field(
        default=64,
        ge=1,
        description=(
            "Most MiB of records in a pane, as read and decompressed. 64: that much web and news"
            " text names even religion, the rarest shipped attribute, some thousand times, which"
            " is enough for a verdict. The checks and files of such a pane cost little compared"
            " with reading it. Of a topic a MiB counts as 1,024 records, since panes are cut before"
            " they are read."
        ),
    )
    rolling: int = Field(
        default=4,
        ge=1,
        description=(
            "Number of panes behind a verdict: the pane itself and the last accepted ones before"
            " it, because the verdict is about what accepted/ will hold. 4: one odd pane (a single"
            " book or site) does not decide alone, and a lasting change shows within four panes."
            " 1: each pane is judged alone."
        ),
    )


class Duplicates(Section):
    """Section `duplicates`."""

    scope: Literal["pane", "run"] = Field(
        default="pane",
        description=(
            "Where an id must be unique. The first document with an id stays, later ones become"
            " dead letters. pane: within a pane. run: across all panes, accepted or not, with an"
            " exact index of ids on disk (gate/ids.sqlite), which is rebuilt from the shards if it"
            " is missing. pane is the default because run has a cost: the index (2 million ids of"
            " 36 characters took 48 bytes and 16 µs each), and panes that are closed one after the"
            " other instead of by the workers."
        ),
    )


class ReferenceSettings(Section):
    """Section `reference`."""

    by: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "Field of a document that names its source. Each source is compared with itself. null:"
            " what `file` was made by; without it files are sources, by their names without"
            " digits, so that the parts of a data set are one."
        ),
    )
    file: str | None = Field(
        default=None,
        description=(
            "File of a reference, which `evenflow init` wrote. null: the"
            " gate learns what each source is from its first panes."
        ),
    )


class CheckSettings(Section):
    """Section `checks`."""

    suite: str | None = Field(
        default=None,
        description=(
            "YAML file with further expectations for each pane, [{type, kwargs}]. The path is"
            " relative to this file's folder."
        ),
    )


class Shards(Section):
    """Section `shards`."""

    rows: int = Field(
        default=50_000,
        ge=1,
        description=(
            "Most documents in a shard. 50,000: an ordinary pane is one shard. A pane of very"
            " short texts has several, and none is too large to be read at once."
        ),
    )


class Metrics(Section):
    """Section `metrics`."""

    port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description=(
            "Port at which a run serves its metrics to Prometheus. 0: any free port. null: no"
            " metrics are served."
        ),
    )
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description=(
            "Address to listen on. 127.0.0.1: only this machine can connect. 0.0.0.0: every"
            " network of this machine can."
        ),
    )


class Measure(Section):
    """Section `measure`."""

    count: Literal["words", "people"] = Field(
        default="words",
        description=(
            "What is counted and judged: words, or mentions that name people of their group."
            " words: each mention of a label, as the score is published."
            " people: mentions that name a person or people of the group, not “ancient craft” or"
            " “minor damage”: a first stage over all mentions, and a reader over a sample, see the"
            " page “Statistics”. The words' figures are shown beside. Not with weights, which make"
            " words even. words is the default because of what reading costs."
        ),
    )
    passages: int = Field(
        default=64,
        ge=0,
        le=4096,
        description=(
            "Most passages of a pane and attribute that the reader reads to count people; fewer"
            " where the interval lies on one side of the thresholds before. A passage takes some"
            " 0.05 s. 0: none; the first stage alone is then believed."
        ),
    )
    by_language: bool = Field(
        default=False,
        description=(
            "Whether a word list that names its language is searched in texts of this language"
            " alone, which is detected. Texts that are not English are then neither"
            " repaired nor searched for stereotypes; the column language_detected says so of each."
        ),
    )
    language_field: str | None = Field(
        default=None,
        description=(
            "Field of a record that says its language for by_language, as en, en-GB or pt_BR. Where"
            " it says none, the language is detected. null: it is detected of every text."
        ),
    )
    languages: list[str] | None = Field(
        default=None,
        exclude_if=lambda given: given is None,
        description=(
            "Languages that the input may be in, as [en] or [en, es]. Without by_language, a text"
            " that is surely of one of them is searched by lists of its language alone, and is not"
            " judged where there is no such list. null: it may be in any. [en] or []: nothing is"
            " guessed, and every list is searched in every text."
        ),
    )
    epsilon: float = Field(
        default=0.02,
        gt=0,
        lt=1,
        description=(
            "DR has converged when its interval is narrower than plus or minus epsilon. 0.02: the"
            " gate's hysteresis, so that the remaining chance does not change a verdict."
        ),
    )
