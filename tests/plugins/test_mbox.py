"""The example of a reader, installed as a package of others is, and run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plugin_packages import conforms, evenflow
from put_out import letters, rows

PLAIN = (
    "From jane@example.org Thu Jan  1 00:00:00 1970\n"
    "Message-ID: <{0}@example.org>\nSubject: News\n\n"
    "He met his father.\n>From there they left.\n\n"
)
HTML = (
    "From joe@example.org Thu Jan  1 00:00:00 1970\n"
    "Message-ID: <h{0}@example.org>\nContent-Type: text/html\n\n<p>She</p>\n\n"
)
TESTS = '''
from evenflow.testing import ReaderTests

MAIL = b"""From a@b.c Thu Jan  1 00:00:00 1970
Message-ID: <1@b.c>
Subject: =?utf-8?q?Caf=C3=A9?=
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

She met him at a caf=C3=A9.
>From there they left.

From a@b.c Thu Jan  1 00:00:01 1970
Date: Thu, 01 Jan 1970 00:00:01 +0000
Content-Type: text/html

<p>She</p>

"""


class TestMail(ReaderTests):
    reader = "mbox"
    examples = {
        MAIL: [
            {
                "id": "<1@b.c>",
                "text": "She met him at a café.\\nFrom there they left.\\n\\n",
                "subject": "Café",
                "date": None,
            },
            {"id": None, "text": None, "subject": None, "date": "Thu, 01 Jan 1970 00:00:01 +0000"},
        ],
        b"": [],
    }
'''


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    folder = tmp_path / "mail"
    folder.mkdir()
    for name in ("a", "b"):
        letters = [PLAIN.format(f"{name}{n}") for n in range(50)]
        (folder / f"{name}.mbox").write_text("".join([*letters, HTML.format(name)]))
    (folder / "notes.txt").write_text("She came.")
    return folder


def test_its_conformance_tests_pass(installed: Path, tmp_path: Path) -> None:
    assert " passed" in conforms(TESTS, installed, tmp_path)


def test_a_run_reads_it_the_same_for_any_cut(installed: Path, mail: Path, tmp_path: Path) -> None:
    found = []
    for number, options in enumerate((["--pane-docs", "200"], ["--pane-docs", "17"])):
        output = tmp_path / f"out{number}"
        run = ["run", "-i", f"{mail}/*.mbox", "-o", output, *options, "-a", "gender"]
        done = evenflow(installed, *run, "--set", "gate.block=1", "--set", "gate.most_dead=1")
        assert done.returncode == 0, done.stderr + done.stdout
        found.append(rows(output))
        assert {row["subject"] for row in found[-1]} == {"News"}
        meta = json.loads((output / "ledger" / "meta.json").read_text())
        [epoch] = meta["epochs"]
        assert epoch["program"]["plug-in mbox"].startswith("evenflow-mbox 0.1.0 ")
        assert [(Path(each["file"]).name, each["ordinal"]) for each in letters(output)] == [
            ("a.mbox", 50),
            ("b.mbox", 50),
        ]
    assert found[0] == found[1]
    assert len(found[0]) == 100
    assert found[0][0]["text"].endswith("\nFrom there they left.\n\n")


def test_a_folder_is_not_asked_for_it(installed: Path, mail: Path) -> None:
    done = evenflow(installed, "measure", mail, "--json")
    assert json.loads(done.stdout)["documents"] == 1


def test_a_file_that_it_fails_on_is_a_dead_letter(installed: Path, mail: Path) -> None:
    (mail / "c.mbox").write_text("nothing of a mailbox")
    done = evenflow(installed, "measure", f"{mail}/*.mbox", "--json")
    assert json.loads(done.stdout)["documents"] == 100
    (mail / "a.mbox").unlink()
    (mail / "b.mbox").unlink()
    run = evenflow(installed, "run", "-i", f"{mail}/*.mbox", "-o", mail / "out")
    assert run.returncode != 0
    [letters] = (mail / "out" / "dead-letter").glob("*.jsonl")
    reason = json.loads(letters.read_text())["reason"]
    assert reason.endswith("plug-in 'mbox' failed: ValueError")


def test_without_the_package_nothing_matches(mail: Path, tmp_path: Path) -> None:
    done = evenflow(tmp_path, "measure", f"{mail}/*.mbox")
    assert done.returncode == 2
    assert "no file matches" in done.stderr
