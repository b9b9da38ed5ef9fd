"""Reads a YAML file of settings with the line of every key, so that a message can name the line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from evenflow.wordlists import nodes

MAX_BYTES = 1 << 20  # of a settings file; a larger one was given by mistake
DEEPEST = 4  # levels of keys: attributes, NAME, target, GROUP

Key = tuple[str, ...]


class SettingsError(ValueError):
    """A file that cannot be read as settings; one line for each defect, as `file:line: defect`."""


class _Loader(nodes.Plain, yaml.SafeLoader):
    """In Python, whose messages say more than those of the parser in C."""


@dataclass
class YamlSettings:
    """The content of a settings file.

    Attributes:
        lines: Line of each key, from 1.
    """

    data: dict[str, Any]
    lines: dict[Key, int] = field(default_factory=dict[Key, int])

    def line(self, key: Key) -> int | None:
        """Find the line of a key, or of the nearest section around it.

        Args:
            key: The key's parts, from the outside in.

        Returns:
            Line, from 1; None if neither the key nor a section around it is in the file.
        """
        return next(
            (self.lines[key[:size]] for size in range(len(key), 0, -1) if key[:size] in self.lines),
            None,
        )


def read(path: Path) -> YamlSettings:
    """Read the settings of a file.

    Args:
        path: YAML file; an empty one has no settings.

    Raises:
        SettingsError: The file cannot be read as settings. The message names every defect.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SettingsError(f"{path}: cannot be read: {reason}") from error
    if len(raw) > MAX_BYTES:
        raise SettingsError(
            f"{path}: larger than {MAX_BYTES >> 20} MiB; that is no file of settings"
        )
    text = nodes.decoded(raw)
    if isinstance(text, nodes.Defect):
        raise SettingsError(f"{path}:{text.line}: {text.what}")
    try:
        return _parse(text, path)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        raise SettingsError(f"{place}: not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, SettingsError):
            raise
        reason = (
            "nested too deeply"
            if isinstance(error, RecursionError)
            else " ".join(str(error).split())
        )
        raise SettingsError(f"{path}: not YAML: {reason}") from error


def parsed(text: str) -> Any:
    """Read one value, as it may stand behind a key of a file.

    Raises:
        SettingsError: It is not YAML.
    """
    loader: Any = _Loader(text)
    try:
        return loader.get_single_data()
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"not YAML: {' '.join(str(error).split())}") from error
    finally:
        loader.dispose()


def _parse(text: str, path: Path) -> YamlSettings:
    """Settings and lines from YAML text; path is named in messages."""
    loader: Any = _Loader(text)  # its stubs leave out the types of what is called here
    try:
        root = loader.get_single_node()
        if root is None or (isinstance(root, yaml.ScalarNode) and root.tag.endswith(":null")):
            return YamlSettings({})
        if not isinstance(root, yaml.MappingNode):
            raise SettingsError(
                f"{path}:{root.start_mark.line + 1}: settings are a mapping of keys, such as"
                " `pane:`"
            )
        lines: dict[Key, int] = {}
        defects: list[tuple[int, str]] = []
        _walk(root, (), lines, defects)
        if defects:
            raise SettingsError(
                "\n".join(f"{path}:{line}: {what}" for line, what in sorted(defects))
            )
        return YamlSettings(loader.construct_document(root), lines)
    finally:
        loader.dispose()


def _walk(
    node: yaml.MappingNode, above: Key, lines: dict[Key, int], defects: list[tuple[int, str]]
) -> None:
    """Note the line of every key. Keys that are not text and keys given twice are defects."""
    for name, value in node.value:
        line = name.start_mark.line + 1
        if name.tag == "tag:yaml.org,2002:merge":
            continue
        if not isinstance(name, yaml.ScalarNode) or name.tag != "tag:yaml.org,2002:str":
            shown = name.value if isinstance(name, yaml.ScalarNode) else "a key"
            where = ".".join((*above, str(shown)))
            defects.append((line, f"{where}: read by YAML as no text; put the key in quotes"))
            continue
        key = (*above, name.value)
        if key in lines:
            defects.append((line, f"{'.'.join(key)}: given twice (first in line {lines[key]})"))
        lines.setdefault(key, line)
        if isinstance(value, yaml.MappingNode) and len(key) < DEEPEST:
            _walk(value, key, lines, defects)
