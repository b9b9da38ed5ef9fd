"""Reads the configuration.

A value can come from three sources, and the later one wins: the defaults, the --config file (YAML),
and the options of the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evenflow.schemas import commented as yaml_form
from evenflow.schemas import plugins
from evenflow.schemas.config.attributes import AttributeSettings
from evenflow.schemas.config.repair import JUDGES
from evenflow.schemas.config.whole import Config
from evenflow.schemas.errors import UsageError
from evenflow.schemas.guards import is_mapping
from evenflow.schemas.messages import Problem, holds_text, nearest, problems
from evenflow.schemas.yaml_file import SettingsError, YamlSettings, parsed, read
from evenflow.wordlists import loader

SET = "--set"  # the option that gives any key
NUMBER = re.compile(r"[-+]?\d+[eE][-+]?\d+")  # in which YAML 1.1 wants a dot


class ConfigError(UsageError):
    """A configuration that cannot be used.

    The message has a line for each mistake: file, line, key, what was expected, what was given.
    """


def load(
    path: Path | None,
    overrides: Mapping[str, Any] | None = None,
    only: Sequence[str] = (),
    own_lists: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    sets: Sequence[str] = (),
) -> Config:
    """Load the effective configuration.

    Args:
        path: YAML file; None for the defaults.
        overrides: Values by dotted key, which win over the file.
        only: Names of the attributes to measure; empty for all.
        own_lists: Paths of word lists whose attributes are measured too.
        options: What the user calls a key of the overrides, such as --repair-mode for repair.mode.
        sets: Further values as KEY=VALUE (gate.warn=0.2), which win over all; VALUE is YAML.

    Raises:
        ConfigError: The configuration cannot be used. The message names every mistake.
        WordListError: A word list cannot be used.
        PluginError: A plug-in cannot be used.
    """
    try:
        settings = read(path) if path else YamlSettings({})
    except SettingsError as error:
        raise ConfigError(str(error)) from error
    data = _filled(settings.data)
    given = {**(overrides or {}), **(values := dict(map(_assigned, sets)))}
    named = {key: name for key, name in (options or {}).items() if key in given}
    named |= {key: f"{SET} {key}" for key in values}
    if "attributes" not in data and any(key.startswith("attributes.") for key in values):
        data["attributes"] = {name: {} for name in loader.SHIPPED}
    for key, assigned in given.items():
        _assign(data, key, assigned)
    _choose(data, only, own_lists)
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        raise _error(problems(error, Config), settings, path, named) from error
    if path:
        _locate(config, path.parent)
    found = list(_plugin_problems(config))
    for name, each in config.attributes.items():
        if name not in loader.NAMED and not (each.wordlist or each.finder):
            each.finder = name if name in plugins.declared(plugins.ATTRIBUTES) else None
        if not each.wordlist and not each.finder and name not in loader.NAMED:
            text = f"no list of that name is shipped{_hint(name)}; give the path of one as wordlist"
            found.append(Problem(("attributes", name), text))
        else:
            words = config.word_list(name)
            found += mismatches(name, each, words)
            exchanges = config.mode(name) in ("substitute", "augment")
            needs_words = config.repair.method == "gc" or words.finder is not None
            if exchanges and needs_words and words.fixed:
                found.append(Problem(("attributes", name), f"{config.mode(name)}: {words.fixed}"))
    if found:
        raise _error(found, settings, path, named)
    return config


def mismatches(name: str, attribute: AttributeSettings, words: loader.WordList) -> list[Problem]:
    """Compare an attribute's settings with its word list."""
    key = ("attributes", name)
    if words.attribute != name:
        return [
            Problem(
                key,
                f"the list {words.path} is of the attribute {words.attribute!r}; give it that name"
                " here",
            )
        ]
    if attribute.target == "population":
        text = f"{words.path} has no population; give shares, or the list the key population"
        return [] if words.population else [Problem((*key, "target"), text)]
    target = attribute.target or {}
    found: list[Problem] = []
    for group in target:
        if group not in words.groups:
            near = nearest(group, words.groups)
            hint = (
                f"did you mean {near!r}?" if near else f"the groups are {', '.join(words.groups)}"
            )
            found.append(Problem((*key, "target", group), f"no group of {words.path}; {hint}"))
    if target and (missing := [group for group in words.groups if group not in target]):
        found.append(
            Problem(
                (*key, "target"),
                f"a share is missing for {', '.join(missing)} (0 where none is wanted)",
            )
        )
    return found


def _assign(data: dict[str, Any], key: str, assigned: Any) -> None:
    """Put a value at a dotted key; validation reports where no section is."""
    *above, last = key.split(".")
    section: Any = data
    for each in above:
        section = section.setdefault(each, {}) if is_mapping(section) else None
    if is_mapping(section):
        section[last] = assigned


def _assigned(given: str) -> tuple[str, Any]:
    """Key and value of KEY=VALUE. A value is YAML, or text where the key holds text alone."""
    key, equals, text = (part.strip() for part in given.partition("="))
    if not equals or not all(key.split(".")):
        raise ConfigError(f"{SET} {given}: KEY=VALUE was expected, such as gate.warn=0.2")
    return key, None if text == "null" else value(key, text, f"{SET} {key}")


