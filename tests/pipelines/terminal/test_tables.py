import pytest

from evenflow.pipelines.terminal import tables


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # what is no terminal gets 80 nevertheless


def score(
    dr: float | None, low: float | None = None, high: float | None = None
) -> dict[str, object]:
    return {"dr": dr, "low": low, "high": high}


def test_a_gate(capsys: pytest.CaptureFixture[str]) -> None:
    attribute = {
        "verdict": {"state": "warn"},
        "rolling": score(0.25, 0.2, 0.3),
        "cumulative": score(0.3333),
        "panes": {"too few": 4, "open": 1, "warn": 2, "block": 0},
    }
    attribute |= {"dr_before": None, "accepted": score(0.2, 0.1, 0.3), "hardly_named": None}
    status = {
        "state": "block",
        "reason": "age: [bold]why\x1b[0m",
        "finished": False,
        "held": None,
        "panes": 3,
        "blocked_panes": 1,
        "blocked": [2],
        "reviewed": {"accepted": 0, "rejected": 1},
        "reading": {"panes": 1, "reason": "2 [b]dead[/b] letters"},
        "asking": {"panes": 0, "reason": None, "questions": 18, "fallbacks": 17},
        "documents": 12345,
        "accepted": 12000,
        "quarantined": 345,
        "dead_reasons": {"not JSON": 2},
        "removed": {"documents": 0, "panes": 0},
        "extra": {"documents": 0, "fields": {}},
        "bias_score": None,
        "weights": None,
        "attributes": {
            "gender": attribute,
            "age": attribute | {"cumulative": score(None), "hardly_named": "middle: few"},
        },
    }
    tables.gate(status)
    out = capsys.readouterr().out
    assert out.startswith(
        "Too little could be read of 1 pane, which is in quarantine: 2 [b]dead[/b] \nletters\n"
    )
    assert "blocked: 2; `evenflow gate why` says why\n" in out
    assert "against the gate: 0 panes accepted, 1 pane rejected by people\n" in out
    assert "gender: cumulative DR 0.2000 0.100–0.300 of accepted/\n" in out
    assert (
        "18 questions to the language model, 17 answered by the embedded one in its place\n" in out
    )
    assert "gate: block (age: [bold]why\\u001b[0m; the run is not finished)\n" in out
    assert (
        "3 panes, 12,345 documents: 12,000 accepted, 345 in quarantine\n" in out
        and "2 dead letters: not JSON\n" in out
    )
    row = " gender     warn  0.2500   0.200–0.300  0.3333        4     1     2      0 \n"
    assert row in out
    assert "no mention" in out and "age: middle: few\n" in out
    assert max(map(len, out.splitlines())) <= 80
    repaired = {"gender": attribute | {"dr_before": 0.4}, "age": attribute}
    tables.gate(status | {"attributes": repaired})
    out = capsys.readouterr().out
    assert "gender: cumulative DR 0.4000 before repair, 0.2000 0.100–0.300 of accepted/\n" in out
    assert "age: cumulative DR 0.2000 0.100–0.300 of accepted/\n" in out
    tables.gate(status | {"held": "held by Ada at noon: tea", "attributes": {}})
    assert (
        "(age: [bold]why\\u001b[0m; held: held by Ada at noon: tea)"
        in capsys.readouterr().out.replace(" \n", " ")
    )
    tables.gate(status | {"held": "pane 2 is blocked: age: [bold]why\x1b[0m", "attributes": {}})
    assert "(age: [bold]why\\u001b[0m; held)" in capsys.readouterr().out


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
    assert "│ gender    │ female │    1,000 │ 25.0% │  50.0% │ 0.2500     │ 0.200–0.300 │" in out
    assert "no mention" in out
    assert (
        "gender: not yet; DR is known to ±0.02 after about 120,000 documents that name it\n" in out
    )
    assert "age:" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_words_of_a_source_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    tables.lists(
        [
            {"name": "a", "default": True, "groups": {"b": 1}}
            | {"source": "[red]x[/nope] :smile: \x1b[31m"}
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
