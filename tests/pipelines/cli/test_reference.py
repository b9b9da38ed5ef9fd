"""`evenflow init`, references, and runs that are judged by what they wrote."""

import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commands import Call

from evenflow import accepted
from evenflow.gates.ledger.files import parse_entry
from evenflow.gates.ledger.history import History
from evenflow.pipelines.lab.train.rows import select
from evenflow.transforms.measures.shift.measure import read
from evenflow.transforms.storage.storage import at

pytest_plugins = ["commands"]
WOMEN, MEN = "She met her mother. The woman smiled.", "He met his father. The man smiled."


def corpus(path: Path, documents: int, seed: int, lost_from: int | None = None) -> Path:
    """Documents of two sources that name women in 30 and 60 %; of b none from a number on."""
    rng, lines = random.Random(seed), list[str]()
    for number in range(documents):
        source, share = ("a", 0.3) if rng.random() < 0.5 else ("b", 0.6)
        if source == "b" and lost_from is not None and number >= lost_from:
            share = 0.0
        text = WOMEN if rng.random() < share else MEN
        lines.append(json.dumps({"id": str(number), "source": source, "text": text}))
    path.write_text("\n".join(lines) + "\n")
    return path


def entries(output: Path) -> list[dict]:
    """The ledger's entries, in order."""
    return [json.loads(each.read_bytes()) for each in sorted((output / "ledger").glob("0*.json"))]


def test_init_writes_a_reference_and_a_shifted_source_is_set_aside(
    call: Call, tmp_path: Path
) -> None:
    old = corpus(tmp_path / "old.jsonl", 1200, 1)
    config = tmp_path / "gate.yaml"
    assert call("init", old, "--output", config).status == 0
    text = config.read_text()
    assert "each source was, by source" in text and "file: gate.reference.json" in text
    assert "0 with a warning, 0 blocked" in " ".join(text.replace("#", "").split())
    assert set(read(str(tmp_path / "gate.reference.json")).strata) == {"a", "b"}

    new = corpus(tmp_path / "new.jsonl", 1200, 2)
    done = call("run", "-i", new, "-o", tmp_path / "good", "--config", config)
    assert done.status == 0
    assert {each["verdict"]["state"] for each in entries(tmp_path / "good")} == {"open"}
    assert "moved" not in done.out

    bad = corpus(tmp_path / "bad.jsonl", 1200, 3, lost_from=600)
    output = tmp_path / "out"
    done = call("run", "-i", bad, "-o", output, "--config", config)
    assert done.status == 0
    found = entries(output)
    gone = sum(each["set_aside"]["rows"] for each in found if each["set_aside"])
    assert "gate: warn; may" in done.out and f", without {gone} of 1,200 documents (b)" in done.out
    assert "set aside: b: gender: " in done.out
    assert f"{gone} documents of " in done.out and "not judged" not in done.out
    first = next(at for at, each in enumerate(found) if each["measures"]["shift"]["aside"])
    assert 600 // (1200 // len(found)) <= first <= 600 // (1200 // len(found)) + 3
    assert all(each["measures"]["shift"]["aside"] in ([], ["b"]) for each in found)
    lost = [each["measures"]["shift"]["off"].get("b", {}).get("gender") for each in found[first:]]
    assert all(each["low"] > each["shift"] / 2 for each in lost)  # though no woman is left
    moved = pq.read_table(next((output / "quarantine").glob("*-aside.parquet")))
    assert set(moved["source"].to_pylist()) == {"b"}
    assert "shift" in moved["reason"].to_pylist()[0]
    assert {each["extra"] for each in found} == {0}
    kept = pq.read_table(output / "accepted" / found[-1]["shards"][0]["name"])
    assert set(kept["source"].to_pylist()) == {"a"}
    last = parse_entry(json.dumps(found[-1]).encode(), "entry")
    assert last.attributes["gender"].sums.documents == last.documents == kept.num_rows
    assert call("gate", "verify", output, "--files").status == 0

    why = call("gate", "why", output, "--json").json
    [own], [line] = why["attributes"].values(), why["output"]
    assert line.startswith("set aside: b: gender: ") and f"{gone} documents of" in line
    assert own["source"] == "b" and {each["group"] for each in own["labels"]} == {"male"}
    name = found[-1]["set_aside"]["name"]
    moved = pq.read_table(output / "quarantine" / name)["id"].to_pylist()
    assert {each["id"] for each in own["documents"]} <= {*moved}
    assert [each["mentions"] for each in own["groups"]] == [0, 4 * len(moved)]

    accept = ["gate", "accept", output, "--reason", "right", "--pane"]
    done = call(*accept, f"{first}..")
    assert f"of these, {gone} documents that were set aside count from now on" in done.out
    rows = accepted(str(output))
    assert len(rows) == 1200 and "reason" not in rows.schema.names
    written = map(json.loads, bad.read_text().splitlines())
    assert {row["id"]: row["source"] for row in rows} == {
        row["id"]: row["source"] for row in written
    }
    assert sum(shard.rows for _, shard in select(output).shards) == 1200
    totals = History(at(output)).totals
    assert (totals.accepted, totals.aside, totals.documents) == (1200, 0, 1200)
    status = call("gate", "status", output).out
    assert "in quarantine/" not in status and "but look at" not in status
    why = call("gate", "why", output, "--pane", first).out
    assert " accepted " in why.split("\naccepted by ")[1] and "next: " not in why
    assert call("gate", "verify", output, "--files").status == 0
    call(*accept, f"{first}..", "--undo")
    assert len(accepted(str(output))) == 1200 - gone
    call("gate", "verify", output, "--prune", "0d", "--what", "quarantine", "--delete")
    done = call(*accept, f"{first}")
    assert done.status == 2 and "were pruned" in done.err


