"""PointsDB beside DuckDB: the same Parquet files, the same two threads, in the same run.

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


def main(speed, program):
    with tempfile.TemporaryDirectory(prefix="points-") as folder:
        subprocess.run([speed, "make", folder, str(MODELS), str(TASKS), str(TRIALS)], check=True)
        size = sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*.parquet"))
        ours = json.loads(subprocess.run([speed, "time", folder], check=True, capture_output=True).stdout)
        scores = [program, "--quiet", "--format", "json", "analyze", "scores", folder]
        ours["analyze scores, cold"] = seconds(lambda: subprocess.run(scores, check=True, capture_output=True), 3)
        timed = subprocess.run(["/usr/bin/time", "-v", *scores], check=True, capture_output=True, text=True).stderr
        peak = int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", timed)[1]) / 1e3

        database = duckdb.connect()
        database.execute(f"SET threads = {THREADS}")
        counts = """count(*), sum(CASE WHEN status = 1 THEN 1 ELSE 0 END), sum(CASE WHEN status = 2 THEN 1 ELSE 0 END),
            sum(CASE WHEN status <> 2 THEN guess ELSE 0 END)"""
        trials = f"read_parquet('{folder}/trials/*/*/*.parquet', hive_partitioning = false)"
        ask = lambda keys: seconds(
            lambda: database.execute(f"SELECT {keys}, {counts} FROM {trials} GROUP BY {keys}").fetchall()
        )
        by, five = ask("model, base_task"), ask("model, template, sampler, base_task, params")

    print(f"{TRIALS:,} trials of {MODELS} models on {TASKS} tasks, {size / 1e6:.0f} MB of Parquet, {THREADS} threads,")
    print(f"DuckDB {duckdb.__version__}, load {os.getloadavg()[0]:.1f}; `analyze scores` needs {peak:.0f} MB\n")
    print(f"{'what':32} {'ours':>9} {'DuckDB':>9} {'DuckDB/ours':>12}")
    for name, peer in [
        ("aggregate by model and task", by),
        ("aggregate by all five", five),
        ("sql by model and task", by),
        ("sql by all five", five),
    ]:
        print(f"{name:32} {shown(ours[name]):>9} {shown(peer):>9} {peer / ours[name]:>11.2f}x")
    for name in ["open", "analyze scores, cold"]:
        print(f"{name:32} {shown(ours[name]):>9}")


main(*sys.argv[1:])
