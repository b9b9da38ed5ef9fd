"""What a board costs: python board_load.py [GATES] [PANES] [VIEWERS] [SECONDS] (50 10000 20 60).

Prints memory, CPU and delays of `evenflow gate board` while each gate commits a pane every ten
seconds and viewers hold a page open: half look at all gates, half at one gate each. A viewer does
what the page's script does: it waits for events, and then fetches the page, once a second at most.

The gates' ledgers are copies of one, by hard links. CPU is that of the board's process alone.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

EVERY = 10.0  # seconds between two panes of a gate
LEAST = 1.0  # seconds between two fetches of a viewer


def linked(source: Path, target: Path) -> Path:
    """A copy of an output, by hard links: the files are never changed."""
    shutil.copytree(source, target, copy_function=os.link)
    return target


async def fetch(port: int, path: str) -> tuple[float, int]:
    """Seconds until a page is there whole, and its bytes."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    writer.write(request.encode())
    body = await reader.read()
    writer.close()
    assert body.startswith(b"HTTP/1.1 200"), body[:200]
    return time.perf_counter() - began, len(body)


async def view(port: int, path: str, events: str, out: list[tuple[float, float]]) -> None:
    """Hold a page open; notes when it was up to date, and how long the fetch took."""
    await fetch(port, path)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {events} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    last = 0.0
    try:
        while line := await reader.readline():
            if not line.startswith(b"data: "):
                continue
            await asyncio.sleep(max(0.0, last + LEAST - time.monotonic()))
            last = time.monotonic()
            took, _ = await fetch(port, path)
            out.append((time.time(), took))
    finally:
        writer.close()


async def commits(roots: list[Path], panes: int, until: float) -> list[tuple[int, float]]:
    """Commit panes by turns; of each the gate's number and the time."""
    import board_ledgers

    out: list[tuple[int, float]] = []
    number = panes
    while time.monotonic() < until:
        for place, root in enumerate(roots):
            await asyncio.to_thread(board_ledgers.commit, root, number)
            out.append((place, time.time()))
            await asyncio.sleep(EVERY / len(roots))
        number += 1
    return out


def spent(process: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int, key: str) -> float:
    """VmRSS or VmHWM in MiB."""
    line = next(
        one
        for one in Path(f"/proc/{process}/status").read_text().splitlines()
        if one.startswith(key)
    )
    return int(line.split()[1]) / 1024


async def load(roots: list[Path], panes: int, viewers: int, seconds: float) -> None:
    """Start a board, look at it, and print the table."""
    code = "import sys; from evenflow.pipelines.cli.app import main; main(sys.argv[1:])"
    words = ["gate", "board", *map(str, roots), "--port", "0"]
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split(b":")[-1].strip().rstrip(b"/"))
        print(f"start, until it listens {time.perf_counter() - began:16.2f} s")
        gate = f"/gate/{roots[0].name}"
        first, _ = await fetch(port, gate)
        print(f"a gate's page, right after the start {first * 1000:8.0f} ms")
        await fetch(port, "/")
        print(f"until all gates were read {time.perf_counter() - began:14.2f} s")
        await asyncio.sleep(3)
        for name, path in (
            ("all gates", "/"),
            ("a gate's page, first time", f"/gate/{roots[-1].name}"),
            ("the same page again", f"/gate/{roots[-1].name}"),
            ("1,000 panes", f"/gate/{roots[-1].name}?last=1000"),
            ("all panes", f"/gate/{roots[-1].name}?last=all"),
        ):
            used = spent(process.pid)
            took, size = await fetch(port, path)
            used = spent(process.pid) - used
            print(
                f"{name:28} {took * 1000:6.0f} ms, {used * 1000:4.0f} ms of CPU,"
                f" {size / 1000:4.0f} kB"
            )
        print(f"memory before viewers {memory(process.pid, 'VmRSS'):19.0f} MiB")
        seen: list[list[tuple[float, float]]] = [[] for _ in range(viewers)]
        gates = [place % len(roots) for place in range(viewers)]
        tasks = [
            asyncio.create_task(
                view(port, "/", "/events", out)
                if place % 2
                else view(
                    port,
                    f"/gate/{roots[gates[place]].name}",
                    f"/events?gate={roots[gates[place]].name}",
                    out,
                )
            )
            for place, out in enumerate(seen)
        ]
        await asyncio.sleep(2)
        used, start = spent(process.pid), time.monotonic()
        done = await commits(roots, panes, start + seconds)
        wall = time.monotonic() - start
        used = spent(process.pid) - used
        await asyncio.sleep(2)
        for task in tasks:
            task.cancel()
        delays = sorted(
            shown
            for place, moment in done
            for viewer in range(0, viewers, 2)
            if gates[viewer] == place
            for shown in [min((at - moment for at, _ in seen[viewer] if at > moment), default=99.0)]
        )
        fetches = sorted(took for out in seen for _, took in out)
        print(f"{len(done)} panes committed in {wall:.0f} s, {len(fetches)} pages fetched")
        print(f"CPU {used / wall:37.2f} cores")
        print(f"memory, most {memory(process.pid, 'VmHWM'):28.0f} MiB")
        for name, values in (("from a commit to the page", delays), ("a fetch", fetches)):
            middle, high = values[len(values) // 2], values[int(len(values) * 0.95)]
            print(
                f"{name:28} {middle * 1000:6.0f} ms median {high * 1000:6.0f} ms 95 %"
                f" {values[-1] * 1000:6.0f} ms most, n {len(values)}"
            )
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Print the table."""
    import board_ledgers

    given = [int(word) for word in sys.argv[1:]]
    gates, panes, viewers, seconds = (*given, *(50, 10_000, 20, 60)[len(given) :])
    with tempfile.TemporaryDirectory() as folder:
        first = board_ledgers.long(Path(folder) / "gate-0", panes)
        others = [linked(first, Path(folder) / f"gate-{place}") for place in range(1, gates)]
        print(f"{gates} gates of {panes:,} panes, {viewers} viewers")
        asyncio.run(load([first, *others], panes, viewers, float(seconds)))


if __name__ == "__main__":
    main()
