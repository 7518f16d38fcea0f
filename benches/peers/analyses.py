"""How long every analysis of a large study takes, and the report on it.

    python3 analyses.py POINTS_SPEED PROGRAM

TRIALS sets how many trials there are, 4,000,000 unless told otherwise, of 60 models on 12 tasks. Prints the least of
three times, the most memory that was held, and what came out. No other tool answers these questions, so that the
figures stand beside what is wanted.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

MODELS, TASKS = 60, 12
TRIALS = int(os.environ.get("TRIALS", "4000000"))
RUNS = 3
# Two adjacent models of the leaderboard: the comparison that people make.
PAIR = ["maker-3/model-10-instruct", "maker-4/model-11-instruct"]
ANALYSES = [
    "evals", "tasks", "points", "scores", "cluster", "pairwise", "compare", "modes", "projection", "surface", "threshold",
    "similarity", "compression", "hazard", "tokens", "variance",
]  # fmt: skip
WANTED = {"report.html": "under 10 s, 10 MB", "report.md": "under 10 s"}


def measured(command, stored=None):
    """Seconds, peak of memory in MB and bytes printed; a file of stored results is deleted before each run."""
    took, peak, printed = float("inf"), 0.0, 0
    for _ in range(RUNS):
        if stored is not None:
            stored.unlink(missing_ok=True)
        start = time.perf_counter()
        done = subprocess.run(["/usr/bin/time", "-v", *command], check=True, capture_output=True, text=True)
        took = min(took, time.perf_counter() - start)
        peak = max(peak, int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", done.stderr)[1]) / 1e3)
        printed = len(done.stdout.encode())
    return took, peak, printed


def main(speed, program):
    rows = []
    with tempfile.TemporaryDirectory(prefix="analyses-") as folder:
        subprocess.run([speed, "make", folder, str(MODELS), str(TASKS), str(TRIALS)], check=True)
        for analysis in ANALYSES:
            pair = PAIR if analysis == "compare" else []
            command = [program, "--quiet", "--format", "json", "analyze", analysis, folder, *pair]
            if analysis == "scores":
                # The paired tests of all models are stored the first time.
                stored = pathlib.Path(folder) / "points" / ".pairs.json"
                rows.append(("analyze scores", *measured(command, stored), "under 2 s"))
                rows.append(("  with stored tests", *measured(command), "under 2 s"))
                continue
            rows.append((f"analyze {analysis}", *measured(command), "under 2 s"))
        for name, wanted in WANTED.items():
            path = pathlib.Path(folder) / name
            took, peak, _ = measured([program, "--quiet", "report", folder, "-o", str(path)])
            rows.append((f"report, {path.suffix[1:]}", took, peak, path.stat().st_size, wanted))
    print(f"{TRIALS:,} trials of {MODELS} models on {TASKS} tasks, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print(f"{'what':20} {'time':>8} {'memory':>8} {'written':>9}  wanted")
    for what, took, peak, size, wanted in rows:
        print(f"{what:20} {took:>6.2f} s {peak:>5.0f} MB {size / 1e6:>6.2f} MB  {wanted}")


main(*sys.argv[1:])
