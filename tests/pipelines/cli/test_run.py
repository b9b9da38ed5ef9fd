"""`evenflow run` as the shell sees it: streams, statuses, how it is stopped and goes on."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from mounts import mounting
from places import DATA
from put_out import rows

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]

COMMAND = str(Path(sys.executable).with_name("evenflow"))
SPEECHES = DATA / "speeches.jsonl.gz"
NOBODY = 65534  # a user without rights: permissions do not bind root
SHE, HE = "She met her mother and her sister.", "He met his father and his brother."


@pytest.fixture
def even(tmp_path: Path) -> Path:
    """Sixty documents that name both genders alike, of which one cannot be read, in two files."""
    folder = tmp_path / "even"
    folder.mkdir()
    for half in range(2):
        given = [{"id": f"{half}-{n}", "text": f"{SHE} {HE}", "n": n} for n in range(30)]
        lines = [*map(json.dumps, given), *["no json"] * half]
        (folder / f"{half}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def uneven(tmp_path: Path) -> Path:
    """150 even documents, then 150 that name men alone (DR 0.5), then 150 even ones."""
    path = tmp_path / "uneven.jsonl"
    texts = [f"{SHE} {HE}"] * 150 + [f"{HE} {HE}"] * 150 + [f"{SHE} {HE}"] * 150
    path.write_text(
        "".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(texts))
    )
    return path


def test_a_run_and_what_it_says(call: Call, even: Path, tmp_path: Path) -> None:
    command = [
        *("run", "--input", even / "0.jsonl", even / "1.jsonl", "-o", tmp_path / "out", "-a"),
        *("gender", "--pane-docs", 40, "--warn", 0.25),
    ]
    ended = call(*command)
    assert ended.status == 0, ended.err
    assert max(map(len, ended.out.splitlines())) <= 80 or str(tmp_path) in max(
        ended.out.splitlines(), key=len
    )
    assert len(ended.out.splitlines()) <= 12
    assert "2 panes, 60 documents: 60 accepted, 0 in quarantine\n" in ended.out
    assert "\n1 dead letter: not JSON 1\n" in ended.out
    assert ended.out.startswith(
        "gate: open; may one train on accepted/: yes\nwhy: gender: lower bound 0.00, warn at 0.25\n"
    )
    assert f"report: {tmp_path}/out/report.html" in ended.out
    panes = [line for line in ended.err.splitlines() if line.startswith("pane")]
    assert [line.split(";")[0] for line in panes] == ["pane 0: open", "pane 1: open"]
    assert all(line.startswith(("pane ", "reading: ")) for line in ended.err.splitlines())
    found = rows(tmp_path / "out")
    assert [row["id"] for row in found] == [f"{half}-{n}" for half in range(2) for n in range(30)]
    assert {name for name in found[0] if name.startswith("mentions_")} == {
        "mentions_gender_female",
        "mentions_gender_male",
    }

    again = call(*command)
    assert again.status == 0
    assert again.out.startswith(f"{tmp_path}/out is finished; nothing was read again.\n")
    assert again.err == ""
    other = call(*command, "--pane-docs", 41)
    assert (other.status, other.out) == (2, "")
    assert "configuration.pane.docs: 40 -> 41" in other.err

    status = call("gate", "status", tmp_path / "out")
    assert status.status == 0
    assert set(status.out.splitlines()) <= set(again.out.splitlines())
    assert call("gate", "report", tmp_path / "out").out == f"{tmp_path}/out/report.html\n"


def test_json_alone_on_both_streams(call: Call, even: Path, tmp_path: Path) -> None:
    command = [
        *("run", "--input", even, "--output", tmp_path / "out", "--pane-docs", 40, "--json"),
        *("--log-format", "json"),
    ]
    ended = call(*command)
    assert ended.status == 0, ended.err
    events = [json.loads(line) for line in ended.err.splitlines()]
    panes = [event for event in events if event["event"] == "pane"]
    assert {event["event"] for event in events} <= {"pane", "progress"}
    assert [event["pane"] for event in panes] == [0, 1]
    assert (panes[-1]["committed"], panes[-1]["done"]) == (60, 1.0)
    assert set(panes[0]["dr"]) == {"gender", "age", "religion"}
    result = ended.json
    assert (result["state"], result["panes"], result["new_panes"], result["finished"]) == (
        "open",
        2,
        2,
        True,
    )
    assert (
        result["documents"],
        result["accepted"],
        result["quarantined"],
        result["dead_letters"],
    ) == (60, 60, 0, 1)
    assert result["attributes"]["gender"]["panes"] == {
        "not_judged": 0,
        "open": 2,
        "warn": 0,
        "block": 0,
    }
    assert result["attributes"]["gender"]["cumulative"]["dr"] == 0.0
    assert Path(result["report"]).is_file()
    kept = {"output", "report", "new_panes", "exchanges"}
    assert call("gate", "status", tmp_path / "out", "--json").json == {
        name: value for name, value in result.items() if name not in kept
    }
    assert call(*command).json == {**result, "new_panes": 0}


def test_what_could_not_be_read_is_shown_first_and_is_status_3(
    call: Call, even: Path, tmp_path: Path
) -> None:
    for path in even.iterdir():
        path.write_text(path.read_text().replace("{", ""))
    ended = call("run", "-i", even, "-o", tmp_path / "out")
    assert ended.status == 3
    first = "gate: block; may one train on accepted/: no why: pane 0 is in quarantine/,"
    assert ended.out.replace("\n", " ").startswith(f"{first} undecided: 61 of 61 records")
    status = call("gate", "status", tmp_path / "out", "--json")
    assert (status.status, status.json["state"], status.json["reading"]["panes"]) == (3, "block", 1)


def test_without_a_document_is_status_3_unless_that_is_allowed(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    run = ["run", "--input", path, "--output", tmp_path / "out", "--quiet"]
    for command in (run, ["measure", path]):
        found = call(*command)
        assert found.status == 3
        assert found.err == "evenflow: the input has no document; --allow-empty accepts that\n"
        assert call(*command, "--allow-empty").status == 0
    assert "0 panes" in call(*run[:-1], "--allow-empty").out


def test_a_wrong_name_of_a_field_ends_a_run_before_anything_is_written(
    call: Call, even: Path, tmp_path: Path
) -> None:
    for command in (["run", "-i", even, "--output", tmp_path / "out"], ["measure", even]):
        found = call(*command, "--set", "fields.text=body")
        assert (found.status, found.out) == (2, "")
        assert "no field 'body' in the first records; there are id, text, n" in found.err
    assert not (tmp_path / "out").exists()


def test_quiet(call: Call, even: Path, tmp_path: Path) -> None:
    for mode in ("measure", "substitute"):
        repair = ("--input", even, "--output", tmp_path / mode, "--repair-mode", mode)
        ended = call("run", "-q", *repair)
        assert (ended.status, ended.out, ended.err) == (0, "", "")
    ended = call("run", *repair)
    off = "\noff for age: no labels show 0.80 by document; off for religion: no labels show\n"
    assert len(ended.out.splitlines()) == 13 and off in ended.out  # one says that it was finished
    assert call("run", *repair, "--json").json["exchanges"][1].startswith(off[1:44])
    refused = call(
        "run", "-q", "--input", even, "--output", tmp_path / "measure", "--set", "pane.rolling=1"
    )
    assert refused.status == 2
    assert "configuration.pane.rolling: 4 -> 1" in refused.err


def test_a_blocked_pane_is_status_3(call: Call, uneven: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    command = [
        *("run", "-i", uneven, "-o", output, "-a", "gender", "--pane-docs", 150),
        *("--set", "pane.rolling=1"),
    ]
    ended = call(*command, "--warn", 0.3, "--block", 0.4)
    assert ended.status == 3, ended.err
    assert "3 panes, 450 documents: 300 accepted, 150 in quarantine" in ended.out
    why = r"gender: lower bound 0\.4\d+ reaches block \(0\.4\)"
    assert re.search(rf"pane 1: block \({why}\)", ended.err)
    for words in (["gate", "status", output], [*command, "--warn", 0.3, "--block", 0.4]):
        status = call(*words)
        assert status.status == 3
        assert re.search(
            rf"gate: block; .*: no why: pane 1 is in .*: {why}", status.out.replace("\n", " ")
        )
    assert call("gate", "status", output, "--json").json["blocked"] == [1]
    assert call("gate", "accept", "--reject", output, "--pane", 1, "--reason", "read").status == 0
    after = call("gate", "status", output)
    assert (after.status, after.out.split(";")[0]) == (0, "gate: open")
    assert "by people: 1 pane confirmed\n" in after.out


def test_halt_says_how_to_go_on_and_that_is_true(call: Call, uneven: Path, tmp_path: Path) -> None:
    output = tmp_path / "out put"
    command = [
        *("run", "-i", uneven, "-o", output, "-a", "gender", "--pane-docs", 150),
        *("--set", "pane.rolling=1"),
        *("--set", "gate.on_block=halt", "--block", 0.45, "-q"),
    ]
    ended = call(*command)
    assert (ended.status, ended.out) == (3, "")
    lines = ended.err.splitlines()
    assert lines[0].startswith(
        "evenflow: stopped before the end of the input: pane 1 is blocked: gender: lower bound"
    )
    assert (
        lines[1] == f"evenflow: pane 1 is {uneven}, record 150 to record 299; it was set aside in"
        f" {output}/quarantine"
    )
    assert lines[2] == f"evenflow: next: evenflow gate why '{output}'"
    assert lines[3] == f"evenflow: then evenflow gate release '{output}' --reason '…'"
    assert call(*command).err == ended.err
    [event] = [json.loads(line) for line in call(*command, "--log-format", "json").err.splitlines()]
    assert (event["event"], event["status"]) == ("held", 3)
    assert "evenflow gate release" in event["message"]
    status = call("gate", "status", output, "--json")
    assert (status.status, status.json["finished"], status.json["panes"]) == (3, False, 2)
    assert "pane 1 is blocked" in status.json["held"]

    assert "a reason was expected" in call("gate", "release", output, "--reason", " ").err
    released = call("gate", "release", output, "--reason", "looked at")
    assert released.status == 0
    assert "after pane 1: looked at" in released.out
    again = call("gate", "release", output, "--reason", "again")
    assert again.status == 2 and "nothing to release" in again.err
    after = call(*command, "--json")
    assert (after.status, after.json["panes"], after.json["finished"], after.json["held"]) == (
        3,
        3,
        True,
        None,
    )


def test_fields_lists_and_panes_from_options(call: Call, tmp_path: Path) -> None:
    words = tmp_path / "colour.yaml"
    words.write_text("attribute: colour\ngroups:\n  red: [scarlet]\n  blue: [azure]\n")
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(json.dumps({"key": f"k{n}", "body": f"scarlet azure {n}"}) + "\n" for n in range(6))
    )
    output = tmp_path / "out"
    options = [
        *("--set", "fields.text=body", "--set", "fields.id=key", "-w", words, "-a", "colour"),
        *("--pane-docs", 4, "--set", "pane.mib=1"),
    ]
    ended = call("run", path, "--output", output, *options, "--json")
    assert ended.status == 0, ended.err
    assert list(ended.json["attributes"]) == ["colour"]
    assert ended.json["panes"] == 2
    table = pq.read_table(sorted((output / "accepted").iterdir())[0])
    assert {"key", "body", "mentions_colour_red", "mentions_colour_blue"} <= set(table.column_names)


def test_a_directory_that_is_no_runs_output(call: Call, even: Path, tmp_path: Path) -> None:
    (tmp_path / "mine" / "staged").mkdir(parents=True)
    (tmp_path / "mine" / "staged" / "precious").write_text("x")
    ended = call("run", "-i", even, "-o", tmp_path / "mine")
    assert ended.status == 2
    assert "it is no run's output" in ended.err.replace("\n", " ")
    assert (tmp_path / "mine" / "staged" / "precious").read_text() == "x"
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["staged"]


@pytest.mark.parametrize("under", ["", "below"])
def test_an_output_that_is_a_file(call: Call, even: Path, tmp_path: Path, under: str) -> None:
    (tmp_path / "file").write_text("x")
    ended = call("run", "-i", even, "-o", tmp_path / "file" / under, "-q")
    assert ended.status == 1
    assert ended.err.startswith(f"evenflow: {tmp_path / 'file' / under}")
    assert ended.err.endswith("a file stands where a directory is needed: give another --output\n")


def test_a_second_run_is_refused(call: Call, even: Path, tmp_path: Path) -> None:
    from evenflow.gates.lock import OutputLock

    with OutputLock(tmp_path / "out"):
        ended = call("run", "-i", even, "-o", tmp_path / "out", "-q")
    assert (ended.status, ended.out) == (1, "")
    assert f"{tmp_path}/out is in use by another run (process {os.getpid()} on " in ended.err
    assert call("run", "-i", even, "-o", tmp_path / "out", "-q").status == 0


def on_a_device(tmp_path: Path, size: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in a mount of its own, $1, of a given size; $2 is the command."""
    device = tmp_path / "device"
    device.mkdir()
    mounted = f'set -e; mount -t tmpfs -o size={size} tmpfs "$1"; set +e; {script}'
    words = ["unshare", "-m", "sh", "-c", mounted, "sh", str(device), COMMAND]
    return subprocess.run(words, capture_output=True, text=True)


