"""`evaluate` compared with Python's own gzip of the same texts, which is most of its work.

A study of simulated models is answered once; then it is evaluated again and again with nothing sent. Every text is
compressed at level 9 to be weighed, by the same zlib that Python has, so that what Python needs for that alone can be
taken off to see how fast the rest is: reading the cache, finding and checking the answer, writing Parquet.

COUNT sets the tests at each of the suite's 1,035 points, 40 unless told otherwise.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import zlib

COUNT = int(os.environ.get("COUNT", "40"))
RUNS = 3
# A model with long reasoning traces.
MODEL = os.environ.get("MODEL", "sim-truncating")
# Goal, in MB of text per second on two cores.
WANTED = 150


def evaluate(program, folder):
    """Seconds by the clock and of processor time."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([program, "--quiet", "evaluate", "--force", folder], check=True, capture_output=True)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def texts(program, folder):
    """The compressed text: the reasoning, or the complete reply where there is none."""
    exported = subprocess.run([program, "cache", "export", folder], check=True, capture_output=True, text=True)
    for line in exported.stdout.splitlines():
        line = json.loads(line)
        if "kind" in line:
            continue
        message = line["response"]["choices"][0]["message"]
        yield (message.get("reasoning_content") or message["content"]).encode()


def gzip_size(text):
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return len(compressor.compress(text)) + len(compressor.flush()) + 18


def main(program):
    program = pathlib.Path(program).resolve()
    with tempfile.TemporaryDirectory(prefix="evaluate-") as root:
        server = subprocess.Popen(
            [program, "simulate", "--port", "0", "--suite", "r12", "--count", str(COUNT)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        try:
            url = server.stdout.readline().strip()
            pathlib.Path(root, "study.toml").write_text(
                f'suite = "r12"\ncount = {COUNT}\n[[eval]]\nmodel = "{MODEL}"\nbase_url = "{url}"\n'
            )
            subprocess.run([program, "--quiet", "run", "--no-evaluate", root], check=True, capture_output=True)
        finally:
            server.terminate()
            server.wait()
        took, processor = min(evaluate(program, root) for _ in range(RUNS))
        weighed = list(texts(program, root))

    began = time.process_time()
    for text in weighed:
        gzip_size(text)
    gzip_s = time.process_time() - began
    size = sum(map(len, weighed)) / 1e6
    cores = os.cpu_count()
    rest = processor - gzip_s
    print(f"{len(weighed):,} replies, {size:.1f} MB of text, {cores} cores, load {os.getloadavg()[0]:.1f}\n")
    print(f"evaluate with gzip          {took:6.2f} s  {size / took:6.0f} MB/s  {processor:6.2f} s of processor time")
    print(f"Python's zlib, one core     {gzip_s:6.2f} s  {size / gzip_s:6.0f} MB/s")
    print(f"evaluate before gzip        {rest / cores:6.2f} s  {size * cores / rest:6.0f} MB/s on {cores} cores; {WANTED} goal")
    print(f"Python's gzip alone, spread over all cores, would take {gzip_s / cores:.2f} s: {took / (gzip_s / cores):.2f}x of it is our whole time")


main(*sys.argv[1:])
