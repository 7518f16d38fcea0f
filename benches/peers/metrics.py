"""Metrics of a million collected answers, compared with the same metrics in plain Python on one core.

Results have about a kilobyte of reasoning, half of them prose and half arithmetic with four equations, with newlines
escaped as JSON has them. Ours reads all of them; Python, which is given the same lines from the same file, a part, and
its time is scaled up. The peer computes the means, rates, entropy, calibration and percentile of the seed, without any
interval; once without the check of equations, and once with the simplest one that could be written (whole numbers, two
operands). `json.loads` alone is what parsing costs Python. A path of the program is the only argument.
"""

import collections
import fractions
import json
import math
import operator
import os
import pathlib
import random
import re
import sys
import tempfile
import time

ROWS = int(os.environ.get("ROWS", 1_000_000))
PYTHON_ROWS = ROWS // 10
RUNS = 3
WANTED_RATE, WANTED_RATIO, WANTED_MEMORY = 300, 100, 200
WORDS = """the number of boxes that remain after each day is what we look for and so it helps to write down how many
there were at first then what was taken away and what came back before we add them up again carefully""".split()
STEP = re.compile(r"^\s*(\d+\.|-|\*)\s+")
PHRASES = ("actually", "sorry", "correction", "let me fix", "i made a mistake")
NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?([eE][+-]?\d+)?")
EQUATION = re.compile(r"(?<![\d.])(\d+)\s*([-+*/])\s*(\d+)\s*=\s*(-?\d+)(?![\d.])")
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": fractions.Fraction}


def write(path):
    """About 1.3 kB a line."""
    rng = random.Random(42)
    sentences = [" ".join(rng.choice(WORDS) for _ in range(rng.randint(8, 16))).capitalize() + "." for _ in range(400)]
    with open(path, "w") as out:
        for row in range(ROWS):
            lines, length = [], 0
            while length < 960:
                step = len(lines) + 1
                if row % 2 and step % 3 == 0:
                    a, b = rng.randint(2, 99), rng.randint(2, 99)
                    line = f"{step}. {rng.choice(sentences)} So {a} * {b} = {a * b + (rng.random() < 0.02)}"
                else:
                    line = f"{step}. {rng.choice(sentences)}" if rng.random() < 0.7 else rng.choice(sentences)
                lines.append(line)
                length += len(line) + 1
            target = rng.randint(0, 5000)
            answer = target if rng.random() < 0.7 else rng.randint(0, 5000)
            json.dump({
                "id": f"q{row}", "input": rng.choice(sentences), "target": str(target), "answer": f"{answer:,}",
                "cot": "\n".join(lines), "prob_correct": round(rng.random(), 3), "prompt_tokens": rng.randint(50, 400),
                "completion_tokens": rng.randint(100, 900), "latency_ms": round(rng.lognormvariate(7, 0.5), 1),
                "truncated": rng.random() < 0.02,
            }, out)
            out.write("\n")


def normalize(text):
    text = text.strip()
    if text and NUMBER.fullmatch(text):
        try:
            return fractions.Fraction(text.replace(",", ""))
        except ValueError:
            pass
    return text.lower()