def value(key: str, text: str, name: str) -> Any:
    """Read a value that an option gives.

    Args:
        text: The value: text where the key holds text alone, else YAML.
        name: What the user calls the key, such as --warn.

    Returns:
        The value; validation says whether it fits the key.

    Raises:
        ConfigError: It is not YAML.
    """
    try:
        read = text if holds_text(tuple(key.split(".")), Config) else parsed(text)
        return float(read) if isinstance(read, str) and NUMBER.fullmatch(text) else read
    except SettingsError as error:
        raise ConfigError(f"{name}: {error}") from error


def described(key: str) -> tuple[Any, Any, str]:
    """What the schema says of a key: its type, its default and its description."""
    model, (*sections, name) = Config, key.split(".")
    for section in sections:
        model: Any = model.model_fields[section].annotation
    field = model.model_fields[name]
    return field.annotation, field.get_default(call_default_factory=True), field.description


def commented(config: Config) -> str:
    """Write the configuration as YAML, with the meaning of each key and the reason of its default.

    Returns:
        YAML that loads back as the same configuration.
    """
    return yaml_form.commented(config)


def _filled(data: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in which sections without any key (all commented out, say) are empty mappings."""
    scalars = {"max_text_mib"}
    out: dict[str, Any] = {
        key: {} if value is None and key not in scalars else value for key, value in data.items()
    }
    if is_mapping(attributes := out.get("attributes")):
        out["attributes"] = {
            name: {} if each is None else each for name, each in attributes.items()
        }
    return out


def _choose(data: dict[str, Any], only: Sequence[str], own_lists: Sequence[str]) -> None:
    """Keep the attributes of `only`, and add those of a user's word lists."""
    attributes: Any = data.get("attributes", {name: {} for name in loader.SHIPPED})
    if not is_mapping(attributes):
        return
    data["attributes"] = {name: attributes.get(name, {}) for name in only} if only else attributes
    for path in own_lists:
        name = loader.load(path).attribute
        own = attributes.get(name, {})
        data["attributes"][name] = {**own, "wordlist": path} if is_mapping(own) else own


def _locate(config: Config, folder: Path) -> None:
    """Resolve paths against the file's folder, if something is there."""
    owners = [(each, "wordlist") for each in config.attributes.values()]
    files = [(config.checks, "suite"), (config.coverage, "entities")]
    files += [(config.reference, "file"), (config.stereotypes, "remove_from")]
    files += [(config.repair, "min_probability")]
    files += [(config.bias_score, name) for name in ("vectors", "reference")]
    for owner, name in [*owners, *files]:
        value = getattr(owner, name)
        if isinstance(value, str) and value not in loader.NAMED and (folder / value).exists():
            setattr(owner, name, str(folder / value))


def _hint(name: str) -> str:
    """What the user may have meant by the name of a word list that is not shipped."""
    near = nearest(name, loader.NAMED)
    return f" (did you mean {near!r}?)" if near else f" ({', '.join(loader.NAMED)} are)"


def _error(
    found: Iterable[Problem],
    settings: YamlSettings,
    path: Path | None,
    options: Mapping[str, str],
) -> ConfigError:
    """One error of all problems, in the order of the file's lines; those of options come first."""
    lines: list[tuple[int, str]] = []
    for each in found:
        in_file = each.key in settings.lines
        if option := options.get(".".join(each.key)) if in_file else _option(each.key, options):
            lines.append((0, f"{option}: {each.text}"))
            continue
        line = settings.line(each.key)
        place = f"{path}:{line}" if line else str(path or "options")
        lines.append((line or 0, f"{place}: {each}"))
    return ConfigError("\n".join(text for _, text in sorted(lines, key=lambda item: item[0])))


def _option(key: Sequence[str], options: Mapping[str, str]) -> str | None:
    """The option that gave a key, or an unknown section or a part of it."""
    whole = ".".join(key)
    if whole in options:
        return options[whole]
    return next(
        (
            name
            for each, name in options.items()
            if name.startswith(SET)
            and (whole.startswith(f"{each}.") or (each.startswith(f"{whole}.") and whole))
        ),
        None,
    )


def _plugin_problems(config: Config) -> Iterator[Problem]:
    """Load the plug-ins of a configuration; settings of measures get their defaults.

    Nothing else in the schema loads any.
    """
    for name, given in config.measures.items():
        try:
            settings = plugins.measure(name).part.settings
            config.measures[name] = settings.model_validate(given).model_dump()
        except plugins.PluginError as error:
            yield Problem(("measures", name), str(error))
        except ValidationError as error:
            for each in error.errors():
                yield Problem(("measures", name, *map(str, each["loc"])), each["msg"])
    for kind, (key, name) in config.plugin_parts.items():
        try:
            plugins.load(kind, name)
        except plugins.PluginError as error:
            usual = f"{' or '.join(JUDGES)} or " if kind == plugins.JUDGES else ""
            yield Problem(tuple(key.split(".")), f"{usual}a plug-in was expected: {error}")
