"""PointsDB compared with DuckDB: the same Parquet files, the same two threads, in the same run.

TRIALS sets how many trials there are, 10,000,000 unless told otherwise, of 60 models on 12 tasks.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb

from report import seconds, shown

MODELS, TASKS = 60, 12
TRIALS = int(os.environ.get("TRIALS", "10000000"))
THREADS = os.cpu_count()


def peak_mb(report):
    """Peak memory of a command, by `time -v`."""
    return int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", report)[1]) / 1e3


# Typical queries, in SQL that both engines accept.
QUESTIONS = {
    "outcome counts by model and task": """SELECT model, base_task, count(*),
        count(*) FILTER (WHERE status = 1), count(*) FILTER (WHERE status = 2), sum(guess) FILTER (WHERE status <> 2)
        FROM {trials} GROUP BY model, base_task""",
    "outcome counts by all five": """SELECT model, template, sampler, base_task, params, count(*),
        count(*) FILTER (WHERE status = 1), count(*) FILTER (WHERE status = 2), sum(guess) FILTER (WHERE status <> 2)
        FROM {trials} GROUP BY model, template, sampler, base_task, params""",
    "tokens, by model and outcome": """SELECT model, status, count(*), avg(completion_tokens), max(completion_tokens)
        FROM {trials} GROUP BY model, status""",
    "one model's points": """SELECT params, count(*), avg(completion_tokens) FROM {trials}
        WHERE model = 'maker-3/model-31-instruct' GROUP BY params""",
    "most frequent incorrect answers": """SELECT answer, count(*) FROM {trials} WHERE status = 0
        GROUP BY answer ORDER BY count(*) DESC, answer LIMIT 10""",
    "median tokens, by task": """SELECT base_task, median(completion_tokens) FROM {trials} GROUP BY base_task""",
}


def main(speed, program):
    with tempfile.TemporaryDirectory(prefix="points-") as folder:
        subprocess.run([speed, "make", folder, str(MODELS), str(TASKS), str(TRIALS)], check=True)
        size = sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*.parquet"))
        asked = [question.format(trials="trials") for question in QUESTIONS.values()]
        timed = subprocess.run(["/usr/bin/time", "-v", speed, "time", folder, *asked], check=True, capture_output=True, text=True)
        ours, query_peak = json.loads(timed.stdout), peak_mb(timed.stderr)
        scores = [program, "--quiet", "--format", "json", "analyze", "scores", folder]
        ours["analyze scores, cold"] = seconds(lambda: subprocess.run(scores, check=True, capture_output=True), 3)
        timed = subprocess.run(["/usr/bin/time", "-v", *scores], check=True, capture_output=True, text=True)
        scores_peak = peak_mb(timed.stderr)

        database = duckdb.connect()
        database.execute(f"SET threads = {THREADS}")
        trials = f"read_parquet('{folder}/trials/*/*/*.parquet', hive_partitioning = false)"
        ask = lambda question: seconds(lambda: database.execute(question.format(trials=trials)).fetchall())
        peers = {name: ask(question) for name, question in QUESTIONS.items()}

    print(f"{TRIALS:,} trials of {MODELS} models on {TASKS} tasks, {size / 1e6:.0f} MB of Parquet, {THREADS} threads,")
    print(f"DuckDB {duckdb.__version__}, load {os.getloadavg()[0]:.1f}; all of it in {query_peak:.0f} MB, `analyze scores` in {scores_peak:.0f} MB\n")
    print(f"{'what':34} {'ours':>9} {'DuckDB':>9} {'DuckDB/ours':>12}")
    names = list(QUESTIONS)
    rows = [("aggregate by model and task", names[0], None), ("aggregate by all five", names[1], None)]
    rows += [(f"sql: {name}", name, QUESTIONS[name].format(trials="trials")) for name in names]
    for what, peer, question in rows:
        mine = ours[question or what]
        print(f"{what:34} {shown(mine):>9} {shown(peers[peer]):>9} {peers[peer] / mine:>11.2f}x")
    for name in ["open", "analyze scores, cold"]:
        print(f"{name:34} {shown(ours[name]):>9}")


main(*sys.argv[1:])
