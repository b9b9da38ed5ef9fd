"""Verdicts against a reference."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pane_entries import pane_entry

from evenflow.gates.ledger.files import entry_bytes
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import Config
from evenflow.transforms.measures.measure import MeasureTotals
from evenflow.transforms.measures.shift.measure import (
    ALL,
    Shift,
    ShiftMeasure,
    ShiftReferenceError,
    block_from,
    given,
    read,
    wandering,
)
from evenflow.transforms.measures.shift.reference import FROZEN_CHUNKS, Reference, of_counts
from evenflow.transforms.measures.shift.strata import by_stratum

CONFIG = Config.model_validate(
    {"attributes": {"gender": {}}, "gate": {"shift": {"warn": 0.01, "block": 0.02}}}
)
LISTS = CONFIG.word_lists()
GROUPS = list(LISTS[0].groups)


def drawn(rng: np.random.Generator, documents: int, share: float, rate: float = 6) -> np.ndarray:
    """Mentions of women and men in documents."""
    sizes = rng.poisson(rate, documents)
    first = rng.binomial(sizes, share)
    return np.stack([first, sizes - first], axis=1)


class Gate:
    """A gate with a reference of two sources, of which women have 30 and 60 %."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(7)
        own = [drawn(self.rng, 1500, 0.3), drawn(self.rng, 1500, 0.6)]
        strata = of_counts(["a"] * 1500 + ["b"] * 1500, {"gender": np.concatenate(own)})
        self.reference = Reference(groups={"gender": GROUPS}, strata=strata)
        self.totals: MeasureTotals | None = None
        self.measure = ShiftMeasure()

    def pane(self, **sources: tuple[int, float] | tuple[int, float, float]) -> Shift:
        """Judge a pane of so many documents of a source, with the share of women and the rate."""
        return self.judged(**{name: drawn(self.rng, n, *o) for name, (n, *o) in sources.items()})

    def refer(self, counts: np.ndarray) -> None:
        """Have a reference of one source."""
        strata = of_counts(["a"] * len(counts), {"gender": counts})
        self.reference = Reference(groups={"gender": GROUPS}, strata=strata)

    def judged(self, **sources: np.ndarray) -> Shift:
        """Judge a pane of sources' documents."""
        counted: dict[str, Any] = {}
        for name, counts in sources.items():
            counted |= by_stratum([name] * len(counts), {"gender": counts})
        found = self.measure.judge(CONFIG, LISTS, counted, self.totals, self.reference)
        self.totals = self.measure.added(self.totals, found, True, 0)
        return found


def test_a_change_of_the_mix_is_no_shift() -> None:
    gate = Gate()
    for _ in range(10):
        assert gate.pane(a=(70, 0.3), b=(30, 0.6)).verdict.state == "open"
    for _ in range(10):
        found = gate.pane(a=(20, 0.3), b=(80, 0.6))
        assert found.verdict.state == "open"
        assert found.attributes["gender"].shift < 0.05


def test_the_expected_shares_are_those_of_the_pane_s_own_sources() -> None:
    found = Gate().pane(a=(500, 0.3), b=(500, 0.6))
    each = found.attributes["gender"]
    assert each.expected == pytest.approx([0.45, 0.55], abs=0.02)
    assert each.low is not None and each.high is not None
    assert each.low <= each.shift <= each.high
    assert each.ratio == pytest.approx(1, abs=0.05)


def test_the_source_that_shifted_is_blocked_and_no_other() -> None:
    gate = Gate()
    gate.pane(a=(100, 0.3), b=(100, 0.6))
    found = [gate.pane(a=(100, 0.3), b=(100, 0.3)) for _ in range(3)]
    assert set(found[-1].off) == {"b"}
    assert found[-1].blocked() == ["b"]
    reason = found[-1].verdict.reason
    assert reason.startswith("b: gender: ") and "block from 0.02" in reason


def test_small_losses_add_up_over_panes() -> None:
    states = [gate.pane(a=(100, 0.23)).verdict.state for gate in [Gate()] for _ in range(40)]
    assert states[0] != "block" and states[-1] == "block"


