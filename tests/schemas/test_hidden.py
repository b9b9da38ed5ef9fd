"""Every key of the schema that may hold a secret: found by its type, refused or masked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from config_keys import keys
from pydantic.fields import FieldInfo

from evenflow.schemas import secrets
from evenflow.schemas.config import Config
from evenflow.schemas.secrets import MASKED, SecretError, mask_address, mask_command, read_address

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

CANARY = "canary-5c1e-of-the-test"
TYPES = ("Address", "AddressOrNone", "CommandOrNone", "SecretPlace")
SUSPECT = re.compile("url|uri|address|host|key|token|secret|passw|credential|command|auth")
# Names that sound like it and hold nothing of the kind: what they are
HARMLESS = {
    "kafka.security": "checked key by key, see secrets.py",
    "metrics.host": "where this process listens",
    "alerts.tokens_a_day": "a number",
    "llm.tokens": "a number",
}


def kind(field: FieldInfo) -> str | None:
    """The name in schemas/secrets.py of a key's type."""
    for name in TYPES:
        marks = get_args(getattr(secrets, name))[1:]
        if any(mark is each for mark in marks for each in field.metadata):
            return name
    return None


HIDDEN = {path: found for path, field in keys(Config) if (found := kind(field)) is not None}


def settings(values: dict[str, Any]) -> dict[str, Any]:
    """A configuration with values at paths; each * is a rule of its own, and what such a key needs
    is there.
    """
    made: dict[str, Any] = {"llm": {"model": "m"}} if "llm.url" in values else {}
    for number, (path, value) in enumerate(values.items()):
        *above, last = path.replace("*", f"rule-{number}").split(".")
        section = made
        for part in above:
            section = section.setdefault(part, {})
        if path.startswith("triggers."):
            made["triggers"][f"rule-{number}"] |= {"panes": 1, "tries": 1}
        if path == "triggers.*.webhook.key":
            section["url"] = "http://127.0.0.1:1/hook"
        section[last] = value
    return made


def accepted(found: str, secret: str, place: dict[str, str] | None) -> Any:
    """A value that a key of a type takes: plain, or its place."""
    if found == "CommandOrNone":
        return ["echo", place] if place else ["true", secret]
    return place or f"http://127.0.0.1:1/{secret}"


def test_every_key_that_sounds_like_a_secret_has_a_type_that_hides_it() -> None:
    assert {"llm.url", "triggers.*.webhook.url", "triggers.*.command"} <= {*HIDDEN}
    named = {path for path, _ in keys(Config) if SUSPECT.search(path.rpartition(".")[2])}
    assert named - {*HIDDEN} == {*HARMLESS}


@pytest.mark.parametrize("path", HIDDEN)
def test_what_is_no_value_of_the_key_is_refused_and_not_shown(
    call: Call, tmp_path: Path, path: str
) -> None:
    file = tmp_path / "settings.yaml"
    wrong: list[Any] = [{CANARY: "x"}, {"env": "A", "file": CANARY}, {"vault": CANARY}, CANARY]
    if HIDDEN[path] == "CommandOrNone":
        wrong += [["true", {"vault": CANARY}], ["true", [CANARY]]]
    else:
        wrong += [[CANARY], f"http://me:{CANARY}@127.0.0.1", f"htp://127.0.0.1/{CANARY}"]
    for value in wrong:
        file.write_text(json.dumps(settings({path: value})))
        ended = call("doctor", "--print", "config", "--config", file)
        assert ended.status == 2, value
        assert CANARY not in ended.out + ended.err


@pytest.mark.parametrize("where", ["plain", "env", "file"])
def test_nothing_that_a_run_writes_or_says_shows_a_value(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    chosen, secrets = {}, {}
    for number, (path, found) in enumerate(HIDDEN.items()):
        secret, place = f"{CANARY}-{number}", None
        if where != "plain":
            is_address = found.startswith("Address")
            value = f"http://127.0.0.1:1/{secret}?key={secret}" if is_address else secret
            place = {where: f"CANARY_{number}"}
            monkeypatch.setenv(f"CANARY_{number}", value)
            secrets[f"CANARY_{number}"] = value
        elif found == "SecretPlace":
            continue  # never plain
        chosen[path] = accepted(found, secret, place)
    for name, value in secrets.items():
        Path(name).write_text(value)
    documents = [{"id": str(n), "text": "The man met a man. He said so."} for n in range(20)]
    Path("in.jsonl").write_text("\n".join(map(json.dumps, documents)))
    made = settings(chosen)
    made["gate"] = {"min_mentions": 5, "warn": 0.1, "block": 0.1}
    Path("settings.yaml").write_text(json.dumps(made))
    ended = call(
        "run", "-i", "in.jsonl", "-o", "out", "--config", "settings.yaml", "--pane-docs", 9
    )
    said = ended.out + ended.err
    assert ended.status == 3
    assert "report.html" in {path.name for path in Path("out").iterdir()}
    outcomes = [json.loads(each.read_text()) for each in Path("out/triggers").glob("*/*.json")]
    assert {each.get("outcome") for each in outcomes} >= {"done", "failed"}
    shown = call("gate", "trigger", "out", "--json")
    said += shown.out + shown.err
    assert CANARY not in said
    written = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    assert [path for path, data in written.items() if CANARY.encode() in data] == []
    kept = json.loads(written[Path("out/ledger/meta.json")])["configuration"]
    assert Config.model_validate(kept).triggers.keys() == made["triggers"].keys()


def test_what_is_masked() -> None:
    assert mask_address("https://hooks.example:8443/T/B/x?y") == "https://hooks.example:8443/***"
    assert mask_address("http://127.0.0.1:8000") == "http://127.0.0.1:8000"
    words = ["curl", "-H", {"env": "HEADER"}, "https://x.example/y"]
    assert mask_command(words) == ["curl", "***", {"env": "HEADER"}, "***"]
    config = Config.model_validate({"triggers": {"r": {"command": words}}})
    assert config.model_dump()["triggers"]["r"]["command"] == words
    masked = config.model_dump(context=MASKED)
    assert masked["triggers"]["r"]["command"] == mask_command(words)
    assert Config.model_validate(masked).model_dump(context=MASKED) == masked


@pytest.mark.parametrize(
    "given", ["", "nonsense", "http://me:pw@h/", "http://h/a b", "http://h\n/"]
)
def test_an_address_elsewhere_that_is_none_is_said_without_it(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("WHERE", given)
    with pytest.raises(SecretError, match="WHERE") as refused:
        read_address({"env": "WHERE"})
    assert not given or given not in str(refused.value)
