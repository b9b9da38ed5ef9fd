"""Partitions report together a time that is no later than what any of them may still give."""

from __future__ import annotations

from evenflow.transforms.kafka.pool import SafeTimes


def test_the_partition_furthest_behind_counts() -> None:
    progress = SafeTimes()
    progress.add("t", [(0, 5), (1, 0)])
    progress.note_question("t", 90)
    progress.begin("t", 0, 40)
    assert progress.safe_time("t", 0, 60) == 0  # partition 1 was not read yet
    progress.begin("t", 1, 50)
    assert progress.safe_time("t", 1, 80) == 40  # what partition 0 gave from 40 on may be under way
    progress.begin("t", 0, 60)
    assert progress.safe_time("t", 1, 80) == 60


def test_new_partitions_may_come_from_the_last_look_on() -> None:
    progress = SafeTimes()
    progress.note_question("t", 30)
    progress.begin("t", 0, 10)
    assert progress.safe_time("t", 0, 50) == 30


def test_what_is_read_to_its_end_holds_nothing_back() -> None:
    progress = SafeTimes()
    progress.add("t", [(0, 0), (1, 0)])
    progress.finish("t", 1)
    assert progress.safe_time("t", 0, 50) == 50


def test_found_again_starts_again() -> None:
    progress = SafeTimes()
    progress.begin("t", 0, 100)
    progress.add("t", [(0, 20)])
    assert progress.safe_time("t", 1, 100) == 20
