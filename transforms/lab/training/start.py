"""The command line of a module that trains, from the signature of what trains."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from types import NoneType
from typing import Any, get_args, get_type_hints


def starter(
    train: Callable[..., None], about: str | None, **texts: str
) -> Callable[[list[str] | None], None]:
    """Make the `main` of a module.

    Args:
        train: What trains. A parameter with a default, and one that only a keyword gives, is an
            option. It is a path, a number, a text, a flag or a list of these.
        about: The module's docstring.
        **texts: What the help says of its parameters.

    Returns:
        A function of the command line's words; None: those of the process. It ends with a sentence
        where an argument, the data or a package of the extra is missing or wrong.
    """

    def main(arguments: list[str] | None) -> None:
        spec = sys.modules[train.__module__].__spec__
        parser = argparse.ArgumentParser(
            prog=f"python -m {spec.name.removesuffix('.__main__')}" if spec else None,
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        kinds = get_type_hints(train)
        for name, each in inspect.signature(train).parameters.items():
            _add(parser, each, kinds[name], texts.get(name, ""))
        try:
            train(**vars(parser.parse_args(arguments)))
        except ImportError as error:
            sys.exit(f"training needs {error.name}: pip install 'evenflow[train]'")
        except (OSError, ValueError, KeyError) as error:
            sys.exit(str(error))

    return main


def _add(parser: argparse.ArgumentParser, of: inspect.Parameter, kind: Any, text: str) -> None:
    """Add a parameter to what a command line takes."""
    optional = of.default is not of.empty
    is_option = optional or of.kind is of.KEYWORD_ONLY
    if of.default is not None and optional and kind is not bool:
        text += f" (default: {of.default})"
    settings: dict[str, Any] = {"help": text}
    if kind is bool:
        settings["action"] = "store_true"
    else:
        inner = [each for each in get_args(kind) if each is not NoneType]
        settings["type"] = inner[0] if inner else kind
    if is_option:
        settings |= {"default": of.default} if optional else {"required": True}
    if kind is not bool and getattr(kind, "__origin__", None) is list:
        settings["nargs"] = "+"
    parser.add_argument(f"--{of.name}" if is_option else of.name, **settings)
