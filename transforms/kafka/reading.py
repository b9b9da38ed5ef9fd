"""Reads one partition from a start on, in panes.

What is guaranteed, and by what:

1. A partition is read in order. Every offset from the start on belongs to exactly one block or
   `Lost`.
2. A block's records are of one partition and one pane. A record's effective time is the greatest of
   its own timestamp, that of the record before it, and the partition's clock. So a partition's time
   never runs backwards, and nothing is late.
3. The clock of a partition is the effective time of its last record. When the broker has said that
   there is no more, it follows the machine's clock at a distance of QUIET_SECONDS. While the broker
   does not answer, and as long again for its producers to come back, it stands still.
4. Panes do not depend on the sizes of polls and blocks, and given the offsets and points of a
   ledger reading goes on there with the same panes. There is one exception: in a partition that was
   quiet, records that come later than the clock allows go into a later pane than if they had come
   in time. Even then, each record is in exactly one pane.
5. Offsets that the broker no longer has, or whose batch is too large (`batches`), are put out as
   `Lost`, with the range. A topic that is gone, refused or made anew is an error. Nothing is
   skipped in silence. Records of aborted transactions do not count as records.
6. Offsets are never committed here. The owner of the ledger commits them after the pane's entry
   (see offsets.py).
"""

from __future__ import annotations

import time

from evenflow.transforms.kafka.batches import BatchTooLargeError
from evenflow.transforms.kafka.blocks import Item, Lost, blocks
from evenflow.transforms.kafka.client import AGAIN_SECONDS, PartitionReader
from evenflow.transforms.kafka.errors import BeyondEndError, OutOfRangeError
from evenflow.transforms.kafka.panes import END, PaneCutter, PaneId, Start

WAIT_SECONDS = 0.05  # how long to wait for data that the broker is known to have
# Seconds until a quiet partition is read again, longer each time; its fetch goes on meanwhile
DELAYS = (0.05, 0.1, 0.2, 0.4)
# How much later than its timestamp a record may arrive, because producers gather records before
# they send them
QUIET_SECONDS = 1.0


class PartitionReading:
    """Reads one partition; not thread-safe.

    Args:
        stop: The offset at which it ends; None: it has no end.
        cutter: Cuts records into panes.

    Attributes:
        due: When to read again, on the monotonic clock in seconds.
    """

    def __init__(self, reader: PartitionReader, start: Start, stop: int | None, cutter: PaneCutter):
        self._reader, self._stop, self._cutter = reader, stop, cutter
        self.at, self.point = start.offset, start.point
        self.due = 0.0
        self._quiet = 0

    @property
    def ended(self) -> bool:
        """Whether all is read."""
        return self._stop is not None and self.at >= self._stop

    @property
    def passed(self) -> PaneId:
        """The pane that the next record is in, unless it is in a later one."""
        return END if self.ended else self.point.pane

    def read(self) -> list[Item]:
        """Read what is there.

        Returns:
            Blocks of records, and ranges of lost offsets, in order; none where nothing is there.

        Raises:
            KafkaSourceError: Reading cannot go on.
        """
        if self.ended:
            return []
        items, after = self._next()
        if items:
            self._quiet = 0
            self.at, self.point = items[-1].next, items[-1].end
        if self._stop is not None and after == self._stop:  # the last offsets have no records
            self.at = self._stop
        elif not items:
            self.due = time.monotonic() + self._rest(after)
        return items

    def close(self) -> None:
        """Close the connection."""
        self._reader.close()

    def _next(self) -> tuple[list[Item], int]:
        """Read up to the stop; return the items and the offset after them."""
        reader, at, stop, point = self._reader, self.at, self._stop, self.point
        end = reader.known_end()
        try:
            records, after = reader.read(
                at, WAIT_SECONDS if stop is not None or end is None or end > at else 0.0
            )
        except (OutOfRangeError, BatchTooLargeError) as error:
            large = isinstance(error, BatchTooLargeError)
            gone = min(error.next, error.next if stop is None else stop)
            lost = Lost(
                reader.topic, reader.partition, point.pane, at, gone, point.time, point, large
            )
            return ([lost], gone) if gone > at else ([], at)
        if stop is not None and after > stop:
            records, after = [record for record in records if record.offset < stop], stop
        now = int(time.time() * 1000)
        return list(blocks(records, at, after, point, self._cutter, now)), after

    def _rest(self, after: int) -> float:
        """Decide how many seconds to wait for a partition that gave nothing.

        Its point follows the clock if the partition is quiet.
        """
        answer = self._reader.end()
        if answer is None:
            return AGAIN_SECONDS
        asked, end = answer
        if end > after:
            return 0.0
        if self._stop is not None:
            raise BeyondEndError(
                f"{self._reader.name} ended at {self._stop} and ends at {end} now: was the topic"
                " deleted and made anew?"
            )
        self._quiet += 1
        self.point = self._cutter.advance(self.point, int((asked - QUIET_SECONDS) * 1000))
        return DELAYS[min(self._quiet, len(DELAYS)) - 1]