def plain(lines, equations):
    totals, counts = collections.Counter(), collections.Counter()
    answers, latencies, bins = collections.Counter(), [], [[0, 0.0, 0] for _ in range(10)]
    checked = false = 0
    for line in lines:
        row = json.loads(line)
        given = normalize(row["answer"])
        right = given == normalize(row["target"]) and not row.get("truncated")
        answers[given] += 1
        values = {"accuracy": right}
        cot = row.get("cot")
        if cot is not None and cot.strip():
            words = len(cot.split())
            lower = cot.lower()
            values["cot_tokens"] = words
            values["cot_chars"] = len(cot)
            values["steps"] = sum(1 for step in cot.splitlines() if STEP.match(step))
            values["ra_ratio"] = words / max(1, len(row["answer"].split()))
            values["self_correcting"] = any(phrase in lower for phrase in PHRASES)
            if equations:
                for a, sign, b, c in EQUATION.findall(cot):
                    if sign != "/" or b != "0":
                        checked += 1
                        false += OPERATORS[sign](int(a), int(b)) != int(c)
        p = row.get("prob_correct")
        if p is not None:
            values["brier"] = (p - right) ** 2
            held = bins[min(9, int(p * 10))]
            held[0] += 1
            held[1] += p
            held[2] += right
        for name in ("prompt_tokens", "completion_tokens", "latency_ms"):
            if row.get(name) is not None:
                values[name] = row[name]
        if row.get("latency_ms") is not None:
            latencies.append(row["latency_ms"])
        for name, value in values.items():
            totals[name] += value
            counts[name] += 1
    n = sum(answers.values())
    latencies.sort()
    return {
        **{name: totals[name] / counts[name] for name in totals},
        "sce": -sum(count / n * math.log(count / n) for count in answers.values()),
        "ece": sum(abs(right - p) for _, p, right in bins) / max(1, counts["brier"]),
        "p95": latencies[math.ceil(0.95 * len(latencies)) - 1],
        "usr_math": false / checked if checked else None,
    }


def ours(program, path):
    """Seconds, peak memory in MB and the output."""
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        child = os.posix_spawn(program, [program, "--quiet", "metrics", path, "--format", "json"], os.environ,
                               file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        _, status, used = os.wait4(child, 0)
        took = time.perf_counter() - began
        if status:
            sys.exit(f"error: {program} ended with {status}")
        out.seek(0)
        return took, used.ru_maxrss / 1024, json.load(out)


def timed(work):
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder, "results.jsonl"))
        write(path)
        size = os.path.getsize(path) / 1e6
        runs = [ours(program, path) for _ in range(RUNS)]
        took, memory, found = min(runs, key=lambda run: run[0])
        with open(path) as file:
            lines = [next(file) for _ in range(PYTHON_ROWS)]
        part = str(pathlib.Path(folder, "part.jsonl"))
        pathlib.Path(part).write_text("".join(lines))
        _, _, same = ours(program, part)
    scale = ROWS / PYTHON_ROWS
    parsing, _ = timed(lambda: [json.loads(line) for line in lines] and None)
    without, _ = timed(lambda: plain(lines, False))
    with_steps, peer = timed(lambda: plain(lines, True))
    names = {"accuracy": "accuracy", "cot_tokens_mean": "cot_tokens", "cot_chars_mean": "cot_chars", "step_count_mean": "steps",
             "ra_ratio_mean": "ra_ratio", "self_correction_rate": "self_correcting", "brier": "brier", "ece": "ece", "sce": "sce",
             "latency_mean_ms": "latency_ms", "latency_p95_ms": "p95", "usr_math": "usr_math"}
    for mine, theirs in names.items():
        # We leave a false equation alone where it may be meant otherwise, which is seldom.
        if not math.isclose(same[mine], peer[theirs], rel_tol=0.01 if mine == "usr_math" else 1e-9):
            sys.exit(f"error: {mine} is {same[mine]} by us and {peer[theirs]} by Python")
    print(f"{ROWS:,} results, {size:.0f} MB, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; all figures agree\n")
    print(f"reasonscape metrics          {took:7.2f} s  {size / took:6.0f} MB/s ({WANTED_RATE} wanted)  {memory:.0f} MB of memory "
          f"({WANTED_MEMORY} at most)")
    for name, seconds in [("json.loads alone", parsing), ("plain Python, no equations", without),
                          ("plain Python, simple equations", with_steps)]:
        seconds *= scale
        print(f"{name:28} {seconds:7.2f} s  {size / seconds:6.0f} MB/s  {seconds / took:.1f}x of our time ({WANTED_RATIO}x wanted)")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
