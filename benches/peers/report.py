"""Timing of a peer, reading of criterion's figures, and the table that sets them side by side."""

import json
import pathlib
import time


def seconds(work, repeats=5):
    """The least time of `work`, after one run to warm up: whatever else the machine does only ever adds to it."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def ours(criterion, name):
    """The least time of a criterion benchmark, in seconds; `name` is its folder."""
    sample = json.loads((pathlib.Path(criterion) / name / "new" / "sample.json").read_text())
    return min(time / runs for time, runs in zip(sample["times"], sample["iters"])) / 1e9


def shown(duration):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if duration >= scale:
            return f"{duration / scale:.3g} {unit}"
    return f"{duration / 1e-9:.3g} ns"


def table(rows):
    """Rows of (what, our seconds, peer's name, its seconds, wanted ratio or None)."""
    lines = [("what", "ours", "peer", "its time", "ratio", "wanted")]
    for what, mine, peer, theirs, wanted in rows:
        wanted = "" if wanted is None else f"{wanted:g}x"
        lines.append((what, shown(mine), peer, shown(theirs), f"{theirs / mine:.1f}x", wanted))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
