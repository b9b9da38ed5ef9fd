"""What goes wrong with an output in an object store, from the command line: a sentence that says
where and what to do, or a run that goes on; and then the same output as in a local directory.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from services.s3_faults import Fault, S3Faults, denied
from services.s3_server import S3Server

from evenflow.gates.lease import Lease
from evenflow.transforms.storage import objects
from evenflow.transforms.storage.storage import Storage, StorageError, at

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

TEXTS = ("She met her brother.", "He wrote to his mother and to her sister.")
PANES = 8
RESULTS = ("accepted", "quarantine", "dead-letter", "sentences", "ledger")


@pytest.fixture(autouse=True)
def _client(monkeypatch: pytest.MonkeyPatch, s3_faults: S3Faults) -> Iterator[None]:
    """The environment leads to the proxy, and clients of another test are forgotten."""
    for name, value in s3_faults.environment().items():
        monkeypatch.setenv(name, value)
    objects._client.cache_clear()
    yield
    objects._client.cache_clear()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are tried again for a second only."""
    monkeypatch.setattr(objects, "RETRY_SECONDS", 1)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """PANES panes of ten documents."""
    path = tmp_path / "corpus.jsonl"
    rows = [json.dumps({"id": str(n), "text": TEXTS[n % 2]}) for n in range(PANES * 10)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def address(bucket: str) -> str:
    """An output whose path has characters that addresses escape."""
    return f"{bucket}/a b%20c/out"


def command(corpus: Path, output: object) -> list[str]:
    return [
        *("run", "-q", "--input", str(corpus), "--output", str(output)),
        *("-a", "gender", "--pane-docs", "10", "--repair-mode", "weight", "--block", "0.9"),
    ]


def results(output: Storage) -> dict[str, bytes]:
    """What must be the same wherever the output is."""
    return {
        each.name: output.read(each.name)
        for folder in RESULTS
        for each in output.tree(folder)
        if each.name != "ledger/meta.json"
    }


def same_as_local(call: Call, corpus: Path, output: Storage, tmp_path: Path) -> bool:
    """Whether an output is byte for byte that of a run in a local directory."""
    assert call(*command(corpus, tmp_path / "local")).status == 0
    local = results(at(tmp_path / "local"))
    assert len(local) >= 2 * PANES
    return results(output) == local


SECRET = "AWS_SECRET_ACCESS_KEY"
STARTS: list[tuple[str, dict[str, str | None], list[Fault], str]] = [
    ("region", {"AWS_REGION": "eu-west-1"}, [], r"in another region \(us-east-1\); set AWS_REGION"),
    ("redirect", {}, [Fault(status=301)], "in another region; set AWS_REGION"),
    ("no keys", {"AWS_ACCESS_KEY_ID": None, SECRET: None}, [], "no keys were found; set AWS_ACC"),
    ("wrong keys", {SECRET: "x"}, [], "does not accept these keys; check AWS_ACCESS_KEY_ID and"),
    ("unknown key", {"AWS_ACCESS_KEY_ID": "x"}, [], "does not accept these keys; check AWS_ACC"),
    (
        "clock",
        {},
        [Fault(status=403, code="RequestTimeTooSkewed")],
        "clock differs too much .*; set",
    ),
    ("read", {}, [denied("GET|HEAD")], "not allow these keys to read; give them that right"),
    ("write", {}, [denied("PUT|CREATE")], "not allow these keys to write; give them that right"),
    ("list", {}, [denied("LIST")], "not allow these keys to list; give them that right"),
    ("delete", {}, [denied("DELETE")], "not allow these keys to delete; give them that right"),
    (
        "unconditional",
        {},
        [Fault("CREATE", unconditional=True)],
        "no conditional writes.* Give another",
    ),
    (
        "no create",
        {},
        [Fault("CREATE", status=501, code="NotImplemented")],
        "lacks what a run needs",
    ),
    ("slow", {}, [Fault(status=503, code="SlowDown")], r"again and again \(503 .*\); run the same"),
    ("away", {}, [Fault(drop=True)], "does not answer at http.*; check the address"),
]


@pytest.mark.parametrize(
    ("variables", "faults", "sentence"),
    [each[1:] for each in STARTS],
    ids=[each[0] for each in STARTS],
)
def test_a_store_that_cannot_be_used_is_a_sentence(
    call: Call,
    corpus: Path,
    address: str,
    s3_faults: S3Faults,
    monkeypatch: pytest.MonkeyPatch,
    impatient: None,
    variables: dict[str, str | None],
    faults: list[Fault],
    sentence: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    s3_faults.faults += faults
    ended = call(*command(corpus, address))
    assert (ended.status, ended.out) == (1, "")
    [line] = ended.err.splitlines()
    assert line.startswith(f"evenflow: {address}")
    assert re.search(sentence, line), line


def test_a_bucket_that_is_not_there(call: Call, corpus: Path) -> None:
    for words in (
        command(corpus, "s3://nobody/out"),
        ["gate", "export", "--list", "accepted", "s3://nobody/out"],
    ):
        ended = call(*words)
        assert ended.status == 1
        assert ended.err.startswith("evenflow: s3://nobody/out")
        assert "there is no such bucket; make it, or give another address" in ended.err


@pytest.mark.parametrize(
    "fault",
    [
        denied("COPY", r"accepted/part-00000003"),
        Fault("CREATE", r"ledger/00000003\.json", status=403, code="RequestTimeTooSkewed"),
        Fault("PUT", r"staged/.*part-00000003", status=500, code="InternalError"),
        Fault("GET", "blocks.json", after=3, half=True),
        denied("DELETE", r"000000000003"),
    ],
    ids=["copy", "clock", "stage", "half", "delete"],
)
def test_a_run_that_failed_goes_on_when_the_store_is_well(
    call: Call,
    corpus: Path,
    address: str,
    s3_faults: S3Faults,
    tmp_path: Path,
    impatient: None,
    fault: Fault,
) -> None:
    s3_faults.make(fault)
    ended = call(*command(corpus, address))
    assert ended.status == 1 and fault.met
    [line] = ended.err.splitlines()
    assert line.startswith(f"evenflow: {address}/") and ";" in line
    s3_faults.faults.clear()
    assert call(*command(corpus, address)).status == 0
    assert same_as_local(call, corpus, at(address), tmp_path)
    assert list(at(address).tree("staged")) == [] == list(at(address).tree("ledger/claims"))


def test_a_run_survives_what_passes(
    call: Call, corpus: Path, address: str, s3_faults: S3Faults, tmp_path: Path
) -> None:
    """Errors, throttling, answers that are lost after the write, refused conditions although the
    write was done, conflicts, and halves of objects: each at several moments.
    """
    for number in range(0, 40, 8):
        for fault in (
            Fault("PUT|COPY|LIST|DELETE", status=500, code="InternalError"),
            Fault("GET|HEAD|PUT|CREATE|COPY", status=503, code="SlowDown"),
            Fault("CREATE", status=500, applied=True),
            Fault("CREATE|COPY|PUT|DELETE", drop=True, applied=True),
            Fault("CREATE", status=412, code="PreconditionFailed", applied=True),
            Fault("CREATE", status=409, code="ConditionalRequestConflict"),
            Fault("PUT|COPY", status=409, code="OperationAborted"),
            Fault("GET", half=True),
        ):
            fault.after, fault.times = number, 1
            s3_faults.make(fault)
    ended = call(*command(corpus, address))
    assert (ended.status, ended.err) == (0, "")
    assert sum(fault.met for fault in s3_faults.faults) > 20
    assert same_as_local(call, corpus, at(address), tmp_path)


def test_a_run_goes_on_where_the_store_lists_nothing_new(
    call: Call, corpus: Path, address: str, s3_faults: S3Faults, tmp_path: Path
) -> None:
    s3_faults.hidden_seconds = float("inf")
    fault = s3_faults.make(denied("COPY", "accepted/part-00000003"))
    assert call(*command(corpus, address)).status == 1 and fault.met
    s3_faults.faults.clear()
    assert call(*command(corpus, address)).status == 0
    assert len(call("gate", "export", "--list", "accepted", address).out.splitlines()) == PANES
    s3_faults.hidden_seconds = 0
    assert call(*command(corpus, address)).status == 0  # it clears what it could not see
    found = {name: data for name, data in results(at(address)).items() if "claims/" not in name}
    assert call(*command(corpus, tmp_path / "local")).status == 0
    assert found == results(at(tmp_path / "local"))


def test_a_second_run_is_refused_and_a_standby_takes_over(
    call: Call, corpus: Path, address: str
) -> None:
    with Lease(at(address)):
        ended = call(*command(corpus, address))
        assert ended.status == 1
        assert f"{address} is in use by another run (process " in ended.err
        words = [each for each in command(corpus, address) if each != "-q"]
        code = "from evenflow.pipelines.cli.app import main; main()"
        second = subprocess.Popen(
            [sys.executable, "-c", code, *words, "--standby"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert second.stderr is not None
        assert any("; standing by" in line for line in second.stderr)
    rest = second.stderr.read()
    assert second.wait() == 0, rest
    assert len(call("gate", "export", "--list", "accepted", address).out.splitlines()) == PANES


def test_a_reader_gets_the_rest_of_half_an_object(address: str, s3_faults: S3Faults) -> None:
    output, data = at(address), bytes(range(256)) * (1 << 17)
    output.write("x", data)
    fault = s3_faults.make(Fault("GET", half=True, times=3))
    assert output.read("x") == data
    fault.times = 6
    with output.open("x") as file:
        assert file.read(1000) == data[:1000]
        file.seek(20 << 20)
        assert file.read() == data[20 << 20 :]
    assert fault.met == 6


def test_deleting_in_a_bucket_that_is_gone_is_an_error(bucket: str, s3: S3Server) -> None:
    output = at(f"{bucket}/out")
    output.write("x", b"1")
    output.remove(["x", "y"])
    s3.remove_bucket(bucket.removeprefix("s3://"))
    with pytest.raises(StorageError, match="no such bucket"):
        output.remove(["x"])
