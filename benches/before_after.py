#!/usr/bin/env python3
"""Alternates two builds of the program on the same work to find what a change made slower.

    python3 benches/before_after.py OLD NEW [run evaluate points open metrics analyses import]

OLD and NEW are folders with release builds of `reasonscape` and `points_speed`. They alternate on each piece of work, RUNS times
(default 5); the minimum counts, because other load can only add time. A ratio above 1 means
that the new build is slower. `run` sends COUNT requests per point (default 24) to one simulated model; `open` opens a study of TRIALS
trials (default 10,000,000), which each build has written itself, since their formats may differ.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers"))

RUNS = int(os.environ.get("RUNS", "5"))
MODEL, COUNT = "sim-truncating", int(os.environ.get("COUNT", "24"))
TRIALS = int(os.environ.get("TRIALS", "10000000"))
ANALYSES = ["scores", "pairwise", "points", "compression", "hazard", "tokens", "similarity"]
# What earlier versions call an analysis.
FORMER = {"similarity": "cluster"}


def timed(command):
    began = time.perf_counter()
    done = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"error: {command} failed: {done.stderr.decode()[-2000:]}")
    return time.perf_counter() - began


def compare(what, commands, time_of=timed, requests=None):
    """Commands of the old and of the new build, each a function of the number of the turn."""
    least = [float("inf"), float("inf")]
    for turn in range(RUNS):
        for which in (0, 1) if turn % 2 else (1, 0):
            least[which] = min(least[which], time_of(commands[which](turn)))
    line = f"{what:24} {least[0]:8.3f} s {least[1]:8.3f} s {least[1] / least[0]:8.3f}"
    if requests is not None:
        line += "".join(f"  {requests() / seconds:,.0f}/s" for seconds in least)
    print(line, flush=True)


def open_seconds(command):
    """How long `points_speed time` needed to open the study."""
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["open"]


def opening(programs, root):
    folders = [root / f"open-{which}" for which in (0, 1)]
    for program, folder in zip(programs, folders):
        timed([program / "points_speed", "make", folder, "60", "12", str(TRIALS)])
    commands = [lambda turn, which=which: [programs[which] / "points_speed", "time", folders[which]] for which in (0, 1)]
    compare(f"open {TRIALS:,} trials", commands, open_seconds)


def study(folder, url):
    folder.mkdir(parents=True, exist_ok=True)
    text = f'suite = "r12"\ncount = {COUNT}\n[[eval]]\nmodel = "{MODEL}"\nbase_url = "{url}"\nconcurrency = 64\n'
    (folder / "study.toml").write_text(text)
    return folder


def answered(url):
    """Requests that the simulator has answered."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as reply:
        return json.load(reply)["answered"]


def run_and_evaluate(programs, root, names):
    command = [programs[1] / "reasonscape", "simulate", "--port", "0", "--suite", "r12", "--count", str(COUNT)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = server.stdout.readline().strip()
        folder = lambda which, turn: study(root / f"run-{which}-{turn}", url)
        if "run" in names:
            compare("run", [
                lambda turn, which=which: [programs[which] / "reasonscape", "--quiet", "run", "--no-evaluate", folder(which, turn)]
                for which in (0, 1)
            ], requests=lambda: answered(url) / (2 * RUNS))
            compare("run, all cached", [
                lambda turn, which=which: [programs[which] / "reasonscape", "--quiet", "run", "--no-evaluate", folder(which, 0)]
                for which in (0, 1)
            ])
        if "evaluate" in names:
            for which in (0, 1):
                timed([programs[which] / "reasonscape", "--quiet", "run", "--no-evaluate", folder(which, 0)])
            compare("evaluate --force", [
                lambda turn, which=which: [programs[which] / "reasonscape", "--quiet", "evaluate", "--force", folder(which, 0)]
                for which in (0, 1)
            ])
    finally:
        server.terminate()
        server.wait()


def points_and_analyses(programs, root, names):
    folder = root / "points"
    timed([programs[0] / "points_speed", "make", folder, "60", "12", "2000000"])
    program = lambda which: programs[which] / "reasonscape"
    if "points" in names:
        question = "SELECT model, base_task, count(*), avg(completion_tokens) FROM trials GROUP BY model, base_task"
        compare("sql over 2M trials", [lambda turn, which=which: [program(which), "sql", folder, question] for which in (0, 1)])
    if "analyses" in names:
        for name in ANALYSES:
            def command(which, name=name):
                name = name if which else FORMER.get(name, name)
                return lambda turn: [program(which), "--quiet", "--format", "json", "analyze", name, folder]
            compare(f"analyze {name}", [command(0), command(1)])
        report = lambda which: lambda turn: [program(which), "--quiet", "report", folder, "-o", root / f"report-{which}.html"]
        compare("report", [report(0), report(1)])


def metrics(programs, root):
    os.environ.setdefault("ROWS", "200000")
    import metrics as peer

    path = root / "answers.jsonl"
    peer.write(path)
    command = lambda which: lambda turn: [programs[which] / "reasonscape", "--quiet", "metrics", path, "--format", "json"]
    compare("metrics, 200k answers", [command(0), command(1)])


def imports(programs, root):
    peer = __import__("import")
    log = root / "large.eval"
    peer.make(log, 20_000)
    command = lambda which: lambda turn: [
        programs[which] / "reasonscape", "--quiet", "import", "inspect", log, "--into", root / f"imported-{which}-{turn}",
    ]
    compare("import, 20k samples", [command(0), command(1)])


def main(old, new, *names):
    programs = [pathlib.Path(old).resolve(), pathlib.Path(new).resolve()]
    names = names or ("run", "evaluate", "points", "open", "metrics", "analyses", "import")
    with tempfile.TemporaryDirectory(prefix="before-after-") as folder:
        root = pathlib.Path(folder)
        print(f"least of {RUNS}, load {os.getloadavg()[0]:.1f}\n\n{'what':24} {'old':>10} {'new':>10} {'new/old':>8}")
        if "run" in names or "evaluate" in names:
            run_and_evaluate(programs, root, names)
        if "points" in names or "analyses" in names:
            points_and_analyses(programs, root, names)
        if "open" in names:
            opening(programs, root)
        if "metrics" in names:
            metrics(programs, root)
        if "import" in names:
            imports(programs, root)


if __name__ == "__main__":
    main(*sys.argv[1:])