def test_a_reference_of_an_output_takes_new_sources_in(call: Call, tmp_path: Path) -> None:
    old = corpus(tmp_path / "old.jsonl", 800, 1)
    keys = ["--set", "reference.by=source", "--pane-docs", "50", "-q"]
    done = call("run", "-i", old, "-o", tmp_path / "out", *keys[:-1])
    assert done.status == 0
    assert "sources are compared with their own first panes" in done.out
    file = tmp_path / "r.json"
    words = ["init", tmp_path / "out", "--reference", file]
    file.write_text("of the user")
    made = call(*words, "--force")
    assert (made.status, file.read_text()) == (2, "of the user")
    file.unlink()
    made = call(*words)
    assert made.status == 0 and "2 sources" in made.out
    assert read(str(file)).by == "source"  # as the run had it
    assert call(*words).status == 2
    extra = tmp_path / "extra.jsonl"
    extra.write_text(old.read_text().replace('"source": "a"', '"source": "c"'))
    added = ["init", extra, "--reference", file, "--add"]
    before = read(str(file)).strata["b"]
    other = call(*added, "--by", "id")
    assert other.status == 2 and "by source, those to add by id" in other.err
    assert call(*added).status == 0
    assert set(read(str(file)).strata) == {"a", "b", "c"}
    assert read(str(file)).strata["b"] == before


def test_the_parts_of_a_data_set_are_one_source(call: Call, tmp_path: Path) -> None:
    for number in range(3):
        path = corpus(tmp_path / f"posts-{number:04d}.jsonl", 100, number)
        path.write_text(path.read_text().replace('"source"', '"part"'))
    assert call("init", tmp_path, "--reference", tmp_path / "r.json").status == 0
    assert list(read(str(tmp_path / "r.json")).strata) == ["posts"]


def test_the_field_of_the_sources_is_the_reference_s(call: Call, tmp_path: Path) -> None:
    old, file = corpus(tmp_path / "old.jsonl", 800, 1), tmp_path / "r.json"
    assert call("init", old, "--by", "source", "--reference", file).status == 0
    words = ["run", "-i", old, "-o", tmp_path / "out", "--set", f"reference.file={file}"]
    done = call(*words, "--set", "reference.by=id")
    assert done.status == 2 and "reference.by says id" in done.err
    assert call(*words).status == 0
    assert entries(tmp_path / "out")[0]["measures"]["shift"]["strata"].keys() == {"a", "b"}
    again = call(*words, "--set", "reference.by=source")
    assert again.status == 0, again.err  # the same settings


@pytest.mark.parametrize("key", ["reference.file=missing.json", "gate.shift.block=2"])
def test_a_wrong_reference_ends_a_run_before_it_begins(
    call: Call, tmp_path: Path, key: str
) -> None:
    old = corpus(tmp_path / "old.jsonl", 10, 1)
    done = call("run", "-i", old, "-o", tmp_path / "out", "--set", key)
    assert done.status in (1, 2)
    assert "unexpected" not in done.err
    assert not (tmp_path / "out" / "accepted").exists() or not entries(tmp_path / "out")


def test_the_end_of_a_run_names_a_source_that_moved_though_nothing_was_blocked(
    call: Call,
    tmp_path: Path,
) -> None:
    old, new = corpus(tmp_path / "old.jsonl", 120, 1), corpus(tmp_path / "new.jsonl", 120, 2, 60)
    for path in (old, new):
        path.write_text(path.read_text().replace('"source"', '"the source"'))
    reference = tmp_path / "reference.json"
    written = call("init", old, "--by", "the source", "--reference", reference)
    assert written.status == 0
    words = ("run", "-i", new, "-o", tmp_path / "out", "--attribute", "gender")
    done = call(*words, "--set", f"reference.file={reference}", "--json")
    assert done.status == 0
    [moved] = done.json["measures"]["shift"]["moved"]
    status = call("gate", "status", tmp_path / "out")
    first, *_ = status.out.splitlines()
    assert first.startswith("gate: warn; may one train on accepted/: yes, but look at b: female ")
    assert status.status == 0 and "next: evenflow gate why" in status.out
    assert (why := call("gate", "why", tmp_path / "out").out).startswith(
        "moved, not set aside: b: "
    )
    assert "compare GOOD NEW --by 'the source'" in why and "documents that weigh most" not in why
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert first == f"gate: warn; {report['train']['said']}"
    assert moved["now"] < moved["was"] and moved["low"] < moved["high"] < 0
