import pytest

from evenflow.gates.facts import Facts
from evenflow.pipelines.terminal import tables


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # what is no terminal gets 80 nevertheless


def score(
    dr: float | None, low: float | None = None, high: float | None = None
) -> dict[str, object]:
    return {"dr": dr, "low": low, "high": high, "corrected": dr, "mentions": 9, "documents": 9}


def test_a_gate(capsys: pytest.CaptureFixture[str]) -> None:
    attribute = {
        "verdict": {"state": "warn", "reason": ""},
        "groups": [],
        "rolling": score(0.25, 0.2, 0.3),
        "cumulative": score(0.3333),
        "stream": {"state": None, "rolling": None},
        "panes": {"not_judged": 4, "open": 1, "warn": 2, "block": 0},
    }
    attribute |= {"dr_before": None, "accepted": score(0.2, 0.1, 0.3), "hardly_named": None}
    why = "age: [bold]why\x1b[0m"
    train = {
        "may": False,
        "said": "may one train on accepted/: no",
        "word": "block",
        "why": why,
        "next": "a 'b'",
    }
    status = {
        "state": "block",
        "reason": why,
        "train": train,
        "finished": True,
        "held": None,
        "blocked_panes": 1,
        "blocked": [2],
        "panes": 3,
        "reviewed": {"accepted": 0, "rejected": 1, "confirmed": 0},
        "reading": {"panes": 1, "reason": "2 [b]dead[/b] letters"},
        "asking": {"panes": 0, "reason": None, "questions": 18, "fallbacks": 17},
        "documents": 12345,
        "accepted": 12000,
        "quarantined": 345,
        "dead_letters": 2,
        "dead_reasons": {"not JSON": 2},
        "removed": {"documents": 1, "panes": 1},
        "extra": {"documents": 0, "fields": {}},
        "attributes": {
            "gender": attribute | {"dr_before": 0.4},
            "age": attribute | {"rolling": score(None), "hardly_named": "middle: few"},
        },
    }
    tables.gate(Facts.model_validate(status), "out dir")
    out = capsys.readouterr().out
    assert out.startswith("gate: block; may one train on accepted/: no\nwhy: age: [bold]why\\u001b")
    rows = [line.split() for line in out.splitlines() if line.startswith(("gender  ", "  rolling"))]
    assert rows[:2] == [
        ["gender", "0.333", "warn", "4", "1", "2", "0"],
        ["rolling,", "judged", "0.250", "0.200–0.300"],
    ]
    assert out.split("12,000 accepted, 345 in quarantine\n")[1].splitlines() == [
        "by people: 1 pane rejected",
        "2 dead letters: not JSON 2",
        "too little could be read of 1 pane: 2 [b]dead[/b] letters",
        "18 questions to the language model, 17 answered by the embedded one",
        "1 document of 1 pane set aside, so that the rest is accepted (gate.scope: documents)",
        "gender: cumulative DR 0.400 before repair",
        "age: middle: few",
        "next: a 'b'",
    ]
    assert "no mention" in out
    train |= {"why": 99 * "a long reason; "}
    tables.gate(Facts.model_validate(status), "out", ["more"], tables.MOST)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == tables.MOST - 1  # the last one is the report
    assert (
        lines[2].endswith("…")
        and "no mention" not in "".join(lines)
        and lines[-2:]
        == [
            "more: evenflow gate status out",
            "next: a 'b'",
        ]
    )
    assert max(map(len, lines)) <= 80


def test_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    gender = score(0.25, 0.2, 0.3) | {
        "counts": {"female": 1000, "male": 3000},
        "shares": {"female": 0.25, "male": 0.75},
        "target": {"female": 0.5, "male": 0.5},
        "convergence": {"epsilon": 0.02, "documents": None, "projected": 123456},
    }
    age = score(None) | {
        "counts": {"young": 0, "old": 0},
        "shares": {"young": None, "old": None},
        "target": None,
        "convergence": {"epsilon": 0.02, "documents": None, "projected": None},
    }
    tables.measured(
        {"documents": 1, "text_bytes": 1e6, "attributes": {"gender": gender, "age": age}}
    )
    out = capsys.readouterr().out
    assert "1 document, 1.0 MB of text" in out
    assert "│ gender    │ female │    1,000 │ 25.0% │  50.0% │ 0.250      │ 0.200–0.300 │" in out
    assert "no mention" in out
    assert "gender: DR known to ±0.02: not yet; needs about 120,000 documents that name it\n" in out
    assert "age:" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_words_of_a_source_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    tables.lists(
        [
            {"name": "a", "default": True, "groups": {"b": 1}}
            | {"name": "[red]x[/nope] :smile: \x1b[31m"}
        ]
    )
    assert "[red]x[/nope] :smile: \\u001b[31m" in capsys.readouterr().out


def test_names_of_groups_are_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    counts = dict.fromkeys(("farming_and_fishing", "science_and_technology"), 1234)
    each = {"counts": counts, "shares": dict.fromkeys(counts, 0.5), "target": None}
    each |= score(0.1234, 0.1, 0.2) | {"convergence": {"documents": 1, "epsilon": 0.02}}
    profession = {"documents": 1, "text_bytes": 1, "attributes": {"profession": each}}
    tables.measured(profession)
    out = capsys.readouterr().out
    assert all(name in out for name in counts) and "1 document," in out
    assert max(map(len, out.splitlines())) <= 80
