"""No command shows or keeps a secret, wherever in a settings file it is."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from evenflow.transforms.llm.client.cache import Cache
from evenflow.transforms.llm.client.http import error_text, redact, request_error

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

CANARY = "canary-7f3a-of-the-test"
KAFKA = {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN", "sasl_plain_username": "gate"}
# What a person may write who does not know where secrets go.
PLAIN: dict[str, Any] = {
    "password": {"kafka": {"security": KAFKA | {"sasl_plain_password": CANARY}}},
    "password in a list": {"kafka": {"security": {"ssl_password": [CANARY]}}},
    "password at another place": {"kafka": {"security": {"ssl_password": {"vault": CANARY}}}},
    "misspelled": {"kafka": {"security": {"sasl_plain_pasword": CANARY}}},
    "as the key": {"kafka": {"security": {CANARY: "x"}}},
    "as the section": {"kafka": {"security": CANARY}},
    "as the protocol": {"kafka": {"security": {"security_protocol": CANARY}}},
    "llm": {"llm": {"key": CANARY}},
    "llm in a list": {"llm": {"key": [CANARY]}},
    "llm as the key": {"llm": {"key": {CANARY: "x"}}},
    "llm at two places": {"llm": {"key": {"env": "A", "file": CANARY}}},
    "user in the url": {"llm": {"url": f"http://me:{CANARY}@127.0.0.1:1", "model": "m"}},
    "key in the url": {"llm": {"url": f"http://127.0.0.1:1/v1?key={CANARY}", "model": "m"}},
}
COMMANDS = (
    ("doctor", "--print", "config"),
    ("measure", "docs.jsonl"),
    ("run", "--input", "docs.jsonl", "--output", "out"),
)


def everything(folder: Path) -> bytes:
    """The content of all files in a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with documents."""
    monkeypatch.chdir(tmp_path)
    rows = ({"id": each, "text": "She saw him."} for each in "abc")
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.parametrize("case", PLAIN)
def test_a_secret_in_plain_is_refused_and_shown_nowhere(call: Call, work: Path, case: str) -> None:
    settings = work / "settings.yaml"
    settings.write_text(yaml.safe_dump(PLAIN[case]))
    for command in COMMANDS:
        ended = call(*command, "--config", settings)
        assert ended.status == 2 and "settings.yaml:" in ended.err
        assert CANARY not in ended.out + ended.err
    settings.unlink()
    assert CANARY.encode() not in everything(work)


def test_the_place_of_a_secret_is_kept_and_the_secret_is_not(
    call: Call, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENFLOW_TEST_CANARY", CANARY)
    kept = {"env": "EVENFLOW_TEST_CANARY"}
    security = KAFKA | {"sasl_plain_password": kept, "ssl_password": kept}
    (work / "settings.yaml").write_text(
        yaml.safe_dump({"kafka": {"security": security}, "llm": {"key": kept}})
    )
    for command in COMMANDS:
        ended = call(*command, "--config", "settings.yaml")
        assert ended.status == 0, ended.err
        assert CANARY not in ended.out + ended.err
    assert CANARY.encode() not in everything(work)
    assert b"EVENFLOW_TEST_CANARY" in everything(work / "out")


@pytest.mark.parametrize(
    "said",
    [
        f"wrong key {CANARY}",
        "x" * 190 + CANARY,  # the message is cut within it
        f"wrong key {CANARY[:10]}***",
        '{"error": {"message": "' + CANARY.replace("-", "\\u002d") + '"}}',
    ],
)
def test_a_key_that_a_server_says_back_is_not_shown_nor_its_beginning(said: str) -> None:
    for shown in (
        error_text(said.encode(), CANARY),
        request_error(401, {}, said.encode(), CANARY).detail,
    ):
        assert CANARY[:4] not in shown and "…" in shown
    assert redact("nothing of it", "") == "nothing of it"


def test_the_cache_of_answers_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "answers.sqlite"
    cache = Cache(path)
    cache.get_many([b"x"])
    files = list(path.parent.iterdir())
    assert [stat.S_IMODE(each.stat().st_mode) for each in files] == [0o600] * len(files) and len(
        files
    ) >= 1
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)  # as an earlier version made it
    Cache(path).get_many([b"x"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