def test_a_source_that_has_recovered_is_let_through() -> None:
    gate = Gate()
    bad = [gate.pane(a=(100, 0.1)).verdict.state for _ in range(20)]
    good = [gate.pane(a=(100, 0.3)).verdict.state for _ in range(12)]
    assert bad[-1] == "block"
    assert set(good[2:]) == {"open"}


def test_words_of_all_groups_that_are_lost_are_seen() -> None:
    gate = Gate()
    gate.pane(a=(100, 0.3), b=(100, 0.6))
    found = [gate.pane(a=(100, 0.3), b=(100, 0.6, 1.5)) for _ in range(3)][-1]
    assert found.blocked() == ["b"]
    assert "mentions in" in found.verdict.reason


def of_length(rng: np.random.Generator, documents: int, kept: float = 1) -> np.ndarray:
    """Documents of very different length: the long ones are on women, the short ones on men."""
    short, long = drawn(rng, documents, 0.25, 3 * kept), drawn(rng, documents, 0.95, 35 * kept)
    return np.where(rng.random((documents, 1)) < 0.1, long, short)


def test_chance_that_leaves_out_all_long_documents_or_has_one_is_no_shift() -> None:
    (gate := Gate()).refer(of_length(np.random.default_rng(7), 500))
    assert not gate.judged(a=drawn(gate.rng, 60, 0.25, 3)).blocked()
    found = Gate().judged(a=np.concatenate([[[400, 600]], [[2, 4]] * 49]))
    assert found.attributes["gender"].ratio > 4 and not found.blocked()


def test_lost_words_of_documents_of_very_different_length_are_seen_in_three_panes() -> None:
    (gate := Gate()).refer(of_length(np.random.default_rng(7), 1000))
    assert not any(gate.judged(a=of_length(gate.rng, 40)).blocked() for _ in range(20))
    assert [gate.judged(a=of_length(gate.rng, 40, 0.25)) for _ in range(3)][-1].blocked()


def test_a_stream_that_comes_again_is_no_surer_than_its_reference() -> None:
    (gate := Gate()).refer(np.array([[2, 4], [3, 3], [0, 6], [4, 2], [3, 3]] * 40))
    other = np.array([[3, 3], [3, 3], [1, 5], [4, 2], [3, 3]] * 20 + [[6, 0]] * 2)
    found = [gate.judged(a=other) for _ in range(40)]
    assert {each.verdict.state for each in found} == {"open"}
    assert found[-1].attributes["gender"].shift > 0.07


def test_a_source_that_is_new_or_too_small_in_the_reference_is_learnt_and_then_judged() -> None:
    (gate := Gate()).refer(drawn(np.random.default_rng(3), 8, 0.9))
    found = [gate.pane(a=(30, 0.3), c=(30, 0.9)) for _ in range(FROZEN_CHUNKS + 8)]
    assert found[FROZEN_CHUNKS - 2].learning == {"a": 30, "c": 30} and not found[-1].learning
    assert {each.verdict.state for each in found} == {"not_judged", "open"}
    later = [gate.pane(a=(100, 0.7), c=(100, 0.5)) for _ in range(3)]
    assert sorted(later[-1].blocked()) == ["a", "c"]


def test_all_sources_together_show_what_none_shows_alone() -> None:
    gate = Gate()
    found = [gate.pane(a=(12, 0.15), b=(12, 0.45)) for _ in range(12)]
    assert ALL in found[-1].off or len(found[-1].off) == 2


def test_what_was_set_aside_and_what_is_new_is_named_at_the_end() -> None:
    gate = Gate()
    bad: Shift | None = None
    for _ in range(4):
        before = gate.totals
        bad = gate.pane(a=(100, 0.3), b=(40, 0.1), new=(5, 0.5))
        if bad.blocked():
            families = {each.name: each.values for each in gate.measure.families(gate.totals)}
            assert families["shifted_sources"] == {("warn",): 0, ("block",): 1}
            bad.set_aside(bad.blocked())
            gate.totals = gate.measure.added(before, bad, True, 0)
    assert gate.totals is not None and bad is not None
    assert bad.verdict.state == "warn" and bad.verdict.reason.startswith("set aside: b: gender: ")
    aside = gate.totals.sums["aside"]["b"]
    assert aside["documents"] == 40 * aside["panes"] >= 80
    # What b was in earlier panes is no reason to block a
    assert gate.pane(a=(100, 0.3)).verdict.state == "open"
    section = gate.measure.section(gate.totals, 0, 0)
    assert gate.measure.lines(section) == [
        f"set aside: {aside['reason']}; {aside['documents']} documents of {aside['panes']} panes in"
        " quarantine/*-aside.parquet",
        "not judged yet, new or too small: new",
    ]


