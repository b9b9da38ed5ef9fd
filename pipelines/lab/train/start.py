"""Starts a training from the command line of a module of this room."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Any


def start(
    module: str,
    about: str | None,
    options: Mapping[str, Mapping[str, Any]],
    train: Callable[..., None],
    arguments: list[str] | None,
) -> None:
    """Read arguments and train.

    Args:
        module: The module's name in this room.
        about: Its docstring.
        options: What argparse wants to know of each argument, by its name or flag.
        train: Gets the arguments by their names.
        arguments: The command line's arguments; None: those of the process.

    Raises:
        SystemExit: An argument, the data or a package of the extra is missing or wrong.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m evenflow.pipelines.lab.train.{module}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, settings in options.items():
        parser.add_argument(name, **settings)
    given = vars(parser.parse_args(arguments))
    try:
        train(**given)
    except ImportError as error:
        sys.exit(f"training needs {error.name}: pip install 'evenflow[train]'")
    except (OSError, ValueError, KeyError) as error:
        sys.exit(str(error))
