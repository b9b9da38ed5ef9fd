"""Partitions report together a time that is no later than what any of them may still give."""

from __future__ import annotations

from evenflow.transforms.kafka.pool import SafeTimes


def test_the_partition_furthest_behind_counts() -> None:
    progress = SafeTimes()
    progress.found("t", [(0, 5), (1, 0)])
    progress.watched("t", 90)
    progress.began("t", 0, 40)
    assert progress.behind("t", 0, 60) == 0  # partition 1 was not read yet
    progress.began("t", 1, 50)
    assert progress.behind("t", 1, 80) == 40  # what partition 0 gave from 40 on may be under way
    progress.began("t", 0, 60)
    assert progress.behind("t", 1, 80) == 60


def test_new_partitions_may_come_from_the_last_look_on() -> None:
    progress = SafeTimes()
    progress.watched("t", 30)
    progress.began("t", 0, 10)
    assert progress.behind("t", 0, 50) == 30


def test_what_is_read_to_its_end_holds_nothing_back() -> None:
    progress = SafeTimes()
    progress.found("t", [(0, 0), (1, 0)])
    progress.done("t", 1)
    assert progress.behind("t", 0, 50) == 50


def test_found_again_starts_again() -> None:
    progress = SafeTimes()
    progress.began("t", 0, 100)
    progress.found("t", [(0, 20)])
    assert progress.behind("t", 1, 100) == 20