def test_what_is_off_in_the_last_pane_is_said() -> None:
    gate = Gate()
    found = [gate.pane(b=(100, 0.3)) for _ in range(3)][-1]
    assert gate.totals is not None
    section = gate.measure.section(gate.totals, 0, 0)
    assert "b: female 60% → 30%" in gate.measure.lines(section)[0]
    groups = [{"group": name} for name in ("female", "male")]
    table = gate.measure.table(section, {"gender": {"groups": groups}})
    assert table is not None and len(table.rows) == len(groups) * len(
        section["attributes"] | found.off
    )
    assert {row[:3] + row[6:] for row in table.rows} >= {("b", "gender", "female", "block")}


def test_totals_survive_json() -> None:
    gate = Gate()
    for _ in range(5):
        gate.pane(a=(100, 0.3), c=(50, 0.5))
    totals = gate.totals
    assert totals is not None
    older = {key: totals.sums[key] for key in ("known", "buckets")}
    read = gate.measure.totals(totals.last, older)
    assert (read.sums["fresh"], read.sums["aside"]) == ({}, {})
    stored = Totals(measures={"shift": totals})
    assert Totals.model_validate(stored.model_dump(mode="json")) == stored


def test_a_record_is_short_in_the_ledger_and_older_ones_are_read() -> None:
    gate = Gate()
    record = gate.pane(a=(100, 0.3), b=(40, 0.6))
    written = record.model_dump(mode="json")
    assert written["strata"]["a"][0] == 100 and len(written["strata"]["a"]) == 2
    assert Shift.model_validate(written) == record
    older = written | {"strata": {"a": [3, {"gender": [1, 2, 0, 4, 0, 0]}], "b": [2, {}]}}
    strata = {"a": (3, {"gender": [1, 2, 0, 4, 0, 0]}), "b": (2, {})}
    assert Shift.model_validate(older).strata == strata


def test_many_sources_are_words_and_an_entry_of_256_has_at_most_40_kb() -> None:
    config, rng = Config(), np.random.default_rng(1)
    lists = config.word_lists()
    names = [f"source-{number:03d}.example.org" for number in range(256)]
    weights = rng.pareto(1.2, 256) + 0.1
    who = rng.choice(256, 37_830, p=weights / weights.sum())
    counts = {
        each.attribute: rng.negative_binomial(1, 1 / (1 + rate), (len(who), len(each.groups)))
        for each, rate in zip(lists, (3, 0.5, 0.2), strict=True)
    }
    counted = by_stratum([names[each] for each in who], counts)
    record = ShiftMeasure().judge(config, lists, counted, None)
    assert record is not None and len(record.strata) == 256
    written = record.model_dump(mode="json")
    assert written["learning"] == {} and Shift.model_validate(written) == record
    entry = pane_entry(0)
    entry.measures["shift"] = record
    assert len(entry_bytes(entry)) < 40_000
    for wrong in ("", "1 a,b", "1 a,b -zzzz,1 1", "?", "1 2 3 4 5"):
        with pytest.raises(ValueError, match=r"strata|packed|literal|unpack|longer|shorter"):
            Shift.model_validate(written | {"strata": {"a": wrong}})


def test_a_loss_of_whole_documents_shows_in_the_documents_that_a_group_leads() -> None:
    gate = Gate()

    def uneven(documents: int) -> np.ndarray:
        """Documents of which few have most of the mentions."""
        times = 1 + gate.rng.pareto(1, documents).astype(int) % 100
        return drawn(gate.rng, documents, 0.4) * times[:, None]

    gate.refer(uneven(800))
    records: list[Shift] = []
    for _ in range(15):
        counts = uneven(200)
        stays = (2 * counts[:, 0] <= counts.sum(axis=1)) | (gate.rng.random(200) < 0.5)
        records.append(gate.judged(a=counts[stays]))
    found = records[-1]
    assert found.blocked() == ["a"]
    assert found.off["a"]["gender"].of == "documents"
    assert "female leads" in found.verdict.reason and "of documents" in found.verdict.reason