@mounting
@pytest.mark.parametrize("workers", [1, 2])
def test_no_space_left(tmp_path: Path, workers: int) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_bytes(gzip.decompress(SPEECHES.read_bytes()))
    run = f'"$2" run -q -i {corpus} -o "$1/out" --pane-docs 20 --workers {workers}'
    ended = on_a_device(
        tmp_path, "800k", f'{run}; a=$?; mount -o remount,size=80m "$1" && {run} >&2; exit $a$?'
    )
    assert ended.returncode == 10, ended.stderr  # 1, and then 0
    lines = [line for line in ended.stderr.splitlines() if line.startswith("evenflow:")]
    assert len(lines) == 1
    assert f"{tmp_path}/device/out" in lines[0]
    assert lines[0].endswith(
        ": No space left on device; make room, then run the same command again to go on"
    )


def as_nobody(log: Path, *words: object) -> tuple[int, str]:
    """Status and standard error of a command in a fork that has no rights.

    The modules that it needs must be imported before.
    """
    from evenflow.pipelines.cli.app import main

    log.touch()
    child = os.fork()
    if not child:
        os.dup2(os.open(log, os.O_WRONLY), 2)
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        sys.stdout = sys.stderr = os.fdopen(2, "w", closefd=False)
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            sys.stderr.flush()
            os._exit(int(end.code or 0))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), log.read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_without_permission(call: Call, even: Path, tmp_path: Path) -> None:
    import evenflow.pipelines.engine.files.driver
    import evenflow.pipelines.pages.report.report  # noqa: F401

    assert call("measure", even).status == 0
    for path in [even, *even.parents]:
        if not path.stat().st_mode & 0o001:
            path.chmod(path.stat().st_mode | 0o011)
    (tmp_path / "out").mkdir(mode=0o755)
    status, err = as_nobody(tmp_path / "log1", "run", "-q", "-i", even, "-o", tmp_path / "out")
    assert (status, err) == (
        1,
        (
            f"evenflow: {tmp_path}/out/accepted: Permission denied; give an --output that you may"
            " write to\n"
        ),
    )
    (even / "0.jsonl").chmod(0)
    status, err = as_nobody(tmp_path / "log2", "measure", even)
    assert (status, err) == (1, f"evenflow: {even}/0.jsonl: cannot be opened: Permission denied\n")


