"""How fast a large log of Inspect is imported, and in how much memory.

    python import.py PROGRAM [SAMPLES]

Makes an `.eval` file of 200,000 samples (unless told otherwise), each with the events that make up most of a real one,
imports it three times, and prints seconds, megabytes of JSON a second, and the peak of memory. Members are deflated,
which every zipfile module writes; with `zipfile-zstd` installed they are compressed as Inspect does.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

try:
    import zipfile_zstd  # noqa: F401

    METHOD = zipfile.ZIP_ZSTANDARD
except ImportError:
    METHOD = zipfile.ZIP_DEFLATED

WORDS = "so then the first number is added to what was carried before and the sum of both gives the next digit".split()


def prose(seed, words):
    digest = b"".join(hashlib.sha256(f"{seed} {block}".encode()).digest() for block in range(words // 32 + 1))
    return " ".join(WORDS[byte % len(WORDS)] for byte in digest[:words])


def sample(number):
    question = f"What is {number} + {number * 7 % 991}? Think step by step. {prose(number, 40)}"
    reasoning, right = prose(number + 1, 160), number % 10 < 7
    text = f"{prose(number + 2, 30)} The answer is {number + number * 7 % 991 + (not right)}"
    message = {"id": f"m{number}", "role": "assistant", "source": "generate", "model": "model",
               "content": [{"type": "reasoning", "reasoning": reasoning}, {"type": "text", "text": text}]}
    asked = {"id": f"q{number}", "role": "user", "source": "input", "content": question}
    usage = {"input_tokens": 60, "output_tokens": 190, "total_tokens": 250, "reasoning_tokens": 160}
    stop = "max_tokens" if number % 23 == 0 else "stop"
    output = {"model": "model", "choices": [{"message": message, "stop_reason": stop}], "completion": text,
              "usage": usage, "time": 1.25}
    moment = "2026-11-16T03:56:12.675360+00:00"
    events = [
        {"event": "sample_init", "timestamp": moment, "working_start": 0.1, "sample": {"input": question}},
        {"event": "model", "timestamp": moment, "model": "model", "input": [asked], "output": output,
         "call": {"request": {"messages": [asked]}, "response": {"choices": [message]}}},
        {"event": "score", "timestamp": moment, "score": {"value": "C" if right else "I", "answer": text}},
    ]
    return json.dumps({
        "id": number, "epoch": 1, "input": question, "target": str(number), "messages": [asked, message],
        "output": output, "scores": {"match": {"value": "C" if right else "I", "answer": text[-12:]}},
        "metadata": {}, "store": {}, "events": events, "model_usage": {"model": usage}, "completed_at": moment,
        "total_time": 1.5, "working_time": 1.3, "attachments": {},
    })


def make(path, samples):
    spec = {"task": "large", "model": "model", "run_id": "bench", "created": "2026-11-16T03:56:12+00:00",
            "dataset": {"name": "large", "samples": samples}, "config": {"epochs": 1}}
    right = sum(number % 10 < 7 for number in range(samples)) / samples
    header = {"version": 2, "status": "success", "eval": spec, "plan": {"config": {}}, "results": {"scores": [
        {"name": "match", "scorer": "match", "metrics": {"accuracy": {"value": right}}}]}}
    size = 0
    with zipfile.ZipFile(path, "w", METHOD) as log:
        log.writestr("_journal/start.json", json.dumps({"version": 2, "eval": spec, "plan": {}}))
        for number in range(samples):
            text = sample(number)
            size += len(text)
            log.writestr(f"samples/{number}_epoch_1.json", text)
        log.writestr("header.json", json.dumps(header))
    return size, right


def main(program, samples=200_000):
    with tempfile.TemporaryDirectory(prefix="import-") as folder:
        folder = pathlib.Path(folder)
        log = folder / "large.eval"
        size, right = make(log, int(samples))
        print(f"{int(samples):,} samples, {size / 1e6:.0f} MB of JSON in a zip of {log.stat().st_size / 1e6:.0f} MB")
        for turn in range(3):
            study = folder / f"study-{turn}"
            command = ["/usr/bin/time", "-v", program, "--quiet", "--format", "json", "import", "inspect", str(log),
                       "--into", str(study)]
            start = time.perf_counter()
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            took = time.perf_counter() - start
            [unit] = json.loads(done.stdout)["units"]
            assert unit["counts"]["n"] == int(samples) and abs(unit["mean_score"] - right) < 1e-12, unit
            peak = int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", done.stderr)[1]) / 1e3
            print(f"{took:6.2f} s  {size / 1e6 / took:6.0f} MB/s  {peak:6.0f} MB at most")


if __name__ == "__main__":
    main(*sys.argv[1:])