def test_a_reference_and_panes_of_an_older_output_are_judged_by_mentions_alone() -> None:
    gate = Gate()
    older = {
        name: {
            "gender": own["gender"].model_copy(
                update={"sums": own["gender"].sums[:6], "between": own["gender"].between[:3]}
            )
        }
        for name, own in gate.reference.strata.items()
    }
    new, gate.reference = gate.reference, Reference(groups=gate.reference.groups, strata=older)
    assert [gate.pane(a=(100, 0.1)) for _ in range(3)][-1].off["a"]["gender"].of == "mentions"
    assert gate.totals is not None
    for bucket in gate.totals.sums["buckets"]:
        bucket.strata["a"][1]["gender"] = bucket.strata["a"][1]["gender"][:6]
    gate.reference = new
    assert gate.pane(a=(100, 0.3)).strata["a"][0] == 100
    assert [gate.pane(a=(100, 0.3)) for _ in range(12)][-1].verdict.state == "open"


def test_a_source_that_wanders_is_named() -> None:
    rng = np.random.default_rng(0)
    still = drawn(rng, 1600, 0.4)
    wide = np.concatenate([drawn(rng, 400, share) for share in (0.3, 0.7, 0.3, 0.7)])
    strata = of_counts(["a"] * 1600 + ["b"] * 1600, {"gender": np.concatenate([still, wide])})
    (found,) = wandering(Reference(groups={"gender": GROUPS}, strata=strata))
    assert found.startswith("b: gender wanders by ± 0.2") and "of about 100 documents" in found
    assert "is not seen; name a finer field with --by" in found


def test_nothing_is_blocked_unless_a_reference_or_a_limit_is_given() -> None:
    file, limit = {"reference": {"file": "r.json"}}, {"gate": {"shift": {"block": 0.3}}}
    for settings, block in (({}, None), (file, 0.02), (limit, 0.3), (file | limit, 0.3)):
        assert block_from(Config.model_validate(settings)) == block


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[" * 100_000,
        "{}x",
        '{"version": 2}',
        '{"strata": {"a": {"gender": {"documents": 1' + "0" * 400 + "}}}}",
        '{"strata": {"a": {"gender": {"documents": -1}}}}',
        '{"groups": {"gender": ["x", "y"]}, "strata": {"a": {"gender": {"documents": 1, "chunks":'
        ' 1, "squares": 1, "crossed": 1, "sums": [1, 1, 0], "between": [1, 0, 0]}}}}',
        '{"made": "' + "x" * 2000 + '"}',
        '{"unknown": 1}',
    ],
)
def test_what_is_no_reference_is_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(ShiftReferenceError, match="no reference that this version can read"):
        read(str(path))


def test_a_reference_knows_its_field_and_another_or_other_groups_are_refused(
    tmp_path: Path,
) -> None:
    path, config = tmp_path / "r.json", CONFIG.model_copy(deep=True)
    path.write_text(Reference(by="source", groups={"gender": GROUPS}).model_dump_json())
    ShiftMeasure().look(config, print)
    assert config.reference.by is None
    config.reference.file = str(path)
    ShiftMeasure().look(config, print)
    assert config.reference.by == "source"
    path.write_text(Reference(groups={"gender": ["x", "y"]}).model_dump_json())
    with pytest.raises(ShiftReferenceError, match=r"by file, reference\.by says source"):
        given(config, LISTS)
    config.reference.by = None
    with pytest.raises(ShiftReferenceError, match="the groups of gender are x, y"):
        given(config, LISTS)


def test_a_source_that_hardly_named_anybody_is_off_once_its_documents_do_until_they_stop() -> None:
    gate = Gate()
    gate.refer(drawn(gate.rng, 300, 0.5, 0.01))
    assert not any(gate.pane(a=(10, 0.5, 0.01)).off for _ in range(5))
    found = [gate.pane(a=(10, 0.5, 2)) for _ in range(2)][-1]
    assert found.blocked() == ["a"] and found.learning == {}
    assert "documents name a group where 0 were expected, block from 1.43" in found.verdict.reason
    assert not [gate.pane(a=(10, 0.5, 0.01)) for _ in range(5)][-1].off