def is_gone(group: int) -> bool:
    """Whether all processes of a group end, within ten seconds."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(("number", "workers"), [(signal.SIGINT, 1), (signal.SIGTERM, 2)])
def test_stopped_by_a_signal_it_goes_on(
    tmp_path: Path, number: signal.Signals, workers: int
) -> None:
    corpus, output = tmp_path / "corpus.jsonl", tmp_path / "out"
    corpus.write_bytes(gzip.decompress(SPEECHES.read_bytes()) * 8)
    words = [
        *(COMMAND, "run", "-i", str(corpus), "-o", str(output), "--pane-docs", "200", "--workers"),
        str(workers),
    ]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until = time.monotonic() + 60
    while not any((output / "staged").glob("*")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    assert out == ""
    assert err.splitlines()[-1] == "evenflow: stopped; run the same command again to go on"
    assert "Traceback" not in err
    assert is_gone(process.pid)
    again = subprocess.run([*words, "--json"], capture_output=True, text=True)
    assert json.loads(again.stdout)["finished"], again.stderr
    assert json.loads(again.stdout)["documents"] > 200


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--runner", "hadoop"), "flink, in-process, or Beam's own options"),
        (("--runner", "flink", "--workers", "2"), "a runner has workers of its own"),
        (("--runner", "flink", "--follow"), "a runner's job ends with its input"),
        (("--pane-seconds", "5"), "it needs --follow"),
        (("--runner=--runner=FnApiRunner",), ""),
    ],
)
def test_runner(call: Call, tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "She met him."}\n')
    words = ("--input", tmp_path / "in.jsonl", "--output", tmp_path / "out", "-q")
    ended = call("run", *words, *options)
    assert ended.status == (2 if said else 0)
    assert said in " ".join(ended.err.replace("│", "").split())


def test_names_of_outputs_may_have_a_colon(
    call: Call, even: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # relative: pyarrow takes such a name for an address
    assert call("run", "-i", even, "-o", "run:1", "-q").status == 0
    assert call("gate", "export", "run:1", "--to", "rows:1").status == 0
    assert call("gate", "export", "run:1", "--ledger", "ledger:1.parquet").status == 0
    assert pq.read_table(tmp_path / "rows:1" / "data").num_rows == 60
    assert pq.read_table(tmp_path / "ledger:1.parquet").num_rows == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "even",
        "ledger:1.parquet",
        "rows:1",
        "run:1",
    ]
