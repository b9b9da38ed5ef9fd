"""Loads the plug-ins that a user's configuration names. Nothing else in the schema loads any."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from evenflow.schemas import plugins
from evenflow.schemas.config.repair import JUDGES
from evenflow.schemas.config.whole import Config
from evenflow.schemas.messages import Problem


def problems(config: Config) -> Iterator[Problem]:
    """Load the plug-ins of a configuration; settings of measures get their defaults."""
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
