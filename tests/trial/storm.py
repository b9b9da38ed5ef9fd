"""A steady stream through the gate on Flink and an S3 server, to which something happens again and
again: python tests/trial/storm.py OUTPUT [--minutes 60] [--mb-per-second 5] [--seed 0]
[--times CreateTime]

Two TaskManagers with a pool of workers each, a gate and one that stands by. Every 20 to 60 s a seed
draws what happens next: see `events`. A gate that has ended is started again, as a service
manager does. In the end a run reads the rest, and an undisturbed run reads the topic into a folder.
What is judged: each record of the topic, as a consumer of committed records sees it, is in one
place; the ledger agrees with the files; accepted, quarantine and dead letters are those of the
undisturbed run, byte for byte; where no pane came for a minute, an alert fired. OUTPUT gets
result.json and samples.json. The exit status is 1 where one of these does not hold; then
the folders are kept.
Needs `make kafka flink versitygw prometheus`; a clock is moved where libfaketime is installed
(Debian's package of this name).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from kept_folders import kept_where_it_fails
from trial.alerts import untold
from trial.events import EVENTS, PANE_SECONDS, TIMES, Storm, faketime
from trial.steady import Ledger, Writer, slope

LOOK_SECONDS = 2.0
LONGEST_SECONDS = 600.0  # for the gates to read on after the last fault


class Watch:
    """Takes samples while time passes. clock: seconds since 1970 of its start."""

    def __init__(self, storm: Storm, writer: Writer):
        self._storm, self._writer, self._ledger = storm, writer, Ledger(storm.there)
        self._began, self.clock = time.monotonic(), time.time()
        self.samples: list[dict[str, float]] = []

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    def look(self) -> dict[str, float]:
        """Take a sample, and start gates that have ended."""
        self._storm.revive()
        self._ledger.read(PANE_SECONDS)
        behind = self._writer.documents - self._ledger.documents
        panes = float(len(self._ledger.panes))
        sample = {"seconds": self.now, "behind": float(behind), "panes": panes}
        self.samples.append(sample | {"load": os.getloadavg()[0]} | self._storm.sample())
        return sample

    def wait(self, until: Callable[[dict[str, float]], bool]) -> bool:
        """Sample until something holds of a sample; whether it did within LONGEST_SECONDS."""
        began = self.now
        while not until(self.look()):
            if self.now - began > LONGEST_SECONDS:
                return False
            time.sleep(LOOK_SECONDS)
        return True


def storm(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Have things happen for some minutes; what is reported."""
    drawn = random.Random(options.seed)
    place, events = Storm(folder, drawn, options.times), list[dict[str, Any]]()
    known = [kind for kind in EVENTS if faketime() or kind is not Storm.clock_moved]
    coming: list[Any] = []
    with place.running():
        writer = place.writer(options.mb_per_second * 1e6)
        watch = Watch(place, writer)
        writer.start()
        watch.wait(lambda sample: sample["panes"] > 0)
        end = watch.now + options.minutes * 60
        while watch.now < end:
            coming = coming or drawn.sample(known, len(known))  # each once before one comes again
            kind = coming.pop()
            event: dict[str, Any] = {"what": kind.__name__, "at": round(watch.now, 1)}
            lasts = kind(place)
            until = watch.now + next(lasts)
            watch.wait(lambda sample, until=until: sample["seconds"] >= until)
            next(lasts, None)
            over, panes = watch.now, watch.samples[-1]["panes"]
            watch.wait(lambda sample, panes=panes: sample["panes"] > panes)
            event["pane after, s"] = round(watch.now - over, 1)
            events.append(event)
            print(json.dumps(event), flush=True)
            calm = min(over + drawn.uniform(20, 60), end)
            watch.wait(lambda sample, calm=calm: sample["seconds"] >= calm)
        writer.stopping.set()
        writer.join(LONGEST_SECONDS)
        rate = writer.documents / watch.now
        watch.wait(lambda sample: sample["behind"] <= 0)
        fired = place.alerts.fired(watch.clock)
        (options.output / "samples.json").write_text(json.dumps(watch.samples))
        place.end()
        place.to_end(place.output)
        place.to_end(folder / "whole")
        judged = place.judged(folder / "whole")
    missed = untold(watch.samples, fired)
    for event, after in zip(events, [*events[1:], {"at": watch.now}], strict=True):
        during = {each.alert for each in fired if each.touches(event["at"], after["at"])}
        event["alerts"] = sorted(during)
    columns = {name: [sample[name] for sample in watch.samples] for name in watch.samples[0]}
    hours = [second / 3600 for second in columns.pop("seconds")]
    behind, panes, load = (columns.pop(name) for name in ("behind", "panes", "load"))
    return {
        **vars(options) | {"output": str(options.output)},
        "load, median": statistics.median(load),
        "documents": writer.documents,
        "gates started": place.starts,
        "panes": panes[-1],
        "behind, s, most": round(max(behind) / rate, 1),
        "MiB, most; MiB an hour [95 %]": {
            name: [round(max(mib)), *(round(x, 1) for x in slope(hours, mib))]
            for name, mib in columns.items()
        },
        "events": events,
        "alerts": [vars(each) for each in fired],
        "stops without an alert": missed,
        "judged": judged | {"alerts tell of each stop": not missed},
    }


def main() -> None:
    """Run the trial; see above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--mb-per-second", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--times", choices=TIMES, default=TIMES[0])
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with kept_where_it_fails() as folder:
        result = storm(options, folder)
        text = json.dumps(result, indent=2)
        (options.output / "result.json").write_text(f"{text}\n")
        print(text)
        if not all(result["judged"].values()):
            sys.exit(1)


if __name__ == "__main__":
    main()
