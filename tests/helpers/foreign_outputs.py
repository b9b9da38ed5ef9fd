"""Runs every command that takes an output, on outputs of others, and notes what it touched.

As a program: `python foreign_outputs.py WORK OUTPUT...`, with ledgers as somebody else wrote them.
It prints a JSON list for each output: of each command its words, status, what it printed, and what
it imported, opened, ran or contacted that holds the word canary.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from evenflow.schemas.config import Recorded

WORD = "canary"
TOUCHES = ("import", "open", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
REACHES = ("socket.connect", "socket.getaddrinfo", "socket.bind")
# Of the commands that serve until they are stopped, `serving` does what they do at first
SERVERS = ("gate board",)
# Commands that take an output where they take a corpus too; the last one goes on with its run
READERS = (
    "init {output} --reference {work}/reference.json --force",
    "gate verify {output} --prune 1d",
    "gate export {output} --list accepted",
    "gate accept {output} --pane 0 --reject --reason r",
    "measure {output}/accepted --quiet",
    "compare {output}/accepted {output}/accepted --unpaired",
    "coverage gaps {output}/accepted --attributes gender,age --tau 1",
    "explain {output} --id 1 --no-stereotypes",
    "lab mine {output} --random --top 1 --quiet",
    "lab finetune --data {output} --model {work} --output {work}/tuned --steps 1 --quiet",
    "run {work}/input.jsonl --config {work}/own.yaml --output {output}",
)


def commands() -> dict[str, list[str]]:
    """The words of the commands that take an output, with what else they need."""
    from evenflow.pipelines.cli.app import WORDS, function

    found: dict[str, list[str]] = {}
    for words in WORDS:
        parameters = inspect.signature(function(words)).parameters
        if not {"directory", "directories"} & parameters.keys() or words in SERVERS:
            continue
        found[words] = [
            word
            for name, value in (
                ("reason", ["--reason", "r"]),
                ("to", ["--to", "{work}/exported"]),
                ("name", ["--name", "n"]),
            )
            if name in parameters
            for word in value
        ]
        found[words] += ["--pane", "0"] if words == "gate accept" else []
        found[words] += ["--config", "{work}/own.yaml"] if words == "gate trigger" else []
        found[words] += ["--files"] if "files" in parameters else []
    return found


def given(output: Path, work: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command that takes an output: its words, and all that is typed."""
    for words, more in commands().items():
        yield words, [*words.split(), str(output), *(each.format(work=work) for each in more)]
    for line in READERS:
        typed = [each.format(output=output, work=work) for each in line.split()]
        yield line.partition(" {")[0].partition(" --")[0], typed


def leaves(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The keys of a section that may hold text, with those of sections below it."""
    for name, field in model.model_fields.items():
        inner = _section(field.annotation)
        if inner is None:
            if "str" in str(field.annotation) or "dict" in str(field.annotation):
                yield (*above, name)
            continue
        keyed = get_origin(field.annotation) is dict
        yield from leaves(inner, (*above, name, "gender") if keyed else (*above, name))


def _section(kind: Any) -> type[BaseModel] | None:
    """The section that a key holds, one or several by name; None: it holds a value."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return next((found for each in get_args(kind) if (found := _section(each))), None)


def settings(work: Path) -> list[dict[str, Any]]:
    """Configurations that name a canary in every key that takes one, as few as are valid.

    Args:
        work: A folder with the files that they name.
    """
    path = str(work / "canary.yaml")
    values: list[Any] = [f"{WORD}:main", path, f"http://{WORD}.invalid:9/", [path, path]]
    values += [[f"{WORD}:main"], {"file": path}, {WORD: {}}, {f"{WORD}:main": {"a": 1}}]
    out: list[dict[str, Any]] = []
    for key in leaves(Recorded):
        for number, value in enumerate(values):
            place = key
            if key[0] == "triggers":  # a rule has one action: one rule for each action and value
                place = ("triggers", f"{key[2]}{number}", *key[2:])
            for data in (*out, {}):
                changed = _set(data, place, value)
                if not _is_valid(changed) or (data and _get(data, place) is not None):
                    continue
                if data:
                    out[out.index(data)] = changed
                else:
                    out.append(changed)
                break
    return out


def _set(data: Mapping[str, Any], key: tuple[str, ...], value: Any) -> dict[str, Any]:
    """A copy of settings with a value at a key."""
    first, *rest = key
    return {**data, first: _set(data.get(first) or {}, tuple(rest), value) if rest else value}


def _get(data: Mapping[str, Any], key: tuple[str, ...]) -> Any:
    """The value at a key; None without one."""
    found: Any = data
    for each in key:
        found = found.get(each) if isinstance(found, dict) else None
    return found


def _is_valid(data: dict[str, Any]) -> bool:
    """Whether a ledger may hold these settings."""
    rules = {name: rule | {"panes": 1} for name, rule in data.get("triggers", {}).items()}
    data = {**data, "triggers": rules}
    try:
        Recorded.model_validate({"attributes": {"gender": {}}, **data})
    except ValidationError:
        return False
    return True


def serving(output: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """What the board, the server of metrics and the API do with an output, by name."""
    import evenflow
    from evenflow.gates.ledger.files import LedgerError
    from evenflow.pipelines.metrics.watching import Watched
    from evenflow.pipelines.pages.board.follow import Board
    from evenflow.pipelines.pages.board.pages import Pages
    from evenflow.transforms.storage.storage import at

    def board() -> str:
        gates = Board({"g": at(output)})
        gates.gates["g"].look()
        pages = Pages(gates, actions=False)
        shown = pages.glance() + pages.gate_page("g", {})
        with contextlib.suppress(LedgerError, OSError, LookupError):
            shown += pages.pane("g", 0)
        return shown

    yield "board", board
    yield "metrics", lambda: list(Watched(output).families())
    yield "accepted", lambda: list(evenflow.accepted(output))


class Trial:
    """Does everything with outputs, and notes what it touches.

    Args:
        work: A folder with `input.jsonl` and `own.yaml`, for commands that need more.
    """

    def __init__(self, work: Path):
        self._work = work
        self._touched: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, given: tuple[Any, ...]) -> None:
        if (event in TOUCHES and WORD in str(given)) or event in REACHES:
            self._touched.append(f"{event} {given}"[:300])

    def rows(self, output: Path) -> list[dict[str, Any]]:
        """Do everything with an output; see the module."""
        from evenflow.pipelines.cli.app import main

        rows = [
            self._row(name, lambda typed=typed: main(typed))
            for name, typed in given(output, self._work)
        ]
        return rows + [self._row(name, act) for name, act in serving(output)]

    def _row(self, name: str, act: Callable[[], object]) -> dict[str, Any]:
        """Do one thing."""
        from evenflow.schemas.errors import EvenflowError

        shutil.rmtree(self._work / "exported", ignore_errors=True)
        (self._work / "exported").unlink(missing_ok=True)
        self._touched.clear()
        sys.modules.pop(WORD, None)
        out, err, status = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                print(act())
            except SystemExit as ended:
                status = int(ended.code or 0)
            except (EvenflowError, OSError) as error:
                status = 1
                print(error, file=sys.stderr)
        row = {"name": name, "status": status, "out": out.getvalue(), "err": err.getvalue()}
        return row | {"touched": list(self._touched)}


if __name__ == "__main__":
    trial = Trial(Path(sys.argv[1]))
    print(json.dumps([trial.rows(Path(output)) for output in sys.argv[2:]]))
